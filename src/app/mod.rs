//! What the page is, without a page: state, messages, what they do; permalinks; numbers and words.
//! No web crate is named here, so all of it is tested natively.

pub mod format;
pub mod highlight;
pub mod permalink;
pub mod speed;
