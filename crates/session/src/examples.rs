//! Example manifests, from the course notes this simulator was made for.

use i18n::{Constant, Message, msg};

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
    /// What it does by itself until a person acts.
    pub script: Option<&'static ExampleScript>,
}

/// kubectl lines on the clock.
#[derive(Debug)]
pub struct ExampleScript {
    /// Seconds since the step before, and the line; `POD` stands for the oldest Pod.
    pub steps: &'static [(u64, &'static str)],
    /// How many times.
    pub times: usize,
}

/// Pods are deleted and come back: nothing that the manifest says is changed, and nothing is left of it for who acts next, such as
/// revisions. For some minutes: a page left alone comes to rest.
const LIFE: ExampleScript = ExampleScript {
    steps: &[(3, "kubectl delete pod POD --wait=false")],
    times: 120,
};

const ROLLOUT: ExampleScript = ExampleScript {
    steps: &[(6, "kubectl set image deployment/nginx nginx=nginx:1.27")],
    times: 1,
};

const POLICY: ExampleScript = ExampleScript {
    steps: &[(12, "kubectl label pod client role=guest")],
    times: 1,
};

/// All of them; the page opens with the first.
pub const ALL: [Example; 9] = [
    Example {
        title: || Message::name("Deployment"),
        file: "nginx.yaml",
        text: || include_str!("examples/deployment.yaml"),
        view: "ownership",
        script: Some(&LIFE),
    },
    Example {
        title: || msg::example_rollout(),
        file: "rollout.yaml",
        text: || include_str!("examples/rollout.yaml"),
        view: "ownership",
        script: Some(&ROLLOUT),
    },
    Example {
        title: || msg::example_storage(),
        file: "web.yaml",
        text: || include_str!("examples/statefulset.yaml"),
        view: "storage",
        script: None,
    },
    Example {
        title: || msg::example_unschedulable(),
        file: "report.yaml",
        text: || include_str!("examples/unschedulable.yaml"),
        view: "nodes",
        script: None,
    },
    Example {
        title: || msg::example_network(),
        file: "network.yaml",
        text: || include_str!("examples/network.yaml"),
        view: "network",
        script: None,
    },
    Example {
        title: || msg::example_policy(),
        file: "policy.yaml",
        text: || include_str!("examples/policy.yaml"),
        view: "network",
        script: Some(&POLICY),
    },
    Example {
        title: || Message::name("Jobs"),
        file: "jobs.yaml",
        text: || include_str!("examples/jobs.yaml"),
        view: "ownership",
        script: None,
    },
    Example {
        title: || msg::example_nodes(),
        file: "daemonset.yaml",
        text: || include_str!("examples/daemonset.yaml"),
        view: "nodes",
        script: None,
    },
    Example {
        title: || msg::example_autoscaler(),
        file: "autoscaler.yaml",
        text: || include_str!("examples/autoscaler.yaml"),
        view: "ownership",
        script: None,
    },
];

/// The example that a text is, unchanged.
pub fn of(text: &str) -> Option<usize> {
    ALL.iter().position(|example| (example.text)() == text)
}
