//! Compact sorting. The standard library's sort is instantiated for every type, four kilobytes each time;
//! here one sort of indices serves all types, and only the comparison and the final permutation are instantiated.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Sorts by a comparison; stable.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order = indices(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    // `order[i]` is the source index of the i-th item: follow each cycle once.
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != start {
            let from = order[at] as usize;
            items.swap(at, from);
            order[at] = at as u32;
            at = from;
        }
        order[at] = at as u32;
    }
}

/// Sorts by a key; stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by the natural order; stable.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Collects an iterator into a map or set. `collect` would sort first, see [`map`].
pub fn tree<C: Default + Extend<T>, T>(items: impl Iterator<Item = T>) -> C {
    let mut out = C::default();
    out.extend(items);
    out
}

/// Collects pairs into a map; the last of a name wins. The standard `collect` sorts first, with a sort for every iterator: two kilobytes
/// each.
pub fn map(pairs: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in pairs {
        out.insert(name, value);
    }
    out
}

/// Returns the sorted order of `n` items as source indices; stable.
pub fn indices(n: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|a, b| compare(*a as usize, *b as usize));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut seed = 7u32;
        for n in [0, 1, 2, 3, 10, 100, 1000] {
            let mut items: Vec<(u32, usize)> = (0..n)
                .map(|i| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 24, i)
                })
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
        let mut words = ["b", "c", "a"];
        sort(&mut words);
        assert_eq!(words, ["a", "b", "c"]);
    }
}
