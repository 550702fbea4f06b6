//! Autoscalers that do not scale, and disruption budgets that allow nothing.

use super::finding::{Context, Diagnosis, all_in, line, target};
use super::workloads::follow;
use crate::api::policy::{BudgetSpec, BudgetStatus};
use crate::api::{Body, Kind, Object, ObjectRef};
use crate::explain::waits::{Cure, Fact, Label, Waits};
use crate::i18n::msg;
use serde_json::Value;
use std::rc::Rc;

pub fn autoscaler(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let Body::Other(body) = &object.body else { return None };
    let conditions = body.get("status")?.get("conditions")?.as_array()?;
    let bad = |c: &&Value| c["status"] == "False" && (c["type"] == "ScalingActive" || c["type"] == "AbleToScale");
    let condition = conditions.iter().find(bad)?;
    let text = |name: &str| condition[name].as_str().unwrap_or("");
    let mut out = Diagnosis::new(object, Waits::NoScaling(text("reason").into()));
    out.word(Label::Message, text("message"));
    out.at(Label::LooksAgain, sim.looks_again(&object.key()));
    let scaled = body.get("spec").and_then(|spec| spec.get("scaleTargetRef"))?;
    let kind = scaled["kind"].as_str().and_then(Kind::from_name)?;
    let key = ObjectRef::new(kind, &object.meta.namespace, scaled["name"].as_str().unwrap_or(""));
    let target = sim.get(&key)?;
    let (labels, template) = match &target.body {
        Body::Deployment(body) => (&body.spec.selector.match_labels, &body.spec.template),
        Body::StatefulSet(body) => (&body.spec.selector.match_labels, &body.spec.template),
        _ => return Some(out),
    };
    let mut steps = Vec::new();
    // The message names the metric that could not be had.
    let of_memory = text("message").contains("failed to get memory ");
    let (what, some) = if of_memory { ("memory", "64Mi") } else { ("cpu", "100m") };
    if let Some(lacks) = template.spec.containers.iter().find(|c| !c.resources.requests.contains_key(what)) {
        out.facts.push(Fact::Said(Label::Requests, msg::requests_none(what)));
        steps.push(line("set resources", &key, &[" -c ", &lacks.name, " --requests=", what, "=", some].concat()));
    }
    if let Some((name, value)) = labels.iter().next() {
        steps.push(["fault ", what, "-load ", name, "=", value, " ", some].concat());
    }
    out.cure(if of_memory { Cure::MemoryMetrics } else { Cure::Metrics }, &object.meta.name, "", &steps);
    out.waits_for = Some(key);
    Some(out)
}

pub fn budget(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let (spec, status) = (BudgetSpec::of(object), BudgetStatus::of(object));
    if status.disruptions_allowed > 0 || status.observed_generation == 0 || status.expected_pods == 0 {
        return None;
    }
    let mut out = Diagnosis::new(object, Waits::NoDisruption);
    out.count(Label::Matching, status.expected_pods);
    out.count(Label::Healthy, status.current_healthy);
    out.count(Label::AtLeast, status.desired_healthy);
    let pods: Vec<&Rc<Object>> = all_in(sim, Kind::Pod, &object.meta.namespace).filter(|pod| spec.selects(pod)).collect();
    // What is unhealthy uses up what the budget would allow.
    let ill = pods.iter().filter(|pod| !pod.pod().is_some_and(|pod| pod.is_ready())).find_map(|pod| sim.diagnose(&pod.key()));
    follow(&mut out, ill);
    let owner = pods.first().and_then(|pod| super::finding::owners(sim, &pod.key()).pop()).and_then(|owner| sim.get(&owner));
    if let Some(owner) = owner
        && let Some(replicas) = crate::explain::evidence::handles(owner).0
    {
        let rest = [" --replicas=", &(replicas + 1).to_string()].concat();
        out.cure(Cure::ScaleUp, &target(&owner.key()), "", &[line("scale", &owner.key(), &rest)]);
    }
    let (field, other) =
        if spec.min_available.is_some() { ("minAvailable", (status.current_healthy - 1).max(0)) } else { ("maxUnavailable", 1) };
    let rest = [" --type=merge -p '{\"spec\":{\"", field, "\":", &other.to_string(), "}}'"].concat();
    out.cure(Cure::RelaxBudget, &object.meta.name, "", &[line("patch", &object.key(), &rest)]);
    Some(out)
}
