//! Margins, widths and distances of Ownership, by the size of the frame.

use projection::model::Model;

/// Margins, heights and distances.
pub(super) struct Measures {
    pub(super) top: f64,
    pub(super) left: f64,
    /// Height of a Pod's card, and distance from one to the next.
    pub(super) pod: f64,
    pub(super) pitch: f64,
    /// Distance from one to the next with claims beside them, and height of a claim.
    pub(super) stored: f64,
    pub(super) claim: f64,
    /// Gaps between the sets of a tree, between trees, and between columns of trees.
    pub(super) between: f64,
    pub(super) apart: f64,
    pub(super) aside: f64,
    /// Size of a Service, distance from one to the next, and from the last to the tree.
    pub(super) card: (f64, f64),
    pub(super) row: f64,
    pub(super) head: f64,
    /// Distance from the Pods to the first rail.
    pub(super) rail: f64,
    /// Maximum number of Pods drawn as cards, and as tiles; number of tiles per row.
    pub(super) cards: usize,
    pub(super) tiles: usize,
    pub(super) across: usize,
    /// Size of a tile, and distance from one to the next.
    pub(super) tile: (f64, f64),
    pub(super) step: (f64, f64),
    pub(super) low: bool,
}

pub(super) const USUAL: Measures = Measures {
    top: 26.0,
    left: 28.0,
    pod: 52.0,
    pitch: 60.0,
    stored: 76.0,
    claim: 60.0,
    between: 36.0,
    apart: 32.0,
    aside: 44.0,
    card: (228.0, 44.0),
    row: 56.0,
    head: 16.0,
    rail: 18.0,
    cards: 6,
    tiles: 24,
    across: 4,
    tile: (72.0, 30.0),
    step: (78.0, 36.0),
    low: false,
};

/// For a low frame, in which a user cannot enlarge the text: cards are lower and fewer, so that an update is visible as a whole.
pub(super) const FLAT: Measures = Measures {
    top: 8.0,
    left: 8.0,
    pod: 30.0,
    pitch: 34.0,
    stored: 58.0,
    claim: 40.0,
    between: 12.0,
    apart: 16.0,
    aside: 20.0,
    card: (160.0, 38.0),
    row: 42.0,
    head: 2.0,
    rail: 12.0,
    cards: 4,
    tiles: 12,
    across: 3,
    tile: (59.0, 26.0),
    step: (62.0, 30.0),
    low: true,
};

/// Minimum width of a low frame in which a tree fits: its root, a set and a Pod side by side.
pub(super) const NARROWEST: f64 = 458.0;
/// Height of a controller's card in a low frame.
pub(super) const BRIEF: f64 = 62.0;
/// Number of Pods in the whole view from which all of them are cells.
pub(super) const DENSE: usize = 200;
/// Maximum distance of an owner from the top of its block.
pub(super) const HIGH: f64 = 140.0;
/// Minimum scale at which a stage shows this diagram.
pub const LEAST: f64 = 0.9;
/// Number of Pods above which blocks stand side by side, each below its ReplicaSet: one below the other, the newest would be out of view.
pub(super) const BESIDE: usize = 400;
/// Number of Pods above which cells have their minimum size.
pub(super) const HUGE: usize = 1_000;
/// Gap between two blocks, and the height of the line over them.
pub(super) const APART_BLOCKS: f64 = 28.0;
pub(super) const OVER: f64 = 16.0;
/// Height of a root above its blocks, and the gap below it.
pub(super) const LIFTED: f64 = 54.0;
pub(super) const BELOW_ROOT: f64 = 24.0;
/// Padding around the cells of a block.
pub(super) const PAD: f64 = 8.0;

/// Widths and gaps of the columns of one tree.
pub(super) struct TreeColumns {
    pub(super) root: f64,
    pub(super) gap: f64,
    pub(super) set: f64,
    pub(super) pod: f64,
    pub(super) claim: f64,
    pub(super) volume: f64,
}

/// Column sizes, widest first: the first that fits is used, since text is not made smaller as long as cards can be narrower.
pub(super) const PLAIN: [TreeColumns; 3] = [
    TreeColumns {
        root: 200.0,
        gap: 54.0,
        set: 204.0,
        pod: 204.0,
        claim: 0.0,
        volume: 0.0,
    },
    TreeColumns {
        root: 164.0,
        gap: 28.0,
        set: 168.0,
        pod: 184.0,
        claim: 0.0,
        volume: 0.0,
    },
    LOW,
];

/// For the smallest frame, so that the Pods are visible.
pub(super) const LOW: TreeColumns = TreeColumns {
    root: 160.0,
    gap: 24.0,
    set: 164.0,
    pod: 164.0,
    claim: 164.0,
    volume: 0.0,
};

/// With claims. In a small frame volumes are left out: the claim shows that it is bound.
pub(super) const CLAIMS: [TreeColumns; 4] = [
    TreeColumns {
        root: 176.0,
        gap: 44.0,
        set: 190.0,
        pod: 188.0,
        claim: 156.0,
        volume: 152.0,
    },
    TreeColumns {
        root: 164.0,
        gap: 36.0,
        set: 170.0,
        pod: 176.0,
        claim: 148.0,
        volume: 140.0,
    },
    TreeColumns {
        root: 160.0,
        gap: 40.0,
        set: 170.0,
        pod: 184.0,
        claim: 176.0,
        volume: 0.0,
    },
    LOW,
];

/// For a low frame, widest first: the first is for a StatefulSet.
pub(super) const FLAT_PLAIN: [TreeColumns; 2] = [
    TreeColumns {
        root: 192.0,
        gap: 30.0,
        set: 200.0,
        pod: 212.0,
        claim: 0.0,
        volume: 0.0,
    },
    TreeColumns {
        root: 110.0,
        gap: 14.0,
        set: 120.0,
        pod: 184.0,
        claim: 0.0,
        volume: 0.0,
    },
];

pub(super) const FLAT_CLAIMS: [TreeColumns; 4] = [
    TreeColumns {
        root: 190.0,
        gap: 46.0,
        set: 190.0,
        pod: 212.0,
        claim: 180.0,
        volume: 0.0,
    },
    TreeColumns {
        root: 140.0,
        gap: 20.0,
        set: 164.0,
        pod: 184.0,
        claim: 150.0,
        volume: 0.0,
    },
    TreeColumns {
        root: 114.0,
        gap: 16.0,
        set: 120.0,
        pod: 176.0,
        claim: 142.0,
        volume: 0.0,
    },
    TreeColumns {
        root: 98.0,
        gap: 12.0,
        set: 110.0,
        pod: 112.0,
        claim: 100.0,
        volume: 0.0,
    },
];

impl TreeColumns {
    /// Width of a tree, with a Service's rail if there are no claims.
    pub(super) fn width(&self, sets: bool, rail: f64) -> f64 {
        let volume = if self.volume > 0.0 {
            36.0 + self.volume
        } else {
            0.0
        };
        let claim = if self.claim > 0.0 {
            self.gap + self.claim + volume
        } else {
            rail + 10.0
        };
        self.root + self.gap + if sets { self.set + self.gap } else { 0.0 } + self.pod + claim
    }
}

/// Inputs shared by all trees of a picture.
pub(super) struct Frame<'a> {
    pub(super) model: &'a Model,
    pub(super) selected: Option<&'a str>,
    pub(super) measures: &'static Measures,
    /// Number of Pods that exist or are desired.
    pub(super) total: usize,
    /// Width, and width at the minimum scale.
    pub(super) width: f64,
    pub(super) room: f64,
    /// True if everything is in one column of full width.
    pub(super) stacked: bool,
}
