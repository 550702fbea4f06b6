//! Grammar of the small shell: a text becomes a script, a flat list of steps.

mod lexer;
pub mod parse;
pub mod script;

pub use lexer::here_words;
pub use parse::parse;
