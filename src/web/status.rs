//! State shared between the panic hook and the page.

use std::cell::Cell;

thread_local! {
    /// Set by the panic hook: after it, nothing of the page runs any more.
    pub static STOPPED: Cell<bool> = const { Cell::new(false) };
    /// The time shown, for the panic hook.
    pub static SHOWN: Cell<u64> = const { Cell::new(0) };
}
