//! Lessons of the page, in their order. Each is a file of `static/lessons`, loaded on demand.

use i18n::{Constant, msg};

/// Lesson of the page.
#[derive(Clone, Copy, Debug)]
pub struct LibraryEntry {
    /// Name of its file, used in links.
    pub name: &'static str,
    /// Title, as in the file.
    pub title: Constant,
}

/// Compares entries by name.
impl PartialEq for LibraryEntry {
    fn eq(&self, other: &LibraryEntry) -> bool {
        self.name == other.name
    }
}

/// All lessons.
pub const ALL: &[LibraryEntry] = &[
    LibraryEntry {
        name: "control-loop",
        title: || msg::lesson_title_control_loop(),
    },
    LibraryEntry {
        name: "events-and-state",
        title: || msg::lesson_title_events_and_state(),
    },
    LibraryEntry {
        name: "deployment",
        title: || msg::lesson_title_deployment(),
    },
    LibraryEntry {
        name: "scaling",
        title: || msg::lesson_title_scaling(),
    },
    LibraryEntry {
        name: "rolling-update",
        title: || msg::lesson_title_rolling_update(),
    },
    LibraryEntry {
        name: "undo",
        title: || msg::lesson_title_undo(),
    },
    LibraryEntry {
        name: "releases",
        title: || msg::lesson_title_releases(),
    },
    LibraryEntry {
        name: "service",
        title: || msg::lesson_title_service(),
    },
    LibraryEntry {
        name: "statefulset",
        title: || msg::lesson_title_statefulset(),
    },
    LibraryEntry {
        name: "claims",
        title: || msg::lesson_title_claims(),
    },
    LibraryEntry {
        name: "data",
        title: || msg::lesson_title_data(),
    },
    LibraryEntry {
        name: "own-volume",
        title: || msg::lesson_title_own_volume(),
    },
    LibraryEntry {
        name: "pending",
        title: || msg::lesson_title_pending(),
    },
    LibraryEntry {
        name: "stuck-rollout",
        title: || msg::lesson_title_stuck_rollout(),
    },
    LibraryEntry {
        name: "no-endpoints",
        title: || msg::lesson_title_no_endpoints(),
    },
    LibraryEntry {
        name: "drain",
        title: || msg::lesson_title_drain(),
    },
];

/// Returns the lesson after one of a name; `None` after the last.
pub fn after(name: &str) -> Option<&'static LibraryEntry> {
    ALL.iter().skip_while(|entry| entry.name != name).nth(1)
}

/// Returns the lesson of a name.
pub fn named(name: &str) -> Option<&'static LibraryEntry> {
    ALL.iter().find(|entry| entry.name == name)
}
