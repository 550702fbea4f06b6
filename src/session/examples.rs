//! Example manifests, from the course notes this simulator was made for.

use crate::i18n::{Constant, Message, msg};

/// A manifest with a name.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// In the picker.
    pub title: Constant,
    /// The name of its file.
    pub file: &'static str,
    /// The text.
    pub text: fn() -> &'static str,
    /// The diagram to look at.
    pub view: &'static str,
}

/// All of them; the page opens with the first.
pub const ALL: [Example; 8] = [
    Example {
        title: || Message::name("Deployment"),
        file: "nginx.yaml",
        text: || include_str!("examples/deployment.yaml"),
        view: "ownership",
    },
    Example { title: || msg::example_rollout(), file: "rollout.yaml", text: || include_str!("examples/rollout.yaml"), view: "ownership" },
    Example { title: || msg::example_storage(), file: "web.yaml", text: || include_str!("examples/statefulset.yaml"), view: "storage" },
    Example {
        title: || msg::example_unschedulable(),
        file: "report.yaml",
        text: || include_str!("examples/unschedulable.yaml"),
        view: "nodes",
    },
    Example { title: || msg::example_network(), file: "network.yaml", text: || include_str!("examples/network.yaml"), view: "network" },
    Example { title: || Message::name("Jobs"), file: "jobs.yaml", text: || include_str!("examples/jobs.yaml"), view: "ownership" },
    Example { title: || msg::example_nodes(), file: "daemonset.yaml", text: || include_str!("examples/daemonset.yaml"), view: "nodes" },
    Example {
        title: || msg::example_autoscaler(),
        file: "autoscaler.yaml",
        text: || include_str!("examples/autoscaler.yaml"),
        view: "ownership",
    },
];

/// The example that a text is, unchanged.
pub fn of(text: &str) -> Option<usize> {
    ALL.iter().position(|example| (example.text)() == text)
}
