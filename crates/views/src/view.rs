//! The descriptor of a diagram, its input, and the state it keeps from one picture to the next.

use crate::grouping::Grouping;
use crate::nodes::LayoutCache;
use crate::ownership::{ChipMemory, LastScales};
use crate::shape::Scene;
use apiserver::Actor;
use apiserver::journal::Journal;
use cluster::Sim;
use i18n::Message;
use k8s_model::ObjectRef;
use projection::adapt::{Pods, Scope};
use projection::model::Model;
use projection::rollout_track::{Extent, Tracker};
use std::rc::Rc;

/// Descriptor of a diagram. Each folder of `views/` has one as `VIEW`; `views::ALL` lists them.
pub struct View {
    /// Name in links and identifiers.
    pub id: &'static str,
    /// Title of the tab.
    pub title: fn() -> Message,
    /// Icon of the tab.
    pub icon: &'static str,
    /// Legend.
    pub legend: Legend,
    /// Placeholder if there is nothing to draw.
    pub empty: Empty,
    /// Scaling and placing on the stage.
    pub fit: Fit,
    /// Pill in its head.
    pub status: Status,
    /// Supported filter.
    pub filter: ObjectFilter,
    /// Other parts of the page that it needs.
    pub uses: Uses,
    /// Interval in milliseconds at which it changes without a write; `None` if only writes change it.
    pub refresh_ms: fn(&Sim) -> Option<i64>,
    /// Extent of its axes, if it has axes: two branches side by side share them.
    pub extent: Option<fn(&Source, &mut ViewMemory) -> Option<Extent>>,
    /// Reads the projection and lays it out.
    pub draw: fn(&mut Model, &Source, &mut ViewMemory) -> Scene,
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        self.id == other.id
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// Class of the style sheet, and its meaning.
pub type Sign = (&'static str, fn() -> Message);

/// Legend of a diagram.
pub enum Legend {
    /// None: the signs are labelled.
    Hidden,
    /// States of its Pods.
    PodStates,
    /// Classes of the style sheet with their meanings.
    Signs(&'static [Sign]),
}

/// Placeholder if there is nothing to draw.
pub struct Empty {
    /// A heading.
    pub title: Option<fn() -> Message>,
    /// A sentence.
    pub text: Option<fn() -> Message>,
    /// True if the examples are offered.
    pub examples: bool,
    /// True if the filter may be the cause; the placeholder says so then.
    pub by_filter: bool,
}

/// Minimum scale at which a picture opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Laid out for the stage's width: never reduced.
    Fixed,
    /// Either whole, or not reduced: a column is read as a whole, and the rest is panned to.
    WholeOrFixed,
    /// Slightly reduced if all of it fits then.
    Shrinks,
}

/// Scaling and placing of a diagram on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Minimum scale at which it opens.
    pub scale: Scale,
    /// True if it is aligned at the top; otherwise it is centred.
    pub hangs: bool,
    /// True if it is drawn at the size of the stage.
    pub fills: bool,
    /// True if its head stays visible: an embed does not scroll to the object of its caption.
    pub keeps_head: bool,
    /// True if it has a form for a low stage, which is also used above an open console.
    pub has_low_form: bool,
}

impl Fit {
    /// For columns and tables: slightly reduced if that helps, aligned at the top.
    pub const HANGING: Fit = Fit {
        scale: Scale::Shrinks,
        hangs: true,
        fills: false,
        keeps_head: false,
        has_low_form: false,
    };
}

/// Workloads that the pill covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workloads {
    /// Workloads in the picture.
    Drawn,
    /// All workloads of the namespace, unless a filter is set.
    InScope,
    /// The workload whose rollout is shown.
    Followed,
}

/// Pill in the head of a diagram.
pub enum Status {
    /// Fixed words.
    Fixed(fn() -> Message),
    /// Summary of the scene.
    Summary,
    /// State of workloads.
    Of(Workloads),
}

/// Filter supported by a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectFilter {
    /// None.
    Nothing,
    /// Namespace.
    Namespace,
    /// Namespace and words.
    Words,
}

/// Other parts of the page that the diagram needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// True if the filter matches nodes too.
    pub nodes: bool,
    /// True if the budget of a rollout is shown above it.
    pub budget: bool,
    /// True if its items are loops: the selected one filters the timeline and can be slowed.
    pub loops: bool,
    /// True if it shows the EndpointSlices of Services: the caption describes their writes.
    pub endpoints: bool,
    /// True if its workloads can be grouped, and groups folded.
    pub groups: bool,
    /// True if it shows counters of a status: those that lag behind the Pods are marked.
    pub counters: bool,
}

impl Uses {
    /// No other parts.
    pub const NOTHING: Uses = Uses {
        nodes: false,
        budget: false,
        loops: false,
        endpoints: false,
        groups: false,
        counters: false,
    };
}

/// Input of a diagram.
pub struct Source<'a> {
    /// Cluster at the instant shown.
    pub sim: &'a Sim,
    /// Journal up to the instant shown.
    pub history: Journal<'a>,
    /// Changes with every jump.
    pub epoch: u64,
    /// Pods.
    pub pods: &'a Pods,
    /// True if they are read up to the instant shown.
    pub all_read: bool,
    /// Scope of the cluster shown.
    pub scope: &'a Scope,
    /// Selected object.
    pub selected: Option<&'a ObjectRef>,
    /// Uid of the selected object, if it exists.
    pub uid: Option<&'a str>,
    /// Selected loop.
    pub chosen: Option<&'a Actor>,
    /// Grouping of workloads, and the folded groups.
    pub grouping: &'a Grouping,
    /// Size of the stage.
    pub stage: (f64, f64),
    /// Maximum number of entries read for a picture.
    pub read_limit: usize,
}

/// State that diagrams keep from one picture to the next.
#[derive(Default)]
pub struct ViewMemory {
    /// Nodes as last laid out.
    pub nodes: LayoutCache,
    /// Rollout being followed.
    pub rollout: Tracker,
    /// Extent of the axes of the chart beside it.
    pub beside: Option<Rc<Extent>>,
    /// Last scaling of each ReplicaSet.
    pub scales: LastScales,
    /// Chips of many workloads as last drawn.
    pub chips: ChipMemory,
    /// True while the diagram is still being read.
    pub lags: bool,
    /// True if more of the diagram is new than is drawn in one frame: the picture is incomplete. It is drawn again, with more of it.
    pub is_cut: bool,
}
