//! UI presentation of a component: data beside its code, so that adding a controller touches only its own file and the registry.

use super::fact::FactId;
use apiserver::{Component, ControllerId};

/// Line of pseudo-code.
#[derive(Clone, Copy, Debug)]
pub struct CodeLine {
    /// Text, indented.
    pub text: &'static str,
    /// Part in the flow of control.
    pub flow: CodeFlow,
    /// Tag by which a reason of a write finds the line that it executed.
    pub tag: Option<CodeTag>,
    /// Value shown beside it.
    pub value: Option<CodeValue>,
}

/// Part of a line in the flow of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeFlow {
    /// The next line follows.
    Next,
    /// The next round follows: `continue`.
    Continue,
    /// End of a block, which is reached in every round.
    End,
}

/// Decision of a loop, as a line of its pseudo-code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CodeTag {
    Create,
    CreateClaim,
    CreateReplicaSet,
    Delete,
    Update,
    ScaleUp,
    ScaleDown,
    Bind,
    Unschedulable,
    Start,
    Stop,
    Status,
    SmallestFit,
    BindVolume,
    CheckVolume,
    Provision,
    RemoveFinalizer,
    /// Any other write.
    Write,
}

/// Value shown beside a line of pseudo-code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeValue {
    /// Request that the line has made.
    Request,
    /// First fact of the pass.
    First,
    /// Last fact of the pass.
    Last,
    /// Fact of the pass.
    Fact(FactId),
    /// Pods that a rollout may add.
    Room,
    /// Pods that a rollout may remove.
    Spare,
}

impl CodeLine {
    /// Creates a line without a value.
    pub const fn step(text: &'static str) -> CodeLine {
        CodeLine {
            text,
            flow: CodeFlow::Next,
            tag: None,
            value: None,
        }
    }

    /// Creates the `continue` of a branch.
    pub const fn leaves(text: &'static str) -> CodeLine {
        CodeLine {
            flow: CodeFlow::Continue,
            ..CodeLine::step(text)
        }
    }

    /// Creates the end of a block.
    pub const fn end(text: &'static str) -> CodeLine {
        CodeLine {
            flow: CodeFlow::End,
            ..CodeLine::step(text)
        }
    }

    /// Creates a line that reads or computes a value.
    pub const fn reads(text: &'static str, value: CodeValue) -> CodeLine {
        CodeLine {
            value: Some(value),
            ..CodeLine::step(text)
        }
    }

    /// Creates a line that acts on something else than the API server.
    pub const fn acts(text: &'static str, tag: CodeTag) -> CodeLine {
        CodeLine {
            tag: Some(tag),
            ..CodeLine::step(text)
        }
    }

    /// Creates a line that makes a request.
    pub const fn writes(text: &'static str, tag: CodeTag) -> CodeLine {
        CodeLine {
            value: Some(CodeValue::Request),
            ..CodeLine::acts(text, tag)
        }
    }
}

/// Component that writes: a controller, the scheduler, the kubelets.
#[derive(Debug)]
pub struct Descriptor {
    /// Identity under which it writes.
    pub component: Component,
    /// Other identities under which it records Events.
    pub aliases: &'static [&'static ControllerId],
    /// Short name.
    pub title: &'static str,
    /// Icon in `static/icons.svg`.
    pub icon: &'static str,
    /// Lane of the timeline; empty for the shared lane.
    pub lane: &'static str,
    /// True if the component is shown on the ring before its first write.
    pub always_shown: bool,
    /// Pseudo-code of its reconcile pass.
    pub code: &'static [CodeLine],
}

/// Pseudo-code of a controller without its own.
pub const GENERIC: &[CodeLine] = &[
    CodeLine::step("for {"),
    CodeLine::reads("    actual  := observe the cluster", CodeValue::First),
    CodeLine::step("    desired := read the object"),
    CodeLine::step("    if actual == desired {"),
    CodeLine::step("        do nothing"),
    CodeLine::step("    } else {"),
    CodeLine::writes("        act", CodeTag::Write),
    CodeLine::end("    }"),
    CodeLine::end("}"),
];
