//! Loops written as programs: a ControlLoop names the objects that it reconciles and what wakes it; its program is one pass.
//!
//! Guarantees: a pass reads the cache of the loop's own informer and writes as a client of the API server, each write with the line that
//! made it; it ends within the limits of its spec; a failed pass backs off and is reported, with its line, by an Event and by the condition
//! `Ready` of the ControlLoop. `reconcile(key)` keeps nothing between passes. `on_event(event)` keeps its global variables until its process
//! restarts, and sees only what a watch delivers: what a relist finds is no event.
//!
//! Models `controller-runtime/pkg/{builder,handler,internal/controller}`; the language is `crates/script`.

mod host;
mod status;

use super::Event;
use apiserver::control_loop::{self, ControlLoopSpec, NamedKind, WatchMap};
use apiserver::journal::Op;
use apiserver::{ApiError, Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use host::LoopHost;
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Uid};
use script::{Input, Limits, Lines, Memory, Program, ScriptError, Step, Style, ToJson};
use serde_json::Value;
use sim_core::tree::Tree;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;

/// Lines of the log that are kept.
const MAX_LOG: usize = 200;
/// Maximum number of events that wait for a program that does not get to them.
const MAX_EVENTS: usize = 10_000;

/// Loop of a ControlLoop.
#[derive(Debug)]
pub struct ScriptedLoop {
    /// Identity under which it writes.
    pub id: &'static ControllerId,
    /// Uid of the ControlLoop.
    pub uid: Uid,
    /// Spec.
    pub spec: ControlLoopSpec,
    /// Parsed program.
    pub program: Program,
}

/// Event that waits for a program with `on_event`.
#[derive(Clone, Debug)]
struct PendingEvent {
    op: Op,
    object: Rc<Object>,
    before: Option<Rc<Object>>,
    initial: bool,
}

/// Line that a program has logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogLine {
    /// Time of the pass.
    pub time: Time,
    /// Text.
    pub text: Str,
}

/// Pass of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct LastPass {
    /// Key.
    pub key: ObjectRef,
    /// Time.
    pub time: Time,
    /// Number of the pass since the process was started, from 1.
    pub number: u64,
    /// Lines that it has reached.
    pub lines: Rc<Lines>,
}

/// State of a loop between passes, which a restart of its process clears.
#[derive(Clone, Debug, Default)]
pub struct LoopState {
    /// Global variables of a program with `on_event`.
    memory: Rc<Memory>,
    /// Events by the key whose pass handles them.
    events: Tree<ObjectRef, VecDeque<PendingEvent>>,
    /// Errors of the last passes by key.
    failing: Tree<ObjectRef, Rc<ScriptError>>,
    /// Last pass of the program.
    last: Option<LastPass>,
    /// Lines logged.
    log: VecDeque<LogLine>,
    /// True while the initial list is delivered.
    pub starting: bool,
}

impl LoopState {
    /// Returns the global variables of a program with `on_event`.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the last lines that the program has logged.
    pub fn log(&self) -> impl Iterator<Item = &LogLine> {
        self.log.iter()
    }

    /// Returns the last pass of the program.
    pub fn last_pass(&self) -> Option<&LastPass> {
        self.last.as_ref()
    }

    /// Returns what is still to be handled: events, and keys whose last pass failed.
    pub fn waiting(&self) -> impl fmt::Debug + '_ {
        (&self.events, &self.failing, self.starting)
    }

    /// Returns the keys whose last pass failed, with the error.
    pub fn failing(&self) -> impl Iterator<Item = (&ObjectRef, &ScriptError)> {
        self.failing.iter().map(|(key, error)| (key, &**error))
    }
}

