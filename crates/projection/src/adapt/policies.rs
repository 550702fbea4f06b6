//! Autoscalers and disruption budgets, and their targets.

use super::scope::{id, text};
use crate::model::{Pod, Policy, Root};
use i18n::{Message, msg};
use k8s_model::kind::api_group;
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::selector::LabelSelector;
use k8s_model::{Body, Kind, Labels, Object, Str, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Index to find the workload whose Pods a budget selects, for many budgets.
pub(super) struct BudgetTargets<'a> {
    /// Pods by each of their labels that a budget names: one of each owner for each set of labels, and every Pod without an owner.
    labelled: BTreeMap<String, Vec<Target<'a>>>,
    /// The same Pods, for budgets that name no label.
    all: Vec<Target<'a>>,
}

/// Pod, and the uid of its workload.
#[derive(Clone, Copy)]
struct Target<'a> {
    pod: &'a Pod,
    workload: Option<&'a str>,
}

impl<'a> BudgetTargets<'a> {
    pub fn new(budgets: &[Rc<Object>], trees: &'a [Root]) -> BudgetTargets<'a> {
        let selectors: Vec<LabelSelector> = budgets
            .iter()
            .filter_map(|budget| BudgetSpec::of(budget).selector)
            .collect();
        let named = selectors
            .iter()
            .flat_map(|selector| selector.match_labels.iter());
        let mut labelled: BTreeMap<String, Vec<Target>> =
            named.map(|label| (pair(label), Vec::new())).collect();
        let wants_all = selectors
            .iter()
            .any(|selector| selector.match_labels.is_empty());
        let mut all = Vec::new();
        for root in trees {
            let workload = root.controller.as_deref().map(|of| of.id.uid.as_str());
            for pods in root.groups.iter().map(|group| &group.pods) {
                let mut last: Option<&Rc<Pod>> = None;
                // Pods without an owner are all in one block, but each is a target of its own.
                let alike =
                    |a: &Pod, b: &Pod| !a.owner.is_empty() && Rc::ptr_eq(&a.labels, &b.labels);
                for pod in pods
                    .iter()
                    .filter(|pod| !last.replace(pod).is_some_and(|last| alike(last, pod)))
                {
                    let target = Target { pod, workload };
                    if wants_all {
                        all.push(target);
                    }
                    for label in pod.labels.iter() {
                        if let Some(targets) = labelled.get_mut(label.as_str()) {
                            targets.push(target);
                        }
                    }
                }
            }
        }
        BudgetTargets { labelled, all }
    }

    /// Returns the uid of the workload, or of a Pod without one: if a budget selects Pods of several, of the first by name.
    pub fn of(&self, budget: &Object) -> Option<String> {
        let selector = BudgetSpec::of(budget).selector?;
        let labels = |pod: &Pod| {
            let pairs = pod.labels.iter().filter_map(|label| label.split_once('='));
            Labels::new(
                pairs
                    .map(|(key, value)| (key.into(), value.into()))
                    .collect(),
            )
        };
        let selects = |target: &&Target| {
            target.pod.id.namespace == budget.meta.namespace
                && selector.matches(&labels(target.pod))
        };
        let labelled = |label| {
            self.labelled
                .get(&pair(label))
                .map_or(&[][..], Vec::as_slice)
        };
        // The label shared by the fewest Pods.
        let near = selector
            .match_labels
            .iter()
            .map(labelled)
            .min_by_key(|targets| targets.len())
            .unwrap_or(&self.all);
        let first = near
            .iter()
            .filter(selects)
            .min_by(|a, b| a.pod.id.name.cmp(&b.pod.id.name))?;
        Some(first.workload.unwrap_or(&first.pod.id.uid).to_owned())
    }
}

/// Formats a label as Pods have it.
fn pair((key, value): (&Str, &Str)) -> String {
    format!("{key}={value}")
}

/// Reads an autoscaler. `uid_of`: returns the uid of the workload of a kind and a name in its namespace.
pub(super) fn scaler(object: &Object, uid_of: &dyn Fn(Kind, &str) -> Option<Uid>) -> Policy {
    let of = |part: &str, path: &str| field(object, part, path);
    let (kind, name) = (
        of("spec", "/scaleTargetRef/kind"),
        of("spec", "/scaleTargetRef/name"),
    );
    let least = Some(of("spec", "/minReplicas"))
        .filter(|least| !least.is_empty())
        .unwrap_or_else(|| "1".to_string());
    // First metric of the two supported types.
    let source = if of("spec", "/metrics/0/type") == "ContainerResource" {
        "containerResource"
    } else {
        "resource"
    };
    let now = of(
        "status",
        &["/currentMetrics/0/", source, "/current/averageUtilization"].concat(),
    );
    let goal = of(
        "spec",
        &["/metrics/0/", source, "/target/averageUtilization"].concat(),
    );
    let what = of("spec", &["/metrics/0/", source, "/name"].concat());
    let target = Kind::from_group_kind(api_group(&of("spec", "/scaleTargetRef/apiVersion")), &kind)
        .and_then(|kind| uid_of(kind, &name));
    Policy {
        id: id(object),
        form: msg::policy_range(least, of("spec", "/maxReplicas")),
        words: match (now.is_empty(), goal.is_empty()) {
            (false, false) => msg::policy_metric(what, format!("{now}%"), format!("{goal}%")),
            (true, false) => msg::policy_no_metric(what, format!("{goal}%")),
            _ => msg::policy_scales(kind, name),
        },
        refuses: Message::default(),
        target: target.map(|uid| uid.to_string()).unwrap_or_default(),
    }
}

/// Reads a disruption budget. `target`: uid of its workload.
pub(super) fn budget(object: &Object, target: Option<String>) -> Policy {
    let number = |path: &str| field(object, "status", path).parse().unwrap_or(0);
    Policy {
        id: id(object),
        form: msg::policy_evictions(number("/disruptionsAllowed")),
        words: match BudgetStatus::of(object).observed_generation {
            0 => msg::policy_unobserved(),
            _ => msg::policy_healthy(number("/currentHealthy"), number("/desiredHealthy")),
        },
        refuses: Message::default(),
        target: target.unwrap_or_default(),
    }
}

fn field(object: &Object, part: &str, path: &str) -> String {
    let Body::Other(body) = &object.body else {
        return String::new();
    };
    text(body.get(part).and_then(|part| part.pointer(path)))
}
