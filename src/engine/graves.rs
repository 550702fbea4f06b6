//! What is large is taken apart in parts, where somebody asks for that: to give back the memory of a hundred thousand Pods takes
//! longer than a page may be deaf.
//!
//! Guarantees: everything is given back in the end, at once if nobody has asked; what is alive is not touched.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What has fewer parts is given back at once.
const SMALL: usize = 16;

/// Parts of something that is no longer needed.
pub trait Grave: 'static {
    /// How many parts there are.
    fn parts(&self) -> usize;
    /// Takes a part out; nothing if there is no more.
    fn part(&mut self) -> Option<Box<dyn Any>>;
}

impl<T: 'static> Grave for Vec<T> {
    fn parts(&self) -> usize {
        self.len()
    }

    fn part(&mut self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.pop()?))
    }
}

impl<K: Ord + 'static, V: 'static> Grave for BTreeMap<K, V> {
    fn parts(&self) -> usize {
        self.len()
    }

    fn part(&mut self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.pop_last()?))
    }
}

thread_local! {
    static GRAVES: RefCell<Option<Vec<Box<dyn Grave>>>> = const { RefCell::new(None) };
}

/// From now on what is large waits for [`give_back`].
pub fn wait() {
    GRAVES.with_borrow_mut(|graves| *graves = Some(Vec::new()));
}

/// Gives back one part of what waits. True if there may be more.
pub fn give_back() -> bool {
    let part = GRAVES.with_borrow_mut(|graves| {
        let graves = graves.as_mut()?;
        let part = graves.last_mut()?.part();
        if part.is_none() {
            graves.pop();
        }
        Some(part)
    });
    // A part may have large parts of its own, which are laid beside it.
    drop(part);
    GRAVES.with_borrow(|graves| graves.as_ref().is_some_and(|graves| !graves.is_empty()))
}

/// Lets go of parts.
pub fn bury(parts: impl Grave) {
    if parts.parts() < SMALL {
        return;
    }
    // At the end of the thread there is no waiting any more.
    let _ = GRAVES.try_with(|graves| {
        if let Ok(mut graves) = graves.try_borrow_mut()
            && let Some(graves) = graves.as_mut()
        {
            graves.push(Box::new(parts));
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
    fn what_is_large_goes_in_parts_and_wholly_and_what_is_shared_stays() {
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
        wait();
        let (stays, goes) = (large(), large());
        let copy = goes.0.clone();
        drop(goes);
        assert!(Rc::strong_count(&life) > 2_000, "nothing has been given back yet");
        let mut parts = 0;
        while give_back() {
            parts += 1;
        }
        assert!(parts > 1_000, "{parts}");
        assert_eq!(copy.len(), 1_000);
        drop(copy);
        while give_back() {}
        drop(stays);
        while give_back() {}
        assert_eq!(Rc::strong_count(&life), 1);
        GRAVES.with_borrow_mut(|graves| *graves = None);
    }
}
