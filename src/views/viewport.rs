//! The viewport of a stage: scale and place of a picture.

/// A frame lower than this has them.
pub const LOW_FRAME: f64 = 400.0;
