//! Messages as data, and the languages they are rendered in. A message is made by a function of [`msg`], generated from the
//! English catalogue `en.txt`; the text is made of it where it is shown.

pub mod format;
mod message;

pub use message::{Arg, Catalogue, Int, List, Message, Part, Word, holes};

/// The constructor of a message without arguments.
pub type Constant = fn() -> Message;
/// The constructor of a message that counts something.
pub type Counted = fn(usize) -> Message;

/// The constructors of all messages.
pub mod msg {
    #[allow(unused_imports)]
    use super::{Arg, Int, List, Message, Word};
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// Several facts in a line: `Bound · 1Gi`.
pub fn dotted(parts: Vec<Message>) -> Message {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.reduce(msg::dotted).unwrap_or_default()
}

/// Several clauses in a sentence.
pub fn clauses(parts: Vec<Message>) -> Message {
    parts.into_iter().reduce(msg::clauses).unwrap_or_default()
}

/// A count, its thousands marked: `5,000`.
pub fn count(number: i64) -> String {
    let mut out = number.to_string();
    let (sign, mut at) = (usize::from(number < 0), out.len());
    while at > sign + 3 {
        at -= 3;
        out.insert(at, ',');
    }
    out
}
