//! Sorting in little code. The standard library's sort is made anew for every type, four kilobytes each time;
//! here one sort of indices serves all types, and only the comparison and the final exchange are made anew.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Sorts by a comparison; what is equal keeps its order.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order = indices(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    // `order[i]` says where the i-th item comes from: follow each cycle once.
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

/// Sorts by a key; what is equal keeps its order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// A map or a set of the standard library of what comes. To `collect` one sorts first, as [`map`] says.
pub fn tree<C: Default + Extend<T>, T>(items: impl Iterator<Item = T>) -> C {
    let mut out = C::default();
    out.extend(items);
    out
}

/// A map of what comes, the last of a name. The library's own way sorts first, with a sort for every iterator: two kilobytes each.
pub fn map(pairs: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in pairs {
        out.insert(name, value);
    }
    out
}

/// The order of so many items: where the first one comes from, the second, and so on; what is equal keeps its order.
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
