//! What the page tells of the selected object: the chain of causes, what it waits for, its Events.

use super::{Overlay, Page};
use crate::web::dom;
use crate::web::inspector::Explanation;
use apiserver::{Entry, Op};
use explain::replaced::replaced;
use explain::standing;
use explain::words::{self, Reason};
use k8s_model::event::InvolvedObject;
use k8s_model::{Body, Kind, Object, ObjectRef, Uid};
use session::drift::DriftedField;
use session::{Standings, State};
use std::rc::Rc;
use views::view::View;

/// Milliseconds between two looks at what an object waits for, while the clock runs.
const DIAGNOSIS_INTERVAL_MS: f64 = 300.0;
/// After a slow diagnosis none runs for this multiple of its duration, and no longer than a reader waits for what is told to be true.
const DIAGNOSIS_REST_FACTOR: f64 = 40.0;
const MAX_REST_MS: f64 = 800.0;
/// A look that takes less is made in the frame that draws the object.
const QUICK_MS: f64 = 3.0;
/// With more Events than this they are not scanned one by one.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Maximum number of consequences listed for a decision.
const MAX_CONSEQUENCES: usize = 6;

/// The selected object and the one with the root cause, at an instant: what is kept of them is made anew for others.
type Subject = ([Option<ObjectRef>; 2], usize, (u64, &'static View));

/// What the inspector tells of the selected object.
#[derive(Default)]
pub(super) struct Inspection {
    pub(super) why: Explanation,
    /// How much of the history was read for consequences.
    pub(super) led_read: usize,
    pub(super) chain_of: Option<Subject>,
    /// In what the cluster differs from the manifest that was applied.
    pub(super) drift: Rc<Vec<DriftedField>>,
    /// Where the objects of the list stand.
    pub(super) standings: Rc<Standings>,
    pub(super) causes: Rc<Vec<(u64, u8)>>,
    pub(super) events: Rc<Vec<Rc<Object>>>,
    /// Whether a remedy has still to be tried on a copy.
    pub(super) tries: bool,
    /// When it is looked again for what the object waits for.
    pub(super) diagnose_ms: f64,
    /// How long the last look took, and what the object was then.
    pub(super) took_ms: f64,
    pub(super) looked_at: Option<Rc<Object>>,
}

impl Page {
    /// What the card says of the object that the pointer or the focus rests on. It asks where the object stands, which rests as
    /// long as a diagnosis does while the clock runs.
    pub(super) fn describe(&mut self) {
        let Some(key) = &self.hover.key else { return };
        let state = self.state.borrow();
        let at = (state.timeline.run.happened(), state.timeline.run.epoch);
        let begun = dom::now();
        let rests = state.timeline.playing && begun < self.hover.rests_until;
        if self.hover.card.is_none() || self.hover.card_of != at && !rests {
            let card = state.card(key);
            if self.hover.card.as_deref() != card.as_ref() {
                self.hover.card = card.map(Rc::new);
            }
            self.hover.card_of = at;
            let now = dom::now();
            self.hover.rests_until = now + rest(now - begun);
        }
    }

    /// Why what is selected is as it is.
    pub(super) fn explain(&mut self) {
        let state = self.state.borrow();
        let happened = state.timeline.run.happened();
        // What is told beside the clock is of what the diagram shows.
        let selected = state.selection.selected.clone();
        let standing = self
            .inspection
            .why
            .standing
            .as_ref()
            .filter(|standing| Some(&standing.object) == selected.as_ref());
        // Where the last look was at another instant, it may not be there.
        let is_there = |root: &ObjectRef| state.timeline.run.get(root).is_some();
        let root = standing
            .and_then(|standing| standing.root.clone())
            .filter(is_there)
            .or(selected.clone());
        let of = (
            [selected, root],
            happened,
            (state.timeline.run.epoch, state.selection.view),
        );
        if self.inspection.chain_of.as_ref() == Some(&of) {
            return;
        }
        let history = state.timeline.run.journal().first(happened);
        let read = self
            .inspection
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
            self.inspection.why.chain = Rc::new(of.0[1].as_ref().map(chain).unwrap_or_default());
            (self.inspection.why.led, self.inspection.led_read) = (Rc::default(), 0);
        }
        // What comes in place of a Pod that is gone is written of another.
        let gone = || state.object().is_none_or(|object| !object.is_active_pod());
        if let Some(key) = of.0[0].as_ref().filter(|_| {
            read.is_none_or(news) || self.inspection.why.replaced.by.is_none() && gone()
        }) {
            self.inspection.why.replaced = replaced(history, key);
        }
        if let Some(first) = self
            .inspection
            .why
            .chain
            .first()
            .filter(|_| self.inspection.why.led.len() < MAX_CONSEQUENCES)
        {
            let since = std::mem::replace(&mut self.inspection.led_read, happened);
            let more = words::led_to(
                history,
                first.entry,
                since as u32,
                MAX_CONSEQUENCES - self.inspection.why.led.len(),
            );
            if !more.is_empty() {
                Rc::make_mut(&mut self.inspection.why.led).extend(more);
            }
        }
        let lane = |reason: &Reason| {
            words::lane(&state.timeline.run.journal()[reason.entry as usize])
                .map(|lane| (reason.at, lane))
        };
        self.inspection.causes =
            Rc::new(self.inspection.why.chain.iter().filter_map(lane).collect());
        events(&mut self.inspection.events, &state, read);
        // Records behind a Service have a diagram of their own; what is written of an object that is gone tells nothing of what is there.
        let behind = |kind| {
            matches!(kind, Kind::EndpointSlice | Kind::Endpoints)
                && !state.selection.view.uses.endpoints
        };
        // Whoever steps is told what each step did, also where the diagram draws nothing of it.
        let steps = !state.timeline.playing && !self.settings.embed && state.player.is_none();
        let drawn = |key: &ObjectRef, op: Op| {
            !behind(key.kind) && (op == Op::Deleted || state.timeline.run.get(key).is_some())
        };
        (self.drawing.caption, self.drawing.told_of) = if steps {
            words::step(history)
        } else {
            words::caption(history, &drawn)
        };
        self.inspection.chain_of = Some(of);
    }

    /// Looks up what the selected object waits for. While the clock runs this is a task of its own, a few times a second.
    pub(super) fn diagnose(&mut self) {
        self.look(true);
    }

    /// The same; `tries`: a remedy is tried on a copy too, which takes its time.
    pub(super) fn look(&mut self, tries: bool) {
        if tries {
            let drift = self.state.borrow_mut().drift();
            if *self.inspection.drift != drift {
                self.inspection.drift = Rc::new(drift);
            }
        }
        let state = self.state.borrow();
        let asked = state.selection.selected.is_some()
            && (self.panels.right || self.panels.over == Overlay::Inspector || self.narrow());
        drop(state);
        let begun = dom::now();
        let mut state = self.state.borrow_mut();
        let found = if asked { state.diagnosis() } else { Vec::new() };
        // A remedy is tried once, which says nothing of how long the next look takes.
        let tried = dom::now();
        if tries {
            self.inspection.tries = state.try_next_remedy(&found);
        }
        let begun = begun + dom::now() - tried;
        let verdicts = state.verdicts(&found);
        let standing = if asked {
            state.standing(&found, &verdicts.helps)
        } else {
            None
        };
        if self.inspection.why.standing.as_deref() != standing.as_ref() {
            self.inspection.why.standing = standing.map(Rc::new);
        }
        // An equal answer keeps its pointer, so that its component need not look.
        if *self.inspection.why.found != found {
            self.inspection.why.found = Rc::new(found);
        }
        self.inspection.why.verdicts = verdicts;
        if self.panels.as_list {
            let standings = state.standings(&self.drawing.picture.scene);
            if *self.inspection.standings != standings {
                self.inspection.standings = Rc::new(standings);
            }
        }
        let now = dom::now();
        self.inspection.took_ms = now - begun;
        self.inspection.diagnose_ms = now + rest(now - begun);
        self.inspection.looked_at = self
            .drawing
            .selected
            .as_ref()
            .map(|(object, _)| object.clone());
    }

    /// Whether the sentence over the inspector would tell of an older object than the numbers beside it, and can be made anew at once.
    pub(super) fn is_behind(&self) -> bool {
        let (now, then) = (
            self.drawing.selected.as_ref().map(|(object, _)| object),
            self.inspection.looked_at.as_ref(),
        );
        let is_same = match (now, then) {
            (Some(now), Some(then)) => Rc::ptr_eq(now, then),
            (now, then) => now.is_none() && then.is_none(),
        };
        !is_same && self.inspection.took_ms < QUICK_MS
    }
}

/// How long no diagnosis runs after one that took so many milliseconds.
fn rest(took_ms: f64) -> f64 {
    (DIAGNOSIS_REST_FACTOR * took_ms).clamp(DIAGNOSIS_INTERVAL_MS, MAX_REST_MS)
}

/// The Events about what is selected, or what has been written of them since an entry: there may be tens of thousands about others.
fn events(found: &mut Rc<Vec<Rc<Object>>>, state: &State, since: Option<usize>) {
    let Some(key) = &state.selection.selected else {
        *found = Rc::default();
        return;
    };
    // Not those about another of the same name before it, as `kubectl describe` asks for.
    let uid = state
        .timeline
        .run
        .sim()
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
            // Of a large cluster's there are more than can be looked through at a time.
            let mut all: Vec<Rc<Object>> = match sim
                .get(key)
                .filter(|_| sim.server().count(Kind::Event) > MAX_SCANNED_EVENTS)
            {
                Some(object) => sim.events_about(object),
                None => sim.each(Kind::Event).filter(about).cloned().collect(),
            };
            by_last_seen(&mut all);
            *found = Rc::new(all);
        }
    }
}

/// As kubectl puts them: a count that is written late makes an Event no newer.
fn by_last_seen(events: &mut [Rc<Object>]) {
    let seen = |object: &Object| {
        if let Body::Event(event) = &object.body {
            event.last_seen()
        } else {
            None
        }
    };
    k8s_model::sort::sort_by_key(events, |object| {
        (
            seen(object).map(|at| at.seconds()),
            object.meta.resource_version,
        )
    });
}
