//! Why something is so: chains of causes, evidence, diagnosis and remedies. Results are data; `i18n` makes sentences of them.

mod causes;
pub mod diagnose;
pub mod evidence;
pub mod remedies;
pub mod words;
