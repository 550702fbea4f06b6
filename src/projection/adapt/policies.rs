//! Autoscalers and disruption budgets, and what they are about.

use super::pods::Pods;
use super::scope::{id, text};
use crate::api::policy::{BudgetSpec, BudgetStatus};
use crate::api::{Body, Kind, Labels, Object, Str, Uid};
use crate::i18n::{Message, msg};
use crate::projection::model::{Pod, Policy, Root};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Finds the workload whose Pods a budget selects, for many budgets.
pub(super) struct BudgetTargets<'a> {
    /// One Pod of each owner for each set of labels, and every Pod without an owner, by each of these labels.
    labelled: BTreeMap<&'a str, Vec<&'a Rc<Pod>>>,
    all: Vec<&'a Rc<Pod>>,
    /// The uids of roots by those of what stands below them, and by their own.
    roots: BTreeMap<&'a str, &'a str>,
}

impl<'a> BudgetTargets<'a> {
    pub fn new(pods: &'a Pods, trees: &'a [Root]) -> BudgetTargets<'a> {
        let mut out = BudgetTargets { labelled: BTreeMap::new(), all: Vec::new(), roots: BTreeMap::new() };
        for (_, block) in pods.blocks() {
            let mut last: Option<&Rc<Pod>> = None;
            // Pods without an owner stand each for itself, in one block.
            let alike = |a: &Pod, b: &Pod| !a.owner.is_empty() && Rc::ptr_eq(&a.labels, &b.labels);
            for pod in block.iter().filter(|pod| !last.replace(pod).is_some_and(|last| alike(last, pod))) {
                out.all.push(pod);
                for label in pod.labels.iter() {
                    out.labelled.entry(label.as_str()).or_default().push(pod);
                }
            }
        }
        for (root, top) in trees.iter().filter_map(|root| Some((root, root.controller.as_deref()?))) {
            let below = root.groups.iter().filter_map(|group| group.controller.as_deref());
            out.roots.extend(below.chain([top]).map(|of| (of.id.uid.as_str(), top.id.uid.as_str())));
        }
        out
    }

    /// The uid of the workload, or of a Pod without one: of the first by name where a budget selects the Pods of several.
    pub fn of(&self, budget: &Object) -> Option<String> {
        let selector = BudgetSpec::of(budget).selector?;
        let labels = |pod: &Pod| {
            let pairs = pod.labels.iter().filter_map(|label| label.split_once('='));
            Labels::new(crate::sort::tree(pairs.map(|(key, value)| (key.into(), value.into()))))
        };
        let selects = |pod: &&&Rc<Pod>| pod.id.namespace == budget.meta.namespace && selector.matches(&labels(pod));
        let labelled = |(key, value): (&Str, &Str)| self.labelled.get(format!("{key}={value}").as_str()).map_or(&[][..], Vec::as_slice);
        // The label that fewest have.
        let near = selector.match_labels.iter().map(labelled).min_by_key(|pods| pods.len()).unwrap_or(&self.all);
        let pod = near.iter().filter(selects).min_by(|a, b| a.id.name.cmp(&b.id.name))?;
        Some(self.roots.get(&*pod.owner).copied().unwrap_or(&pod.id.uid).to_owned())
    }
}

/// An autoscaler. `uid_of`: the uid of the workload of a kind and a name in its namespace.
pub(super) fn scaler(object: &Object, uid_of: &dyn Fn(Kind, &str) -> Option<Uid>) -> Policy {
    let of = |part: &str, path: &str| field(object, part, path);
    let (kind, name) = (of("spec", "/scaleTargetRef/kind"), of("spec", "/scaleTargetRef/name"));
    let least = Some(of("spec", "/minReplicas")).filter(|least| !least.is_empty()).unwrap_or_else(|| "1".to_string());
    // The first metric of the two kinds that are known here.
    let source = if of("spec", "/metrics/0/type") == "ContainerResource" { "containerResource" } else { "resource" };
    let now = of("status", &["/currentMetrics/0/", source, "/current/averageUtilization"].concat());
    let goal = of("spec", &["/metrics/0/", source, "/target/averageUtilization"].concat());
    let what = of("spec", &["/metrics/0/", source, "/name"].concat());
    let target = Kind::from_name(&kind).and_then(|kind| uid_of(kind, &name));
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

/// A disruption budget, and the uid of the workload it is about.
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
    let Body::Other(body) = &object.body else { return String::new() };
    text(body.get(part).and_then(|part| part.pointer(path)))
}
