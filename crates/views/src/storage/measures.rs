//! Column and row sizes of Storage, by the size of the frame.

use crate::variant;

/// Columns: left edge of the first, their width, and the distance from one to the next.
#[derive(Clone, Copy)]
pub struct Across {
    pub(super) left: f64,
    pub column: f64,
    pub pitch: f64,
    /// True if rows are labelled at the left.
    pub(super) named: bool,
    /// True if StorageClasses stand at the right rather than in a line at the foot.
    pub(super) aside: bool,
}

impl Across {
    /// Returns the columns for a stage of this width whose widest set has `places` columns.
    pub(super) fn of(width: f64, places: usize) -> Across {
        let usual = match width {
            w if w < 560.0 => return if places > 2 { THREE } else { NARROW },
            w if w < ROOM => CLOSE,
            _ => WIDE,
        };
        let class = if usual.aside { ASIDE } else { 0.0 };
        if places <= COMING || usual.left + usual.pitch * places as f64 + class <= width {
            return usual;
        }
        // More columns: the class goes to the foot, and they are narrowed as needed, down to a phone's.
        let pitch = ((width - CLOSE.left - EDGE + GAP) / places as f64)
            .floor()
            .clamp(THREE.column + GAP, CLOSE.pitch);
        Across {
            column: (pitch - GAP).min(CLOSE.column),
            pitch,
            ..CLOSE
        }
    }

    /// Returns true if cards have no room for a glyph.
    pub(super) fn slender(&self) -> bool {
        variant::is_slender(self.column)
    }
}

pub const WIDE: Across = Across {
    left: 88.0,
    column: 172.0,
    pitch: 188.0,
    named: true,
    aside: true,
};
/// Three columns that fit beside a manifest on a small screen, with the usual font size.
pub const CLOSE: Across = Across {
    left: 76.0,
    column: 172.0,
    pitch: 184.0,
    named: true,
    aside: false,
};
/// Columns of a phone: rows have no labels. If there are more than two columns, three fit.
pub(super) const NARROW: Across = Across {
    left: 16.0,
    column: 171.0,
    pitch: 187.0,
    named: false,
    aside: false,
};
pub const THREE: Across = Across {
    left: 16.0,
    column: 114.0,
    pitch: 122.0,
    named: false,
    aside: false,
};
/// Gap between columns that are narrower than usual, and margin right of the last.
const GAP: f64 = 10.0;
const EDGE: f64 = 16.0;
/// Width that three columns need with everything beside them.
pub const ROOM: f64 = 800.0;

/// Row sizes, from the top: one value of the struct for each height of the stage.
#[derive(Clone, Copy)]
pub struct Down {
    /// Room over the first bar and below everything.
    pub(super) top: f64,
    pub(super) margin: f64,
    /// Heights of the bar over three columns or more, over two, and over one; true if the last is in brief form.
    pub(super) bars: [f64; 3],
    pub(super) brief: bool,
    /// Distance from the bar to the Pods, position at which its lines turn, and height of the ordinals over the Pods. Without room for
    /// ordinals the last is zero: the names of Pods and claims end with them.
    pub(super) drop: f64,
    pub(super) turn: f64,
    pub(super) title: f64,
    /// Height of the ReplicaSet between a Deployment and its Pod, and the distance by which it pushes the Pods down.
    pub(super) chip: f64,
    pub(super) via: f64,
    /// Heights of the rows, and the gaps between them.
    pub pod: f64,
    pub(super) claim: f64,
    pub(super) volume: f64,
    pub(super) gaps: (f64, f64),
    /// Extension of a selected column's background over its Pod and under its last volume.
    pub(super) band: (f64, f64),
    /// Gap between blocks of columns that stand below each other.
    pub(super) apart: f64,
    /// True if StorageClasses may stand at the right: they are higher than a flat volume.
    pub(super) aside: bool,
    /// Line of a StorageClass at the foot: the room over it, and its height.
    pub(super) foot: (f64, f64),
    /// Room over the note on retained claims.
    pub(super) note: f64,
}

impl Down {
    /// Height of a bar over a number of columns.
    pub(super) fn bar(&self, places: usize) -> f64 {
        self.bars[COMING.saturating_sub(places).min(2)]
    }
}

pub(super) const HIGH: Down = Down {
    top: 16.0,
    margin: 16.0,
    bars: [54.0, 84.0, 140.0],
    brief: false,
    drop: 70.0,
    turn: 20.0,
    title: 30.0,
    chip: 40.0,
    via: 34.0,
    pod: 52.0,
    claim: 60.0,
    volume: 128.0,
    gaps: (60.0, 52.0),
    band: (38.0, 12.0),
    apart: 40.0,
    aside: true,
    foot: (20.0, 24.0),
    note: 4.0,
};
/// For a stage on which `HIGH` would not fit.
pub(super) const LOW: Down = Down {
    top: 10.0,
    margin: 8.0,
    drop: 52.0,
    turn: 14.0,
    title: 21.0,
    gaps: (34.0, 34.0),
    volume: 96.0,
    band: (29.0, 12.0),
    ..HIGH
};
/// For a stage on which not even the volumes of `LOW` would be visible: cards are lower, and everything down to the note is visible at
/// once, with the usual font size.
pub(super) const FLAT: Down = Down {
    top: 6.0,
    margin: 6.0,
    bars: [44.0, 44.0, 58.0],
    brief: true,
    drop: 18.0,
    turn: 9.0,
    title: 0.0,
    chip: 26.0,
    via: 28.0,
    pod: 40.0,
    claim: 36.0,
    volume: 70.0,
    gaps: (24.0, 24.0),
    band: (8.0, 3.0),
    apart: 24.0,
    aside: false,
    foot: (6.0, 20.0),
    note: 2.0,
};
/// For columns so narrow that a Pod's status may take two lines.
pub const FLAT_THREE: Down = Down { pod: 46.0, ..FLAT };
/// Height of a stage that shows one set of three columns in usual sizes, above its controls.
pub(super) const TALL: f64 = 612.0;
/// Height of a stage below which the volumes of two columns in low sizes would be cut, above its controls.
pub const FLAT_BELOW: f64 = 466.0;
/// Number of columns for which a bar reserves room in advance: it does not grow with each Pod.
pub(super) const COMING: usize = 3;

/// Gap between blocks of columns beside each other, and room for the class at the right.
pub(super) const BETWEEN: f64 = 24.0;
pub(super) const ASIDE: f64 = 152.0;
