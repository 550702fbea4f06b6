//! Explanation of the selected object: the chain of causes, its diagnosis, its Events.

use crate::web::dom;
use crate::web::inspector::Explanation;
use apiserver::{Entry, Op};
use explain::replaced::replaced;
use explain::standing;
use explain::words::{self, Reason};
use k8s_model::event::InvolvedObject;
use k8s_model::{Body, Kind, Object, ObjectRef, Uid};
use projection::marks::Lane;
use session::drift::DriftedField;
use session::{Standings, State};
use std::rc::Rc;
use views::card::Card;
use views::shape::Scene;
use views::view::View;

/// Milliseconds between two diagnoses while the clock runs.
const DIAGNOSIS_INTERVAL_MS: f64 = 300.0;
/// Rest after a slow diagnosis, as a multiple of its duration, and its maximum, so that the text shown is not outdated for long.
const DIAGNOSIS_REST_FACTOR: f64 = 40.0;
const MAX_REST_MS: f64 = 800.0;
/// A diagnosis that takes less is made in the frame that draws the object, in milliseconds.
const QUICK_MS: f64 = 3.0;
/// Number of Events above which they are not scanned one by one.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Maximum number of consequences listed for a decision.
const MAX_CONSEQUENCES: usize = 6;

/// The selected object and its root cause, at an instant: the key of what is cached about them.
type Subject = ([Option<ObjectRef>; 2], usize, (u64, &'static View));

/// Contents of the inspector for the selected object.
#[derive(Default)]
pub(super) struct Inspection {
    pub(super) why: Explanation,
    /// Number of journal entries searched for consequences.
    pub(super) led_read: usize,
    pub(super) chain_of: Option<Subject>,
    /// Fields in which the cluster differs from the applied manifest.
    pub(super) drift: Rc<Vec<DriftedField>>,
    /// States of the listed objects.
    pub(super) standings: Rc<Standings>,
    pub(super) causes: Rc<Vec<(u64, Lane)>>,
    pub(super) events: Rc<Vec<Rc<Object>>>,
    /// True if a remedy is still to be tried on a copy.
    pub(super) tries: bool,
    /// Time of the next diagnosis.
    pub(super) diagnose_ms: f64,
    /// Duration of the last diagnosis, and the object at that time.
    pub(super) took_ms: f64,
    pub(super) looked_at: Option<Rc<Object>>,
}

/// Scope of a diagnosis.
pub(super) struct DiagnosisSubject<'a> {
    /// True if the inspector is open.
    pub(super) inspects: bool,
    /// Scene whose objects are listed with their states.
    pub(super) listed: Option<&'a Scene>,
    /// Selected object as drawn.
    pub(super) object: Option<&'a Rc<Object>>,
}

/// Object under the pointer or the focus, and its card.
#[derive(Default)]
pub(super) struct Hover {
    key: Option<ObjectRef>,
    pub(super) card: Option<Rc<Card>>,
    /// Instant at which the card was read.
    card_of: (usize, u64),
    /// Time before which the card is not read again while the clock runs.
    rests_until: f64,
}

impl Hover {
    /// Moves to another object, or to none.
    pub(super) fn rest_on(&mut self, key: Option<ObjectRef>) {
        (self.key, self.card) = (key, None);
    }

    /// Reads the card of the object. The card shows the object's state, which rests like a diagnosis while the clock runs.
    pub(super) fn describe(&mut self, state: &State) {
        let Some(key) = &self.key else { return };
        let at = (state.timeline.run.happened(), state.timeline.run.epoch);
        let begun = dom::now();
        let rests = state.timeline.playing && begun < self.rests_until;
        if self.card.is_none() || self.card_of != at && !rests {
            let card = state.card(key);
            if self.card.as_deref() != card.as_ref() {
                self.card = card.map(Rc::new);
            }
            self.card_of = at;
            let now = dom::now();
            self.rests_until = now + rest(now - begun);
        }
    }
}

impl Inspection {
    /// Explains the selected object; returns false if nothing has happened since the last explanation.
    pub(super) fn explain(&mut self, state: &State) -> bool {
        let happened = state.timeline.run.happened();
        // The text beside the clock is about what the diagram shows.
        let selected = state.selection.selected.clone();
        let standing = self
            .why
            .standing
            .as_ref()
            .filter(|standing| Some(&standing.object) == selected.as_ref());
        // The root cause of an earlier diagnosis may not exist at this instant.
        let is_there = |root: &ObjectRef| state.timeline.run.sim().store().get(root).is_some();
        let root = standing
            .and_then(|standing| standing.root.clone())
            .filter(is_there)
            .or(selected.clone());
        let of = (
            [selected, root],
            happened,
            (state.timeline.run.epoch, state.selection.view),
        );
        if self.chain_of.as_ref() == Some(&of) {
            return false;
        }
        let history = state.timeline.run.journal().first(happened);
        let read = self
            .chain_of
            .take()
            .filter(|old| (&old.0, old.2) == (&of.0, of.2) && old.1 <= happened)
            .map(|old| old.1);
        let news = |since: usize| {
            of.0[1].as_ref().is_some_and(|key| {
                history
                    .from(since)
                    .iter()
                    .any(|entry| words::concerns(entry, key))
            })
        };
        if read.is_none_or(news) {
            let chain = |key| standing::chain(state.timeline.run.sim(), history, key);
            self.why.chain = Rc::new(of.0[1].as_ref().map(chain).unwrap_or_default());
            (self.why.led, self.led_read) = (Rc::default(), 0);
        }
        // The replacement of a Pod that is gone is written as another object.
        let gone = || state.object().is_none_or(|object| !object.is_active_pod());
        if let Some(key) = of.0[0]
            .as_ref()
            .filter(|_| read.is_none_or(news) || self.why.replaced.by.is_none() && gone())
        {
            self.why.replaced = replaced(history, key);
        }
        if let Some(first) = self
            .why
            .chain
            .first()
            .filter(|_| self.why.led.len() < MAX_CONSEQUENCES)
        {
            let since = std::mem::replace(&mut self.led_read, happened);
            let more = words::consequences(
                history,
                first.entry,
                since as u32,
                MAX_CONSEQUENCES - self.why.led.len(),
            );
            if !more.is_empty() {
                Rc::make_mut(&mut self.why.led).extend(more);
            }
        }
        let lane = |reason: &Reason| {
            words::lane(&state.timeline.run.journal()[reason.entry as usize])
                .map(|lane| (reason.at, lane))
        };
        self.causes = Rc::new(self.why.chain.iter().filter_map(lane).collect());
        events(&mut self.events, state, read);
        self.chain_of = Some(of);
        true
    }

    /// Diagnoses the selected object, if `subject` asks for it; `tries`: also tries a remedy on a copy, which takes time.
    pub(super) fn diagnose(&mut self, state: &mut State, subject: &DiagnosisSubject, tries: bool) {
        if tries {
            let drift = state.editor.drift(&state.timeline.run);
            if *self.drift != drift {
                self.drift = Rc::new(drift);
            }
        }
        let asked = subject.inspects && state.selection.selected.is_some();
        let begun = dom::now();
        let found = if asked {
            state.selection.diagnosis(&state.timeline.run)
        } else {
            Vec::new()
        };
        // A remedy is tried once, so its duration does not count for the rest.
        let tried = dom::now();
        if tries {
            self.tries = state.selection.try_next(&state.timeline.run, &found);
        }
        let begun = begun + dom::now() - tried;
        let verdicts = state.selection.verdicts(&state.timeline.run, &found);
        let standing = if asked {
            state.standing(&found, &verdicts.helps)
        } else {
            None
        };
        if self.why.standing.as_deref() != standing.as_ref() {
            self.why.standing = standing.map(Rc::new);
        }
        // An equal diagnosis keeps its pointer, so that its component need not compare it.
        if *self.why.found != found {
            self.why.found = Rc::new(found);
        }
        self.why.verdicts = verdicts;
        if let Some(scene) = subject.listed {
            let standings = state.standings(scene);
            if *self.standings != standings {
                self.standings = Rc::new(standings);
            }
        }
        let now = dom::now();
        self.took_ms = now - begun;
        self.diagnose_ms = now + rest(now - begun);
        self.looked_at = subject.object.cloned();
    }

    /// Returns true if the diagnosis shown is of another version of the object than `object`, and can be renewed at once.
    pub(super) fn is_behind(&self, object: Option<&Rc<Object>>) -> bool {
        let is_same = match (object, &self.looked_at) {
            (Some(now), Some(then)) => Rc::ptr_eq(now, then),
            (now, then) => now.is_none() && then.is_none(),
        };
        !is_same && self.took_ms < QUICK_MS
    }
}

/// Returns the rest after a diagnosis that took `took_ms` milliseconds.
fn rest(took_ms: f64) -> f64 {
    (DIAGNOSIS_REST_FACTOR * took_ms).clamp(DIAGNOSIS_INTERVAL_MS, MAX_REST_MS)
}

/// Reads the Events about the selected object, or those written since an entry: there may be tens of thousands about others.
fn events(found: &mut Rc<Vec<Rc<Object>>>, state: &State, since: Option<usize>) {
    let Some(key) = &state.selection.selected else {
        *found = Rc::default();
        return;
    };
    // Events about an earlier object of the same name are excluded, as by the field selector of `kubectl describe`.
    let uid = state
        .timeline
        .run
        .sim()
        .store()
        .get(key)
        .map(|object| object.meta.uid);
    let own = |of: &InvolvedObject| {
        of.is(key) && uid.is_none_or(|uid| of.uid == uid || of.uid == Uid::default())
    };
    let about = |object: &&Rc<Object>| matches!(&object.body, Body::Event(event) if own(&event.involved_object));
    match since {
        Some(since) => {
            if found.iter().any(|one| !about(&one)) {
                Rc::make_mut(found).retain(|one| about(&one));
            }
            let written = state
                .timeline
                .run
                .journal()
                .first(state.timeline.run.happened())
                .from(since)
                .iter()
                .filter_map(Entry::write);
            let mut written = written.filter(|(_, object)| about(object)).peekable();
            if written.peek().is_some() {
                let found = Rc::make_mut(found);
                for (op, object) in written {
                    found.retain(|old| old.meta.uid != object.meta.uid);
                    if op != Op::Deleted {
                        found.push(object.clone());
                    }
                }
                by_last_seen(found);
            }
        }
        None => {
            let sim = state.timeline.run.sim();
            // In a large cluster there are too many Events to scan at a time.
            let mut all: Vec<Rc<Object>> = match sim
                .store()
                .get(key)
                .filter(|_| sim.store().count(Kind::Event) > MAX_SCANNED_EVENTS)
            {
                Some(object) => sim.recorder.events_about(object, sim.store()),
                None => sim
                    .store()
                    .each(Kind::Event)
                    .filter(about)
                    .cloned()
                    .collect(),
            };
            by_last_seen(&mut all);
            *found = Rc::new(all);
        }
    }
}

/// Sorts Events as kubectl does: a count written late does not make an Event newer.
fn by_last_seen(events: &mut [Rc<Object>]) {
    let seen = |object: &Object| {
        if let Body::Event(event) = &object.body {
            event.last_seen()
        } else {
            None
        }
    };
    events.sort_by_key(|object| {
        (
            seen(object).map(|at| at.seconds()),
            object.meta.resource_version,
        )
    });
}
