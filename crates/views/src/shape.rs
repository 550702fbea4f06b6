//! Shapes of a diagram. Units are CSS pixels at 100 %.

use crate::loops::model::{CacheState, Loop, Pass};
use i18n::format::Px;
use i18n::{Message, msg};
use projection::budget::Budget;
use projection::model::{ControllerCard, Id, PodBlock, PodContainers, PodState};
use std::fmt::Write as _;
use std::rc::Rc;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Creates a rectangle.
    pub fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Rect { x, y, w, h }
    }
    /// Returns the rectangle of this size at the origin.
    pub fn at_origin(&self) -> Rect {
        Rect::new(0.0, 0.0, self.w, self.h)
    }
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }
    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }
    /// Horizontal centre.
    pub fn cx(&self) -> f64 {
        self.x + self.w / 2.0
    }
    /// Vertical centre.
    pub fn cy(&self) -> f64 {
        self.y + self.h / 2.0
    }
}

/// Arrangement of Pods as cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Pods, in order.
    pub pods: PodBlock,
    /// Cells per row.
    pub columns: usize,
    /// Side of a cell.
    pub side: f64,
    /// Distance from cell to cell.
    pub pitch: f64,
    /// Left and top of the first cell, within the shape.
    pub at: (f64, f64),
    /// Index from which on they are of an older revision.
    pub old: usize,
    /// Index of the selected cell.
    pub ring: Option<usize>,
}

/// Opacity of ready Pods of an older revision.
pub const OLD_REVISION_ALPHA: f64 = 0.4;

impl Cells {
    /// Returns true if the cells stand alone, without counts.
    pub fn bare(&self) -> bool {
        self.at == (0.0, 0.0)
    }

    /// Position of a cell, relative to the first one.
    pub fn offset(&self, at: usize) -> (f64, f64) {
        (
            (at % self.columns) as f64 * self.pitch,
            (at / self.columns) as f64 * self.pitch,
        )
    }

    /// Index of the Pod under a point of the shape.
    pub fn hit(&self, x: f64, y: f64) -> Option<usize> {
        let (column, row) = ((x - self.at.0) / self.pitch, (y - self.at.1) / self.pitch);
        if column < 0.0 || row < 0.0 || column as usize >= self.columns {
            return None;
        }
        let index = row as usize * self.columns + column as usize;
        (index < self.pods.len()).then_some(index)
    }
}

/// Layout of a controller's card.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// Name, counters, and a line at the foot.
    Tall,
    /// Counters beside the name.
    Wide,
    /// In a low frame: the name and one line of numbers.
    Low,
    /// On a phone: with the budget of its rollout.
    Stacked(Rc<Budget>),
}

