//! Objects of one kind: looked up by a hash of the key, listed by namespace and name.
//!
//! Guarantees: an object keeps its slot as long as it exists, whatever is written to it; the order of a list depends on the keys alone. A
//! tree of names would work too, but the names of one owner's Pods differ only in their last letters, and every search that a write needs
//! would compare them almost to the end.

use super::chunks::{ChunkRange, Chunks};
use super::index::Index;
use k8s_model::{Kind, Object};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// Index of an object in its table, stable for the object's lifetime.
pub type Slot = u32;

/// Objects of one kind.
#[derive(Clone, Debug, Default)]
pub struct Table {
    places: Chunks<Option<Rc<Object>>, 64>,
    /// Slots by the hash of their keys.
    index: Index,
    /// Slots in key order, once a list was requested; some may have been vacated since then.
    order: OnceCell<Rc<[Slot]>>,
    /// Order at the last list, the slots added since, and the number of those already sorted.
    before: Rc<[Slot]>,
    recent: Chunks<Slot, 256>,
    ahead: usize,
    /// Number of vacant slots; they are reused once the order is rebuilt without them.
    left: usize,
    free: Rc<Vec<Slot>>,
}

/// Tables by kind; custom kinds get theirs with their first object.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    all: Vec<Table>,
    empty: Table,
}

impl Tables {
    /// Returns the table of a kind.
    pub fn of(&self, kind: Kind) -> &Table {
        self.all.get(kind.index()).unwrap_or(&self.empty)
    }

    /// Returns the table of a kind, mutably.
    pub fn of_mut(&mut self, kind: Kind) -> &mut Table {
        let place = kind.index();
        if place >= self.all.len() {
            self.all.resize(place + 1, Table::default());
        }
        &mut self.all[place]
    }

    /// Returns every table, mutably.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.all.iter_mut()
    }
}

impl Table {
    /// Returns the slot of the object with this key.
    pub fn place(&self, namespace: &str, name: &str) -> Option<Slot> {
        let hash = hash(namespace, name);
        let is_named = |place: Slot| {
            self.at(place)
                .is_some_and(|o| o.meta.name == name && o.meta.namespace == namespace)
        };
        self.index.find(hash as u32, is_named)
    }

