//! Messages as data, and the languages they are rendered in. A message is built by a function of [`msg`], generated from the English
//! catalogue `en.txt`; it is rendered where it is shown.

pub mod format;
mod message;

pub use message::{Arg, Catalogue, Int, List, Message, Part, Word, holes};

/// Constructor of a message without arguments.
pub type Constant = fn() -> Message;
/// Constructor of a message with a count.
pub type Counted = fn(usize) -> Message;

/// Constructors of all messages.
pub mod msg {
    #[allow(unused_imports)]
    use super::{Arg, Int, List, Message, Word};
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// Joins facts in a line: `Bound · 1Gi`.
pub fn dotted(parts: Vec<Message>) -> Message {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.reduce(msg::dotted).unwrap_or_default()
}

/// Joins clauses into a sentence.
pub fn clauses(parts: Vec<Message>) -> Message {
    parts.into_iter().reduce(msg::clauses).unwrap_or_default()
}

/// Formats a count with thousands separators: `5,000`.
pub fn count(number: i64) -> String {
    let mut out = number.to_string();
    let (sign, mut at) = (usize::from(number < 0), out.len());
    while at > sign + 3 {
        at -= 3;
        out.insert(at, ',');
    }
    out
}
