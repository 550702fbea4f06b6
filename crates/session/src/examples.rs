//! Example manifests, from the course notes for which this simulator was made.

use i18n::{Constant, Message, msg};

/// Named manifest.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Title in the picker.
    pub title: Constant,
    /// File name.
    pub file: &'static str,
    /// Text.
    pub text: fn() -> &'static str,
    /// Diagram to show.
    pub view: &'static str,
    /// Script that plays until a person acts.
    pub script: Option<&'static ExampleScript>,
}

/// kubectl lines on the clock.
#[derive(Debug)]
pub struct ExampleScript {
    /// Steps: seconds since the step before, and the line; `POD` stands for the oldest Pod.
    pub steps: &'static [(u64, &'static str)],
    /// Number of repetitions.
    pub times: usize,
}

/// Deletes Pods, which are replaced: the manifest's fields do not change, and nothing such as a revision is left behind for the person who
/// acts next. Limited to some minutes, so that a page left alone comes to rest.
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

/// All examples; the page opens with the first.
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

/// Returns the example with exactly this text.
pub fn of(text: &str) -> Option<usize> {
    ALL.iter().position(|example| (example.text)() == text)
}
