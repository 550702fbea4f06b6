//! Vector stored in chunks that its copies share, so that checkpoints of the cluster are cheap.
//!
//! Guarantees: a copy costs one reference count per chunk, whatever the size of the elements; writes never show in
//! other copies, because a shared chunk is cloned before it is written.

use std::ops::Index;
use std::rc::Rc;

/// Vector whose copies share its chunks of at most `N` elements.
#[derive(Clone, Debug)]
pub struct Chunks<T: 'static, const N: usize> {
    /// Chunks; all but the last are full.
    chunks: Vec<Rc<Vec<T>>>,
    len: usize,
}

impl<T, const N: usize> Drop for Chunks<T, N> {
    fn drop(&mut self) {
        super::deferred_drop::drop_later(std::mem::take(&mut self.chunks));
    }
}

impl<T, const N: usize> Default for Chunks<T, N> {
    fn default() -> Self {
        Chunks {
            chunks: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Clone, const N: usize> Chunks<T, N> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at an index.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.chunks.get(at / N)?.get(at % N)
    }

    /// Returns the element at an index, mutably.
    pub fn get_mut(&mut self, at: usize) -> &mut T {
        &mut own(&mut self.chunks[at / N], 0)[at % N]
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        if self.len.is_multiple_of(N) {
            self.chunks.push(Rc::default());
        }
        if let Some(last) = self.chunks.last_mut() {
            own(last, N).push(element);
        }
        self.len += 1;
    }

    /// Returns the number of full chunks within the first elements.
    pub fn full_chunks(&self, elements: usize) -> usize {
        elements.min(self.len) / N
    }

    /// Replaces the elements of some chunks for which `change` returns a value. An unchanged chunk stays shared; other copies are
    /// unaffected.
    pub fn rewrite(&mut self, chunks: std::ops::Range<usize>, change: impl Fn(&T) -> Option<T>) {
        for chunk in &mut self.chunks[chunks] {
            let changed: Vec<Option<T>> = chunk.iter().map(&change).collect();
            if changed.iter().any(Option::is_some) {
                *chunk = Rc::new(
                    changed
                        .into_iter()
                        .zip(chunk.iter())
                        .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                        .collect(),
                );
            }
        }
    }

    /// Adopts some chunks of another vector, which must have the same number of elements in them; chunks beyond the end of this one are
    /// ignored.
    pub fn share(&mut self, other: &Self, chunks: std::ops::Range<usize>) {
        let pairs = self
            .chunks
            .iter_mut()
            .zip(&other.chunks)
            .take(chunks.end)
            .skip(chunks.start)
            .filter(|(own, shared)| !Rc::ptr_eq(own, shared));
        super::deferred_drop::drop_later(
            pairs
                .map(|(own, shared)| std::mem::replace(own, shared.clone()))
                .collect::<Vec<_>>(),
        );
    }

    /// Returns a view of all elements.
    pub fn all(&self) -> ChunkRange<'_, T, N> {
        ChunkRange {
            chunks: &self.chunks,
            from: 0,
            to: self.len,
        }
    }
}

/// Returns the chunk for writing, copied if shared; it grows by doubling up to `most`.
pub fn own<T: Clone>(chunk: &mut Rc<Vec<T>>, most: usize) -> &mut Vec<T> {
    if Rc::get_mut(chunk).is_none() {
        let mut copy = Vec::with_capacity(
            chunk
                .len()
                .next_power_of_two()
                .max(4)
                .min(most.max(chunk.len())),
        );
        copy.extend_from_slice(chunk);
        *chunk = Rc::new(copy);
    }
    Rc::make_mut(chunk)
}

/// Range of a chunked vector.
#[derive(Debug)]
pub struct ChunkRange<'a, T, const N: usize> {
    chunks: &'a [Rc<Vec<T>>],
    from: usize,
    to: usize,
}

impl<T, const N: usize> Clone for ChunkRange<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for ChunkRange<'_, T, N> {}

impl<'a, T, const N: usize> ChunkRange<'a, T, N> {
    /// Returns the number of elements.
    pub fn len(self) -> usize {
        self.to - self.from
    }

