//! Columns and rows of Storage, by the size of the frame.

/// How the columns stand: where the first begins, their width, and from one to the next.
#[derive(Clone, Copy)]
pub(super) struct Across {
    pub(super) left: f64,
    pub(super) column: f64,
    pub(super) pitch: f64,
    /// Whether rows are named at the left.
    pub(super) named: bool,
    /// Whether StorageClasses stand at the right, not in a line at the foot.
    pub(super) aside: bool,
}

pub(super) const WIDE: Across = Across { left: 88.0, column: 172.0, pitch: 188.0, named: true, aside: true };
/// Three columns fit beside a manifest on a small screen, with letters as large as anywhere.
pub(super) const CLOSE: Across = Across { left: 76.0, column: 172.0, pitch: 184.0, named: true, aside: false };
/// A phone: the rows speak for themselves, their names and the room for them go. Of more than two columns, three fit.
pub(super) const NARROW: Across = Across { left: 16.0, column: 171.0, pitch: 187.0, named: false, aside: false };
pub(super) const THREE: Across = Across { left: 16.0, column: 114.0, pitch: 122.0, named: false, aside: false };
/// What three columns with all beside them need.
pub(super) const ROOM: f64 = 800.0;

/// How the rows stand: the first, from the bar to the Pods, where its lines turn and how far over the Pods their ordinals stand;
/// between the rows; the height of a volume.
#[derive(Clone, Copy)]
pub(super) struct Down {
    pub(super) top: f64,
    pub(super) drop: f64,
    pub(super) turn: f64,
    pub(super) title: f64,
    pub(super) gaps: (f64, f64),
    pub(super) volume: f64,
}

pub(super) const HIGH: Down = Down { top: 16.0, drop: 70.0, turn: 20.0, title: 30.0, gaps: (60.0, 52.0), volume: 128.0 };
/// Where that would not fit.
pub(super) const LOW: Down = Down { top: 10.0, drop: 52.0, turn: 14.0, title: 21.0, gaps: (34.0, 34.0), volume: 96.0 };
/// The height of a stage that shows one set so, over its controls.
pub(super) const TALL: f64 = 612.0;
pub(super) const POD: f64 = 52.0;
/// The ReplicaSet between a Deployment and its Pod, and how far it pushes the Pods down.
pub(super) const CHIP: f64 = 40.0;
pub(super) const VIA: f64 = 34.0;
pub(super) const CLAIM: f64 = 60.0;
/// The bar over three columns, over two, and over one.
pub(super) const BARS: [f64; 3] = [54.0, 84.0, 140.0];
/// So many columns a bar has room for before they are there: it does not grow with each Pod that comes.
pub(super) const COMING: usize = 3;

/// The height of a bar over so many columns.
pub(super) fn bar(places: usize) -> f64 {
    BARS[COMING.saturating_sub(places).min(2)]
}

/// Between the blocks of columns, below and beside each other, and what the class takes at the right.
pub(super) const APART: f64 = 40.0;
pub(super) const BETWEEN: f64 = 24.0;
pub(super) const ASIDE: f64 = 152.0;
