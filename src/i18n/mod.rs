//! Reasons into words.

mod en;

pub use en::why;