thread_local! {
    /// Descriptors of loops by name; an entry is never removed, as with their identities.
    static DESCRIPTORS: RefCell<BTreeMap<&'static str, &'static Descriptor>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the UI descriptor of a loop.
pub fn descriptor(id: &'static ControllerId) -> &'static Descriptor {
    DESCRIPTORS.with_borrow_mut(|known| {
        *known.entry(id.name).or_insert_with(|| {
            Box::leak(Box::new(Descriptor {
                component: Component::Loop(id),
                aliases: &[],
                title: id.name,
                icon: "i-act",
                lane: "",
                always_shown: true,
                code: GENERIC,
            }))
        })
    })
}

/// Object as a program reads it.
struct CachedObject(Rc<Object>);

impl ToJson for CachedObject {
    fn to_json(&self) -> Value {
        self.0.to_value()
    }
}

impl ScriptedLoop {
    /// Creates the loop of a stored ControlLoop; `None` if it is none that can run.
    pub fn of(object: &Object) -> Option<ScriptedLoop> {
        let spec = ControlLoopSpec::read(object)?;
        let program = Program::parse(&spec.program).ok()?;
        Some(ScriptedLoop {
            id: ControllerId::of_loop(&object.meta.name)?,
            uid: object.meta.uid,
            program,
            spec,
        })
    }

    /// Identity under which the loop writes.
    pub fn component(&self) -> Component {
        Component::Loop(self.id)
    }

    /// Key of its ControlLoop, whose pass reports its state.
    pub fn own_key(&self) -> ObjectRef {
        control_loop::key(self.id.name)
    }

    /// Kinds whose events wake the loop.
    pub fn watched(&self) -> Vec<Kind> {
        let maps = self.spec.watches.iter().map(|(kind, _)| kind);
        let named = std::iter::once(&self.spec.for_kind)
            .chain(&self.spec.owns)
            .chain(maps);
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in named.filter_map(NamedKind::kind) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Returns true if the loop reconciles objects of the kind.
    pub fn is_for(&self, kind: Kind) -> bool {
        self.spec.for_kind.is(kind)
    }

    /// Returns the keys that an event wakes.
    pub fn woken_by(&self, event: &Event<'_>, cache: &Cache) -> Vec<ObjectRef> {
        let object = event.object;
        let mut keys = Vec::new();
        let mut wake = |key: ObjectRef| {
            if !keys.contains(&key) {
                keys.push(key);
            }
        };
        if self.is_for(object.kind) {
            wake(object.key());
        }
        if object.key() == self.own_key() {
            wake(object.key());
        }
        if self.spec.owns.iter().any(|kind| kind.is(object.kind)) {
            for object in std::iter::once(object).chain(event.before) {
                let owner = object.meta.controller();
                owner
                    .and_then(|owner| self.owner(owner, object))
                    .into_iter()
                    .for_each(&mut wake);
            }
        }
        for (_, map) in self
            .spec
            .watches
            .iter()
            .filter(|(kind, _)| kind.is(object.kind))
        {
            for object in std::iter::once(object).chain(event.before) {
                self.mapped(map, object, cache)
                    .into_iter()
                    .for_each(&mut wake);
            }
        }
        keys
    }

    /// Returns the key of an owner, if the loop reconciles its kind.
    fn owner(&self, owner: &k8s_model::OwnerReference, object: &Object) -> Option<ObjectRef> {
        owner
            .key(&object.meta.namespace)
            .filter(|key| self.is_for(key.kind))
    }

    fn mapped(&self, map: &WatchMap, object: &Object, cache: &Cache) -> Vec<ObjectRef> {
        let Some(kind) = self.spec.for_kind.kind() else {
            return Vec::new();
        };
        let named = |name: &str| {
            let namespace = match kind.info().namespaced {
                true => object.meta.namespace.as_str(),
                false => "",
            };
            vec![ObjectRef::new(kind, namespace, name)]
        };
        match map {
            WatchMap::Owner => {
                let owners = object.meta.owner_references.iter();
                owners
                    .filter_map(|owner| self.owner(owner, object))
                    .collect()
            }
            WatchMap::Name => named(&object.meta.name),
            WatchMap::Namespace => named(&object.meta.namespace),
            WatchMap::Label(label) => {
                let value = object.meta.labels.iter().find(|(key, _)| **key == **label);
                value.map(|(_, value)| named(value)).unwrap_or_default()
            }
            WatchMap::All => {
                let both = kind.info().namespaced && object.kind.info().namespaced;
                let same =
                    |other: &&Rc<Object>| !both || other.meta.namespace == object.meta.namespace;
                cache
                    .list(kind)
                    .filter(same)
                    .map(|other| other.key())
                    .collect()
            }
        }
    }

    /// Notes an event for a program with `on_event`; returns the key whose pass handles it.
    pub fn note(
        &self,
        event: &Event<'_>,
        cache: &Cache,
        state: &mut LoopState,
    ) -> Option<ObjectRef> {
        let key = self.woken_by(event, cache).into_iter().next()?;
        if key == self.own_key() {
            return Some(key);
        }
        // A relist is no event; the first list is, as that of a watch that begins without a version.
        if event.listed && !state.starting {
            return None;
        }
        let events = state.events.get_or_insert_with(key.clone(), VecDeque::new);
        if events.len() < MAX_EVENTS {
            events.push_back(PendingEvent {
                op: event.op,
                object: event.object.clone(),
                before: event.before.cloned(),
                initial: event.listed,
            });
        }
        Some(key)
    }

    /// Runs a pass over a key: the program's, or over the ControlLoop itself, whose status it writes.
    pub fn pass(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
        state: &mut LoopState,
    ) -> Result<Action, ApiError> {
        if *key == self.own_key() {
            return status::report(self, view, out, state);
        }
        self.run(key, view, out, state, false).0
    }

    /// Runs a pass over a key and returns the lines that it executes.
    pub fn trace(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
        state: &mut LoopState,
    ) -> Vec<Step> {
        self.run(key, view, out, state, true).1
    }

    fn run(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
        state: &mut LoopState,
        traced: bool,
    ) -> (Result<Action, ApiError>, Vec<Step>) {
        let Some(input) = self.input(key, state) else {
            return (Ok(Action::AwaitChange), Vec::new());
        };
        let limits = Limits {
            steps: self.spec.steps,
            memory: self.spec.memory,
        };
        let mut memory = (*state.memory).clone();
        let mut host = LoopHost::new(self, key, view, out);
        let outcome = match traced {
            false => self.program.run(&input, &mut memory, limits, &mut host),
            true => self.program.trace(&input, &mut memory, limits, &mut host),
        };
        let (requeue, logged) = host.finish();
        state.last = Some(LastPass {
            key: key.clone(),
            time: view.now,
            number: state.last.as_ref().map_or(0, |last| last.number) + 1,
            lines: Rc::new(outcome.lines),
        });
        for text in logged {
            if state.log.len() >= MAX_LOG {
                state.log.pop_front();
            }
            let time = view.now;
            state.log.push_back(LogLine { time, text });
        }
        let more = state
            .events
            .get(key)
            .is_some_and(|events| !events.is_empty());
        let result = match outcome.result {
            Ok(failure) => {
                state.memory = Rc::new(memory);
                state.failing.remove(key);
                match (failure, requeue) {
                    (Some(failure), _) if self.program.style() == Style::Level => {
                        Err(status::error_of(&failure))
                    }
                    _ if more => Ok(Action::RequeueAfter(1)),
                    (_, Some(span)) => Ok(Action::RequeueAfter(span)),
                    _ => Ok(Action::AwaitChange),
                }
            }
            Err(error) => {
                status::record_failure(self, key, &error, view, out);
                let failed = status::error_of_pass(&error);
                state.failing.insert(key.clone(), Rc::new(error));
                // An event that was not handled is not delivered again.
                match self.program.style() {
                    Style::Edge if !more => Ok(Action::AwaitChange),
                    Style::Edge => Ok(Action::RequeueAfter(1)),
                    Style::Level => Err(failed),
                }
            }
        };
        (result, outcome.trace)
    }

    /// Returns the input of a pass; `None` if no event waits.
    fn input(&self, key: &ObjectRef, state: &mut LoopState) -> Option<Input> {
        if self.program.style() == Style::Level {
            return Some(Input::Key {
                namespace: key.namespace.to_string(),
                name: key.name.to_string(),
            });
        }
        let events = state.events.get_mut(key)?;
        let event = events.pop_front();
        if events.is_empty() {
            state.events.remove(key);
        }
        let event = event?;
        let json = |object: Rc<Object>| -> Rc<dyn ToJson> { Rc::new(CachedObject(object)) };
        Some(Input::Event {
            kind: event.op.watch_type(),
            object: json(event.object),
            before: event.before.map(json),
            initial: event.initial,
        })
    }
}
