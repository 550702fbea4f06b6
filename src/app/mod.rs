//! What the page is, without a page: state, messages, what they do; permalinks; numbers and words.
//! No web crate is named here, so all of it is tested natively.

pub mod assist;
pub mod breakpoint;
pub mod card;
mod causes;
pub mod changes;
pub mod examples;
pub mod columns;
pub mod diagnose;
mod drift;
pub mod facts;
pub mod highlight;
pub mod loops;
pub mod offers;
pub mod permalink;
pub mod run;
pub mod shell;
pub mod speed;
pub mod state;
mod track;
pub mod words;

#[cfg(test)]
mod tests;

pub use crate::scene::format;
pub use state::{Msg, State};
