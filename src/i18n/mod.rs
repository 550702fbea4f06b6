//! Reasons into words.

mod en;
pub mod format;
mod waits;

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

pub use en::why;
pub use waits::{amount, cure, fact, label, refusal, spared, tone, waits};
