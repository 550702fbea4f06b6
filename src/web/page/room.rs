//! How much memory the history may take.

use crate::session::State;

/// The clock stops when the history fills this many pages of 64 KiB: three of the four gigabytes that a module may have.
const MAX_MEMORY_PAGES: usize = 49_152;

/// Pages of memory that the history may fill. What was once taken is not given back, only filled again: after a new beginning
/// there is room until more is taken.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Room(MAX_MEMORY_PAGES)
    }
}

impl Room {
    /// Stops the clock where there is no room left.
    pub(super) fn check(&mut self, state: &mut State) {
        let taken = core::arch::wasm32::memory_size::<0>();
        if taken > self.0 {
            self.0 = taken;
            state.stop_full();
        }
    }
}
