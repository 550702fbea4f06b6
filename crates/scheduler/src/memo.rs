//! Cached verdicts of every node for Pods of one template: a cycle for another such Pod evaluates only nodes that have changed.
//!
//! Guarantees: the choice, and the reasons that there is none, equal those of a full cycle, which debug builds verify; Pods whose
//! placement depends on more than their template and the node's totals use a full cycle.

use super::FitError;
use super::filters;
use super::framework::{Cycle, NodeChoice};
use super::matching::fits_affinity;
use super::node_info::NodeInfo;
use super::schedule_one::refusal;
use super::scores::topology_spread;
use crate::scores;
use k8s_model::pod::PodSpec;
use k8s_model::{Str, Uid};
use std::rc::Rc;

/// Maximum number of templates in the cache.
const MAX_TEMPLATES: usize = 256;
const NO_ZONE: u16 = u16::MAX;

/// Verdict of a node for one template.
#[derive(Clone, Copy, Debug)]
struct NodeVerdict {
    fits: bool,
    /// True if the template's affinity allows the node, regardless of free resources.
    eligible: bool,
    zone: u16,
    /// Number of Pods of the same controller.
    alike: i32,
    /// Part of the score that does not depend on other nodes.
    score: i32,
}

/// Pods of one template.
#[derive(Debug)]
struct TemplateClass {
    spec: Rc<PodSpec>,
    /// Controller whose Pods are spread.
    owner: Option<Uid>,
    /// Number of node changes already applied.
    seen: u64,
    verdicts: Vec<NodeVerdict>,
    zones: Vec<Str>,
    /// Reason why the last Pod of this template fitted no node; valid until a node changes.
    refused: Option<FitError>,
}

/// Cached result for a Pod.
pub(super) enum Placement {
    /// Chosen node.
    Fits(NodeChoice),
    /// No node fits, and no preemption is possible.
    FitsNowhere(FitError),
    /// A full cycle is needed.
    Unknown,
}

/// Templates of the last cycles, the latest last. A clone starts empty.
#[derive(Debug, Default)]
pub(super) struct Memo {
    classes: Vec<TemplateClass>,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        Memo::default()
    }
}

impl Memo {
    /// Returns the number of templates with cached verdicts, and of those that fit no node.
    pub fn cached_templates(&self) -> (usize, usize) {
        (
            self.classes.len(),
            self.classes
                .iter()
                .filter(|class| class.refused.is_some())
                .count(),
        )
    }

    /// Returns the cached result for a Pod.
    pub fn choose(&mut self, cycle: &Cycle<'_>) -> Placement {
        if !is_plain(cycle) {
            return Placement::Unknown;
        }
        let owner = topology_spread::owner(cycle);
        let known = self
            .classes
            .iter()
            .rposition(|class| Rc::ptr_eq(&class.spec, &cycle.pod.spec) && class.owner == owner);
        let mut class = match known {
            Some(at) => self.classes.remove(at),
            None => TemplateClass {
                spec: cycle.pod.spec.clone(),
                owner,
                seen: 0,
                verdicts: Vec::new(),
                zones: Vec::new(),
                refused: None,
            },
        };
        let placement = class.placement(cycle);
        if self.classes.len() >= MAX_TEMPLATES {
            self.classes.remove(0);
        }
        self.classes.push(class);
        placement
    }

    /// Records the reason why a full cycle for the last Pod found no node.
    pub fn refuse(&mut self, cycle: &Cycle<'_>, error: &FitError) {
        if let Some(class) = self
            .classes
            .last_mut()
            .filter(|class| Rc::ptr_eq(&class.spec, &cycle.pod.spec) && is_plain(cycle))
        {
            class.refused = Some(error.clone());
        }
    }
}

/// Returns true if a node's verdict depends on the Pod's template and the node alone, apart from the spread of its controller's Pods.
fn is_plain(cycle: &Cycle<'_>) -> bool {
    cycle.nominated.is_empty()
        && cycle.pod.status.nominated_node_name.is_empty()
        && cycle.pod.spec.topology_spread_constraints.is_empty()
        && !scores::any_special(cycle)
        && !filters::any_special(cycle)
}

