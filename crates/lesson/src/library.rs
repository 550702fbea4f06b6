//! Lessons of the page, in their order. Each is a file of `static/lessons`, loaded on demand.

use i18n::{Constant, msg};

/// Lesson of the page.
#[derive(Clone, Copy, Debug)]
pub struct LibraryEntry {
    /// Name of its file, used in links.
    pub name: &'static str,
    /// Title, as in the file.
    pub title: Constant,
    /// Names of the lessons that it builds on.
    pub needs: &'static [&'static str],
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
        name: "pods",
        title: || msg::lesson_title_pods(),
        needs: &[],
    },
    LibraryEntry {
        name: "control-loop",
        title: || msg::lesson_title_control_loop(),
        needs: &["pods"],
    },
    LibraryEntry {
        name: "events-and-state",
        title: || msg::lesson_title_events_and_state(),
        needs: &["control-loop"],
    },
    LibraryEntry {
        name: "deployment",
        title: || msg::lesson_title_deployment(),
        needs: &["control-loop"],
    },
    LibraryEntry {
        name: "scaling",
        title: || msg::lesson_title_scaling(),
        needs: &["deployment"],
    },
    LibraryEntry {
        name: "rolling-update",
        title: || msg::lesson_title_rolling_update(),
        needs: &["deployment"],
    },
    LibraryEntry {
        name: "undo",
        title: || msg::lesson_title_undo(),
        needs: &["rolling-update"],
    },
    LibraryEntry {
        name: "service",
        title: || msg::lesson_title_service(),
        needs: &["deployment"],
    },
    LibraryEntry {
        name: "releases",
        title: || msg::lesson_title_releases(),
        needs: &["rolling-update", "service"],
    },
    LibraryEntry {
        name: "statefulset",
        title: || msg::lesson_title_statefulset(),
        needs: &["service"],
    },
    LibraryEntry {
        name: "claims",
        title: || msg::lesson_title_claims(),
        needs: &["pods"],
    },
    LibraryEntry {
        name: "data",
        title: || msg::lesson_title_data(),
        needs: &["claims", "statefulset"],
    },
    LibraryEntry {
        name: "own-volume",
        title: || msg::lesson_title_own_volume(),
        needs: &["claims", "statefulset"],
    },
    LibraryEntry {
        name: "pending",
        title: || msg::lesson_title_pending(),
        needs: &["pods"],
    },
    LibraryEntry {
        name: "stuck-rollout",
        title: || msg::lesson_title_stuck_rollout(),
        needs: &["rolling-update"],
    },
    LibraryEntry {
        name: "no-endpoints",
        title: || msg::lesson_title_no_endpoints(),
        needs: &["service"],
    },
    LibraryEntry {
        name: "drain",
        title: || msg::lesson_title_drain(),
        needs: &["deployment"],
    },
    LibraryEntry {
        name: "first-loop",
        title: || msg::lesson_title_first_loop(),
        needs: &["control-loop"],
    },
    LibraryEntry {
        name: "level-and-edge",
        title: || msg::lesson_title_level_and_edge(),
        needs: &["first-loop", "events-and-state"],
    },
    LibraryEntry {
        name: "idempotence",
        title: || msg::lesson_title_idempotence(),
        needs: &["first-loop"],
    },
    LibraryEntry {
        name: "owners-and-finalizers",
        title: || msg::lesson_title_owners_and_finalizers(),
        needs: &["first-loop"],
    },
];

/// Section of a path through the lessons.
#[derive(Clone, Copy, Debug)]
pub struct LibrarySection {
    /// Title.
    pub title: Constant,
    /// Names of its lessons, in their order.
    pub lessons: &'static [&'static str],
}

/// Path for a person who has never seen a cluster.
pub static FROM_ZERO: &[LibrarySection] = &[
    LibrarySection {
        title: || msg::learn_first_steps(),
        lessons: &["pods", "control-loop", "deployment", "scaling"],
    },
    LibrarySection {
        title: || msg::learn_run_application(),
        lessons: &["service", "rolling-update", "undo"],
    },
    LibrarySection {
        title: || msg::learn_keep_data(),
        lessons: &["claims", "statefulset", "data"],
    },
    LibrarySection {
        title: || msg::learn_find_out(),
        lessons: &["pending", "no-endpoints"],
    },
];

/// All lessons, section by section.
pub static BY_SECTION: &[LibrarySection] = &[
    LibrarySection {
        title: || msg::learn_control_loop(),
        lessons: &["pods", "control-loop", "events-and-state"],
    },
    LibrarySection {
        title: || msg::learn_deployment(),
        lessons: &["deployment", "scaling", "rolling-update", "undo"],
    },
    LibrarySection {
        title: || msg::learn_stateful(),
        lessons: &["service", "releases", "statefulset"],
    },
    LibrarySection {
        title: || msg::learn_storage(),
        lessons: &["claims", "data", "own-volume"],
    },
    LibrarySection {
        title: || msg::learn_trouble(),
        lessons: &["pending", "stuck-rollout", "no-endpoints", "drain"],
    },
    LibrarySection {
        title: || msg::learn_own_loop(),
        lessons: &[
            "first-loop",
            "level-and-edge",
            "idempotence",
            "owners-and-finalizers",
        ],
    },
];

/// Returns the lesson after one of a name on a path, or among all if the path does not have it; `None` after the last.
pub fn after(path: &[LibrarySection], name: &str) -> Option<&'static LibraryEntry> {
    let lessons: Vec<&str> = path
        .iter()
        .flat_map(|section| section.lessons)
        .copied()
        .collect();
    match lessons.iter().position(|lesson| *lesson == name) {
        Some(at) => named(lessons.get(at + 1)?),
        None => ALL.iter().skip_while(|entry| entry.name != name).nth(1),
    }
}

/// Returns the lesson of a name.
pub fn named(name: &str) -> Option<&'static LibraryEntry> {
    ALL.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_existing_lessons_after_those_that_they_need() {
        for path in [FROM_ZERO, BY_SECTION] {
            let mut seen: Vec<&str> = Vec::new();
            for name in path.iter().flat_map(|section| section.lessons) {
                let entry = named(name).unwrap_or_else(|| panic!("no lesson {name}"));
                assert!(!seen.contains(name), "{name} twice");
                for needed in entry.needs {
                    assert!(seen.contains(needed), "{name} before {needed}");
                }
                seen.push(name);
            }
        }
    }

    #[test]
    fn the_sections_have_all_lessons_in_their_order() {
        let sections = BY_SECTION.iter().flat_map(|section| section.lessons);
        assert!(sections.eq(ALL.iter().map(|entry| &entry.name)));
    }

    #[test]
    fn a_lesson_leads_to_the_next_of_its_path() {
        let next = |path, name| after(path, name).map(|entry| entry.name);
        assert_eq!(next(FROM_ZERO, "control-loop"), Some("deployment"));
        assert_eq!(next(BY_SECTION, "control-loop"), Some("events-and-state"));
        assert_eq!(next(FROM_ZERO, "releases"), Some("statefulset"));
        assert_eq!(next(FROM_ZERO, "no-endpoints"), None);
    }
}
