//! The loops at an instant, and the last pass of one of them.

use apiserver::Actor;
use controller_runtime::fact::{Fact, FactId};
use explain::why::{self, Row};
use i18n::{Message, msg};
use k8s_model::{Kind, Str};

/// Loop on the ring.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Component, with its node if the ring has each kubelet.
    pub actor: Actor,
    /// Label beside it.
    pub title: String,
    /// Icon of the loop.
    pub glyph: &'static str,
    /// Number of keys waiting in its work queue.
    pub queue: usize,
    /// Name of the first of them.
    pub key: Str,
    /// True if it made the newest write.
    pub writes: bool,
    /// True if there is no object of the kind that it reconciles.
    pub idle: bool,
    /// True if the panel shows it without a selection.
    pub told: bool,
    /// Duration of each pass set by a fault; empty at full speed.
    pub slow: Message,
    /// Progress of the current pass in percent, if the loop is slowed.
    pub part: Option<u8>,
}

impl Loop {
    /// Returns the loop without the name of its key.
    pub fn without_key(&self) -> Loop {
        Loop {
            key: Str::default(),
            ..self.clone()
        }
    }
}

/// Line of the pseudo-code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// Line.
    pub text: Str,
    /// Value in this pass.
    pub value: Message,
    /// True if it was executed in this pass and decisive.
    pub lit: bool,
    /// True for a branch that was not taken.
    pub skipped: bool,
}

/// Layout of the panel of a pass, by the available space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelForm {
    /// The steps beside each other, the code below them.
    #[default]
    Columns,
    /// The steps one below the other, the code below them.
    Rows,
    /// The steps one below the other, the code beside them.
    Beside,
    /// Each step in a line, and only the executed code.
    Lines,
}

/// Part of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassPhase {
    /// State that the loop read.
    Observe,
    /// Difference between desired and actual state.
    Diff,
    /// Writes of the loop.
    Act,
}

impl PassPhase {
    /// Title of the phase.
    pub fn title(self) -> Message {
        match self {
            PassPhase::Observe => msg::phase_observe(),
            PassPhase::Diff => msg::phase_diff(),
            PassPhase::Act => msg::phase_act(),
        }
    }
}

/// Step of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassStep {
    /// Phase.
    pub phase: PassPhase,
    /// Rows.
    pub rows: Vec<PassRow>,
}

impl PassStep {
    /// Creates a step whose rows are facts.
    pub fn facts(phase: PassPhase, facts: Vec<Fact>) -> PassStep {
        PassStep {
            phase,
            rows: facts.into_iter().map(PassRow::Fact).collect(),
        }
    }

    /// Returns the names and values of its rows.
    pub fn words(&self) -> Vec<Row> {
        self.rows.iter().map(PassRow::words).collect()
    }
}

/// Row of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum PassRow {
    /// Fact that the pass has seen or computed.
    Fact(Fact),
    /// Request that it has made.
    Request {
        /// Request.
        request: PassRequest,
        /// Number of such requests.
        times: usize,
    },
    /// Phase of a pass that has not ended.
    Ahead(PassPhase),
}

impl PassRow {
    /// Returns its name and value.
    pub fn words(&self) -> Row {
        match self {
            PassRow::Fact(fact) => why::row(fact),
            PassRow::Request { request, times } => {
                (request.verb(), times_of(request.object(), *times))
            }
            PassRow::Ahead(PassPhase::Observe) => (msg::ahead_reads(), msg::ahead_at_end()),
            PassRow::Ahead(PassPhase::Diff) => (msg::ahead_compares(), msg::ahead_after()),
            PassRow::Ahead(PassPhase::Act) => (msg::ahead_writes(), msg::ahead_if()),
        }
    }
}

/// Describes an action that was repeated.
pub(super) fn times_of(action: Message, times: usize) -> Message {
    match times {
        0 | 1 => action,
        times => msg::act_times(action, times),
    }
}

/// Request made by a pass.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum PassRequest {
    Command,
    Rejected(Kind),
    Create(Kind),
    Delete(Kind),
    /// Final deletion that removes the object.
    Remove(Kind),
    Update(Kind),
    /// Binding to a node.
    Bind(Kind, Str),
    Status(Kind),
}

impl PassRequest {
    /// Describes the request in two or three words.
    pub fn message(&self) -> Message {
        match self {
            PassRequest::Command => msg::act_command(),
            PassRequest::Rejected(kind) => msg::act_rejected(*kind),
            PassRequest::Create(kind) => msg::act_create(*kind),
            PassRequest::Delete(kind) => msg::act_delete(*kind),
            PassRequest::Remove(kind) => msg::act_remove(*kind),
            PassRequest::Update(kind) => msg::act_update(*kind),
            PassRequest::Bind(kind, node) => msg::act_bind(*kind, node),
            PassRequest::Status(kind) => msg::act_status(*kind),
        }
    }

