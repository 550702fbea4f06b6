//! Object metadata, owner references and keys.

use super::json::{Json, record, text};
use super::kind::api_group;
use super::shared::{Recent, Shared};
use super::{InternedStr, Kind, Labels, Str, Timestamp};
use serde_json::Value;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Annotation in which `kubectl apply` without `--server-side` stores the last applied configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Annotation that `kubectl rollout history` shows of a revision.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// Unique id of an object for its whole life; a new object of the same name has another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Uid(pub u128);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Written digit by digit, since every Pod of a snapshot has one.
        let mut text = [b'-'; 36];
        let places = (0..36).filter(|at| !matches!(at, 8 | 13 | 18 | 23));
        for (digit, place) in places.enumerate() {
            text[place] = b"0123456789abcdef"[(self.0 >> (124 - 4 * digit)) as usize & 15];
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl Uid {
    /// Parses the dashed hexadecimal form.
    pub fn parse(text: &str) -> Option<Uid> {
        let (mut value, mut digits) = (0u128, 0);
        for digit in text.bytes().filter(|byte| *byte != b'-') {
            value = value << 4 | u128::from(char::from(digit).to_digit(16)?);
            digits += 1;
        }
        (digits == 32).then_some(Uid(value))
    }
}

impl Json for Uid {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        // A uid in another form was never assigned by this cluster, so the reference is dangling.
        *self = Uid::parse(text(value)?).unwrap_or_default();
        Ok(())
    }
    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
    fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

/// Key of an object: kind, namespace (empty for cluster-scoped kinds) and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectRef {
    /// Kind.
    pub kind: Kind,
    /// Namespace, empty for cluster-scoped kinds.
    pub namespace: Str,
    /// Name.
    pub name: Str,
}

impl ObjectRef {
    /// Builds the key of a named object; the namespace is dropped for cluster-scoped kinds.
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        let namespace = if kind.info().namespaced {
            namespace.into()
        } else {
            Str::default()
        };
        ObjectRef {
            kind,
            namespace,
            name: name.into(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.name)
    }
}

record! {
    /// Owner reference of an object.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct OwnerReference {
        /// API version of the owner.
        pub api_version: Str = "apiVersion",
        /// True if a foreground deletion of the owner waits for this object.
        pub block_owner_deletion: Option<bool> = "blockOwnerDeletion" omitempty,
        /// True if the owner is the managing controller of this object.
        pub controller: Option<bool> = "controller" omitempty,
        /// Kind of the owner.
        pub kind: Str = "kind",
        /// Name of the owner.
        pub name: Str = "name",
        /// Identity of the owner.
        pub uid: Uid = "uid",
    }

    /// `metadata` of every object.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ObjectMeta {
        pub annotations: Labels = "annotations" omitempty,
        pub creation_timestamp: Option<Timestamp> = "creationTimestamp" omitempty,
        pub deletion_grace_period_seconds: Option<i64> = "deletionGracePeriodSeconds" omitempty,
        pub deletion_timestamp: Option<Timestamp> = "deletionTimestamp" omitempty,
        pub finalizers: Shared<Str> = "finalizers" omitempty,
        pub generate_name: InternedStr = "generateName" omitempty,
        /// Number of changes of the spec, from 1; 0 for kinds without a generation.
        pub generation: i64 = "generation" omitempty,
        pub labels: Labels = "labels" omitempty,
        pub name: Str = "name",
        pub namespace: Str = "namespace" omitempty,
        pub owner_references: Owners = "ownerReferences" omitempty,
        /// Version of the object's last write, its position in the order of all writes.
        pub resource_version: u64 = "resourceVersion" omitempty,
        pub uid: Uid = "uid" omitempty,
    }
}

impl OwnerReference {
    /// Returns the key of the owner; `None` if its kind is unknown. Kinds of other groups may share a built-in kind's name.
    pub fn key(&self, namespace: &str) -> Option<ObjectRef> {
        Some(ObjectRef::new(
            Kind::from_group_kind(api_group(&self.api_version), &self.kind)?,
            namespace,
            &self.name,
        ))
    }

    /// Returns true if the owner is of this kind, in any version.
    pub fn is_kind(&self, kind: Kind) -> bool {
        *self.kind == *kind.name() && api_group(&self.api_version) == kind.info().group
    }
}

/// Owner references; shared between the versions of an object.
pub type Owners = Rc<Vec<OwnerReference>>;

/// Returns the list with a single owner, shared with a recent equal one.
pub fn owned_by(owner: OwnerReference) -> Owners {
    OWNERS.with_borrow_mut(|recent| recent.same(Rc::new(vec![owner]), Rc::eq))
}

thread_local! {
    static OWNERS: RefCell<Recent<Owners>> = RefCell::default();
    /// Empty map, shared by objects without labels or annotations.
    static NONE: Labels = Labels::default();
    /// Empty list, shared by objects without owners.
    static NO_OWNER: Owners = Owners::default();
}

impl Default for ObjectMeta {
    fn default() -> Self {
        let none = NONE.with(Labels::clone);
        ObjectMeta {
            annotations: none.clone(),
            creation_timestamp: None,
            deletion_grace_period_seconds: None,
            deletion_timestamp: None,
            finalizers: Shared::default(),
            generate_name: InternedStr::default(),
            generation: 0,
            labels: none,
            name: Str::default(),
            namespace: Str::default(),
            owner_references: NO_OWNER.with(Owners::clone),
            resource_version: 0,
            uid: Uid::default(),
        }
    }
}

impl ObjectMeta {
    /// Returns the controlling owner.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references
            .iter()
            .find(|o| o.controller == Some(true))
    }

    /// Returns true if the object with this uid is the controlling owner.
    pub fn is_controlled_by(&self, uid: Uid) -> bool {
        self.controller().is_some_and(|o| o.uid == uid)
    }

    /// Returns true if the object has a deletion timestamp.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Returns a label's value.
    pub fn label(&self, key: &str) -> Option<&Str> {
        self.labels.get(key)
    }

    /// Returns an annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&Str> {
        self.annotations.get(key)
    }

    /// Sets an annotation; returns true if that changed anything.
    pub fn annotate(&mut self, key: &str, value: &str) -> bool {
        if self.annotations.get(key).is_some_and(|v| v == value) {
            return false;
        }
        std::rc::Rc::make_mut(&mut self.annotations).insert(key.into(), value.into());
        true
    }

    /// Returns true if the finalizer holds this object back.
    pub fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|f| f == name)
    }
}
