//! Preemption: selection of Pods of lower priority to evict so that a Pod fits.
//!
//! Guarantees: no Pod of the same or a higher priority is a victim; no Pod is evicted needlessly; the chosen node is the one
//! with the fewest violated budgets, the lowest priorities and the fewest victims.
//! Models `pkg/scheduler/framework/preemption` and `framework/plugins/defaultpreemption`.

use super::filters::reasons;
use super::framework::{Cycle, Refusal};
use super::node_info::priority;
use super::nodes::Nodes;
use super::schedule_one::refusal;
use k8s_model::pod::Pod;
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::{Kind, Object, Str, Timestamp};
use std::cmp::Reverse;
use std::rc::Rc;

/// Minimum number of candidates to search for: this number or a tenth of the nodes, whichever is larger.
const MIN_CANDIDATES: usize = 100;

/// Node on which the Pod would fit without the victims.
pub(super) struct Candidate {
    pub node: Str,
    /// Pods to evict, highest priority first.
    pub victims: Vec<Rc<Object>>,
    violations: usize,
}

/// Reason why no Pod is evicted for another.
pub(super) enum NoPreemption {
    /// The Pod may not preempt, or not yet: its nominated node is kept.
    NotEligible(&'static str),
    /// No node where preemption would help, with counts of nodes by reason.
    NoCandidate(String),
}

impl NoPreemption {
    /// Returns the scheduler's message.
    pub fn words(&self) -> &str {
        match self {
            NoPreemption::NotEligible(words) => words,
            NoPreemption::NoCandidate(words) => words,
        }
    }
}

/// Finds the best node for preemption, or the reason why there is none.
pub(super) fn find(
    cycle: &Cycle<'_>,
    refused: &[(Str, Refusal)],
    now: Timestamp,
) -> Result<Candidate, NoPreemption> {
    if cycle.pod.spec.preemption_policy == "Never" {
        return Err(NoPreemption::NotEligible(
            "not eligible due to preemptionPolicy=Never.",
        ));
    }
    let nominated = &cycle.pod.status.nominated_node_name;
    if let Some((_, refusal)) = refused.iter().find(|(name, _)| name == nominated)
        && refusal.preemption_helps
        && cycle
            .nodes
            .get(nominated)
            .is_some_and(|info| info.pods.values().any(|o| is_leaving_for(cycle, o)))
    {
        return Err(NoPreemption::NotEligible(
            "not eligible due to a terminating pod on the nominated node.",
        ));
    }
    let budgets: Vec<Rc<Object>> = cycle
        .cache
        .list(Kind::PodDisruptionBudget)
        .cloned()
        .collect();
    let most = MIN_CANDIDATES.max(refused.len() / 10);
    let (mut candidates, mut left, mut nodes) = (Vec::new(), Vec::new(), None);
    for (name, refusal) in refused {
        if !refusal.preemption_helps {
            left.push(Refusal::no_help());
            continue;
        }
        let Some(info) = cycle
            .nodes
            .get(name)
            .filter(|info| info.has_lower(priority(cycle.object)))
        else {
            left.push(Refusal::no_victims());
            continue;
        };
        let lower = |o: &&Rc<Object>| priority(o) < priority(cycle.object);
        let possible: Vec<Rc<Object>> = info.pods.values().filter(lower).cloned().collect();
        let nodes = nodes.get_or_insert_with(|| cycle.nodes.clone());
        match select_victims(cycle, name, possible, nodes, &budgets, now) {
            Ok(candidate) => candidates.push(candidate),
            Err(refusal) => left.push(refusal),
        }
        if candidates.len() >= most {
            break;
        }
    }
    // The first of the best by name wins.
    let best = candidates.into_iter().reduce(|best, other| {
        if cost(&other, now) < cost(&best, now) {
            other
        } else {
            best
        }
    });
    best.ok_or_else(|| NoPreemption::NoCandidate(reasons(refused.len(), &left)))
}

/// Returns true if a Pod on the nominated node is already terminating for this one.
fn is_leaving_for(cycle: &Cycle<'_>, other: &Object) -> bool {
    let for_preemption = || {
        other
            .pod()
            .and_then(|p| p.status.condition("DisruptionTarget"))
            .is_some_and(|c| c.reason == "PreemptionByScheduler")
    };
    priority(other) < priority(cycle.object) && other.meta.is_deleting() && for_preemption()
}

/// Sort key: violated budgets, highest priority, sum of priorities, number of victims, and their earliest start (later is better).
fn cost(candidate: &Candidate, now: Timestamp) -> (usize, i64, i64, usize, Reverse<Timestamp>) {
    let victims = &candidate.victims;
    let highest = victims.first().map_or(0, |o| priority(o));
    let sum = victims
        .iter()
        .map(|o| priority(o) + i64::from(i32::MAX) + 1)
        .sum();
    let most_important = victims.iter().filter(|o| priority(o) == highest);
    let earliest = most_important.map(|o| started(o, now)).min().unwrap_or(now);
    (
        candidate.violations,
        highest,
        sum,
        victims.len(),
        Reverse(earliest),
    )
}

fn started(object: &Object, now: Timestamp) -> Timestamp {
    object.body::<Pod>().status.start_time.unwrap_or(now)
}

/// Selects the victims: removes all Pods of lower priority and adds back, highest priority first, those that may stay.
fn select_victims(
    cycle: &Cycle<'_>,
    name: &Str,
    mut possible: Vec<Rc<Object>>,
    nodes: &mut Nodes,
    budgets: &[Rc<Object>],
    now: Timestamp,
) -> Result<Candidate, Refusal> {
    possible.sort_by(|a, b| (priority(b), started(a, now)).cmp(&(priority(a), started(b, now))));
    let whole = nodes.clone();
    for pod in &possible {
        nodes.change(name, |info| info.remove(pod));
    }
    let result = match fits(cycle, name, nodes) {
        Some(refusal) => Err(refusal),
        None => {
            let (violating, harmless) = by_budget(possible, budgets);
            let (mut victims, mut violations) = (Vec::new(), 0);
            for (pod, violates) in violating
                .into_iter()
                .map(|p| (p, true))
                .chain(harmless.into_iter().map(|p| (p, false)))
            {
                nodes.change(name, |info| info.add(&pod));
                if fits(cycle, name, nodes).is_some() {
                    nodes.change(name, |info| info.remove(&pod));
                    violations += usize::from(violates);
                    victims.push(pod);
                }
            }
            victims.sort_by(|a, b| {
                (priority(b), started(a, now)).cmp(&(priority(a), started(b, now)))
            });
            Ok(Candidate {
                node: name.clone(),
                victims,
                violations,
            })
        }
    };
    *nodes = whole;
    result
}

/// Returns a node's refusal of the Pod in a modified cluster.
fn fits(cycle: &Cycle<'_>, name: &Str, nodes: &Nodes) -> Option<Refusal> {
    let changed = Cycle::new(cycle.object, cycle.pod, cycle.cache, nodes, cycle.nominated);
    let info = nodes.get(name)?;
    refusal(&changed, name, info.node.as_ref()?, info)
}

/// Splits Pods by whether their eviction violates a budget.
fn by_budget(pods: Vec<Rc<Object>>, budgets: &[Rc<Object>]) -> (Vec<Rc<Object>>, Vec<Rc<Object>>) {
    let mut allowed: Vec<i32> = budgets
        .iter()
        .map(|b| BudgetStatus::of(b).disruptions_allowed)
        .collect();
    let mut violates = |pod: &Rc<Object>| {
        let mut violated = false;
        for (budget, allowed) in budgets.iter().zip(&mut allowed) {
            let spec = BudgetSpec::of(budget);
            let empty = spec.selector.as_ref().is_none_or(|s| s.is_empty());
            let applies = budget.meta.namespace == pod.meta.namespace
                && !pod.meta.labels.is_empty()
                && !empty
                && spec.selects(pod);
            if applies
                && !BudgetStatus::of(budget)
                    .disrupted_pods
                    .contains_key(pod.meta.name.as_str())
            {
                *allowed -= 1;
                violated |= *allowed < 0;
            }
        }
        violated
    };
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for pod in pods {
        if violates(&pod) {
            yes.push(pod)
        } else {
            no.push(pod)
        }
    }
    (yes, no)
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::ObjectMeta;
    use k8s_model::{Body, Uid};

    fn candidate(violations: usize, priorities: &[i32], started: i64) -> Candidate {
        let victim = |priority: &i32| {
            let spec = serde_json::json!({"priority": priority, "containers": []});
            let mut pod = Pod {
                spec: k8s_model::pod::PodSpec::from_raw(spec).unwrap(),
                ..Default::default()
            };
            pod.status.start_time = Some(Timestamp::new(started));
            Rc::new(Object {
                kind: Kind::Pod,
                meta: ObjectMeta {
                    uid: Uid(1),
                    ..Default::default()
                },
                body: Body::Pod(Box::new(pod)),
            })
        };
        Candidate {
            node: "n".into(),
            victims: priorities.iter().map(victim).collect(),
            violations,
        }
    }

    #[test]
    fn the_node_where_least_is_lost_is_chosen() {
        let cases = [
            (
                "no budget is violated",
                candidate(0, &[9, 9], 0),
                candidate(1, &[0], 0),
            ),
            (
                "the highest priority is lower",
                candidate(0, &[1, 1, 1], 0),
                candidate(0, &[2], 0),
            ),
            (
                "the sum is lower",
                candidate(0, &[2, 1], 0),
                candidate(0, &[2, 2], 0),
            ),
            ("fewer go", candidate(0, &[2], 0), candidate(0, &[2, 2], 0)),
            (
                "the most important ran for a shorter time",
                candidate(0, &[2], 7),
                candidate(0, &[2], 3),
            ),
        ];
        for (name, better, worse) in cases {
            assert!(
                cost(&better, Timestamp::new(9)) < cost(&worse, Timestamp::new(9)),
                "{name}"
            );
        }
    }
}
