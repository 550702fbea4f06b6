//! JSON whose objects may have duplicate fields: the resulting value, and the duplicate fields.
//!
//! Models `sigs.k8s.io/json`: into a typed object a second value is decoded over the first one.

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// Parses a body; returns the sorted paths of duplicate fields. The last value counts, and with `merges` duplicate objects are merged.
pub fn read(body: &[u8], merges: bool) -> Result<(Value, BTreeSet<String>), serde_json::Error> {
    let (mut path, mut repeated) = (String::new(), BTreeSet::new());
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = Node {
        path: &mut path,
        repeated: &mut repeated,
        merges,
    }
    .deserialize(&mut json)?;
    json.end()?;
    Ok((value, repeated))
}

/// Value at a path.
struct Node<'a> {
    path: &'a mut String,
    repeated: &'a mut BTreeSet<String>,
    merges: bool,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($name:ident($kind:ty))*) => {$(
        fn $name<E: Error>(self, value: $kind) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    scalars!(visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) visit_string(String));

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (mut list, length) = (Vec::new(), self.path.len());
        loop {
            self.path.push_str(&format!("[{}]", list.len()));
            let item = items.next_element_seed(Node {
                path: self.path,
                repeated: self.repeated,
                merges: self.merges,
            })?;
            self.path.truncate(length);
            match item {
                Some(item) => list.push(item),
                None => return Ok(list.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let (mut map, length) = (Map::new(), self.path.len());
        while let Some(name) = fields.next_key::<String>()? {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&name);
            let value = fields.next_value_seed(Node {
                path: self.path,
                repeated: self.repeated,
                merges: self.merges,
            })?;
            match map.get_mut(&name) {
                Some(first) => {
                    self.repeated.insert(self.path.clone());
                    if self.merges {
                        join(first, value)
                    } else {
                        *first = value
                    }
                }
                None => drop(map.insert(name, value)),
            }
            self.path.truncate(length);
        }
        Ok(map.into())
    }
}

/// Decodes a value over another.
fn join(first: &mut Value, second: Value) {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            for (name, value) in second {
                match first.get_mut(&name) {
                    Some(old) => join(old, value),
                    None => drop(first.insert(name, value)),
                }
            }
        }
        (first, second) => *first = second,
    }
}
