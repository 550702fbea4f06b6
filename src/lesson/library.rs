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
pub const ALL: &[Entry] = &[
    Entry { name: "control-loop", title: || msg::lesson_title_control_loop() },
    Entry { name: "events-and-state", title: || msg::lesson_title_events_and_state() },
    Entry { name: "deployment", title: || msg::lesson_title_deployment() },
    Entry { name: "scaling", title: || msg::lesson_title_scaling() },
    Entry { name: "rolling-update", title: || msg::lesson_title_rolling_update() },
    Entry { name: "undo", title: || msg::lesson_title_undo() },
    Entry { name: "releases", title: || msg::lesson_title_releases() },
    Entry { name: "service", title: || msg::lesson_title_service() },
    Entry { name: "statefulset", title: || msg::lesson_title_statefulset() },
    Entry { name: "claims", title: || msg::lesson_title_claims() },
    Entry { name: "data", title: || msg::lesson_title_data() },
    Entry { name: "own-volume", title: || msg::lesson_title_own_volume() },
    Entry { name: "pending", title: || msg::lesson_title_pending() },
    Entry { name: "stuck-rollout", title: || msg::lesson_title_stuck_rollout() },
    Entry { name: "no-endpoints", title: || msg::lesson_title_no_endpoints() },
    Entry { name: "drain", title: || msg::lesson_title_drain() },
];

/// The lesson of a name.
pub fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
