//! Identity of the object that a shape represents.

/// Identity of the object that a shape represents.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// Kind: `Pod`, `ReplicaSet`, …
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`: the key of everything drawn.
    pub uid: String,
}

impl Id {
    /// Creates the identity of a referenced object that does not exist.
    pub fn missing(kind: &str, namespace: &str, name: &str) -> Id {
        Id {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: format!("missing/{kind}/{namespace}/{name}"),
        }
    }

    /// Returns true if the shape represents the object with this uid: if an object has several shapes, their uids end with its own.
    pub fn is_of(&self, uid: &str) -> bool {
        let before = self.uid.strip_suffix(uid);
        before.is_some_and(|before| {
            before.is_empty()
                || !self.kind.is_empty() && before.ends_with('/') && !uid.contains('/')
        })
    }

    /// Creates an identity whose uid is its kind and name: for tests and for shapes that are not objects.
    pub fn named(kind: &str, name: &str) -> Self {
        Id {
            kind: kind.into(),
            namespace: "default".into(),
            name: name.into(),
            uid: format!("{kind}/{name}"),
        }
    }
}