    /// Returns the object with this key.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Rc<Object>> {
        self.at(self.place(namespace, name)?)
    }

    /// Returns the object in a slot.
    pub fn at(&self, place: Slot) -> Option<&Rc<Object>> {
        self.places.get(place as usize)?.as_ref()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if the table has no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Inserts or replaces an object; returns its slot and the previous object.
    pub fn insert(&mut self, object: &Rc<Object>) -> (Slot, Option<Rc<Object>>) {
        if let Some(place) = self.place(&object.meta.namespace, &object.meta.name) {
            return (
                place,
                self.places.get_mut(place as usize).replace(object.clone()),
            );
        }
        (self.take_place(object), None)
    }

    fn take_place(&mut self, object: &Rc<Object>) -> Slot {
        let free = if self.free.is_empty() {
            None
        } else {
            Rc::make_mut(&mut self.free).pop()
        };
        let place = free.unwrap_or(self.places.len() as Slot);
        match free {
            Some(_) => *self.places.get_mut(place as usize) = Some(object.clone()),
            None => self.places.push(Some(object.clone())),
        }
        self.index.insert(
            hash(&object.meta.namespace, &object.meta.name) as u32,
            place,
        );
        self.unlist();
        self.recent.push(place);
        place
    }

    /// Removes the object with this key; returns its slot and the object.
    pub fn remove(&mut self, namespace: &str, name: &str) -> Option<(Slot, Rc<Object>)> {
        let place = self.place(namespace, name)?;
        self.index.remove(hash(namespace, name) as u32, place);
        let object = self.places.get_mut(place as usize).take()?;
        self.left += 1;
        if self.left > 64 && self.left > self.places.len() / 2 {
            self.sweep();
        }
        Some((place, object))
    }

    /// Returns all objects in unspecified order, without sorting.
    pub fn each(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.places.all().iter().flatten()
    }

    /// Returns the objects in a range of slots; `None` if it begins beyond the last one.
    pub fn some(&self, from: usize, most: usize) -> Option<impl Iterator<Item = &Rc<Object>>> {
        (from < self.places.len())
            .then(|| self.places.all().from(from).first(most).iter().flatten())
    }

    /// Returns all objects, by namespace and name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.listed().iter().filter_map(|place| self.at(*place))
    }

    /// Returns all objects of a namespace, by name.
    pub fn in_namespace<'a>(
        &'a self,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Rc<Object>> + use<'a> {
        self.listed()[self.span(namespace)]
            .iter()
            .filter_map(|place| self.at(*place))
    }

    /// Returns a snapshot of the objects of a namespace, or of all, for later iteration.
    pub fn listing(&self, namespace: Option<&str>) -> Listing {
        let order = self.listed().clone();
        let span = namespace.map_or(0..order.len(), |namespace| self.span(namespace));
        Listing {
            places: self.places.clone(),
            order,
            at: span.start,
            to: span.end,
        }
    }

    /// Returns the range of a namespace in the order.
    fn span(&self, namespace: &str) -> Range<usize> {
        let listed = self.listed();
        let start = self.front(listed, |o| o.meta.namespace.as_str() < namespace);
        start..start + self.front(&listed[start..], |o| o.meta.namespace == namespace)
    }

    /// Returns the slots in the order of their keys.
    fn listed(&self) -> &Rc<[Slot]> {
        self.order
            .get_or_init(|| self.merge(self.recent.all().from(self.ahead)))
    }

    /// Merges the slots added since the last list into its order.
    fn merge(&self, recent: ChunkRange<'_, Slot, 256>) -> Rc<[Slot]> {
        let mut recent: Vec<((&str, &str), Slot)> = recent
            .iter()
            .filter_map(|place| self.at(*place).map(|object| (key(object), *place)))
            .collect();
        recent.sort_unstable();
        let mut order = Vec::with_capacity(self.before.len() + recent.len());
        let mut rest = &*self.before;
        for (name, place) in recent {
            let (smaller, larger) = rest.split_at(self.front(rest, |object| key(object) < name));
            order.extend_from_slice(smaller);
            order.push(place);
            rest = larger;
        }
        order.extend_from_slice(rest);
        order.into()
    }

    /// Returns the length of the prefix of sorted slots whose objects match.
    fn front(&self, listed: &[Slot], passes: impl Fn(&Rc<Object>) -> bool) -> usize {
        let (mut from, mut to) = (0, listed.len());
        while from < to {
            let middle = from.midpoint(to);
            // A vacant slot has no key: the next occupied one is used instead.
            match listed[middle..to].iter().find_map(|place| self.at(*place)) {
                Some(object) if passes(object) => from = middle + 1,
                _ => to = middle,
            }
        }
        from
    }

    /// Invalidates the order.
    fn unlist(&mut self) {
        if let Some(order) = self.order.take() {
            self.before = order;
            (self.recent, self.ahead) = (Chunks::default(), 0);
        }
    }

    /// Sorts up to `most` of the objects added since the last list, if there are very many, so that the next list is fast.
    /// Returns true if any were sorted.
    pub fn settle(&mut self, most: usize) -> bool {
        let recent = self.recent.all().from(self.ahead);
        if self.order.get().is_some() || recent.len() <= most {
            return false;
        }
        self.before = self.merge(recent.first(most));
        self.ahead += most;
        true
    }

    /// Rebuilds the order without the vacant slots, and frees them.
    fn sweep(&mut self) {
        self.before = self
            .listed()
            .iter()
            .copied()
            .filter(|place| self.at(*place).is_some())
            .collect();
        self.order = OnceCell::new();
        (self.recent, self.ahead) = (Chunks::default(), 0);
        self.free = Rc::new(
            (0..self.places.len() as Slot)
                .rev()
                .filter(|place| self.at(*place).is_none())
                .collect(),
        );
        self.left = 0;
    }
}

/// Snapshot of a list at one instant, unaffected by later writes; cheap to create, however long it is.
#[derive(Clone, Debug)]
pub struct Listing {
    places: Chunks<Option<Rc<Object>>, 64>,
    order: Rc<[Slot]>,
    at: usize,
    to: usize,
}

impl Listing {
    /// Creates a list of objects in the given order.
    pub fn of(objects: impl IntoIterator<Item = Rc<Object>>) -> Listing {
        let mut places = Chunks::default();
        objects
            .into_iter()
            .for_each(|object| places.push(Some(object)));
        let to = places.len();
        Listing {
            places,
            order: (0..to as Slot).collect(),
            at: 0,
            to,
        }
    }
}

