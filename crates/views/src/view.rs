//! The descriptor of a diagram, its input, and the state it keeps from one picture to the next.

use crate::grouping::Grouping;
use crate::nodes::LayoutCache;
use crate::ownership::{ChipMemory, LastScales};
use crate::shape::Scene;
use apiserver::journal::Journal;
use cluster::Sim;
use i18n::Message;
use k8s_model::ObjectRef;
use projection::adapt::{Pods, Scope};
use projection::model::Model;
use projection::rollout_track::{Extent, Tracker};
use std::rc::Rc;

/// A diagram. Each folder of `views/` has one as `VIEW`; `views::ALL` lists them.
pub struct View {
    /// Its name in links and identifiers.
    pub id: &'static str,
    /// On the tab.
    pub title: fn() -> Message,
    /// Its icon.
    pub icon: &'static str,
    /// What explains its signs.
    pub legend: Legend,
    /// Shown where there is nothing to draw.
    pub empty: Empty,
    /// How the stage scales and places it.
    pub fit: Fit,
    /// The pill in its head.
    pub status: Status,
    /// What it can be filtered by.
    pub filter: ObjectFilter,
    /// What else of the page depends on it.
    pub uses: Uses,
    /// Milliseconds after which it changes without a write; `None` if only writes change it.
    pub refresh_ms: fn(&Sim) -> Option<i64>,
    /// What its axes have to hold, if it has axes: two branches side by side share them.
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

/// A class of the style sheet, and what it stands for.
pub type Sign = (&'static str, fn() -> Message);

/// What explains the signs of a diagram.
pub enum Legend {
    /// None: its signs are named where they are.
    Hidden,
    /// The states of the Pods in it.
    PodStates,
    /// Classes of the style sheet, each with its words.
    Signs(&'static [Sign]),
}

/// Shown where there is nothing to draw.
pub struct Empty {
    /// A heading.
    pub title: Option<fn() -> Message>,
    /// A sentence.
    pub text: Option<fn() -> Message>,
    /// Whether the examples are offered.
    pub examples: bool,
    /// Whether the filter can be why; that is said then.
    pub by_filter: bool,
}

/// The least scale at which a picture opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Laid out for the width there is: never smaller.
    Fixed,
    /// Either whole, or not smaller: a column is read as a whole, and what is beside it is panned to.
    WholeOrFixed,
    /// A little smaller if that brings all of it into sight.
    Shrinks,
}

/// How the stage scales and places a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The least scale at which it opens.
    pub scale: Scale,
    /// Whether it hangs from the top; else it stands in the middle.
    pub hangs: bool,
    /// Whether it is drawn as large as the stage.
    pub fills: bool,
    /// Whether its head stays in sight: an embed does not scroll to what is told.
    pub keeps_head: bool,
    /// Whether it has a form for a low stage, which it takes over an open console too.
    pub has_low_form: bool,
}

impl Fit {
    /// Columns and tables: a little smaller where that helps, from the top.
    pub const HANGING: Fit = Fit {
        scale: Scale::Shrinks,
        hangs: true,
        fills: false,
        keeps_head: false,
        has_low_form: false,
    };
}

/// Which workloads the pill is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workloads {
    /// Those in the picture.
    Drawn,
    /// All of the namespace, unless a filter is set.
    InScope,
    /// The one whose rollout is followed.
    Followed,
}

/// The pill in the head of a diagram.
pub enum Status {
    /// Always the same words.
    Fixed(fn() -> Message),
    /// The summary of the scene.
    Summary,
    /// How workloads stand.
    Of(Workloads),
}

/// What a diagram can be filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectFilter {
    /// Nothing.
    Nothing,
    /// A namespace.
    Namespace,
    /// A namespace and words.
    Words,
}

/// What else of the page depends on the diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// The filter finds nodes too.
    pub nodes: bool,
    /// The budget of a rollout stands over it.
    pub budget: bool,
    /// Its items are loops: the chosen one filters the timeline and can be slowed.
    pub loops: bool,
    /// It shows the records behind Services: the caption tells of their writes.
    pub endpoints: bool,
    /// Its workloads can be grouped, and groups folded.
    pub groups: bool,
    /// It shows the counters of a status: those that the Pods have overtaken are marked.
    pub counters: bool,
}

impl Uses {
    /// Nothing else.
    pub const NOTHING: Uses = Uses {
        nodes: false,
        budget: false,
        loops: false,
        endpoints: false,
        groups: false,
        counters: false,
    };
}

/// What a diagram is drawn from.
pub struct Source<'a> {
    /// The cluster at the instant shown.
    pub sim: &'a Sim,
    /// What has happened until then.
    pub history: Journal<'a>,
    /// Changes with every jump.
    pub epoch: u64,
    /// The Pods.
    pub pods: &'a Pods,
    /// Whether these are read up to the instant shown.
    pub all_read: bool,
    /// What is shown of the cluster.
    pub scope: &'a Scope,
    /// The selected object, and its uid if it exists.
    pub selected: Option<&'a ObjectRef>,
    /// Its uid.
    pub uid: Option<&'a str>,
    /// The selected loop.
    pub chosen: Option<&'a str>,
    /// By what workloads are grouped, and what is folded.
    pub grouping: &'a Grouping,
    /// The size of the stage.
    pub stage: (f64, f64),
    /// Entries that may be read for a picture.
    pub read_limit: usize,
}

/// State that diagrams keep from one picture to the next.
#[derive(Default)]
pub struct ViewMemory {
    /// Nodes as they were last laid out.
    pub nodes: LayoutCache,
    /// The rollout that is followed.
    pub rollout: Tracker,
    /// What the axes of the chart beside it have to hold.
    pub beside: Option<Rc<Extent>>,
    /// How ReplicaSets were last scaled.
    pub scales: LastScales,
    /// Chips of many workloads as they were last drawn.
    pub chips: ChipMemory,
    /// Whether the diagram is still being read.
    pub lags: bool,
    /// Whether the diagram has more that is new than is drawn in one frame: what was drawn of it is not whole. It is drawn again, with
    /// more of it.
    pub is_cut: bool,
}
