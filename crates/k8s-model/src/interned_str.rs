//! Interned texts that many objects share: phases, reasons, images, event sources.
//!
//! Guarantees: derefs to `str` and compares by content; takes eight bytes (four in the page), and no allocation if it is empty. Clones
//! share one text. Equal phrases made in succession mostly do too: this is not observable, so one table for the whole thread serves all
//! clusters.

use super::Str;
use super::json::Json;
use serde_json::Value;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// Shared text; `None` if it is empty.
#[derive(Clone, Default, Eq)]
pub struct InternedStr(Option<Rc<Str>>);

/// Size of the table: a power of two, several times the reasons and phases that a cluster has in use.
const KNOWN: usize = 128;

thread_local! {
    /// Last phrase of each hash.
    static LAST: RefCell<[InternedStr; KNOWN]> = const { RefCell::new([const { InternedStr(None) }; KNOWN]) };
}

impl InternedStr {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self
    }

    /// Returns the text as a `Str`.
    pub fn to_str(&self) -> Str {
        self.0.as_deref().cloned().unwrap_or_default()
    }

    /// Returns the phrase of a text; `make` allocates it if it is not in the table.
    fn of(text: &str, make: impl FnOnce() -> Str) -> InternedStr {
        if text.is_empty() {
            return InternedStr(None);
        }
        let hash = text.bytes().fold(0_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        LAST.with_borrow_mut(|last| {
            let known = &mut last[(hash ^ hash >> 16) as usize % KNOWN];
            if **known != *text {
                *known = InternedStr(Some(Rc::new(make())));
            }
            known.clone()
        })
    }
}

impl Deref for InternedStr {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_deref().map_or("", Str::as_str)
    }
}

impl From<&str> for InternedStr {
    fn from(text: &str) -> Self {
        InternedStr::of(text, || Str::new(text))
    }
}

impl From<&Str> for InternedStr {
    fn from(text: &Str) -> Self {
        InternedStr::of(text, || text.clone())
    }
}

impl From<Str> for InternedStr {
    fn from(text: Str) -> Self {
        InternedStr::from(&text)
    }
}

impl PartialEq for InternedStr {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl PartialEq<str> for InternedStr {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for InternedStr {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<InternedStr> for Str {
    fn eq(&self, other: &InternedStr) -> bool {
        **self == **other
    }
}

impl PartialEq<Str> for InternedStr {
    fn eq(&self, other: &Str) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for InternedStr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, f)
    }
}

impl std::fmt::Display for InternedStr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&**self, f)
    }
}

impl Json for InternedStr {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let mut text = Str::default();
        text.read(value)?;
        *self = text.into();
        Ok(())
    }
    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_its_text_whether_it_was_met_lately_or_not() {
        let (first, again) = (
            InternedStr::from("Running"),
            InternedStr::from(Str::from("Running".to_string())),
        );
        assert!(
            first
                .0
                .as_ref()
                .zip(again.0.as_ref())
                .is_some_and(|(a, b)| Rc::ptr_eq(a, b)),
            "they share one text"
        );
        // Many other phrases evict it, some of them with the same hash.
        let many: Vec<(String, InternedStr)> = (0..2_000)
            .map(|n| {
                (
                    format!("reason-{n}"),
                    InternedStr::from(Str::from(format!("reason-{n}"))),
                )
            })
            .collect();
        assert!(
            many.iter()
                .all(|(text, phrase)| *phrase == **text && phrase.to_str() == *text)
        );
        let later = InternedStr::from("Running");
        assert_eq!((first.as_str(), &first), ("Running", &later));
        assert_ne!(first, InternedStr::from("running"));
    }

    #[test]
    fn an_empty_phrase_is_nothing() {
        assert_eq!(
            (
                InternedStr::from(""),
                InternedStr::from(Str::default()).as_str()
            ),
            (InternedStr::default(), "")
        );
        assert!(Json::is_empty(&InternedStr::from("")) && !Json::is_empty(&InternedStr::from("a")));
        assert_eq!(size_of::<InternedStr>(), size_of::<usize>());
    }
}