impl Iterator for Listing {
    type Item = Rc<Object>;

    fn next(&mut self) -> Option<Rc<Object>> {
        let there = |place: &Slot| self.places.get(*place as usize).and_then(Option::clone);
        let rest = &self.order[self.at..self.to];
        let found = rest
            .iter()
            .enumerate()
            .find_map(|(i, place)| Some((i, there(place)?)));
        self.at = found.as_ref().map_or(self.to, |(i, _)| self.at + i + 1);
        found.map(|(_, object)| object)
    }
}

fn key(object: &Rc<Object>) -> (&str, &str) {
    (&object.meta.namespace, &object.meta.name)
}

/// Hashes two strings, eight bytes at a time, since they are short and many.
pub fn hash(first: &str, second: &str) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let mut hash = first.len() as u64;
    for text in [first, second] {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        for word in words {
            hash = mix(hash, u64::from_le_bytes(*word));
        }
        hash = mix(
            hash,
            rest.iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        );
    }
    // The high bits are mixed best; fold them into the low ones.
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use k8s_model::{Body, ObjectMeta};
    use std::collections::BTreeMap;

    fn object(namespace: &str, name: &str, version: u64) -> Rc<Object> {
        let meta = ObjectMeta {
            namespace: namespace.into(),
            name: name.into(),
            resource_version: version,
            ..Default::default()
        };
        Rc::new(Object {
            kind: Kind::ConfigMap,
            meta,
            body: Body::Other(Default::default()),
        })
    }

    #[test]
    fn a_table_behaves_like_a_btree_map_by_name() {
        let (mut table, mut tree, mut rng) = (Table::default(), BTreeMap::new(), Rng::new(7));
        let mut lists: Vec<(Listing, Vec<Rc<Object>>)> = Vec::new();
        for step in 0..20_000 {
            let (namespace, name) = (
                format!("ns-{}", rng.below(3)),
                format!("web-{}", rng.below(300)),
            );
            let key = (namespace.clone(), name.clone());
            // The table grows and shrinks, so that many slots are vacated and reused.
            let removes = if step / 2_000 % 2 == 0 { 3 } else { 7 };
            if rng.below(10) < removes {
                assert_eq!(
                    table.remove(&namespace, &name).map(|(_, o)| o),
                    tree.remove(&key),
                    "{step}"
                );
            } else {
                let new = object(&namespace, &name, step);
                assert_eq!(
                    table.insert(&new).1,
                    tree.insert(key.clone(), new),
                    "{step}"
                );
            }
            assert_eq!(table.get(&namespace, &name), tree.get(&key), "{step}");
            assert_eq!(table.len(), tree.len(), "{step}");
            if rng.below(15) == 0 {
                table.settle(20);
            }
            if rng.below(20) == 0 {
                assert!(table.iter().eq(tree.values()), "{step}");
                assert!(table.iter().rev().eq(tree.values().rev()), "{step}");
                let of = |namespace: &str| {
                    tree.iter()
                        .filter(|((n, _), _)| n == namespace)
                        .map(|(_, o)| o)
                        .collect::<Vec<_>>()
                };
                assert!(table.in_namespace("ns-1").eq(of("ns-1")), "{step}");
                assert!(table.in_namespace("ns-9").eq(of("ns-9")), "{step}");
                let (all, own) = (table.listing(None), table.listing(Some("ns-2")));
                let then: Vec<Rc<Object>> = tree.values().cloned().collect();
                lists.push((all, then));
                assert!(own.eq(of("ns-2").into_iter().cloned()), "{step}");
            }
        }
        // Each list shows the objects of its instant.
        for (list, then) in lists {
            assert!(list.eq(then));
        }
    }

    #[test]
    fn an_object_keeps_its_place_while_others_come_and_go() {
        let mut table = Table::default();
        let (place, _) = table.insert(&object("ns", "stays", 1));
        for i in 0..500 {
            table.insert(&object("ns", &format!("goes-{i}"), 1));
        }
        for i in 0..500 {
            table.remove("ns", &format!("goes-{i}"));
        }
        assert_eq!(table.insert(&object("ns", "stays", 2)).0, place);
        assert_eq!(table.at(place).unwrap().meta.resource_version, 2);
    }
}
