//! Counters of answered requests, by their metric labels.

use super::clock;
use std::collections::BTreeMap;

/// Metric labels of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestLabels {
    /// Group; empty for the core group, and for non-resource requests.
    pub group: String,
    /// Version: `v1`.
    pub version: String,
    /// Resource: `pods`.
    pub resource: String,
    /// Subresource: `status`.
    pub subresource: String,
    /// Scope: one object, a namespace, or the cluster.
    pub scope: &'static str,
    /// Verb: `LIST`.
    pub verb: &'static str,
    /// `All` for a dry run.
    pub dry_run: &'static str,
}

impl RequestLabels {
    /// Formats the labels for Prometheus, except code and dry run.
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

/// Counters of answered requests.
pub struct RequestCounts {
    /// Start time of the server, in seconds since 1970.
    pub started: u64,
    /// Number of requests, by labels and status code.
    pub requests: BTreeMap<(RequestLabels, u16), u64>,
}

impl RequestCounts {
    /// Creates counters that start now.
    pub fn new() -> RequestCounts {
        RequestCounts {
            started: clock::wall(),
            requests: BTreeMap::new(),
        }
    }

    /// Counts a request that was answered with a status code.
    pub fn count(&mut self, labels: RequestLabels, code: u16) {
        *self.requests.entry((labels, code)).or_default() += 1;
    }
}
