//! How much memory the history may fill, in pages of 64 KiB.

/// The oldest part of the history is dropped when it fills this many pages, two gigabytes; then again after each step.
const ROOM_PAGES: usize = 32_768;
const MEMORY_STEP_PAGES: usize = 1_024;
/// While what was dropped is being freed so many more may be taken.
const FREEING_PAGES: usize = 4 * MEMORY_STEP_PAGES;
/// The clock stops when it fills so many all the same: three of the four gigabytes that a module may have.
const MAX_MEMORY_PAGES: usize = 49_152;

/// Pages of memory that the history may fill before its oldest part is dropped. What was once taken is not given back, only filled again:
/// there is room until more is taken, up to a limit beyond which the clock stops.
pub struct MemoryRoom(usize);

/// What a look at the memory comes to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Room {
    /// There is room.
    Left,
    /// The oldest part of the history is to be dropped.
    Wanted,
    /// There is no more memory: the clock is to stop.
    Full,
}

impl MemoryRoom {
    /// Looks at how many pages are taken. `frees`: whether what was dropped before is still being freed. Until that is done more is taken
    /// than is needed, and nothing else is dropped, unless much more is taken meanwhile.
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
        // What replaces it takes memory before the old is free.
        let more = ROOM_PAGES + 2 * MEMORY_STEP_PAGES;
        assert_eq!(room.look(more, true), Room::Left);
        assert_eq!(room.look(more, false), Room::Wanted);
        // What goes on for ever keeps nothing from being dropped.
        assert_eq!(
            room.look(more + MEMORY_STEP_PAGES + FREEING_PAGES, true),
            Room::Left
        );
        assert_eq!(
            room.look(more + MEMORY_STEP_PAGES + FREEING_PAGES + 1, true),
            Room::Wanted
        );
        // It is filled again before more is taken.
        assert_eq!(
            room.look(more + 2 * MEMORY_STEP_PAGES + FREEING_PAGES, false),
            Room::Left
        );
    }

    #[test]
    fn the_clock_stops_at_the_limit_whatever_is_to_be_free() {
        let mut room = MemoryRoom::default();
        assert_eq!(room.look(MAX_MEMORY_PAGES + 1, true), Room::Full);
        // A person who goes on has a step more.
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
