//! Layers of the plot: the Pods of one state each.

use projection::rollout_track::Count;

/// Function that returns the number of a revision's Pods in a layer.
pub(super) type Pick = fn(&Count) -> u32;

/// Layers and their classes, from the bottom. In each the newer revision stands on the older ones, so that its progress is visible. Above
/// the ready Pods stand those that are not ready, then failing ones: one edge is to be compared with the lower limit, the next with the
/// upper. Terminating Pods stand at the top: no limit counts them.
pub(super) const LAYERS: [(&str, Pick); 4] = [
    ("rdy", |count| count.ready),
    ("unr", |count| count.unready),
    ("fls", |count| count.failing),
    ("trm", |count| count.leaving),
];
