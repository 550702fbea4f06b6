//! Position of a field of a document in the text.
//!
//! The text is parsed once more, and a seed that follows the path raises an error at the wanted key: the YAML crate attaches the position
//! to it. Other results of that parse are discarded.

use super::split;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

const FOUND: &str = "\u{1}found";

/// Returns line, column (from 1, in characters) and length of the key of a field, such as `spec.template.spec.containers[0].image`; if it
/// does not exist, of the innermost enclosing key that does.
pub fn locate(text: &[u8], document: usize, path: &str) -> Option<(usize, usize, usize)> {
    let chunk = split::chunks(text).nth(document)?;
    let body = std::str::from_utf8(chunk.bytes).ok()?;
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let mut steps = steps(path);
    // The API server names the labels of a template without the enclosing `metadata`.
    if let [.., "template", "labels" | "annotations"] = steps[..] {
        steps.insert(steps.len() - 1, "metadata");
    }
    while !steps.is_empty() {
        if let Some((line, column)) = find(body, &steps) {
            let length = steps.last().map_or(1, |step| step.chars().count());
            return Some((chunk.line + line - 1, column, length.max(1)));
        }
        steps.pop();
    }
    None
}

/// Splits `a.b[0].c` and `a[key]` into a list of keys and indices.
fn steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        steps.extend(pieces.next().filter(|key| !key.is_empty()));
        steps.extend(pieces.map(|piece| piece.trim_end_matches(']')));
    }
    steps.truncate(100);
    steps
}

fn find(text: &str, steps: &[&str]) -> Option<(usize, usize)> {
    let document = serde_yaml::Deserializer::from_str(text).next()?;
    let error = Follow { steps }.deserialize(document).err()?;
    let place = error
        .location()
        .filter(|_| error.to_string().contains(FOUND))?;
    Some((place.line(), place.column()))
}

/// Returns the first duplicate field of a mapping in a text's first document, with the line of the second occurrence.
pub fn repeated(text: &[u8]) -> Option<(usize, String)> {
    let chunk = split::chunks(text).next()?;
    let document =
        serde_yaml::Deserializer::from_str(std::str::from_utf8(chunk.bytes).ok()?).next()?;
    let mut found = None;
    let error = Repeated { found: &mut found }.deserialize(document).err()?;
    found
        .zip(error.location())
        .map(|(key, place)| (chunk.line + place.line() - 1, key))
}

/// Visitor that searches for a duplicate key, and raises an error there.
struct Repeated<'a> {
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Repeated<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! pass {
    ($($name:ident($kind:ty))*) => {$(
        fn $name<E: serde::de::Error>(self, _: $kind) -> Result<(), E> {
            Ok(())
        }
    )*};
}

impl<'de> Visitor<'de> for Repeated<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    pass!(visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str));

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key_seed(Unique {
            keys: &mut keys,
            found: self.found,
        })? {
            keys.insert(key);
            map.next_value_seed(Repeated { found: self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list
            .next_element_seed(Repeated { found: self.found })?
            .is_some()
        {}
        Ok(())
    }
}

/// Seed for a key that must differ from those before it.
struct Unique<'a> {
    keys: &'a mut BTreeSet<String>,
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if self.keys.contains(key) {
            *self.found = Some(key.to_owned());
            return Err(E::custom(FOUND));
        }
        Ok(key.to_owned())
    }
}

/// Visitor that follows the rest of a path into a value.
#[derive(Clone, Copy)]
struct Follow<'a> {
    steps: &'a [&'a str],
}

impl<'de> DeserializeSeed<'de> for Follow<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            // Only an element of a list is reached without a key.
            return deserializer.deserialize_any(Raise);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Follow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.steps.split_first() else {
            return Ok(());
        };
        while let Some(here) = map.next_key_seed(Key {
            wanted: step,
            raise: rest.is_empty(),
        })? {
            if here {
                return map.next_value_seed(Follow { steps: rest });
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.steps.split_first() else {
            return Ok(());
        };
        let Ok(wanted) = step.parse::<usize>() else {
            return Err(A::Error::custom("no such field"));
        };
        for _ in 0..wanted {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(());
            }
        }
        list.next_element_seed(Follow { steps: rest }).map(|_| ())
    }
}

/// Visitor that raises the error with the position.
struct Raise;

macro_rules! raise {
    ($($name:ident($kind:ty))*) => {$(
        fn $name<E: serde::de::Error>(self, _: $kind) -> Result<(), E> {
            Err(E::custom(FOUND))
        }
    )*};
}

impl<'de> Visitor<'de> for Raise {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    raise!(visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str));

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Err(E::custom(FOUND))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom(FOUND))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom(FOUND))
    }
}

/// Seed that compares a key with the wanted one.
struct Key<'a> {
    wanted: &'a str,
    raise: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        // Keys are read as text: the key `8080` is not a number.
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        let here = key == self.wanted;
        if here && self.raise {
            Err(E::custom(FOUND))
        } else {
            Ok(here)
        }
    }
}