/// Contents of an item's rectangle.
#[derive(Clone, Debug, PartialEq)]
pub enum CardBody {
    /// Controller with counters and a footer.
    Controller { of: Rc<ControllerCard>, look: Look },
    /// Service with a pill.
    Service { form: Message },
    /// Pod as a card.
    Pod {
        state: PodState,
        lead: String,
        tail: String,
        word: Message,
        note: Message,
        stale: bool,
        containers: Option<Rc<PodContainers>>,
    },
    /// Pod as a tile: glyph, end of its name, position, whether its owner is selected, and whether it is of an older revision.
    Tile {
        state: PodState,
        tail: String,
        note: Message,
        stale: bool,
        kin: bool,
        old: bool,
    },
    /// Pod that no longer exists, in its place.
    Gone { name: String },
    /// Pods as cells.
    Cells(Cells),
    /// Claim: the ticket.
    Claim { fact: Message, bound: bool },
    /// Volume as a cylinder.
    Cylinder { fact: Message, data: Message },
    /// Volume as a small card.
    Volume { fact: Message },
    /// A StorageClass.
    Class { reclaim: Message },
    /// Node with its bars.
    Node(NodeBody),
    /// Unscheduled Pods.
    Tray {
        pods: usize,
        aside: Message,
        head: Message,
        rows: Vec<[Message; 3]>,
    },
    /// Totals of a picture of cells: numbers, and Pods by state and by revision (older or not).
    Totals {
        numbers: Vec<(Total, usize)>,
        parts: Vec<(PodState, bool, usize)>,
    },
    /// Object that is stored and not animated: its use, and whether it is missing.
    Stored { fact: Message, missing: bool },
    /// Title of a group of workloads, which folds it; and whether it is folded.
    Heading { text: Message, folded: bool },
    /// Line of words, such as "+2 old revisions".
    Note(Message),
    /// API server and its store.
    Store { version: u64 },
    /// Cache of a loop.
    Cache(CacheState),
    /// Control loop; its name stands above or below, or further off there.
    Loop {
        of: Box<Loop>,
        above: bool,
        far: bool,
        two: bool,
        big: bool,
    },
    /// Last pass of a loop.
    Pass(Box<Pass>),
    /// Terminal of a Pod: prompt lines begin with `/ #`. Without a state it is an example.
    Terminal {
        state: Option<PodState>,
        title: Message,
        lines: Vec<String>,
    },
    /// Card with a table.
    Table(CardTable),
    /// Chart of Pods over time.
    Chart(Rc<crate::rollout::Chart>),
}

/// Number in the totals of a picture of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// All Pods.
    All,
    /// Ready Pods.
    Ready,
    /// Terminating Pods.
    Terminating,
}

impl Total {
    /// Word under the number.
    pub fn word(self) -> Message {
        match self {
            Total::All => msg::totals_all(),
            Total::Ready => msg::metric_ready(),
            Total::Terminating => msg::totals_terminating(),
        }
    }
}

/// Card of a Node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeBody {
    /// Status of the Ready condition.
    pub ready: bool,
    /// True if it accepts no new Pods.
    pub cordoned: bool,
    /// Status as kubectl prints it: `Ready`, `NotReady`, `Ready,SchedulingDisabled`.
    pub status: &'static str,
    /// Number of Pods, and allocatable number.
    pub pods: (usize, u64),
    /// Notes, at most two lines.
    pub note: Vec<Message>,
    /// Name, `3.4 / 4`, share in percent.
    pub meters: Vec<(&'static str, String, f64)>,
    /// Number of its Pods if it is a small tile, which shows only the name and the number.
    pub small: Option<usize>,
}

/// Card with a table, or with a few facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardTable {
    /// Kind of the tile at its left.
    pub kind: &'static str,
    /// Line over the title.
    pub caption: Message,
    /// Title.
    pub title: Message,
    /// Pill at its right.
    pub pill: Message,
    /// Heads of the columns; empty for facts.
    pub head: Vec<Message>,
    /// Rows, with true for those on the followed path.
    pub rows: Vec<(Vec<Message>, bool)>,
}

/// Item of a diagram.
#[derive(Clone, Debug)]
pub struct Item {
    /// Object; its uid is the key.
    pub id: Id,
    /// Bounds.
    pub rect: Rect,
    /// Contents.
    pub body: CardBody,
    /// Index of its parent: the text alternative and the keyboard follow it.
    pub parent: Option<usize>,
    /// Value of `data-state`.
    pub state: String,
    /// Text alternative for screen readers.
    pub label: Message,
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        let parts = |item: &Item| (item.rect, item.parent);
        std::ptr::eq(self, other)
            || parts(self) == parts(other)
                && (&self.id, &self.state, &self.label) == (&other.id, &other.state, &other.label)
                && self.body == other.body
    }
}

/// Line of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Key, stable across layouts.
    pub key: String,
    /// SVG path.
    pub d: String,
    /// Style.
    pub line: Line,
    /// Vertical range, from the top.
    pub rows: (f64, f64),
}

