//! State shared between the panic hook and the page.

use std::cell::Cell;

thread_local! {
    /// True after a panic: nothing of the page runs any more.
    pub static STOPPED: Cell<bool> = const { Cell::new(false) };
    /// Time shown, for the panic hook.
    pub static SHOWN: Cell<u64> = const { Cell::new(0) };
}
