//! Metadata: what every object carries, and how objects name each other.

use super::{Kind, Labels, Str, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The identity of one object for its whole life; a new object of the same name has another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Uid(pub u128);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let h = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &h[..8], &h[8..12], &h[12..16], &h[16..20], &h[20..])
    }
}

impl Uid {
    /// Reads the dashed hexadecimal form.
    pub fn parse(text: &str) -> Option<Uid> {
        let hex: String = text.chars().filter(|c| *c != '-').collect();
        if hex.len() != 32 { None } else { u128::from_str_radix(&hex, 16).ok().map(Uid) }
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        // A reference to a uid that this cluster never gave out points to nobody.
        Ok(Uid::parse(&String::deserialize(d)?).unwrap_or_default())
    }
}

/// The key of an object: kind, namespace (empty for cluster-wide kinds) and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectRef {
    /// The kind.
    pub kind: Kind,
    /// The namespace, empty for cluster-wide kinds.
    pub namespace: Str,
    /// The name.
    pub name: Str,
}

impl ObjectRef {
    /// The key of a named object; the namespace is dropped for cluster-wide kinds.
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        let namespace = if kind.info().namespaced { namespace.into() } else { Str::default() };
        ObjectRef { kind, namespace, name: name.into() }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.name)
    }
}

/// A link from an object to one that owns it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    /// API version of the owner.
    pub api_version: Str,
    /// Whether the owner waits for this object when it is deleted in the foreground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    /// Whether the owner is the one controller of this object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Kind of the owner.
    pub kind: Str,
    /// Name of the owner.
    pub name: Str,
    /// Identity of the owner.
    pub uid: Uid,
}

/// `metadata` of every object.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    #[serde(skip_serializing_if = "is_empty_map", deserialize_with = "nullable")]
    pub annotations: Labels,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub finalizers: Vec<Str>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub generate_name: Str,
    /// Counts the changes of the spec, from 1; 0 where the kind has none.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    #[serde(skip_serializing_if = "is_empty_map", deserialize_with = "nullable")]
    pub labels: Labels,
    pub name: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub namespace: Str,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub owner_references: Vec<OwnerReference>,
    /// Position of the last write of this object in the order of all writes.
    #[serde(with = "version", skip_serializing_if = "is_unset")]
    pub resource_version: u64,
    #[serde(skip_serializing_if = "is_nil")]
    pub uid: Uid,
}

impl ObjectMeta {
    /// The owner that controls this object.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|o| o.controller == Some(true))
    }

    /// Whether it is controlled by the object with this uid.
    pub fn is_controlled_by(&self, uid: Uid) -> bool {
        self.controller().is_some_and(|o| o.uid == uid)
    }

    /// Whether deletion has begun.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&Str> {
        self.labels.get(key)
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&Str> {
        self.annotations.get(key)
    }

    /// Sets an annotation; `true` if that changed anything.
    pub fn annotate(&mut self, key: &str, value: &str) -> bool {
        if self.annotations.get(key).is_some_and(|v| v == value) {
            return false;
        }
        std::rc::Rc::make_mut(&mut self.annotations).insert(key.into(), value.into());
        true
    }

    /// Whether the finalizer holds this object back.
    pub fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|f| f == name)
    }
}

pub(crate) fn is_empty_map(map: &Labels) -> bool {
    map.is_empty()
}

pub(crate) fn is_zero(n: &i64) -> bool {
    *n == 0
}

fn is_unset(n: &u64) -> bool {
    *n == 0
}

fn is_nil(uid: &Uid) -> bool {
    uid.0 == 0
}

/// `null` reads as the type's empty value, as Go decodes it.
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

/// `resourceVersion` is text in the API.
mod version {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(n: &u64, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(n)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        Ok(Option::<String>::deserialize(d)?.and_then(|s| s.parse().ok()).unwrap_or(0))
    }
}
