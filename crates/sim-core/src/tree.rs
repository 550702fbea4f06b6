//! Sorted map whose copies share its leaves, so that a checkpoint does not copy per-Pod state.
//!
//! Guarantees: it behaves like `BTreeMap`, with the same order; a copy costs one reference count per leaf and never changes,
//! because a shared leaf is cloned before it is written.

use super::chunks::own;
use std::collections::VecDeque;
use std::rc::Rc;

/// Maximum entries per leaf.
const MAX_LEAF_ENTRIES: usize = 32;

/// Sorted map.
#[derive(Clone, Debug)]
pub struct Tree<K: 'static, V: 'static> {
    leaves: VecDeque<Leaf<K, V>>,
    len: usize,
}

/// Run of neighbouring entries, never empty.
#[derive(Clone, Debug)]
struct Leaf<K, V> {
    /// Lower bound of the keys, except in the first leaf.
    from: K,
    entries: Rc<Vec<(K, V)>>,
}

impl<K, V> Drop for Tree<K, V> {
    fn drop(&mut self) {
        super::deferred_drop::drop_later(Vec::from(std::mem::take(&mut self.leaves)));
    }
}

impl<K, V> Default for Tree<K, V> {
    fn default() -> Self {
        Tree {
            leaves: VecDeque::new(),
            len: 0,
        }
    }
}

