//! Virtualization: which items of a scene are in the document.

use crate::shape::{Item, Scene};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Number of items above which those far out of view are not in the document.
pub const MAX_WHOLE_ITEMS: usize = 150;
/// Items added and removed per frame: the browser lays out each added item text by text.
pub const ITEMS_ADDED: usize = 8;
/// Items added in a frame in which a picture of many items is drawn as well, or a part of the next one is made.
pub const ITEMS_ADDED_MEANWHILE: usize = 4;
const ITEMS_REMOVED: usize = 48;

/// Items in the document.
#[derive(Clone, Debug, Default)]
pub struct Mounted {
    /// Indices in the scene.
    shown: Vec<usize>,
    uids: BTreeSet<String>,
}

impl Mounted {
    /// Returns the mounted items with their indices in the scene.
    pub fn shown<'a>(
        &'a self,
        scene: &'a Scene,
    ) -> impl Iterator<Item = (usize, &'a Rc<Item>)> + Clone {
        self.shown
            .iter()
            .filter_map(|index| Some((*index, scene.items.get(*index)?)))
    }

    /// Resets for another picture: none of its items are mounted yet.
    pub fn clear(&mut self) {
        self.uids.clear();
    }

    /// Returns true if none is mounted.
    pub fn is_empty(&self) -> bool {
        self.uids.is_empty()
    }

    /// Updates which items are in the document: at most `room` new ones are added while mounted ones stay, and items are removed in parts
    /// too, since removing very many at once is slow. `stop` has the keyboard focus. Returns true if more items are to be added or removed.
    pub fn admit(
        &mut self,
        scene: &Scene,
        stop: usize,
        mut room: usize,
        sees: &dyn Fn(&Item) -> bool,
    ) -> bool {
        let items = &scene.items;
        let whole = items.len() <= MAX_WHOLE_ITEMS;
        let (mut goes, mut late) = (ITEMS_REMOVED, false);
        let mut stays = |item: &Item| {
            let there = self.uids.contains(&item.id.uid);
            let stays = there && goes == 0;
            late |= stays;
            goes -= usize::from(there && !stays);
            stays
        };
        // An item without Pods has no height, and nothing to see.
        let belongs = |item: &Item| item.rect.h > 0.0 && (whole || sees(item));
        let seen =
            |(index, item): &(usize, &Rc<Item>)| *index == stop || belongs(item) || stays(item);
        let sight: Vec<usize> = items
            .iter()
            .enumerate()
            .filter(seen)
            .map(|(index, _)| index)
            .collect();
        let mut waits = late;
        let shown = sight.into_iter().filter(|index| {
            let there = *index == stop || self.uids.contains(&items[*index].id.uid);
            let comes = !there && room > 0;
            room -= usize::from(comes);
            waits |= !there && !comes;
            there || comes
        });
        let shown: Vec<usize> = shown.collect();
        self.uids = shown
            .iter()
            .map(|index| items[*index].id.uid.clone())
            .collect();
        self.shown = shown;
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{CardBody, Rect};
    use projection::model::Id;

    fn scene(items: usize) -> Scene {
        let mut scene = Scene::default();
        for at in 0..items {
            let id = Id {
                uid: at.to_string(),
                ..Id::default()
            };
            scene.put(
                &id,
                Rect::new(0.0, at as f64, 10.0, 1.0),
                CardBody::Note(Default::default()),
                None,
                "",
                "",
            );
        }
        scene
    }

    fn first(n: usize) -> impl Fn(&Item) -> bool {
        move |item| item.rect.y < n as f64
    }

    #[test]
    fn few_items_are_mounted_at_once_and_more_soon_seen_or_not() {
        let (mut mounted, few) = (Mounted::default(), scene(ITEMS_ADDED));
        assert!(!mounted.admit(&few, 0, ITEMS_ADDED, &|_| false));
        assert_eq!(mounted.shown(&few).count(), ITEMS_ADDED);
        let (mut mounted, most) = (Mounted::default(), scene(MAX_WHOLE_ITEMS));
        let rounds = std::iter::from_fn(|| {
            mounted
                .admit(&most, 0, ITEMS_ADDED, &|_| false)
                .then_some(())
        })
        .count();
        assert_eq!(
            (rounds, mounted.shown(&most).count()),
            (MAX_WHOLE_ITEMS / ITEMS_ADDED, MAX_WHOLE_ITEMS)
        );
    }

    #[test]
    fn many_visible_items_are_mounted_in_parts() {
        let (mut mounted, scene) = (Mounted::default(), scene(400));
        let mut rounds = 0;
        while mounted.admit(&scene, 0, ITEMS_ADDED, &first(100)) {
            rounds += 1;
            assert_eq!(mounted.shown(&scene).count(), 1 + rounds * ITEMS_ADDED);
        }
        assert_eq!(mounted.shown(&scene).count(), 100);
    }

    #[test]
    fn without_room_what_is_mounted_stays_and_what_is_new_waits() {
        let (mut mounted, scene) = (Mounted::default(), scene(400));
        assert!(mounted.admit(&scene, 0, ITEMS_ADDED, &first(100)));
        let before = mounted.shown(&scene).count();
        assert!(mounted.admit(&scene, 0, 0, &first(100)));
        assert_eq!(mounted.shown(&scene).count(), before);
    }

    #[test]
    fn hidden_items_are_unmounted_in_parts_except_the_focused_one() {
        let (mut mounted, scene) = (Mounted::default(), scene(400));
        while mounted.admit(&scene, 5, ITEMS_ADDED, &first(100)) {}
        assert!(mounted.admit(&scene, 5, ITEMS_ADDED, &|_| false));
        assert_eq!(mounted.shown(&scene).count(), 100 - ITEMS_REMOVED);
        while mounted.admit(&scene, 5, ITEMS_ADDED, &|_| false) {}
        assert_eq!(
            mounted.shown(&scene).map(|(at, _)| at).collect::<Vec<_>>(),
            [5]
        );
    }
}
