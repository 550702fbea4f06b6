//! How much memory the history may fill.

use crate::session::State;

/// The oldest part of the history is dropped when it fills this many pages of 64 KiB, two gigabytes; then again after each step.
const ROOM_PAGES: usize = 32_768;
const MEMORY_STEP_PAGES: usize = 1_024;
/// The clock stops when it fills so many all the same: three of the four gigabytes that a module may have.
const MAX_MEMORY_PAGES: usize = 49_152;

/// Pages of memory that the history may fill before its oldest part is dropped. What was once taken is not given back, only filled again:
/// there is room until more is taken, up to a limit beyond which the clock stops.
pub(super) struct MemoryRoom(usize);

impl MemoryRoom {
    /// Makes room if there is none.
    pub(super) fn check(&mut self, state: &mut State) {
        let taken = core::arch::wasm32::memory_size::<0>();
        if state.timeline.run.forget_next() || taken <= self.0 {
            return;
        }
        self.0 = taken + MEMORY_STEP_PAGES;
        if taken > MAX_MEMORY_PAGES { state.stop_full() } else { state.make_room() }
    }
}

impl Default for MemoryRoom {
    fn default() -> Self {
        MemoryRoom(ROOM_PAGES)
    }
}
