//! Deferred drop: freeing the memory of a hundred thousand Pods takes longer than a page may be unresponsive, so large
//! collections are dropped in parts, in idle time.
//!
//! Guarantees: everything is dropped in the end, at once unless deferral is enabled; nothing that is still in use is touched.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Minimum number of parts of a deferred collection; smaller ones are dropped at once. A part may hold hundreds of objects.
const MIN_DEFERRED_PARTS: usize = 2;

/// Collection that can be dropped part by part.
pub trait DropInParts: 'static {
    /// Returns the number of parts.
    fn parts(&self) -> usize;
    /// Removes one part; `None` if the collection is empty.
    fn part(&mut self) -> Option<Box<dyn Any>>;
}

impl<T: 'static> DropInParts for Vec<T> {
    fn parts(&self) -> usize {
        self.len()
    }

    fn part(&mut self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.pop()?))
    }
}

impl<K: Ord + 'static, V: 'static> DropInParts for BTreeMap<K, V> {
    fn parts(&self) -> usize {
        self.len()
    }

    fn part(&mut self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.pop_last()?))
    }
}

thread_local! {
    static QUEUE: RefCell<Option<Vec<Box<dyn DropInParts>>>> = const { RefCell::new(None) };
}

/// Enables deferral on this thread: large collections wait for [`drop_some`].
pub fn enable() {
    QUEUE.with_borrow_mut(|queue| *queue = Some(Vec::new()));
}

/// Returns true if a collection waits to be dropped, so that memory is about to be freed.
pub fn is_waiting() -> bool {
    QUEUE.with_borrow(|queue| queue.as_ref().is_some_and(|queue| !queue.is_empty()))
}

/// Drops one part of the queue; returns true if more may be left.
pub fn drop_some() -> bool {
    let part = QUEUE.with_borrow_mut(|queue| {
        let queue = queue.as_mut()?;
        let part = queue.last_mut()?.part();
        if part.is_none() {
            queue.pop();
        }
        Some(part)
    });
    // Dropping a part may queue large parts of its own.
    drop(part);
    is_waiting()
}

/// Queues a collection to be dropped in idle time, if deferral is enabled and it is large.
pub fn drop_later(parts: impl DropInParts) {
    if parts.parts() < MIN_DEFERRED_PARTS {
        return;
    }
    // While the thread ends, the queue is gone and collections are dropped at once.
    let _ = QUEUE.try_with(|queue| {
        if let Ok(mut queue) = queue.try_borrow_mut()
            && let Some(queue) = queue.as_mut()
        {
            queue.push(Box::new(parts));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::chunks::Chunks;
    use super::super::tree::Tree;
    use super::*;
    use std::rc::Rc;

    #[test]
    fn large_collections_are_dropped_in_parts_and_shared_ones_stay() {
        let life = Rc::new(());
        let large = || {
            let (mut chunks, mut tree) = (Chunks::<Rc<()>, 4>::default(), Tree::default());
            for at in 0..1_000 {
                chunks.push(life.clone());
                tree.insert(at, chunks.clone());
            }
            (chunks, tree)
        };
        drop(large());
        assert_eq!(Rc::strong_count(&life), 1, "at once, as nobody has asked");
        enable();
        let (stays, goes) = (large(), large());
        let copy = goes.0.clone();
        drop(goes);
        assert!(
            is_waiting() && Rc::strong_count(&life) > 2_000,
            "nothing has been given back yet"
        );
        let mut parts = 0;
        while drop_some() {
            parts += 1;
        }
        assert!(parts > 1_000, "{parts}");
        assert_eq!(copy.len(), 1_000);
        drop(copy);
        while drop_some() {}
        drop(stays);
        while drop_some() {}
        assert_eq!(Rc::strong_count(&life), 1);
        QUEUE.with_borrow_mut(|queue| *queue = None);
    }
}
