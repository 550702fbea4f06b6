//! Reasons of writes: one explanation a reason (`explanation.rs`), whose facts are worded by `values.rs`.

mod explanation;
mod values;
mod words;

pub use explanation::{Explanation, Follows, explain};
pub use values::{label, row, value};
pub use words::sizes;

use apiserver::Why;
use i18n::{Message, msg};

/// Name and value, in words.
pub type Row = (Message, Message);

/// Returns the reason of a write in words; empty if there is nothing to say.
pub fn reason(why: &Why) -> Message {
    explain(why).reason
}

/// Returns the reason of a write beside the sentence of its effect, which may say it already.
pub fn short(why: &Why) -> Message {
    match why {
        Why::Bootstrap => msg::why_bootstrap(),
        Why::Revision { .. } | Why::Scaled { .. } | Why::Stopped => Message::default(),
        why => reason(why),
    }
}