impl TemplateClass {
    fn placement(&mut self, cycle: &Cycle<'_>) -> Placement {
        if self.seen != cycle.nodes.changes() || self.verdicts.len() != cycle.nodes.len() {
            self.catch_up(cycle);
            self.refused = None;
        }
        match &self.refused {
            Some(refused) => Placement::FitsNowhere(refused.clone()),
            None => self
                .choose(cycle)
                .map_or(Placement::Unknown, Placement::Fits),
        }
    }

    /// Evaluates the nodes that have changed since the last time.
    fn catch_up(&mut self, cycle: &Cycle<'_>) {
        match cycle
            .nodes
            .changed_since(self.seen)
            .filter(|_| self.verdicts.len() == cycle.nodes.len())
        {
            Some(changed) => {
                for at in changed {
                    if let Some((name, info)) = cycle.nodes.nth(*at as usize) {
                        self.verdicts[*at as usize] = self.judge(cycle, name, info);
                    }
                }
            }
            None => {
                self.verdicts.clear();
                for (name, info) in cycle.nodes.iter() {
                    let verdict = self.judge(cycle, name, info);
                    self.verdicts.push(verdict);
                }
            }
        }
        self.seen = cycle.nodes.changes();
    }

    fn judge(&mut self, cycle: &Cycle<'_>, name: &Str, info: &NodeInfo) -> NodeVerdict {
        let zone = info.zone.as_ref().map_or(NO_ZONE, |zone| {
            let known = self
                .zones
                .iter()
                .position(|known| known == zone)
                .unwrap_or_else(|| {
                    self.zones.push(zone.clone());
                    self.zones.len() - 1
                });
            known as u16
        });
        let fits = info
            .node
            .as_ref()
            .is_some_and(|node| refusal(cycle, name, node, info).is_none());
        let eligible = info
            .node
            .as_ref()
            .is_some_and(|node| fits_affinity(&cycle.pod.spec, node));
        let alike = self
            .owner
            .map_or(0, |owner| topology_spread::alike(info, owner)) as i32;
        let score = if fits {
            scores::alone(cycle, info) as i32
        } else {
            0
        };
        NodeVerdict {
            fits,
            eligible,
            zone,
            alike,
            score,
        }
    }

    /// Returns the best node, including the spread of the controller's Pods.
    fn choose(&self, cycle: &Cycle<'_>) -> Option<NodeChoice> {
        let fitting = || self.verdicts.iter().filter(|verdict| verdict.fits);
        // Number of Pods in each zone that has a node.
        let mut zones: Vec<Option<i64>> = vec![None; self.zones.len()];
        if !zones.is_empty() {
            fitting()
                .filter(|verdict| verdict.zone != NO_ZONE)
                .for_each(|verdict| zones[verdict.zone as usize] = Some(0));
            for verdict in self
                .verdicts
                .iter()
                .filter(|verdict| verdict.eligible && verdict.zone != NO_ZONE)
            {
                if let Some(count) = &mut zones[verdict.zone as usize] {
                    *count += i64::from(verdict.alike);
                }
            }
        }
        let spread =
            topology_spread::Defaults::new(fitting().count(), zones.iter().flatten().count());
        // Neighbouring nodes mostly have the same counts.
        let mut last = (0, NO_ZONE, spread.cost(0, None));
        let mut cost = |verdict: &NodeVerdict| {
            if (verdict.alike, verdict.zone) != (last.0, last.1) {
                let zone = zones.get(verdict.zone as usize).copied().flatten();
                last = (
                    verdict.alike,
                    verdict.zone,
                    spread.cost(i64::from(verdict.alike), zone),
                );
            }
            last.2
        };
        let mut range = topology_spread::CostRange::default();
        if self.owner.is_some() {
            fitting().for_each(|verdict| range.take(cost(verdict)));
        }
        let mut total = |verdict: &NodeVerdict| {
            let spread = if self.owner.is_some() {
                range.score(cost(verdict))
            } else {
                0
            };
            topology_spread::WEIGHT * spread + i64::from(verdict.score)
        };
        let names = cycle.nodes.iter().map(|(name, _)| name);
        NodeChoice::of(
            names
                .zip(&self.verdicts)
                .filter(|(_, verdict)| verdict.fits)
                .map(|(name, verdict)| (name, total(verdict))),
        )
    }
}
