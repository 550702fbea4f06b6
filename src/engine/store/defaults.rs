//! Server-side defaults.
