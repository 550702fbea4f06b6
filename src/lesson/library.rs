//! The lessons of the page, in the order in which they are taken. Each is a file of `static/lessons`, loaded when it is opened.

use crate::i18n::{Constant, msg};

/// A lesson of the page.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name of its file, and of links to it.
    pub name: &'static str,
    /// Its title, as the file has it.
    pub title: Constant,
}

/// All of them.
pub const ALL: &[Entry] = &[Entry { name: "control-loop", title: || msg::lesson_title_control_loop() }];

/// The lesson of a name.
pub fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
