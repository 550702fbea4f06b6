//! The clock of this machine, the only one in the server.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Real time: what the engine is given follows from it, and it reads none itself.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// The time of day, in seconds since 1970.
#[allow(clippy::disallowed_methods)]
pub fn wall() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