    /// Returns true if the range is empty.
    pub fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// Returns the element at an index.
    pub fn get(self, at: usize) -> Option<&'a T> {
        (at < self.len()).then(|| self.at(self.from + at))
    }

    /// Returns the last element.
    pub fn last(self) -> Option<&'a T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns the first `count` elements, or all.
    pub fn first(self, count: usize) -> Self {
        ChunkRange {
            to: self.to.min(self.from.saturating_add(count)),
            ..self
        }
    }

    /// Returns all but the first `count` elements.
    pub fn from(self, count: usize) -> Self {
        ChunkRange {
            from: self.to.min(self.from.saturating_add(count)),
            ..self
        }
    }

    /// Returns the elements in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'a T> + ExactSizeIterator {
        (self.from..self.to).map(move |at| self.at(at))
    }

    /// Returns the partition point: the number of leading elements that match.
    pub fn partition_point(self, passes: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (self.from, self.to);
        while from < to {
            let middle = from.midpoint(to);
            if passes(self.at(middle)) {
                from = middle + 1
            } else {
                to = middle
            }
        }
        from - self.from
    }

    fn at(self, at: usize) -> &'a T {
        &self.chunks[at / N][at % N]
    }
}

impl<T, const N: usize> Index<usize> for ChunkRange<'_, T, N> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        assert!(at < self.len(), "element {at} of {}", self.len());
        self.at(self.from + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn check(list: &Chunks<u64, 8>, plain: &[u64], rng: &mut Rng) {
        let (from, to) = (rng.below(80) as usize, rng.below(80) as usize);
        let (part, same) = (
            list.all().first(to).from(from),
            &plain[from.min(to).min(plain.len())..to.min(plain.len())],
        );
        assert!(part.iter().eq(same), "{from}..{to} of {}", plain.len());
        assert!(part.iter().rev().eq(same.iter().rev()));
        assert_eq!(
            (part.len(), part.is_empty(), part.last(), part.get(3)),
            (same.len(), same.is_empty(), same.last(), same.get(3))
        );
        assert!(list.all().iter().eq(plain));
        assert_eq!(list.len(), plain.len());
        assert_eq!(list.get(to), plain.get(to));
    }

    #[test]
    fn a_list_behaves_like_a_vec_and_its_copies_do_not_change() {
        let (mut list, mut plain, mut rng) = (Chunks::<u64, 8>::default(), Vec::new(), Rng::new(5));
        let mut copies = Vec::new();
        for step in 0..3_000 {
            match rng.below(10) {
                0 if step % 700 < 100 => copies.push((list.clone(), plain.clone())),
                0 if !copies.is_empty() => {
                    (list, plain) = copies.swap_remove(rng.below(copies.len() as u64) as usize)
                }
                1..5 if !plain.is_empty() => {
                    let at = rng.below(plain.len() as u64) as usize;
                    (*list.get_mut(at), plain[at]) = (step, step);
                }
                _ => {
                    list.push(step);
                    plain.push(step);
                }
            }
            check(&list, &plain, &mut rng);
            copies
                .iter()
                .for_each(|(list, plain)| check(list, plain, &mut rng));
        }
    }

    #[test]
    fn what_is_not_rewritten_stays_shared() {
        let mut list = Chunks::<u64, 8>::default();
        (0..50).for_each(|n| list.push(n));
        let mut copy = list.clone();
        let shared = |list: &Chunks<u64, 8>, other: &Chunks<u64, 8>| -> Vec<bool> {
            list.chunks
                .iter()
                .zip(&other.chunks)
                .map(|(a, b)| Rc::ptr_eq(a, b))
                .collect()
        };
        list.rewrite(0..3, |n| (*n == 9).then_some(90));
        assert_eq!(
            shared(&list, &copy),
            [true, false, true, true, true, true, true]
        );
        assert_eq!((list.get(9), copy.get(9)), (Some(&90), Some(&9)));
        copy.share(&list, 0..2);
        assert!(shared(&list, &copy).into_iter().all(|same| same) && copy.get(9) == Some(&90));
        // A shorter vector adopts only the chunks that it has.
        let mut short = Chunks::<u64, 8>::default();
        (0..20).for_each(|n| short.push(n));
        short.share(&list, 1..7);
        assert_eq!(
            (shared(&short, &list), short.len()),
            (vec![false, true, true], 20)
        );
    }

    #[test]
    fn the_partition_point_is_found() {
        let mut list = Chunks::<u64, 8>::default();
        (0..50).for_each(|n| list.push(n));
        for border in 0..51 {
            assert_eq!(list.all().partition_point(|n| *n < border), border as usize);
            assert_eq!(
                list.all().from(10).partition_point(|n| *n < border),
                border.saturating_sub(10).min(40) as usize
            );
        }
    }
}
