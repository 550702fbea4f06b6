//! DaemonSets.

use super::json::record;
use super::pod_template::PodTemplate;
use super::selector::LabelSelector;
use super::spec::Spec;
use super::workload::UpdateStrategy;
use crate::json;
use serde_json::Value;
use std::rc::Rc;

/// Annotation with the number of templates that a DaemonSet has had.
pub const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// DaemonSet's `spec` and `status`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DaemonSet {
    /// Whole spec, including the template.
    pub spec: Rc<Spec<DaemonSetSpec>>,
    /// Parsed `spec.template`.
    pub template: Rc<PodTemplate>,
    /// `status`.
    pub status: DaemonSetStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct DaemonSetSpec {
        pub selector: LabelSelector = "selector",
        pub update_strategy: UpdateStrategy = "updateStrategy",
        pub min_ready_seconds: i64 = "minReadySeconds",
        pub revision_history_limit: Option<i64> = "revisionHistoryLimit",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct DaemonSetStatus {
        pub collision_count: Option<i32> = "collisionCount" omitempty,
        pub current_number_scheduled: i32 = "currentNumberScheduled",
        pub desired_number_scheduled: i32 = "desiredNumberScheduled",
        pub number_available: i32 = "numberAvailable" omitempty,
        pub number_misscheduled: i32 = "numberMisscheduled",
        pub number_ready: i32 = "numberReady",
        pub number_unavailable: i32 = "numberUnavailable" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub updated_number_scheduled: i32 = "updatedNumberScheduled" omitempty,
    }
}

impl DaemonSet {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        let template = PodTemplate::from_value(
            spec.as_ref()
                .and_then(|s| s.get("template"))
                .cloned()
                .unwrap_or(Value::Null),
        )?;
        Ok(DaemonSet {
            spec: Spec::from_raw(spec)?,
            template,
            status: json::part(status.as_ref())?,
        })
    }
}
