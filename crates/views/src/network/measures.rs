//! Column and row sizes of Network, by the available width.

use i18n::Message;

/// Row of a table, and true if it is on the followed path.
pub(super) type NetworkRow = (Vec<Message>, bool);

pub(super) const LEFT: f64 = 24.0;
/// Height of a Pod.
pub(super) const POD: f64 = 32.0;

/// Widths of the columns and of the gaps between them.
pub(super) struct NetworkColumns {
    pub(super) client: f64,
    pub(super) dns: f64,
    pub(super) slice: f64,
    pub(super) pod: f64,
    /// Gaps from the client to the next column, from there on, and to the Pods.
    pub(super) gaps: (f64, f64, f64),
}

pub(super) const WIDE: NetworkColumns = NetworkColumns {
    client: 232.0,
    dns: 312.0,
    slice: 216.0,
    pod: 150.0,
    gaps: (78.0, 48.0, 40.0),
};
/// Narrower columns for less room: text is not made smaller.
pub(super) const CLOSE: NetworkColumns = NetworkColumns {
    client: 226.0,
    dns: 252.0,
    slice: 200.0,
    pod: 136.0,
    gaps: (78.0, 26.0, 26.0),
};
/// For even less room: the client stands above DNS.
pub(super) const ABOVE: NetworkColumns = NetworkColumns {
    client: 370.0,
    dns: 262.0,
    slice: 210.0,
    pod: 168.0,
    gaps: (0.0, 34.0, 34.0),
};
/// For less still: the record type, which is always the same, is left out.
pub(super) const TIGHT: NetworkColumns = NetworkColumns {
    client: 370.0,
    dns: 216.0,
    slice: 190.0,
    pod: 146.0,
    gaps: (0.0, 20.0, 20.0),
};

/// Columns of a virtual IP with the gaps between them: client, Service, Pods.
pub(super) type Way = [f64; 5];

pub(super) const FAR_WAY: Way = [232.0, 72.0, 264.0, 80.0, 180.0];
pub(super) const WAY: Way = [196.0, 60.0, 240.0, 56.0, 170.0];
pub(super) const TIGHT_WAY: Way = [172.0, 34.0, 212.0, 38.0, 152.0];
/// Height of a card's head, of a table's head, and of a row.
pub(super) const HEAD: f64 = 52.0;
pub(super) const TABLE: f64 = 28.0;
pub const ROW: f64 = 40.0;
/// Width up to which tables are short and have no terminal above them, as in a low frame.
pub const NARROW: f64 = 619.0;
/// Width of a card below which the least informative parts are left out.
pub(super) const SHORT: f64 = 300.0;
/// Width from which a small frame has two columns.
pub const PAIR: f64 = 440.0;
/// Number of endpoints above which they are counted, not drawn.
pub const MOST: usize = 8;
/// Maximum number of an owner's Pods searched for those that are not endpoints yet.
pub(super) const LOOKED: usize = 200;
