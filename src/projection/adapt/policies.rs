//! Autoscalers and disruption budgets, and what they are about.

use super::pods::Pods;
use super::scope::{Lister, id, text};
use crate::api::policy::BudgetSpec;
use crate::api::{Kind, Labels, Object, Str};
use crate::i18n::msg;
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

/// An autoscaler or a disruption budget, with the workload it is about.
pub(super) fn policy(object: &Object, of: Lister, budgeted: &dyn Fn(&Object) -> Option<String>) -> Policy {
    let value = object.to_value();
    let at = |path: &str| text(value.pointer(path));
    let named = |kind: &str, name: &str| {
        let kind = Kind::from_name(kind)?;
        of(kind).into_iter().find(|o| o.meta.namespace == object.meta.namespace && o.meta.name == name)
    };
    let mut out = Policy { id: id(object), ..Policy::default() };
    if object.kind == Kind::HorizontalPodAutoscaler {
        let (kind, name) = (at("/spec/scaleTargetRef/kind"), at("/spec/scaleTargetRef/name"));
        let least = if at("/spec/minReplicas").is_empty() { "1".to_string() } else { at("/spec/minReplicas") };
        out.form = msg::policy_range(least, at("/spec/maxReplicas"));
        // The first metric of the two kinds that are known here.
        let source = if at("/spec/metrics/0/type") == "ContainerResource" { "containerResource" } else { "resource" };
        let now = at(&["/status/currentMetrics/0/", source, "/current/averageUtilization"].concat());
        let goal = at(&["/spec/metrics/0/", source, "/target/averageUtilization"].concat());
        let what = at(&["/spec/metrics/0/", source, "/name"].concat());
        out.words = match (now.is_empty(), goal.is_empty()) {
            (false, false) => msg::policy_metric(what, format!("{now}%"), format!("{goal}%")),
            (true, false) => msg::policy_no_metric(what, format!("{goal}%")),
            _ => msg::policy_scales(kind.as_str(), name.as_str()),
        };
        out.target = named(&kind, &name).map(|o| o.meta.uid.to_string()).unwrap_or_default();
        return out;
    }
    let may = at("/status/disruptionsAllowed");
    out.form = msg::policy_evictions(may.parse::<i64>().unwrap_or(0));
    let number = |path| at(path).parse::<i64>().unwrap_or(0);
    out.words = msg::policy_healthy(number("/status/currentHealthy"), number("/status/desiredHealthy"));
    out.target = budgeted(object).unwrap_or_default();
    out
}
