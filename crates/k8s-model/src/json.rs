//! JSON encoding and decoding of the API types.
//!
//! A table of fields for each struct, with one shared decoder and encoder: derived code would be instantiated for every type. As in Go,
//! missing and `null` fields keep their empty value, and unknown fields are skipped.

use super::{Str, Timestamp};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Formats a value as Go prints it: maps as `map[key:value]`.
pub fn go(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let all: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", go(value)))
                .collect();
            format!("map[{}]", all.join(" "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(go).collect::<Vec<_>>().join(" ")),
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

/// Formats a value as Go's `encoding/json`, which escapes `<`, `>` and `&`.
pub fn escaped(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// Condition under which a field is written.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum Rule {
    /// Written with any value.
    always,
    /// Written unless it is empty.
    omitempty,
    /// Written as `null` if it is empty, as Go prints nil slices.
    nullempty,
}

/// Field of a struct.
pub struct JsonField {
    /// Name in JSON.
    pub key: &'static str,
    /// Condition under which the field is written.
    pub rule: Rule,
}

/// Type with a JSON encoding.
pub trait Json {
    /// Decodes a JSON value; never called with `null`.
    fn read(&mut self, value: &Value) -> Result<(), String>;
    /// Encodes the value as JSON.
    fn write(&self) -> Value;
    /// Returns true if `omitempty` leaves the value out.
    fn is_empty(&self) -> bool {
        false
    }
}

/// Struct whose fields have a JSON encoding.
pub trait JsonRecord {
    /// Table of the fields.
    fn fields(&self) -> &'static [JsonField];
    /// Returns the field at an index.
    fn field(&self, index: usize) -> Option<&dyn Json>;
    /// Returns the field at an index, mutably.
    fn field_mut(&mut self, index: usize) -> Option<&mut dyn Json>;
}

/// Defines structs with the JSON name of each field and the condition under which it is written; a field without a
/// JSON name is not part of the JSON.
#[macro_export]
macro_rules! record {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty $(= $key:literal $($rule:ident)?)?,)*
    })*) => { $(
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type,)* }

        impl $crate::json::JsonRecord for $name {
            fn fields(&self) -> &'static [$crate::json::JsonField] {
                use $crate::json::JsonField;
                const { &[$($(JsonField { key: $key, rule: $crate::json::rule!($($rule)?) },)?)*] }
            }
            #[allow(unused_assignments)]
            fn field(&self, index: usize) -> Option<&dyn $crate::json::Json> {
                let mut n = 0;
                $($(
                    let _ = $key;
                    if index == n {
                        return Some(&self.$field);
                    }
                    n += 1;
                )?)*
                None
            }
            #[allow(unused_assignments)]
            fn field_mut(&mut self, index: usize) -> Option<&mut dyn $crate::json::Json> {
                let mut n = 0;
                $($(
                    let _ = $key;
                    if index == n {
                        return Some(&mut self.$field);
                    }
                    n += 1;
                )?)*
                None
            }
        }

        impl $crate::json::Json for $name {
            fn read(&mut self, value: &serde_json::Value) -> Result<(), String> {
                $crate::json::read_record(self, value)
            }
            fn write(&self) -> serde_json::Value {
                $crate::json::write_record(self)
            }
            fn is_empty(&self) -> bool {
                $crate::json::is_empty_record(self)
            }
        }
    )* };
}
#[macro_export]
macro_rules! rule {
    () => {
        $crate::json::Rule::always
    };
    ($rule:ident) => {
        $crate::json::Rule::$rule
    };
}
pub use {record, rule};

/// Decodes a value of a type.
pub fn read<T: Json + Default>(value: &Value) -> Result<T, String> {
    let mut new = T::default();
    read_into(&mut new, value)?;
    Ok(new)
}

/// Decodes an optional part of an object; the default if it is absent.
pub fn part<T: Json + Default>(value: Option<&Value>) -> Result<T, String> {
    value.map_or_else(|| Ok(T::default()), read)
}

fn read_into(target: &mut dyn Json, value: &Value) -> Result<(), String> {
    if value.is_null() {
        Ok(())
    } else {
        target.read(value)
    }
}

pub fn read_record(target: &mut dyn JsonRecord, value: &Value) -> Result<(), String> {
    let map = value.as_object().ok_or_else(|| wrong(value, "an object"))?;
    for (index, field) in target.fields().iter().enumerate() {
        if let (Some(value), Some(target)) = (map.get(field.key), target.field_mut(index)) {
            read_into(target, value)?;
        }
    }
    Ok(())
}