impl Edge {
    /// Path on which what the edge carries moves, from the sender to the receiver: the edge without its arrowhead; `None` if nothing moves
    /// on it.
    pub fn carries(&self) -> Option<&str> {
        let head = self.d.rfind('M').filter(|head| *head > 0);
        match self.line {
            Line::Informs | Line::Writes => Some(&self.d[..head.unwrap_or(self.d.len())]),
            _ => None,
        }
    }
}

/// Returns the steps of an SVG path: the letter of each, and its numbers.
pub fn steps(mut path: &str) -> impl Iterator<Item = (u8, Vec<f64>)> {
    std::iter::from_fn(move || {
        let start = path.find(|c: char| c.is_ascii_alphabetic())?;
        let verb = path.as_bytes()[start];
        let end = path[start + 1..]
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(path.len(), |end| start + 1 + end);
        let numbers = path[start + 1..end]
            .split([' ', ','])
            .filter_map(|number| number.parse().ok())
            .collect();
        path = &path[end..];
        Some((verb, numbers))
    })
}

/// Returns the vertical range of a path. For a curve the control points count.
fn rows(path: &str) -> (f64, f64) {
    // The second number of a pair is vertical; a horizontal line has none, a vertical one nothing else.
    let down = |(verb, numbers): (u8, Vec<f64>)| {
        numbers
            .into_iter()
            .enumerate()
            .filter(move |(at, _)| verb == b'V' || verb != b'H' && at % 2 == 1)
            .map(|(_, y)| y)
    };
    steps(path)
        .flat_map(down)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(top, bottom), y| {
            (top.min(y), bottom.max(y))
        })
}

/// Meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Provisions.
    Provides,
    /// Owns a child that is terminating.
    Leaving,
    /// Owns.
    Owns,
    /// A Service's selector.
    Selects,
    /// References a ConfigMap, a Secret or a service account.
    Uses,
    /// Mounted, bound.
    Bound,
    /// Not mounted or bound yet.
    Waits,
    /// Owns, on the selected path.
    Chosen,
    /// A loop watches the store.
    Watches,
    /// Events of the store have reached a loop, and keys wait in its queue.
    Informs,
    /// A loop writes to the store.
    Writes,
    /// Connects the selected loop with its panel.
    Opens,
    /// Record derived from another.
    Derives,
    /// Path of a lookup or a request.
    Travels,
    /// Path of a request that does not arrive.
    Fails,
}

impl Line {
    /// Classes of the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Line::Provides => "edge provides",
            Line::Leaving => "edge fade",
            Line::Owns => "edge",
            Line::Selects => "edge sel",
            Line::Uses => "edge provides",
            Line::Bound => "edge bound",
            Line::Waits => "edge wait",
            Line::Chosen => "edge on",
            Line::Watches => "edge watch",
            Line::Informs => "edge informs",
            Line::Writes => "edge on writes",
            Line::Opens => "funnel",
            Line::Derives => "edge derives",
            Line::Travels => "edge travels",
            Line::Fails => "edge fails",
        }
    }
}

/// End of a line at a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Horizontal centre.
    pub x: f64,
    /// Vertical centre.
    pub y: f64,
    /// True if it is filled.
    pub full: bool,
    /// True for a Service (teal), otherwise for a claim (violet).
    pub network: bool,
}

/// Label beside a line or over a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Left edge, or the middle if `centred`.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Words.
    pub text: Message,
    /// Meaning.
    pub role: LabelRole,
    /// Ground that it stands on.
    pub ground: LabelGround,
    /// True if `x` is the middle.
    pub centred: bool,
}

/// Meaning of a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelRole {
    /// Words beside an edge or a card.
    #[default]
    Plain,
    /// Claim or volume that waits.
    Wait,
    /// Write of a loop.
    Write,
    /// Request that does not arrive.
    Failure,
    /// Stop of a request, with its number.
    Stop,
    /// Advice about a mistake.
    Hint,
    /// Trouble of the object above.
    Trouble,
    /// Name of a row.
    RowName,
    /// Name of a band.
    BandName,
    /// Claim that outlives its Pod.
    Kept,
}

