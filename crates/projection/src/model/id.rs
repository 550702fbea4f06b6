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

/// Compares names with numbers by value: `node-2` before `node-10`.
pub fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let Some(mut at) = a.iter().zip(b).position(|(x, y)| x != y) else {
        return a.len().cmp(&b.len());
    };
    // The number may begin before the first digit that differs.
    while at > 0 && a[at - 1].is_ascii_digit() {
        at -= 1;
    }
    // Digits of the number, without leading zeros.
    fn number(text: &[u8]) -> Option<&[u8]> {
        let digits = &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()];
        let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
        (!digits.is_empty()).then_some(&digits[zeros..])
    }
    let (a, b) = (&a[at..], &b[at..]);
    match (number(a), number(b)) {
        (Some(x), Some(y)) if x != y => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
        _ => a.cmp(b),
    }
}
