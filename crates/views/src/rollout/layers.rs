//! The layers of the plot, each with the Pods of one standing.

use projection::rollout_track::Count;

/// How many Pods of a revision are in a layer.
pub(super) type Pick = fn(&Count) -> u32;

/// The layers and their classes, from the bottom. In each the newer revision stands on the older ones, so that it is seen to take over. On all
/// Pods that are ready stand those that are not, then those that fail: one edge is to be compared with the lower limit, the next with the
/// upper. Those that terminate stand above: no limit counts them.
pub(super) const LAYERS: [(&str, Pick); 4] = [
    ("rdy", |count| count.ready),
    ("unr", |count| count.unready),
    ("fls", |count| count.failing),
    ("trm", |count| count.leaving),
];
