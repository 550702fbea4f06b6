//! How ReplicaSets were last scaled.

use super::run::Run;
use crate::api::{Kind, Uid};
use crate::engine::Record;
use crate::explain::words;
use crate::i18n::{Arg, Message};
use crate::projection::model::{Model, Root};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Entries looked back for the last scale when an update is first seen; from there on it is kept.
const LOOKBACK_ENTRIES: usize = 100_000;

/// Whether a Deployment has Pods of several revisions.
pub fn updates(root: &Root) -> bool {
    root.groups.len() > 1 && root.controller.as_ref().is_some_and(|of| of.id.kind == "Deployment")
}

/// How ReplicaSets were last scaled, up to an entry of the history.
#[derive(Default)]
pub struct LastScale {
    epoch: u64,
    read: usize,
    sizes: BTreeMap<Uid, String>,
}

impl LastScale {
    /// During an update each ReplicaSet shows how it was last scaled.
    pub fn label(&mut self, run: &Run, model: &mut Model) {
        let happened = run.happened();
        if self.epoch != run.epoch || self.read > happened {
            *self = LastScale { epoch: run.epoch, ..LastScale::default() };
        }
        let from = happened.saturating_sub(LOOKBACK_ENTRIES);
        if self.read < from {
            // What came between is not known.
            self.sizes.clear();
        }
        let from = self.read.max(from);
        for entry in run.journal().first(happened).from(from).iter() {
            let Record::Write { object, before: Some(before), .. } = &entry.record else { continue };
            if object.kind == Kind::ReplicaSet
                && let Some(sizes) = words::scaled(before, object)
            {
                self.sizes.insert(object.meta.uid, sizes);
            }
        }
        self.read = happened;
        for group in model.roots.iter_mut().filter(|root| updates(root)).flat_map(|root| &mut root.groups) {
            let Some(set) = group.controller.as_mut().filter(|set| set.chip.is_empty()) else { continue };
            if let Some(sizes) = Uid::parse(&set.id.uid).and_then(|uid| self.sizes.get(&uid)) {
                Rc::make_mut(set).chip = Message::only(Arg::Change(sizes.as_str().into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::session::Msg;
    use crate::session::State;
    use crate::session::examples;
    use crate::session::tests::settled;
    use crate::views::shape::Body;
    use crate::views::shape::Item;
    use std::rc::Rc;

    /// However much else is written while an update stands still.
    #[test]
    fn how_a_replicaset_was_scaled_is_told_as_long_as_its_update_lasts() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::Kubectl("kubectl scale deployment/nginx-deployment --replicas=4".into()));
        state.update(Msg::Seconds(10));
        state.update(Msg::Kubectl("kubectl set image deployment/nginx-deployment nginx=nginx:1.161".into()));
        state.update(Msg::Seconds(60));
        let chips = |state: &mut State| -> Vec<String> {
            let of = |item: &Rc<Item>| match &item.body {
                Body::Controller { of, .. } if of.id.kind == "ReplicaSet" && of.id.name.starts_with("nginx-") => Some(of.chip.to_string()),
                _ => None,
            };
            state.picture().scene.items.iter().filter_map(of).filter(|chip| chip.contains('→')).collect()
        };
        let told = chips(&mut state);
        assert!(!told.is_empty());
        let before = state.timeline.run.happened();
        for at in 0..30 {
            state.update(Msg::Kubectl(format!("kubectl create deployment other-{at} --image=nginx --replicas=30")));
            state.update(Msg::Seconds(5));
            state.update(Msg::Kubectl(format!("kubectl delete deployment other-{at}")));
            state.update(Msg::Seconds(5));
            state.picture();
        }
        assert!(state.timeline.run.happened() > before + 4_000);
        assert_eq!(chips(&mut state), told);
        // As it was then, also when it is looked at again from a time before it.
        state.update(Msg::Seek(2_000));
        assert_eq!(chips(&mut state), Vec::<String>::new());
        state.update(Msg::Live);
        assert_eq!(chips(&mut state), told);
    }
}
