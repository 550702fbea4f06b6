//! Totals of an owner's Pods, updated with each change, so that a controller that needs only numbers does not visit the Pods.
//!
//! Guarantees: the totals match the Pods in the cache; with too many distinct label sets to track, they are
//! reported as unknown.

use k8s_model::{Labels, Object, Uid};
use std::rc::Rc;

/// Maximum number of label sets tracked per owner: those of its template, times the zones its Pods run in.
const MAX_LABEL_SETS: usize = 16;

/// Totals of an owner's Pods with equal labels.
#[derive(Clone, Debug, Default)]
pub struct LabelCounts {
    /// Labels of the Pods.
    pub labels: Labels,
    /// Number of Pods.
    pub pods: usize,
    /// Number of active Pods: neither terminal nor terminating.
    pub active: usize,
    /// Number of active Pods that are ready.
    pub ready: usize,
    /// Number of terminating Pods that are not in a terminal phase.
    pub terminating: usize,
}

/// Totals of all Pods that an owner controls.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    alike: Vec<LabelCounts>,
    /// True once too many label sets were seen.
    unknown: bool,
}

impl Tally {
    /// Returns the totals by labels; `None` if unknown.
    pub fn alike(&self) -> Option<&[LabelCounts]> {
        (!self.unknown).then_some(&self.alike)
    }

    /// Applies a change of an object; objects not controlled by the owner are ignored.
    pub fn change(&mut self, owner: Uid, before: Option<&Object>, after: Option<&Object>) {
        if self.unknown {
            return;
        }
        let is_pod =
            |object: &&Object| object.pod().is_some() && object.meta.is_controlled_by(owner);
        if let Some(object) = after.filter(is_pod) {
            self.add(object, 1);
        }
        if let Some(object) = before.filter(is_pod) {
            self.add(object, -1);
        }
    }

    fn add(&mut self, object: &Object, by: isize) {
        let Some(pod) = object.pod() else { return };
        let labels = &object.meta.labels;
        let known = self
            .alike
            .iter()
            .position(|a| Rc::ptr_eq(&a.labels, labels) || a.labels == *labels);
        let at = known.unwrap_or_else(|| {
            self.alike.push(LabelCounts {
                labels: labels.clone(),
                ..Default::default()
            });
            self.alike.len() - 1
        });
        let (ended, leaving) = (pod.is_terminal(), object.meta.is_deleting());
        let alike = &mut self.alike[at];
        let count =
            |n: &mut usize, counts: bool| *n = n.wrapping_add_signed(if counts { by } else { 0 });
        count(&mut alike.pods, true);
        count(&mut alike.active, !ended && !leaving);
        count(&mut alike.ready, !ended && !leaving && pod.is_ready());
        count(&mut alike.terminating, !ended && leaving);
        if alike.pods == 0 {
            self.alike.remove(at);
        } else if self.alike.len() > MAX_LABEL_SETS {
            self.unknown = true;
            self.alike = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::pod::{Pod, PodCondition};
    use k8s_model::{Body, Kind, ObjectMeta, OwnerReference, Timestamp};

    const OWNER: Uid = Uid(7);

    fn pod(app: &str, controlled: bool, ready: bool, leaving: bool, phase: &str) -> Object {
        let reference = OwnerReference {
            controller: Some(controlled),
            uid: OWNER,
            ..Default::default()
        };
        let mut meta = ObjectMeta {
            owner_references: Rc::new(vec![reference]),
            ..Default::default()
        };
        Rc::make_mut(&mut meta.labels).insert("app".into(), app.into());
        meta.deletion_timestamp = leaving.then_some(Timestamp::new(1));
        let mut pod = Pod::default();
        pod.status.phase = phase.into();
        pod.status.conditions.push(PodCondition {
            kind: "Ready".into(),
            status: if ready { "True" } else { "False" }.into(),
            ..Default::default()
        });
        Object {
            kind: Kind::Pod,
            meta,
            body: Body::Pod(Box::new(pod)),
        }
    }

    fn numbers(tally: &Tally) -> Option<Vec<(usize, usize, usize, usize)>> {
        Some(
            tally
                .alike()?
                .iter()
                .map(|a| (a.pods, a.active, a.ready, a.terminating))
                .collect(),
        )
    }

    #[test]
    fn pods_are_counted_as_they_come_change_and_go() {
        let mut tally = Tally::default();
        let (waits, runs) = (
            pod("web", true, false, false, "Pending"),
            pod("web", true, true, false, "Running"),
        );
        let (leaves, ended) = (
            pod("web", true, true, true, "Running"),
            pod("web", true, false, true, "Succeeded"),
        );
        let steps = [
            (None, Some(&waits), vec![(1, 1, 0, 0)]),
            (Some(&waits), Some(&runs), vec![(1, 1, 1, 0)]),
            (None, Some(&waits), vec![(2, 2, 1, 0)]),
            (Some(&runs), Some(&leaves), vec![(2, 1, 0, 1)]),
            (Some(&leaves), Some(&ended), vec![(2, 1, 0, 0)]),
            (Some(&ended), None, vec![(1, 1, 0, 0)]),
            (
                None,
                Some(&pod("web", false, true, false, "Running")),
                vec![(1, 1, 0, 0)],
            ),
            (
                None,
                Some(&pod("db", true, true, false, "Running")),
                vec![(1, 1, 0, 0), (1, 1, 1, 0)],
            ),
            (Some(&waits), None, vec![(1, 1, 1, 0)]),
        ];
        for (i, (before, after, expected)) in steps.into_iter().enumerate() {
            tally.change(OWNER, before, after);
            assert_eq!(numbers(&tally), Some(expected), "step {i}");
        }
    }

    #[test]
    fn too_many_sets_of_labels_are_not_counted() {
        let mut tally = Tally::default();
        for i in 0..=MAX_LABEL_SETS {
            assert!(tally.alike().is_some(), "{i}");
            tally.change(
                OWNER,
                None,
                Some(&pod(&format!("web-{i}"), true, true, false, "Running")),
            );
        }
        assert!(tally.alike().is_none());
    }
}
