//! Memory limit of the history, in pages of 64 KiB.

/// Pages above which the oldest part of the history is dropped (two gigabytes), and growth after which it is dropped again.
const ROOM_PAGES: usize = 32_768;
const MEMORY_STEP_PAGES: usize = 1_024;
/// Additional pages allowed while dropped parts are being freed.
const FREEING_PAGES: usize = 4 * MEMORY_STEP_PAGES;
/// Pages above which the clock stops: three of the four gigabytes that a module may have.
const MAX_MEMORY_PAGES: usize = 49_152;

/// Number of pages that the history may fill before its oldest part is dropped. WebAssembly memory never shrinks; freed pages are reused.
/// The limit therefore rises in steps, up to one beyond which the clock stops.
pub struct MemoryRoom(usize);

/// Result of a check of the memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Room {
    /// There is room.
    Left,
    /// The oldest part of the history must be dropped.
    Wanted,
    /// Memory is full: the clock must stop.
    Full,
}

impl MemoryRoom {
    /// Checks the number of pages taken. `frees`: dropped parts are still being freed; meanwhile memory use is higher, and nothing else is
    /// dropped unless it grows by `FREEING_PAGES`.
    pub fn look(&mut self, taken: usize, frees: bool) -> Room {
        let full = taken > MAX_MEMORY_PAGES;
        let room = if frees && !full {
            self.0 + FREEING_PAGES
        } else {
            self.0
        };
        if taken <= room {
            return Room::Left;
        }
        self.0 = taken + MEMORY_STEP_PAGES;
        if full { Room::Full } else { Room::Wanted }
    }
}

impl Default for MemoryRoom {
    fn default() -> Self {
        MemoryRoom(ROOM_PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_more_is_dropped_until_what_was_dropped_before_is_free() {
        let mut room = MemoryRoom::default();
        assert_eq!(room.look(ROOM_PAGES, false), Room::Left);
        assert_eq!(room.look(ROOM_PAGES + 1, false), Room::Wanted);
        // New data takes memory before the old data is freed.
        let more = ROOM_PAGES + 2 * MEMORY_STEP_PAGES;
        assert_eq!(room.look(more, true), Room::Left);
        assert_eq!(room.look(more, false), Room::Wanted);
        // Freeing that never ends does not prevent dropping.
        assert_eq!(
            room.look(more + MEMORY_STEP_PAGES + FREEING_PAGES, true),
            Room::Left
        );
        assert_eq!(
            room.look(more + MEMORY_STEP_PAGES + FREEING_PAGES + 1, true),
            Room::Wanted
        );
        // Freed memory is reused before more is taken.
        assert_eq!(
            room.look(more + 2 * MEMORY_STEP_PAGES + FREEING_PAGES, false),
            Room::Left
        );
    }

    #[test]
    fn the_clock_stops_at_the_limit_whatever_is_to_be_free() {
        let mut room = MemoryRoom::default();
        assert_eq!(room.look(MAX_MEMORY_PAGES + 1, true), Room::Full);
        // A person who continues is given another step.
        assert_eq!(
            room.look(MAX_MEMORY_PAGES + MEMORY_STEP_PAGES, true),
            Room::Left
        );
        assert_eq!(
            room.look(MAX_MEMORY_PAGES + MEMORY_STEP_PAGES + 2, true),
            Room::Full
        );
    }
}
