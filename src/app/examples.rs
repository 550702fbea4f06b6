//! Manifests to begin with: those of the notes this simulator was made for.

/// A manifest with a name.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// In the picker.
    pub title: &'static str,
    /// The name of its file.
    pub file: &'static str,
    /// The text.
    pub text: fn() -> &'static str,
    /// The diagram to look at.
    pub view: &'static str,
}

/// All of them; the page opens with the first.
pub const ALL: [Example; 8] = [
    Example { title: "Deployment", file: "nginx.yaml", text: || include_str!("examples/deployment.yaml"), view: "ownership" },
    Example { title: "Rolling update", file: "rollout.yaml", text: || include_str!("examples/rollout.yaml"), view: "ownership" },
    Example { title: "StatefulSet storage", file: "web.yaml", text: || include_str!("examples/statefulset.yaml"), view: "storage" },
    Example { title: "A Pod that does not fit", file: "report.yaml", text: || include_str!("examples/unschedulable.yaml"), view: "nodes" },
    Example { title: "Services and DNS", file: "network.yaml", text: || include_str!("examples/network.yaml"), view: "network" },
    Example { title: "Jobs", file: "jobs.yaml", text: || include_str!("examples/jobs.yaml"), view: "ownership" },
    Example { title: "Nodes and budgets", file: "daemonset.yaml", text: || include_str!("examples/daemonset.yaml"), view: "nodes" },
    Example { title: "Autoscaler", file: "autoscaler.yaml", text: || include_str!("examples/autoscaler.yaml"), view: "ownership" },
];

/// The example that a text is, unchanged.
pub fn of(text: &str) -> Option<usize> {
    ALL.iter().position(|example| (example.text)() == text)
}