/// Ground that a label stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelGround {
    /// Free space.
    #[default]
    None,
    /// Edge, which it hides.
    Edge,
    /// Edge in a highlighted column.
    Band,
}

/// Laid-out diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// True if all failing Pods have ended: none of them will be restarted.
    pub failed: bool,
    /// Width with margins.
    pub width: f64,
    /// Height with margins.
    pub height: f64,
    /// Items, depth first.
    pub items: Vec<Rc<Item>>,
    /// Edges in paint order.
    pub edges: Vec<Edge>,
    /// Ports, painted on top.
    pub ports: Vec<Port>,
    /// Labels, over the edges.
    pub labels: Vec<Label>,
    /// Highlighted columns, under everything.
    pub bands: Vec<Rect>,
    /// Description of the picture in a sentence.
    pub summary: Message,
    /// Stage for which it was laid out.
    pub stage: (f64, f64),
}

impl Scene {
    /// Adds an item and returns its index.
    pub fn put(
        &mut self,
        id: &Id,
        rect: Rect,
        body: CardBody,
        parent: Option<usize>,
        state: &str,
        label: impl Into<Message>,
    ) -> usize {
        self.items.push(Rc::new(Item {
            id: id.clone(),
            rect,
            body,
            parent,
            state: state.into(),
            label: label.into(),
        }));
        self.items.len() - 1
    }

    /// Adds an edge.
    pub fn link(&mut self, key: String, d: String, line: Line) {
        self.edges.push(Edge {
            key,
            rows: rows(&d),
            d,
            line,
        });
    }

    /// Sets the size to hold everything with a margin, and sorts edges into paint order (the selected path last).
    pub fn finish(mut self, margin: f64) -> Scene {
        self.width = self
            .items
            .iter()
            .map(|item| item.rect.right())
            .fold(self.width, f64::max)
            + margin;
        let words = self.labels.iter().map(|label| label.y + 16.0);
        self.height = self
            .items
            .iter()
            .map(|item| item.rect.bottom())
            .chain(words)
            .fold(self.height, f64::max)
            + margin;
        self.edges.sort_by_key(|edge| edge.line);
        self
    }

    /// Reuses the parts that are equal in another scene: an equal pointer means that nothing has changed. Returns true if every item is
    /// unchanged.
    pub fn keep(&mut self, old: &Scene) -> bool {
        let mut same = self.items.len() == old.items.len();
        for (item, old) in self.items.iter_mut().zip(&old.items) {
            if Rc::ptr_eq(item, old) {
                continue;
            }
            if *item == *old {
                *item = old.clone();
            } else {
                same = false;
            }
        }
        same
    }

    /// Returns true if it is a picture of cells, which is readable without text.
    pub fn dense(&self) -> bool {
        self.items
            .iter()
            .any(|item| matches!(&item.body, CardBody::Totals { .. }))
    }

    /// Returns true if it has a Pod tile of an older revision.
    pub fn has_older(&self) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item.body, CardBody::Tile { old: true, .. }))
    }

    /// Returns the states of its Pods.
    pub fn states(&self) -> Vec<PodState> {
        let has = |item: &Item, state: PodState| match &item.body {
            CardBody::Pod { state: own, .. } | CardBody::Tile { state: own, .. } => *own == state,
            CardBody::Cells(cells) => cells.pods.counts().iter().any(|(own, _)| *own == state),
            _ => false,
        };
        PodState::ALL
            .into_iter()
            .filter(|state| self.items.iter().any(|item| has(item, *state)))
            .collect()
    }

    /// Label of a Pod state: failing Pods are Failed, as in the API, when all of them have ended.
    pub fn word(&self, state: PodState) -> Message {
        if state == PodState::Failed && self.failed {
            Message::state("Failed")
        } else {
            state.word()
        }
    }

    /// Depth of an item below its root.
    pub fn depth(&self, mut index: usize) -> usize {
        let mut depth = 0;
        while let Some(parent) = self.items[index].parent {
            depth += 1;
            index = parent;
        }
        depth
    }
}

