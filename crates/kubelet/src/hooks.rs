//! Lifecycle hooks: postStart and preStop, as far as their outcome is predictable.
//!
//! Models `pkg/kubelet/lifecycle/handlers.go` and its use in `kuberuntime_container.go`.

use super::containers::ContainerId;
use super::pod_worker::Jobs;
use super::termination::Kill;
use super::{PodSync, behaviour};
use k8s_model::pod::Container;
use k8s_model::time::SECOND;
use serde_json::Value;

/// Returns the duration of a hook, and the exit code of its command.
fn predicted(hook: &Value) -> Option<(u64, i32)> {
    if let Some(seconds) = hook["sleep"]["seconds"].as_u64() {
        return Some((seconds.min(1_000_000) * SECOND, 0));
    }
    let words: Vec<&str> = hook["exec"]["command"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    behaviour::predicted_words(&words)
}

impl PodSync<'_, '_> {
    /// Runs the postStart hook; a container whose hook fails is killed.
    pub(super) fn post_start(&mut self, id: ContainerId, container: &Container) -> Jobs {
        if predicted(&container.lifecycle["postStart"]).is_none_or(|(_, code)| code == 0) {
            return Vec::new();
        }
        let message = "PostStartHook failed";
        self.record_container_event(id, "Warning", "FailedPostStartHook", message);
        let kill = Kill {
            message: "FailedPostStartHook",
            probe: None,
            at_once: true,
        };
        self.kill_container(id, kill)
    }

    /// Runs the preStop hook of a container; returns its duration.
    pub(super) fn pre_stop(&mut self, id: ContainerId, container: &Container) -> u64 {
        let Some((time, code)) = predicted(&container.lifecycle["preStop"]) else {
            return 0;
        };
        if code != 0 {
            let message = "PreStopHook failed";
            self.record_container_event(id, "Warning", "FailedPreStopHook", message);
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_take_as_long_as_they_say() {
        assert_eq!(
            predicted(&json!({"sleep": {"seconds": 5}})),
            Some((5 * SECOND, 0))
        );
        assert_eq!(
            predicted(&json!({"exec": {"command": ["/bin/sh", "-c", "sleep 3; exit 2"]}})),
            Some((3 * SECOND, 2))
        );
        assert_eq!(predicted(&json!({"httpGet": {"port": 80}})), None);
        assert_eq!(predicted(&Value::Null), None);
    }
}