    /// Verb of the request, as the name of a row.
    pub fn verb(&self) -> Message {
        match self {
            PassRequest::Command => msg::act_command(),
            PassRequest::Rejected(_) => msg::verb_rejected(),
            PassRequest::Create(_) => msg::verb_create(),
            PassRequest::Delete(_) => msg::verb_delete(),
            PassRequest::Remove(_) => msg::verb_remove(),
            PassRequest::Update(_) => msg::verb_update(),
            PassRequest::Bind(..) => msg::verb_bind(),
            PassRequest::Status(_) => msg::verb_status(),
        }
    }

    /// Object of the request, as the value of that row.
    pub fn object(&self) -> Message {
        match self {
            PassRequest::Command => Message::default(),
            PassRequest::Bind(kind, node) => msg::act_bind_object(*kind, node),
            PassRequest::Rejected(kind)
            | PassRequest::Create(kind)
            | PassRequest::Delete(kind)
            | PassRequest::Remove(kind)
            | PassRequest::Update(kind)
            | PassRequest::Status(kind) => Message::name(*kind),
        }
    }
}

/// Last pass of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// `replicaset-controller · pass 21 · 00:04.118`
    pub title: Message,
    /// Component: `kubelet node-1`.
    pub who: String,
    /// Key taken from the work queue.
    pub key: String,
    /// True if the key is the object that was written.
    pub own: bool,
    /// Icon of the loop.
    pub glyph: &'static str,
    /// True if this pass made the newest write of the cluster.
    pub newest: bool,
    /// Reason why the watch event of its write does not arrive; empty if it does.
    pub held: Message,
    /// Steps Observe, Diff and Act.
    pub steps: Vec<PassStep>,
    /// Request of the pass, and how often it was made.
    pub act: Option<(PassRequest, usize)>,
    /// Pseudo-code of the loop.
    pub code: Vec<Code>,
    /// Layout of the panel.
    pub form: PanelForm,
}

/// Icons of Observe, Diff and Act.
pub const STEP_ICONS: [&str; 3] = ["i-eye", "i-diff", "i-act"];

impl Pass {
    /// Returns the rows of a step that the panel's form shows.
    pub fn rows<'p>(&self, step: &'p PassStep) -> impl Iterator<Item = Row> + use<'p> {
        let all = self.form != PanelForm::Lines;
        // The resourceVersion decides nothing: it is left out if there is little room.
        let decides = |row: &PassRow| !matches!(row, PassRow::Fact(fact) if fact.id == FactId::ResourceVersion);
        step.rows
            .iter()
            .filter(move |row| all || decides(row))
            .map(PassRow::words)
    }

    /// Describes the pass in a sentence: its loop, its write, and the changed fields.
    pub fn told(&self) -> Message {
        let who = self.who.as_str();
        let name = self.key.rsplit('/').next().unwrap_or_default();
        let object = |kind: &Kind| match self.own {
            true => msg::told_own(*kind, name),
            false => msg::told_owned(*kind, name),
        };
        let did = match &self.act {
            None | Some((PassRequest::Command, _)) => Message::name(who),
            Some((PassRequest::Status(kind), _)) => msg::told_status(who, object(kind)),
            Some((PassRequest::Create(kind), _)) => msg::told_created(who, object(kind)),
            Some((PassRequest::Delete(kind), _)) => msg::told_deleted(who, object(kind)),
            Some((PassRequest::Remove(kind), _)) => msg::told_removed(who, object(kind)),
            Some((PassRequest::Bind(kind, node), _)) => msg::told_bound(who, object(kind), node),
            Some((PassRequest::Rejected(kind), _)) => msg::told_rejected(object(kind), who),
            Some((PassRequest::Update(kind), _)) => msg::told_updated(who, object(kind)),
        };
        let changes = |row: &&PassRow| matches!(row, PassRow::Fact(fact) if fact.value.is_change());
        let changed = self
            .steps
            .iter()
            .filter(|step| step.phase == PassPhase::Diff)
            .flat_map(|step| &step.rows)
            .filter(changes);
        let row = |(name, value): Row| msg::name_value(name, value);
        let changed: Vec<Message> = changed.take(2).map(|of| row(of.words())).collect();
        if changed.is_empty() {
            did
        } else {
            msg::told_changed(did, changed)
        }
    }
}

/// Label beside the loop of what a pass wrote.
pub fn written(pass: &Pass) -> Message {
    match &pass.act {
        Some((act, times)) => times_of(act.message(), *times),
        None => Message::default(),
    }
}

/// Cache of a loop, compared with etcd.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheState {
    /// Title of the loop.
    pub title: String,
    /// Kinds of which it holds others, or older ones; empty if it holds what etcd has.
    pub differs: Message,
}

impl CacheState {
    /// Describes it beside etcd.
    pub fn words(&self) -> Message {
        if self.differs.is_empty() {
            msg::cache_equal()
        } else {
            self.differs.clone()
        }
    }
}

/// Contents of the diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    /// Loops in their fixed order.
    pub loops: Vec<Loop>,
    /// Latest resourceVersion of the store.
    pub version: u64,
    /// Index of the selected loop.
    pub chosen: Option<usize>,
    /// Index of the loop that the panel shows.
    pub shown: Option<usize>,
    /// Last pass of that loop.
    pub pass: Option<Pass>,
    /// Cache of that loop, if it is selected or a fault keeps events from it.
    pub cache: Option<CacheState>,
}
