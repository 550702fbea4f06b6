//! Spec as JSON, with its typed part.

use super::json::Json;
use crate::json;
use serde_json::{Map, Value};
use std::rc::Rc;

/// Spec: the whole of it as JSON, and the typed part that the engine acts on.
#[derive(Clone, Debug, Default)]
pub struct Spec<T> {
    /// Whole spec.
    pub raw: Value,
    view: T,
}

impl<T> PartialEq for Spec<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.raw == other.raw
    }
}

impl<T> std::ops::Deref for Spec<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.view
    }
}

impl<T: Json + Default> Spec<T> {
    /// Decodes the typed part.
    pub fn from_raw(raw: Option<Value>) -> Result<Rc<Self>, String> {
        let raw = raw.unwrap_or_else(|| Value::Object(Map::new()));
        let view = json::read(&raw)?;
        Ok(Rc::new(Spec { raw, view }))
    }

    /// Returns an edited copy; if the edit does not decode, the old spec.
    pub fn edited(self: &Rc<Self>, change: impl FnOnce(&mut Map<String, Value>)) -> Rc<Self> {
        let mut raw = self.raw.clone();
        if let Value::Object(map) = &mut raw {
            change(map);
        }
        Spec::from_raw(Some(raw)).unwrap_or_else(|_| self.clone())
    }
}
