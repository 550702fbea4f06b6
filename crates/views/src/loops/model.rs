//! The loops at an instant, and the last pass of one of them.

use explain::why::Row;
use i18n::{Arg, Message, msg};
use k8s_model::{Kind, Str};

/// A loop on the ring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loop {
    /// `replicaset-controller`, `kubelet node-1`: its key.
    pub name: String,
    /// What stands beside it.
    pub title: String,
    /// Its icon.
    pub glyph: &'static str,
    /// Keys that wait.
    pub queue: usize,
    /// Whether the newest write is its.
    pub writes: bool,
    /// Whether the panel is about it although nobody has chosen it.
    pub told: bool,
    /// Duration of each pass set by a fault; empty at full speed.
    pub slow: Message,
    /// Progress of the current pass in percent, if the loop is slowed.
    pub part: Option<u8>,
}

/// A line of the pseudo-code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// The line.
    pub text: &'static str,
    /// Its value in this pass.
    pub value: Message,
    /// Executed in this pass and decisive.
    pub lit: bool,
    /// A branch that was not taken.
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
    /// Each step in a line, and of the code what was executed.
    Lines,
}

/// A part of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassPhase {
    /// What the loop read.
    Observe,
    /// What differs from what is desired.
    Diff,
    /// What it wrote.
    Act,
}

impl PassPhase {
    /// Its title.
    pub fn title(self) -> Message {
        match self {
            PassPhase::Observe => msg::phase_observe(),
            PassPhase::Diff => msg::phase_diff(),
            PassPhase::Act => msg::phase_act(),
        }
    }
}

/// One step of a pass and its rows.
pub type PassStep = (PassPhase, Vec<Row>);

/// A request that a pass has made.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum PassRequest {
    Command,
    Rejected(Kind),
    Create(Kind),
    Delete(Kind),
    /// The deletion that takes the object away.
    Remove(Kind),
    Update(Kind),
    /// To a node.
    Bind(Kind, Str),
    Status(Kind),
}

impl PassRequest {
    /// The request in two or three words.
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

    /// Its verb, as the name of a row.
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

    /// What it is about, as the value of that row.
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

/// The last pass of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// `replicaset-controller · pass 21 · 00:04.118`
    pub title: Message,
    /// The component: `kubelet node-1`.
    pub who: String,
    /// The key it worked on.
    pub key: String,
    /// Whether that is the object it wrote.
    pub own: bool,
    /// Its icon.
    pub glyph: &'static str,
    /// Whether this pass is the newest write of the cluster.
    pub newest: bool,
    /// What keeps its write from coming back, if something does.
    pub held: Message,
    /// Observe, Diff, Act.
    pub steps: Vec<PassStep>,
    /// What it decided to write, and how often.
    pub act: Option<(PassRequest, usize)>,
    /// The loop as the notes write it.
    pub code: Vec<Code>,
    /// How it is laid out.
    pub form: PanelForm,
}

/// Decides nothing: it is left out where there is little room.
pub(super) fn resource_version() -> Message {
    Message::name("resourceVersion")
}

/// The icons of Observe, Diff and Act.
pub const STEP_ICONS: [&str; 3] = ["i-eye", "i-diff", "i-act"];

impl Pass {
    /// The rows of a step that its form shows.
    pub fn rows<'p>(&self, (_, rows): &'p PassStep) -> impl Iterator<Item = &'p Row> + use<'p> {
        let all = self.form != PanelForm::Lines;
        rows.iter()
            .filter(move |row| all || row.0 != resource_version())
    }

    /// The pass in a sentence: who wrote what, and what that changed.
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
        let changes =
            |value: &Message| matches!(value.args(), [Arg::Change(text)] if text.contains(" → "));
        let changed = self
            .steps
            .get(1)
            .into_iter()
            .flat_map(|(_, rows)| rows)
            .filter(|(_, value)| changes(value));
        let row = |(name, value): &Row| msg::name_value(name, value);
        let changed: Vec<Message> = changed.take(2).map(row).collect();
        if changed.is_empty() {
            did
        } else {
            msg::told_changed(did, changed)
        }
    }
}

/// What a pass wrote, beside its loop.
pub fn written(pass: &Pass) -> Message {
    match &pass.act {
        Some((act, 1)) => act.message(),
        Some((act, times)) => msg::act_times(act.message(), times),
        None => Message::default(),
    }
}

/// Everything the diagram shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    /// In their fixed order.
    pub loops: Vec<Loop>,
    /// resourceVersion of the store.
    pub version: u64,
    /// The chosen loop.
    pub chosen: Option<usize>,
    /// The loop that the panel is about.
    pub shown: Option<usize>,
    /// Its last pass.
    pub pass: Option<Pass>,
}
