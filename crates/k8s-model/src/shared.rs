//! List shared between the versions of an object and between similar objects until one of them changes it. An empty list needs no
//! allocation.

use super::json::Json;
use serde_json::Value;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Copy-on-write list: derefs to a slice, and is cloned on write while it is shared.
pub struct Shared<T: 'static>(Option<Rc<Vec<T>>>);

impl<T> Shared<T> {
    /// Returns true if both share the same allocation.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Shared(None)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(list: Vec<T>) -> Self {
        Shared((!list.is_empty()).then(|| Rc::new(list)))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Deref for Shared<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        match &self.0 {
            Some(list) => list,
            None => const { &Vec::new() },
        }
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Rc::make_mut(self.0.get_or_insert_default())
    }
}

impl<'a, T> IntoIterator for &'a Shared<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Json + Default + Clone> Json for Shared<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let mut list = std::mem::take(&mut **self);
        let read = list.read(value);
        *self = list.into();
        read
    }
    fn write(&self) -> Value {
        (**self).write()
    }
    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

/// Cache of recent values, so that equal new ones share an allocation. Sharing is not observable, so one cache for the whole thread
/// serves all clusters.
pub struct Recent<T>(Vec<T>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent(Vec::new())
    }
}

impl<T> Recent<T> {
    /// Number of cached values.
    const MOST: usize = 8;

    /// Returns the cached value equal to `new`, or caches and returns `new`.
    pub fn same(&mut self, new: T, equals: impl Fn(&T, &T) -> bool) -> T
    where
        T: Clone,
    {
        if let Some(known) = self.0.iter().rfind(|known| equals(known, &new)) {
            return known.clone();
        }
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push(new.clone());
        new
    }
}
