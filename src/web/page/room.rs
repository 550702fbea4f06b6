//! Check of the module's memory.

use session::State;
use session::memory_room::{MemoryRoom, Room};
use sim_core::deferred_drop;

/// Makes room if memory is full, in parts.
pub(super) fn check(room: &mut MemoryRoom, state: &mut State) {
    let taken = core::arch::wasm32::memory_size::<0>();
    match room.look(
        taken,
        state.timeline.run.forget_next() || deferred_drop::is_waiting(),
    ) {
        Room::Left => {}
        Room::Wanted => state.make_room(),
        Room::Full => state.stop_full(),
    }
}
