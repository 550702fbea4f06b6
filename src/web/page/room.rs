//! How much memory the history may fill.

use crate::engine::deferred_drop;
use crate::session::State;
use crate::session::memory_room::{MemoryRoom, Room};

/// Makes room if there is none, in parts.
pub(super) fn check(room: &mut MemoryRoom, state: &mut State) {
    let taken = core::arch::wasm32::memory_size::<0>();
    match room.look(taken, || deferred_drop::is_waiting() || state.timeline.run.forget_next()) {
        Room::Left => {}
        Room::Wanted => state.make_room(),
        Room::Full => state.stop_full(),
    }
}
