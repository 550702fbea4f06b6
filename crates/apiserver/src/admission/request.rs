//! Request as admission webhooks and policies see it.

use k8s_model::Object;
use k8s_model::kind::Subresource;

/// Write to be admitted.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionRequest<'a> {
    /// Operation: `CREATE`, `UPDATE` or `DELETE`.
    pub operation: &'static str,
    /// Subresource.
    pub subresource: Subresource,
    /// New object, or the one that is deleted.
    pub object: &'a Object,
    /// Stored object, if any.
    pub old: Option<&'a Object>,
    /// Requested API version, if it is not the stored one.
    pub api_version: Option<&'a str>,
}

impl AdmissionRequest<'_> {
    /// Returns the requested API version.
    pub fn api_version(&self) -> String {
        let own = || self.object.kind.api_version().to_string();
        self.api_version.map_or_else(own, str::to_owned)
    }

    /// Returns the requested group and version.
    pub fn group_version(&self) -> (&str, &str) {
        let info = self.object.kind.info();
        self.api_version
            .map_or((info.group, info.version), |named| {
                named.split_once('/').unwrap_or(("", named))
            })
    }
}