fn n(x: f64) -> Px {
    Px((x * 10.0).round() / 10.0)
}

/// Path from left to right: horizontal, vertical at `mid`, corners of radius 10 at most.
pub fn elbow(x1: f64, y1: f64, x2: f64, y2: f64, mid: f64) -> String {
    let (dy, mut d) = (y2 - y1, String::new());
    if dy.abs() < 1.0 {
        let _ = write!(d, "M{} {}H{}", n(x1), n(y1), n(x2));
        return d;
    }
    let r = (dy.abs() / 2.0)
        .min(10.0)
        .min(mid - x1)
        .min(x2 - mid)
        .max(0.0);
    let s = dy.signum();
    let _ = write!(
        d,
        "M{} {}H{}Q{} {} {} {}V{}Q{} {} {} {}H{}",
        n(x1),
        n(y1),
        n(mid - r),
        n(mid),
        n(y1),
        n(mid),
        n(y1 + s * r),
        n(y2 - s * r),
        n(mid),
        n(y2),
        n(mid + r),
        n(y2),
        n(x2)
    );
    d
}

/// Path from top to bottom: vertical, horizontal at `mid`, corners of radius 10 at most.
pub fn drop(x1: f64, y1: f64, x2: f64, y2: f64, mid: f64) -> String {
    let (dx, mut d) = (x2 - x1, String::new());
    if dx.abs() < 1.0 {
        let _ = write!(d, "M{} {}V{}", n(x1), n(y1), n(y2));
        return d;
    }
    let r = (dx.abs() / 2.0)
        .min(10.0)
        .min(mid - y1)
        .min(y2 - mid)
        .max(0.0);
    let s = dx.signum();
    let _ = write!(
        d,
        "M{} {}V{}Q{} {} {} {}H{}Q{} {} {} {}V{}",
        n(x1),
        n(y1),
        n(mid - r),
        n(x1),
        n(mid),
        n(x1 + s * r),
        n(mid),
        n(x2 - s * r),
        n(x2),
        n(mid),
        n(x2),
        n(mid + r),
        n(y2)
    );
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_line_hold_all_that_it_bends_to() {
        assert_eq!(rows("M10 20H50"), (20.0, 20.0));
        assert_eq!(rows("M10 20V90.5H50"), (20.0, 90.5));
        assert_eq!(rows("M0 5Q10 5 10 -15V40M7,1V2"), (-15.0, 40.0));
    }

    #[test]
    fn an_elbow_is_straight_on_one_height_and_has_round_corners_elsewhere() {
        assert_eq!(elbow(0.0, 5.0, 50.0, 5.0, 25.0), "M0 5H50");
        assert_eq!(
            elbow(228.0, 307.0, 280.0, 404.0, 254.0),
            "M228 307H244Q254 307 254 317V394Q254 404 264 404H280"
        );
        assert_eq!(drop(0.0, 0.0, 0.0, 9.0, 4.0), "M0 0V9");
    }

    #[test]
    fn a_cell_is_found_by_arithmetic() {
        let pods = (0..5).map(|_| projection::model::Pod::default());
        let cells = Cells {
            pods: pods.collect(),
            columns: 2,
            side: 7.0,
            pitch: 8.0,
            at: (10.0, 20.0),
            old: 0,
            ring: None,
        };
        assert_eq!(cells.hit(10.0, 20.0), Some(0));
        assert_eq!(cells.hit(19.0, 29.0), Some(3));
        assert_eq!(cells.hit(19.0, 37.0), None);
        assert_eq!(cells.hit(27.0, 21.0), None);
        assert_eq!(cells.hit(5.0, 21.0), None);
        assert_eq!(cells.pods.counts(), [(PodState::Pending, 5)]);
    }
}
