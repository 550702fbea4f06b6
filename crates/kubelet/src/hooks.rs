//! Lifecycle hooks: postStart and preStop, as far as their outcome is predictable.
//!
//! Models `pkg/kubelet/lifecycle/handlers.go` and its use in `kuberuntime_container.go`.

use super::{Jobs, PodPass, behaviour};
use k8s_model::Str;
use k8s_model::pod::{Container, Pod};
use k8s_model::time::SECOND;
use serde_json::Value;
use smol_str::format_smolstr;

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

impl PodPass<'_, '_> {
    /// Runs the postStart hook; a container whose hook fails is killed.
    pub(super) fn post_start(&mut self, i: u32, container: &Container) -> Jobs {
        if predicted(&container.lifecycle["postStart"]).is_none_or(|(_, code)| code == 0) {
            return Vec::new();
        }
        self.say_hook_failed(
            &container.name,
            "FailedPostStartHook",
            "PostStartHook failed",
        );
        self.kill_container(i, "FailedPostStartHook", None, true)
    }

    /// Runs the preStop hooks of containers; returns the duration of the slowest.
    pub(super) fn pre_stop(&mut self, names: &[Str]) -> u64 {
        let object = self.object.clone();
        let mut longest = 0;
        let containers = &object.body::<Pod>().spec.containers;
        for container in containers
            .iter()
            .filter(|c| !c.lifecycle.is_null() && names.contains(&c.name))
        {
            let Some((time, code)) = predicted(&container.lifecycle["preStop"]) else {
                continue;
            };
            longest = longest.max(time);
            if code != 0 {
                self.say_hook_failed(&container.name, "FailedPreStopHook", "PreStopHook failed");
            }
        }
        longest
    }

    fn say_hook_failed(&mut self, name: &str, reason: &'static str, message: &'static str) {
        let object = self.object.clone();
        self.out.event_at(
            &object,
            &format_smolstr!("spec.containers{{{name}}}"),
            "Warning",
            reason,
            message,
        );
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
