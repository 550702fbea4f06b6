//! How many requests were answered, by what they asked for.

use super::clock;
use std::collections::BTreeMap;

/// What a request is counted as.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestLabels {
    /// Empty for the core group, and for what is no resource.
    pub group: String,
    /// `v1`
    pub version: String,
    /// `pods`
    pub resource: String,
    /// `status`
    pub subresource: String,
    /// Of what it asks for: one object, those of a namespace or of the cluster.
    pub scope: &'static str,
    /// `LIST`
    pub verb: &'static str,
    /// `All` if nothing is to be written.
    pub dry_run: &'static str,
}

impl RequestLabels {
    /// They as Prometheus reads them, but for code and dry run.
    pub fn text(&self) -> String {
        let RequestLabels {
            group,
            version,
            resource,
            subresource,
            scope,
            verb,
            ..
        } = self;
        format!(
            "component=\"apiserver\",group={group:?},resource={resource:?},scope={scope:?},subresource={subresource:?},verb={verb:?},\
             version={version:?}"
        )
    }
}

/// What is counted.
pub struct RequestCounts {
    /// When the server started, in seconds since 1970.
    pub started: u64,
    /// How many, by labels and the code of the answer.
    pub requests: BTreeMap<(RequestLabels, u16), u64>,
}

impl RequestCounts {
    /// Nothing so far.
    pub fn new() -> RequestCounts {
        RequestCounts {
            started: clock::wall(),
            requests: BTreeMap::new(),
        }
    }

    /// Counts a request that was answered with a code.
    pub fn count(&mut self, labels: RequestLabels, code: u16) {
        *self.requests.entry((labels, code)).or_default() += 1;
    }
}
