//! State that a controller keeps between passes.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

/// State of a controller for one key, of a type of the controller's own. A copy shares the state until one of them changes.
#[derive(Clone, Default)]
pub struct KeyState(Option<Rc<dyn State>>);

/// State of any type that can be told.
trait State: Any + fmt::Debug {}

impl<S: Any + fmt::Debug> State for S {}

impl KeyState {
    /// Returns the state; `None` if it is empty or of another type.
    pub fn get<S: 'static>(&self) -> Option<&S> {
        (self.0.as_deref()? as &dyn Any).downcast_ref()
    }

    /// Takes the state, or the default if it is empty or of another type.
    pub fn take<S: Clone + Default + fmt::Debug + 'static>(&mut self) -> S {
        let state = self
            .0
            .take()
            .map(|state| (state as Rc<dyn Any>).downcast::<S>());
        state
            .and_then(Result::ok)
            .map(Rc::unwrap_or_clone)
            .unwrap_or_default()
    }

    /// Replaces the state.
    pub fn set<S: fmt::Debug + 'static>(&mut self, state: S) {
        self.0 = Some(Rc::new(state));
    }

    /// Changes the state, or the default if it is empty or of another type.
    pub fn update<S: Clone + Default + fmt::Debug + 'static>(
        &mut self,
        change: impl FnOnce(&mut S),
    ) {
        let mut state = self.take();
        change(&mut state);
        self.set(state);
    }

    /// Drops the state.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Returns true if there is no state.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for KeyState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("KeyState").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_keeps_its_state_when_the_original_changes() {
        let mut state = KeyState::default();
        assert!(state.is_empty());
        state.update(|numbers: &mut Vec<i32>| numbers.push(1));
        let copy = state.clone();
        state.update(|numbers: &mut Vec<i32>| numbers.push(2));
        assert_eq!(state.get::<Vec<i32>>(), Some(&vec![1, 2]));
        assert_eq!(copy.get::<Vec<i32>>(), Some(&vec![1]));
        assert_eq!(copy.get::<i32>(), None);
        state.clear();
        assert!(state.is_empty() && state.take::<Vec<i32>>().is_empty());
    }
}
