//! Back-off of a Job before it replaces a failed Pod: 10 s, 20 s, 40 s… from the failure, at most ten minutes.
//!
//! Models `pkg/controller/job/backoff_utils.go`.

use controller_runtime::client::PassView;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Duration, Object, Timestamp};
use std::rc::Rc;

const FIRST_BACK_OFF_S: u64 = 10;
const MAX_BACK_OFF_S: u64 = 600;

/// Back-off state of a Job, kept between passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackoffRecord {
    /// Number of failures since the last success.
    pub failures: i64,
    /// Time of the last failure.
    pub last: Timestamp,
    /// Number of failures that have not been replaced by a new Pod yet.
    pub unreplaced: i64,
}

impl BackoffRecord {
    /// Returns the state after these Pods have ended: a success resets earlier failures.
    pub fn after(mut self, succeeded: &[Rc<Object>], failed: &[Rc<Object>]) -> BackoffRecord {
        if let Some(success) = succeeded.iter().map(|pod| ended_at(pod)).max() {
            (self.failures, self.unreplaced) = (0, 0);
            return self.plus(
                failed
                    .iter()
                    .map(|pod| ended_at(pod))
                    .filter(|end| *end > success),
            );
        }
        self.plus(failed.iter().map(|pod| ended_at(pod)))
    }

    fn plus(mut self, ends: impl Iterator<Item = Timestamp>) -> BackoffRecord {
        let mut last = None;
        for end in ends {
            self.failures += 1;
            self.unreplaced += 1;
            last = last.max(Some(end));
        }
        self.last = last.unwrap_or(self.last);
        self
    }

    /// Returns the time until the next Pod may be created, in microseconds.
    pub fn remaining(self, view: &PassView<'_>) -> Duration {
        if self.failures == 0 {
            return 0;
        }
        (self.seconds() * SECOND).saturating_add_signed(-view.since(self.last))
    }

    /// Returns the back-off after the last failure, in seconds.
    pub fn seconds(self) -> u64 {
        (FIRST_BACK_OFF_S << (self.failures - 1).clamp(0, 10)).min(MAX_BACK_OFF_S)
    }
}

/// Returns the time when a Pod ended: the end of its last container, or the best estimate.
pub fn ended_at(object: &Object) -> Timestamp {
    let created = object.meta.creation_timestamp.unwrap_or_default();
    let Some(pod) = object.pod() else {
        return created;
    };
    let not_ready = pod
        .status
        .condition("Ready")
        .filter(|c| c.status == "False")
        .and_then(|c| c.last_transition_time);
    let deleted = || {
        let grace = object.meta.deletion_grace_period_seconds.unwrap_or(0);
        object
            .meta
            .deletion_timestamp
            .map(|at| Timestamp::new(at.seconds() - grace))
    };
    containers_ended(pod)
        .or(not_ready)
        .or_else(deleted)
        .unwrap_or(created)
}

fn containers_ended(pod: &Pod) -> Option<Timestamp> {
    let sidecars = pod
        .status
        .init_container_statuses
        .iter()
        .zip(&pod.spec.init_containers)
        .filter(|(_, c)| c.is_sidecar());
    let mut last = None;
    for status in pod
        .status
        .container_statuses
        .iter()
        .chain(sidecars.map(|(status, _)| status))
    {
        last = last.max(Some(status.state.terminated.as_ref()?.finished_at?));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Kind;
    use serde_json::json;

    fn ended(at: i64) -> Rc<Object> {
        let time = Timestamp::new(at).rfc3339();
        let value = json!({ "metadata": { "name": "p" }, "spec": {}, "status": { "phase": "Failed", "containerStatuses": [
            { "name": "main", "state": { "terminated": { "exitCode": 1, "startedAt": time, "finishedAt": time } } }] } });
        Rc::new(Object::from_value(Kind::Pod, value).unwrap())
    }

    #[test]
    fn a_success_resets_earlier_failures() {
        let record = BackoffRecord::default().after(&[], &[ended(5), ended(3)]);
        assert_eq!(
            record,
            BackoffRecord {
                failures: 2,
                last: Timestamp::new(5),
                unreplaced: 2
            }
        );
        assert_eq!(record.after(&[], &[]), record);
        assert_eq!(
            record.after(&[], &[ended(9)]),
            BackoffRecord {
                failures: 3,
                last: Timestamp::new(9),
                unreplaced: 3
            }
        );
        assert_eq!(
            record.after(&[ended(8)], &[ended(7), ended(9)]),
            BackoffRecord {
                failures: 1,
                last: Timestamp::new(9),
                unreplaced: 1
            }
        );
        assert_eq!(record.after(&[ended(8)], &[]).failures, 0);
    }
}
