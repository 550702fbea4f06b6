//! The clock of this machine, the only clock in the server.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Real time, from which the engine's virtual time is computed; the engine reads no clock.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// Wall-clock time, in seconds since 1970.
#[allow(clippy::disallowed_methods)]
pub fn wall() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