pub fn write_record(record: &dyn JsonRecord) -> Value {
    let mut map = Map::new();
    for (index, field) in record.fields().iter().enumerate() {
        let Some(value) = record.field(index) else {
            continue;
        };
        if field.rule == Rule::always || !value.is_empty() {
            map.insert(field.key.to_owned(), value.write());
        } else if field.rule == Rule::nullempty {
            map.insert(field.key.to_owned(), Value::Null);
        }
    }
    Value::Object(map)
}

pub fn is_empty_record(record: &dyn JsonRecord) -> bool {
    (0..record.fields().len())
        .all(|index| record.field(index).is_some_and(|field| field.is_empty()))
}

#[cold]
fn wrong(value: &Value, expected: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("invalid type: {found}, expected {expected}")
}

pub(super) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| wrong(value, "a string"))
}

fn integer(value: &Value) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| wrong(value, "an integer"))
}

impl Json for Str {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = Str::new(text(value)?);
        Ok(())
    }
    fn write(&self) -> Value {
        Value::String(self.as_str().to_owned())
    }
    fn is_empty(&self) -> bool {
        Str::is_empty(self)
    }
}

impl Json for bool {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = value.as_bool().ok_or_else(|| wrong(value, "a boolean"))?;
        Ok(())
    }
    fn write(&self) -> Value {
        Value::Bool(*self)
    }
    fn is_empty(&self) -> bool {
        !self
    }
}

impl Json for i64 {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = integer(value)?;
        Ok(())
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
    fn is_empty(&self) -> bool {
        *self == 0
    }
}

impl Json for i32 {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self =
            i32::try_from(integer(value)?).map_err(|_| wrong(value, "an integer of 32 bits"))?;
        Ok(())
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
    fn is_empty(&self) -> bool {
        *self == 0
    }
}

/// Encoding of `resourceVersion`, which is text in the API; text that is not a number counts as 0.
impl Json for u64 {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = text(value)?.parse().unwrap_or(0);
        Ok(())
    }
    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
    fn is_empty(&self) -> bool {
        *self == 0
    }
}

/// Encoding of a field that is always `null` and always written.
impl Json for () {
    fn read(&mut self, _: &Value) -> Result<(), String> {
        Ok(())
    }
    fn write(&self) -> Value {
        Value::Null
    }
}

impl Json for Timestamp {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let text = text(value)?;
        *self = Timestamp::parse(text).ok_or_else(|| format!("cannot parse {text:?} as a time"))?;
        Ok(())
    }
    fn write(&self) -> Value {
        Value::String(self.rfc3339())
    }
}

impl Json for Value {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = value.clone();
        Ok(())
    }
    fn write(&self) -> Value {
        self.clone()
    }
    fn is_empty(&self) -> bool {
        self.is_null()
    }
}

impl Json for Map<String, Value> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = value
            .as_object()
            .ok_or_else(|| wrong(value, "an object"))?
            .clone();
        Ok(())
    }
    fn write(&self) -> Value {
        Value::Object(self.clone())
    }
    fn is_empty(&self) -> bool {
        Map::is_empty(self)
    }
}

impl<T: Json + Default> Json for BTreeMap<Str, T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        for (key, value) in value.as_object().ok_or_else(|| wrong(value, "an object"))? {
            let mut new = T::default();
            read_into(&mut new, value)?;
            self.insert(Str::new(key), new);
        }
        Ok(())
    }
    fn write(&self) -> Value {
        let mut map = Map::new();
        for (key, value) in self {
            map.insert(key.to_string(), value.write());
        }
        Value::Object(map)
    }
    fn is_empty(&self) -> bool {
        BTreeMap::is_empty(self)
    }
}

impl<T: Json + Clone> Json for Rc<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        Rc::make_mut(self).read(value)
    }
    fn write(&self) -> Value {
        (**self).write()
    }
    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }
}

impl<T: Json> Json for Box<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        (**self).read(value)
    }
    fn write(&self) -> Value {
        (**self).write()
    }
    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }
}

impl<T: Json + Default> Json for Option<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        self.insert(T::default()).read(value)
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }
    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl<T: Json + Default> Json for Vec<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        read_list(value, &mut |item| {
            self.push(T::default());
            self.last_mut().map_or(Ok(()), |new| read_into(new, item))
        })
    }
    fn write(&self) -> Value {
        write_list(self.len(), &|index| self[index].write())
    }
    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

fn read_list(
    value: &Value,
    push: &mut dyn FnMut(&Value) -> Result<(), String>,
) -> Result<(), String> {
    value
        .as_array()
        .ok_or_else(|| wrong(value, "a list"))?
        .iter()
        .try_for_each(push)
}

fn write_list(len: usize, item: &dyn Fn(usize) -> Value) -> Value {
    let mut items = Vec::with_capacity(len);
    items.extend((0..len).map(item));
    Value::Array(items)
}
