//! Hash index in small buckets that copies share.
//!
//! Guarantees: it grows by one bucket at a time (linear hashing), so that no insertion takes long, however many entries there are; a
//! copy costs one reference count per bucket and never changes.

use super::chunks::own;
use std::rc::Rc;

/// Average number of entries per bucket.
const ENTRIES_PER_BUCKET: usize = 16;

/// Multimap from hashes to numbers.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Buckets. A bucket's number is the lowest bits of the hash: as many as the largest number has, or one less if that bucket does not
    /// exist yet.
    buckets: Vec<Rc<Vec<(u32, u32)>>>,
    len: usize,
}

impl Drop for Index {
    fn drop(&mut self) {
        super::deferred_drop::drop_later(std::mem::take(&mut self.buckets));
    }
}

impl Index {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the index has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bucket of a hash.
    fn bucket(&self, hash: u32) -> usize {
        let size = self.buckets.len().next_power_of_two();
        let at = hash as usize & (size - 1);
        if at < self.buckets.len() {
            at
        } else {
            at & ((size - 1) >> 1)
        }
    }

    /// Returns the number with this hash that `is_meant` accepts.
    pub fn find(&self, hash: u32, is_meant: impl Fn(u32) -> bool) -> Option<u32> {
        let bucket = self.buckets.get(self.bucket(hash))?;
        bucket
            .iter()
            .find(|(known, number)| *known == hash && is_meant(*number))
            .map(|(_, number)| *number)
    }

    /// Adds a number under a hash.
    pub fn insert(&mut self, hash: u32, number: u32) {
        if self.len >= self.buckets.len() * ENTRIES_PER_BUCKET {
            self.grow();
        }
        let at = self.bucket(hash);
        own(&mut self.buckets[at], usize::MAX).push((hash, number));
        self.len += 1;
    }

    /// Removes a number under a hash.
    pub fn remove(&mut self, hash: u32, number: u32) {
        let at = self.bucket(hash);
        let Some(place) = self
            .buckets
            .get(at)
            .and_then(|bucket| bucket.iter().position(|entry| *entry == (hash, number)))
        else {
            return;
        };
        own(&mut self.buckets[at], usize::MAX).swap_remove(place);
        self.len -= 1;
    }

    /// Splits one bucket.
    fn grow(&mut self) {
        let new = self.buckets.len();
        self.buckets.push(Rc::default());
        let Some(highest) = new.checked_ilog2() else {
            return;
        };
        let old = new - (1 << highest);
        let (stays, goes) = self.buckets[old]
            .iter()
            .partition(|(hash, _)| self.bucket(*hash) == old);
        (self.buckets[old], self.buckets[new]) = (Rc::new(stays), Rc::new(goes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn check(index: &Index, plain: &[(u32, u32)]) {
        assert_eq!(index.len(), plain.len());
        for (hash, number) in plain {
            assert_eq!(index.find(*hash, |n| n == *number), Some(*number));
            assert_eq!(index.find(*hash ^ 1 << 31, |n| n == *number), None);
        }
        assert!(
            index
                .buckets
                .iter()
                .all(|bucket| bucket.len() < ENTRIES_PER_BUCKET * 8),
            "buckets stay small"
        );
    }

    #[test]
    fn entries_are_found_and_copies_do_not_change() {
        let (mut index, mut plain, mut rng) = (Index::default(), Vec::new(), Rng::new(2));
        assert_eq!(index.find(1, |_| true), None);
        index.remove(1, 1);
        let mut copy = None;
        for step in 0..6_000 {
            if rng.below(10) < if step / 1_500 % 2 == 0 { 2 } else { 7 } && !plain.is_empty() {
                let (hash, number) = plain.swap_remove(rng.below(plain.len() as u64) as usize);
                index.remove(hash, number);
            } else {
                // Numbers are unique, hashes need not be.
                let (hash, number) = (rng.below(3_000) as u32 * 77_777, step);
                index.insert(hash, number);
                plain.push((hash, number));
            }
            if step % 97 == 0 {
                check(&index, &plain);
            }
            if step % 1_000 == 0 {
                copy = Some((index.clone(), plain.clone()));
            }
            if let Some((index, plain)) = copy.as_ref().filter(|_| step % 1_000 == 999) {
                check(index, plain);
            }
        }
    }
}