impl<K: Ord + Clone, V: Clone> Tree<K, V> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the leaf of a key and its position there, or the position where it would be inserted.
    fn find(&self, key: &K) -> (usize, Result<usize, usize>) {
        let at = self
            .leaves
            .partition_point(|leaf| leaf.from <= *key)
            .saturating_sub(1);
        (
            at,
            self.leaves.get(at).map_or(Err(0), |leaf| {
                leaf.entries.binary_search_by(|(known, _)| known.cmp(key))
            }),
        )
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let (at, Ok(place)) = self.find(key) else {
            return None;
        };
        Some(&self.leaves[at].entries[place].1)
    }

    /// Returns true if the key exists.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Returns the value of a key, mutably.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let (at, Ok(place)) = self.find(key) else {
            return None;
        };
        Some(&mut own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES)[place].1)
    }

    /// Returns the value of a key, mutably, inserted if missing.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let (at, place) = match self.find(&key) {
            (at, Ok(place)) => (at, place),
            (at, Err(place)) => self.put(at, place, key, make()),
        };
        &mut own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES)[place].1
    }

    /// Inserts a value; returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            (at, Ok(place)) => Some(std::mem::replace(
                &mut own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES)[place].1,
                value,
            )),
            (at, Err(place)) => {
                self.put(at, place, key, value);
                None
            }
        }
    }

    /// Inserts a new entry and returns its position.
    fn put(&mut self, mut at: usize, mut place: usize, key: K, value: V) -> (usize, usize) {
        let is_last = at + 1 >= self.leaves.len();
        let full = self
            .leaves
            .get(at)
            .is_none_or(|leaf| leaf.entries.len() == MAX_LEAF_ENTRIES);
        if full && is_last && place == self.leaves.get(at).map_or(0, |leaf| leaf.entries.len()) {
            // Entries inserted in order leave full leaves behind.
            self.leaves.push_back(Leaf {
                from: key.clone(),
                entries: Rc::default(),
            });
            (at, place) = (self.leaves.len() - 1, 0);
        } else if full {
            let entries = own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES);
            let rest = entries.split_off(MAX_LEAF_ENTRIES / 2);
            self.leaves.insert(
                at + 1,
                Leaf {
                    from: rest[0].0.clone(),
                    entries: Rc::new(rest),
                },
            );
            if place > MAX_LEAF_ENTRIES / 2 {
                (at, place) = (at + 1, place - MAX_LEAF_ENTRIES / 2);
            }
        }
        own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES).insert(place, (key, value));
        self.len += 1;
        (at, place)
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (at, place) = self.find(key);
        Some(self.take(at, place.ok()?).1)
    }

    /// Removes and returns the first entry.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.take(0, 0))
    }

    fn take(&mut self, at: usize, place: usize) -> (K, V) {
        self.len -= 1;
        let entries = own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES);
        let entry = entries.remove(place);
        let left = entries.len();
        if left == 0 {
            self.leaves.remove(at);
        } else if left < MAX_LEAF_ENTRIES / 4
            && let Some(next) = self
                .leaves
                .get(at + 1)
                .filter(|next| next.entries.len() <= MAX_LEAF_ENTRIES / 2)
                .map(|next| next.entries.clone())
        {
            own(&mut self.leaves[at].entries, MAX_LEAF_ENTRIES).extend_from_slice(&next);
            self.leaves.remove(at + 1);
        }
        entry
    }

    /// Returns the first entry.
    pub fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Returns all entries in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.leaves
            .iter()
            .flat_map(|leaf| leaf.entries.iter())
            .map(|(key, value)| (key, value))
    }

    /// Returns the entries from a key on.
    pub fn from(&self, key: &K) -> impl Iterator<Item = (&K, &V)> + use<'_, K, V> {
        let (at, place) = self.find(key);
        let place = place.unwrap_or_else(|place| place);
        let leaves = self.leaves.range(at.min(self.leaves.len())..);
        leaves
            .flat_map(|leaf| leaf.entries.iter())
            .skip(place)
            .map(|(key, value)| (key, value))
    }

    /// Returns all keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns all values in key order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Retains the entries that match.
    pub fn retain(&mut self, passes: impl Fn(&K, &V) -> bool) {
        let gone: Vec<K> = self
            .iter()
            .filter(|(key, value)| !passes(key, value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in &gone {
            self.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    fn check(tree: &Tree<u64, u64>, plain: &BTreeMap<u64, u64>, key: u64) {
        assert!(tree.iter().eq(plain));
        assert_eq!(
            (tree.len(), tree.is_empty(), tree.first()),
            (plain.len(), plain.is_empty(), plain.first_key_value())
        );
        assert!(tree.from(&key).eq(plain.range(key..)));
        assert_eq!(
            (tree.get(&key), tree.contains_key(&key)),
            (plain.get(&key), plain.contains_key(&key))
        );
        assert!(
            tree.leaves
                .iter()
                .all(|leaf| (1..=MAX_LEAF_ENTRIES).contains(&leaf.entries.len()))
        );
    }

    #[test]
    fn a_tree_behaves_like_a_btree_map_and_its_copies_do_not_change() {
        let (mut tree, mut plain, mut rng) = (Tree::default(), BTreeMap::new(), Rng::new(9));
        let mut copies = Vec::new();
        for step in 0..20_000 {
            // The map grows and shrinks.
            let key = rng.below(if step / 4_000 % 2 == 0 { 900 } else { 500 });
            match rng.below(12) {
                0 if step % 1_000 < 10 => copies.push((tree.clone(), plain.clone())),
                0 if step % 1_000 > 990 && !copies.is_empty() => {
                    (tree, plain) = copies.swap_remove(rng.below(copies.len() as u64) as usize);
                }
                1 => assert_eq!(tree.pop_first(), plain.pop_first()),
                2..=5 => assert_eq!(tree.remove(&key), plain.remove(&key)),
                6 => assert_eq!(
                    tree.get_mut(&key).map(|v| std::mem::replace(v, step)),
                    plain.get_mut(&key).map(|v| std::mem::replace(v, step))
                ),
                7 => assert_eq!(
                    tree.get_or_insert_with(key, || step),
                    plain.entry(key).or_insert(step)
                ),
                8 => {
                    let last = plain.last_key_value().map_or(0, |(key, _)| key + 1);
                    assert_eq!(tree.insert(last, step), plain.insert(last, step));
                }
                9 if step % 500 == 0 => {
                    tree.retain(|key, _| key % 3 > 0);
                    plain.retain(|key, _| key % 3 > 0);
                }
                _ => assert_eq!(tree.insert(key, step), plain.insert(key, step)),
            }
            if step % 16 == 0 {
                check(&tree, &plain, key);
                copies
                    .iter()
                    .for_each(|(tree, plain)| check(tree, plain, key));
            }
        }
    }
}
