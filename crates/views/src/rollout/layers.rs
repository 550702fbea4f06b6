//! Layers of the plot: the Pods of one state each.

use projection::rollout_track::Count;

/// Layer of the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Ready Pods.
    Ready,
    /// Pods that are not ready yet.
    Unready,
    /// Failing Pods.
    Failing,
    /// Terminating Pods.
    Terminating,
}

impl Layer {
    /// Layers, from the bottom. In each the newer revision stands on the older ones, so that its progress is visible. Above the ready Pods
    /// stand those that are not ready, then failing ones: one edge is to be compared with the lower limit, the next with the upper.
    /// Terminating Pods stand at the top: no limit counts them.
    pub const ALL: [Layer; 4] = [
        Layer::Ready,
        Layer::Unready,
        Layer::Failing,
        Layer::Terminating,
    ];

    /// Number of a revision's Pods in the layer.
    pub fn pods(self, count: &Count) -> u32 {
        match self {
            Layer::Ready => count.ready,
            Layer::Unready => count.unready,
            Layer::Failing => count.failing,
            Layer::Terminating => count.leaving,
        }
    }

    /// Class in the page.
    pub fn class(self) -> &'static str {
        match self {
            Layer::Ready => "rdy",
            Layer::Unready => "unr",
            Layer::Failing => "fls",
            Layer::Terminating => "trm",
        }
    }
}

/// Shade of a revision's ready Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// Full: the current revision.
    Full,
    /// Half and light: earlier revisions, in turn.
    Half,
    Light,
}

impl Shade {
    /// Class in the page.
    pub fn class(self) -> &'static str {
        match self {
            Shade::Full => "r0",
            Shade::Half => "r1",
            Shade::Light => "r2",
        }
    }
}

/// Appearance of a revision or a layer in the table beside the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// Ready Pods.
    Ready(Shade),
    /// Pods in another layer.
    Other(Layer),
    /// A revision that never had Pods.
    Empty,
}

impl Swatch {
    /// Class in the page.
    pub fn class(self) -> &'static str {
        match self {
            Swatch::Ready(shade) => shade.class(),
            Swatch::Other(layer) => layer.class(),
            Swatch::Empty => "none",
        }
    }
}
