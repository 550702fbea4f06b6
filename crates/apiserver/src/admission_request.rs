//! A write as webhooks and policies of admission are told of it.

use k8s_model::Object;

/// A write that is to be admitted.
#[derive(Clone, Copy)]
pub(super) struct AdmissionRequest<'a> {
    /// `CREATE`, `UPDATE`, `DELETE`
    pub operation: &'static str,
    /// `scale`, `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The object as it is to be, or the one that is deleted.
    pub object: &'a Object,
    /// The object as it is.
    pub old: Option<&'a Object>,
    /// The version that the client has named, if it is not the one that is stored.
    pub api_version: Option<&'a str>,
}

impl AdmissionRequest<'_> {
    /// The group and version that the client has named.
    pub fn group_version(&self) -> (&str, &str) {
        let info = self.object.kind.info();
        self.api_version
            .map_or((info.group, info.version), |named| {
                named.split_once('/').unwrap_or(("", named))
            })
    }
}
