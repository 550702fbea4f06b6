//! The manifest: its text, the text applied last, and its errors.

use super::drift::{Drift, DriftedField, MAX_TEXT_BYTES};
use super::effect::Effect;
use super::leftovers::PruneCandidates;
use super::run::Run;
use actions::{
    ActionResult, ApplyDiagnostic, ApplyJob, MissingKind, PlannedChanges, Repair, TrialApply,
};
use apiserver::{Journal, Op};
use i18n::{Counted, Message, msg};
use k8s_model::natural::natural_cmp;
use k8s_model::{Object, ObjectRef};
use kubectl::{Applied, ApplyResult};
use lesson::read::LessonError;
use projection::adapt;
use projection::changes;
use sim_core::deferred_drop;
use std::rc::Rc;

/// Documents applied at once; the rest of a longer manifest is applied one at a time, when the session is polled.
const IMMEDIATE_DOCUMENTS: usize = 16;

/// Maximum number of objects that the announcement of an apply names.
const MAX_TOLD_OBJECTS: usize = 3;

/// State shown beside the manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplyStatus {
    /// The text is the one applied.
    #[default]
    Clean,
    /// The text differs from the one applied.
    Edited,
    /// The text was just applied.
    Applied,
    /// The text is being applied: it has very many documents.
    Applying,
    /// The text was refused.
    Rejected,
    /// Numbers of objects applied and unchanged, and of errors.
    Partly(usize, usize, usize),
}

/// Message to the editor.
#[derive(Clone, Debug, PartialEq)]
pub enum EditorMsg {
    /// The text was edited.
    Edit(String),
    /// Runs a dry run of the text.
    Check,
    /// Shows or hides the changes that applying the text would make.
    Compare,
    /// Applies the text.
    Apply {
        /// True if the page opens with it.
        opens: bool,
    },
    /// Reverts to the text applied last.
    Revert,
    /// Replaces the text, which is then applied to an empty cluster.
    Load(String),
    /// Chooses whether the next apply deletes the objects that left the manifest.
    Prune(bool),
}

/// State of an apply still in progress.
#[derive(Default)]
struct PendingApply {
    /// True if the page opens with it.
    opens: bool,
    /// Objects that had left the manifest when the apply began, and whether they are to be deleted.
    asked: (Rc<Vec<ObjectRef>>, bool),
}

/// Manifest.
#[derive(Default)]
pub struct Editor {
    /// Text of the editor.
    pub text: Rc<str>,
    /// Text applied last.
    pub applied: Rc<str>,
    /// State shown beside the text.
    pub status: ApplyStatus,
    /// Errors of the applied text or, while it is edited, of the dry run.
    pub diagnostics: Rc<Vec<ApplyDiagnostic>>,
    /// Changes that applying the text would make, after a dry run.
    pub plan: Option<Rc<PlannedChanges>>,
    /// Objects that left the manifest.
    pub leftovers: PruneCandidates,
    /// True if an empty cluster would accept what this one refused.
    pub helps_afresh: bool,
    /// Kinds that the text applied last needs and the API server did not serve then.
    missing: Vec<MissingKind>,
    drift: Option<Drift>,
    dry_run: Option<TrialApply>,
    pending: PendingApply,
}

impl Editor {
    /// Creates an editor with a text that is not applied yet.
    pub fn new(text: &str) -> Editor {
        Editor {
            text: text.into(),
            ..Editor::default()
        }
    }

    /// Handles a message.
    pub fn update(&mut self, msg: EditorMsg, run: &mut Run) -> Vec<Effect> {
        match msg {
            EditorMsg::Edit(text) => {
                self.text = text.into();
                self.text_changed();
            }
            EditorMsg::Check => self.check(run),
            EditorMsg::Compare if self.plan.is_some() => self.outdate(run),
            EditorMsg::Compare => self.dry_run(run),
            EditorMsg::Apply { opens } => return self.apply(opens, run),
            EditorMsg::Revert => {
                self.text = self.applied.clone();
                self.status = ApplyStatus::Clean;
                self.discard_dry_run();
            }
            EditorMsg::Load(text) => self.text = text.into(),
            EditorMsg::Prune(delete) => self.leftovers.delete = delete,
        }
        Vec::new()
    }

    fn check(&mut self, run: &Run) {
        if self.status == ApplyStatus::Edited {
            self.dry_run(run);
        }
    }

    fn dry_run(&mut self, run: &Run) {
        // During an apply there is no cluster to try another text on.
        if !run.applies() {
            self.dry_run = Some(TrialApply::new(run.sim(), &self.text));
        }
    }

    /// Discards the planned changes: the cluster was acted on. While the text is edited, it is tried again.
    pub fn outdate(&mut self, run: &Run) {
        match self.status {
            ApplyStatus::Edited => self.dry_run(run),
            _ => (self.dry_run, self.plan) = (None, None),
        }
    }

    fn discard_dry_run(&mut self) {
        if let Some(Ok(plan)) = self.plan.take().map(Rc::try_unwrap) {
            deferred_drop::drop_later(plan.changes);
            deferred_drop::drop_later(plan.named.unwrap_or_default());
        }
        (self.dry_run, self.diagnostics) = (None, Rc::default());
        self.missing.clear();
        self.leftovers.forget();
    }

    /// Offers to put fragments of the text into objects of the manifest, the first of these if it has their fields.
    pub(super) fn offer_places(&mut self, selected: &[ObjectRef]) {
        for at in 0..self.diagnostics.len() {
            let told = &self.diagnostics[at];
            if !told.is_of_fragment() {
                continue;
            }
            let place = |manifest| Repair::fragment(&self.text, told.line, manifest, selected);
            // A fragment may have replaced the manifest.
            let repair = place(&self.text).or_else(|| place(&self.applied));
            if repair != told.repair {
                Rc::make_mut(&mut self.diagnostics)[at].repair = repair;
            }
        }
    }

    /// Offers to apply the text again once a kind that was missing is defined; returns the announcement.
    pub(super) fn offer_again(&mut self, run: &Run) -> Option<Message> {
        if self.missing.is_empty() || run.in_past() || run.applies() {
            return None;
        }
        let sim = run.sim();
        let (served, missing) = std::mem::take(&mut self.missing)
            .into_iter()
            .partition(|one| one.is_served(sim));
        self.missing = missing;
        let served: Vec<MissingKind> = served;
        for one in &served {
            let diagnostics = Rc::make_mut(&mut self.diagnostics);
            let refused = diagnostics
                .iter_mut()
                .find(|told| told.line == one.line && told.error && told.repair.is_none());
            if let Some(refused) = refused {
                refused.repair = Repair::again(&self.text, one.line, &one.kind);
            }
        }
        let first = served.first()?;
        Some(msg::editor_established(&first.kind))
    }

    /// Advances the dry run by one document. Returns true when it has just finished.
    pub fn dry_run_next(&mut self, run: &Run) -> bool {
        let Some(plan) = self.dry_run.as_mut().and_then(TrialApply::step) else {
            return false;
        };
        self.dry_run = None;
        self.diagnostics = plan.diagnostics.clone();
        self.missing.clear();
        self.leftovers.compare(plan.named.as_deref(), run);
        self.plan = Some(Rc::new(plan));
        true
    }

    /// Returns true while a dry run is in progress.
    pub fn in_dry_run(&self) -> bool {
        self.dry_run.is_some()
    }

    fn text_changed(&mut self) {
        self.status = if self.text == self.applied {
            ApplyStatus::Clean
        } else {
            ApplyStatus::Edited
        };
        self.dry_run = None;
        if self.status == ApplyStatus::Clean {
            self.discard_dry_run();
        }
    }

    /// Restores a text and the text applied last.
    pub fn restore(&mut self, text: Rc<str>, applied: Rc<str>) {
        self.discard_dry_run();
        (self.text, self.applied, self.drift) = (text, applied, None);
        self.text_changed();
    }

    /// Notes that the text was applied as a file.
    pub(super) fn note_applied(&mut self, run: &Run) {
        self.discard_dry_run();
        (self.applied, self.status) = (self.text.clone(), ApplyStatus::Applied);
        (self.drift, self.diagnostics) = (Some(Drift::of(&self.applied, run.sim())), Rc::default());
    }

    /// Shows the errors of a lesson; `begins` if it was to be played.
    pub fn show_lesson(&mut self, faults: &[LessonError], begins: bool) {
        self.discard_dry_run();
        let all = faults.iter().map(|fault| ApplyDiagnostic {
            line: fault.line,
            columns: (0, 0),
            message: fault.message(),
            error: true,
            repair: None,
        });
        self.diagnostics = Rc::new(all.collect());
        if begins {
            self.status = if faults.is_empty() {
                ApplyStatus::Applied
            } else {
                ApplyStatus::Rejected
            };
        }
        if begins && faults.is_empty() {
            self.applied = self.text.clone();
        }
    }

    /// Starts applying the text; a short text is applied at once.
    fn apply(&mut self, opens: bool, run: &mut Run) -> Vec<Effect> {
        let asked = (self.leftovers.found.clone(), self.leftovers.delete);
        self.discard_dry_run();
        (self.status, self.pending) = (ApplyStatus::Applying, PendingApply { opens, asked });
        run.begin(&self.text);
        let mut effects = vec![Effect::ApplyStarted, Effect::Announce(Message::default())];
        // One step more than documents: the step after the last finds none left.
        for _ in 0..=IMMEDIATE_DOCUMENTS {
            effects.extend(self.apply_next(run));
        }
        effects
    }

    /// Applies the next document of the apply in progress; after the last, reports the result.
    pub fn apply_next(&mut self, run: &mut Run) -> Vec<Effect> {
        run.apply_next()
            .map(|(job, answer)| self.finish_apply(&job, answer, run))
            .unwrap_or_default()
    }

    fn finish_apply(&mut self, job: &ApplyJob, answer: ActionResult, run: &Run) -> Vec<Effect> {
        let pending = std::mem::take(&mut self.pending);
        let refused = answer
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.error)
            .count();
        let nothing = refused == 0 && answer.applied.is_empty();
        let (written, unchanged) = (answer.written(), answer.unchanged());
        self.status = match written + unchanged {
            accepted if accepted > 0 && refused > 0 => {
                ApplyStatus::Partly(written, unchanged, refused)
            }
            _ if refused > 0 || nothing => ApplyStatus::Rejected,
            _ if pending.opens => ApplyStatus::Clean,
            _ => ApplyStatus::Applied,
        };
        if refused == 0 {
            self.applied = job.text.clone();
        } else if let ApplyStatus::Partly(..) = self.status {
            self.applied = accepted_text(&job.text, &self.applied, &answer.diagnostics).into();
        }
        // The drift from the page's first manifest is computed on demand, to keep the opening short.
        if pending.opens {
            self.drift = None;
        } else if self.status != ApplyStatus::Rejected {
            self.drift = Some(Drift::of(&self.applied, run.sim()));
        }
        let deletes = self.settle_leftovers(&answer, refused == 0 && !nothing, &pending.asked, run);
        let created = created_since(run, job.begun);
        let notice = told(&answer, run.sim().journal().from(job.begun));
        self.helps_afresh = refused > 0 && accepted_afresh(&job.text, &answer, run);
        self.diagnostics = Rc::new(answer.diagnostics);
        self.missing = answer.missing;
        if nothing {
            let message = Message::state("error: no objects passed to apply");
            self.diagnostics = Rc::new(vec![ApplyDiagnostic {
                line: 1,
                columns: (0, 0),
                message,
                error: true,
                repair: None,
            }]);
        }
        // An edit made meanwhile is tried on the result.
        if !Rc::ptr_eq(&self.text, &job.text) {
            self.text_changed();
            self.check(run);
        }
        // An error is announced first, even if the rest was accepted.
        let problem = self
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.error && refused > 0);
        let told = problem.map(|problem| {
            Effect::AnnounceFailure(msg::editor_problem(problem.line, &problem.message))
        });
        let mut effects = vec![
            Effect::SelectCreated(created),
            told.unwrap_or(Effect::AnnounceIfSilent(notice)),
        ];
        effects.extend(deletes.into_iter().map(Effect::Enter));
        effects
    }

    /// Deletes or keeps the objects that left the manifest. If a part of it was refused, nothing is deleted, and the question stays.
    fn settle_leftovers(
        &mut self,
        answer: &ActionResult,
        whole: bool,
        asked: &(Rc<Vec<ObjectRef>>, bool),
        run: &Run,
    ) -> Vec<String> {
        if answer.unread || answer.named.is_empty() {
            return Vec::new();
        }
        let asked = (whole && !asked.0.is_empty()).then_some((asked.0.as_slice(), asked.1));
        self.leftovers.applied(&answer.named, asked, run)
    }

    /// Discards the drift: another history is shown.
    pub fn forget_drift(&mut self) {
        self.drift = None;
    }

    /// Returns the fields that the manifest sets and that changed in the cluster since its last apply before the instant shown.
    pub fn drift(&mut self, run: &Run) -> Vec<DriftedField> {
        let mut drifted = self.drift_since_applied(run);
        // While the text is edited, only the drift that applying it would revert.
        if let (ApplyStatus::Edited, Some(plan)) = (self.status, &self.plan) {
            drifted.retain(|drifted| drifted.is_in(&plan.changes));
        }
        drifted
    }

    fn drift_since_applied(&mut self, run: &Run) -> Vec<DriftedField> {
        let known = matches!(
            self.status,
            ApplyStatus::Clean | ApplyStatus::Applied | ApplyStatus::Edited
        );
        if !known || self.applied.len() > MAX_TEXT_BYTES || run.applies() || run.is_replaying() {
            return Vec::new();
        }
        let sim = run.sim();
        let now = sim.now();
        let applied = Drift::last_applied(&self.applied, run, now);
        // A file applied by its name is noted, though the history does not have its text.
        let is_of =
            |drift: &Drift| drift.since <= now && applied.is_none_or(|at| at <= drift.since);
        // An apply noted later is kept while the past is shown.
        if applied.is_none() && self.drift.as_ref().is_some_and(|drift| drift.since > now) {
            return Vec::new();
        }
        if !self.drift.as_ref().is_some_and(is_of) {
            self.drift = match applied {
                Some(at) => Some(Drift::recalled(&self.applied, run, at)),
                None if run.in_past() => None,
                None => Some(Drift::of(&self.applied, sim)),
            };
        }
        self.drift
            .as_mut()
            .map(|drift| drift.read(sim, run.epoch))
            .unwrap_or_default()
    }
}

/// Describes the result of an apply: kubectl's output and the changed fields, so that a scaling beside a new image is no surprise. For many
/// objects, the numbers created, configured and unchanged.
fn told(answer: &ActionResult, written: Journal<'_>) -> Message {
    if answer.lines.len() <= MAX_TOLD_OBJECTS {
        let lines = Message::list(
            answer
                .lines
                .iter()
                .map(|line| Message::name(&line.text))
                .collect(),
        );
        if !answer
            .applied
            .iter()
            .any(|applied| applied.result == ApplyResult::Configured)
        {
            return lines;
        }
        let fields = changes::brief(&changes::written(written), answer.lines.len() > 1);
        return if fields.is_empty() {
            lines
        } else {
            msg::editor_configured(lines, fields)
        };
    }
    let count = |result: &ApplyResult| {
        answer
            .applied
            .iter()
            .filter(|applied| applied.result == *result)
            .count()
    };
    let parts: [(ApplyResult, Counted); 3] = [
        (ApplyResult::Created, |n| msg::count_created(n)),
        (ApplyResult::Configured, |n| msg::count_configured(n)),
        (ApplyResult::Unchanged, |n| msg::count_unchanged(n)),
    ];
    let said = parts
        .into_iter()
        .map(|(result, words)| (count(&result), words))
        .filter(|(n, _)| *n > 0);
    Message::list(said.map(|(n, words)| words(n)).collect())
}

/// Returns the workload created since a journal entry that a picture shows first.
fn created_since(run: &Run, entry: usize) -> Option<ObjectRef> {
    let new = run
        .sim()
        .journal()
        .from(entry)
        .iter()
        .filter_map(|entry| entry.write());
    let created = new
        .filter(|(op, _)| *op == Op::Added)
        .filter_map(|(_, object)| {
            Some((
                adapt::workloads().position(|kind| kind == object.kind)?,
                object,
            ))
        });
    let order = |(a, one): &(usize, &Rc<Object>), (b, other): &(usize, &Rc<Object>)| {
        let (one, other) = (&one.meta, &other.meta);
        (a, &one.namespace)
            .cmp(&(b, &other.namespace))
            .then_with(|| natural_cmp(&one.name, &other.name))
    };
    created.min_by(order).map(|(_, object)| object.key())
}

/// Returns the text in effect: refused documents are replaced by their previously applied text.
fn accepted_text(text: &str, before: &str, diagnostics: &[ApplyDiagnostic]) -> String {
    let (new, old) = (documents(text), documents(before));
    let mut line = 1;
    let mut out = String::new();
    for (at, document) in new.iter().enumerate() {
        let next = line + document.lines().count();
        let refused = diagnostics
            .iter()
            .any(|diagnostic| diagnostic.error && (line..next).contains(&diagnostic.line));
        out += match refused {
            false => document,
            // Only where the previous document can be identified.
            true if old.len() == new.len() => old[at],
            true => "",
        };
        line = next;
    }
    out
}

/// Splits a text into its documents, each with the separator before it.
fn documents(text: &str) -> Vec<&str> {
    let mut ends: Vec<usize> = manifest::chunks(text.as_bytes())
        .map(|chunk| chunk.at + chunk.bytes.len())
        .collect();
    ends.pop();
    ends.push(text.len());
    let mut start = 0;
    ends.into_iter()
        .map(|end| &text[std::mem::replace(&mut start, end)..end])
        .collect()
}

/// Returns true if an empty cluster would accept a text that was refused because of an existing object, such as a change of an immutable
/// field. A long text is assumed to be accepted.
fn accepted_afresh(text: &Rc<str>, answer: &ActionResult, run: &Run) -> bool {
    let is_there = |key: &ObjectRef| run.sim().store().get(key).is_some();
    let refused = |one: &Applied| {
        matches!(one.result, ApplyResult::Refused(_)) && one.key.as_ref().is_some_and(is_there)
    };
    if answer.unread || !answer.applied.iter().any(refused) {
        return false;
    }
    let mut trial = TrialApply::new(Run::new(0).sim(), text);
    let plan = (0..=IMMEDIATE_DOCUMENTS).find_map(|_| trial.step());
    plan.is_none_or(|plan| !plan.diagnostics.iter().any(|diagnostic| diagnostic.error))
}

#[cfg(test)]
mod tests {
    use crate::Msg;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::editor::ApplyStatus;
    use crate::editor::EditorMsg;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;
    use k8s_model::Kind;

    #[test]
    fn what_was_applied_is_said_of_each_of_a_few_objects_and_counted_of_many() {
        let map = |name: usize| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{name}}}\n---\n")
        };
        let mut state = settled("");
        for (objects, said) in [
            (2, "configmap/m0 created, configmap/m1 created"),
            (5, "3 created, 2 unchanged"),
        ] {
            state.update(EditorMsg::Edit((0..objects).map(map).collect()));
            state.update(Msg::Apply);
            assert_eq!(state.announcer.notice(), said);
        }
    }

    #[test]
    fn what_applying_takes_back_is_told_while_the_text_is_edited_and_when_it_is_applied() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        let drift = |state: &mut State| {
            state
                .editor
                .drift(&state.timeline.run)
                .iter()
                .map(|field| field.brief().english())
                .collect::<Vec<_>>()
        };
        let image = state.editor.text.replace("nginx:1.7.9", "nginx:1.27");
        for (text, told) in [
            (image.replace("replicas: 2", "replicas: 4"), vec![]),
            (image, vec!["differs: replicas".to_owned()]),
        ] {
            state.update(EditorMsg::Edit(text));
            assert_eq!(
                drift(&mut state).len(),
                if told.is_empty() { 1 } else { 0 },
                "until it is known what applying changes"
            );
            state.update(EditorMsg::Check);
            while !state.editor.dry_run_next(&state.timeline.run) {}
            assert_eq!(
                (state.editor.status, drift(&mut state)),
                (ApplyStatus::Edited, told)
            );
        }
        // Changes made after the apply count as well.
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=2".into(),
        ));
        while !state.editor.dry_run_next(&state.timeline.run) {}
        assert!(drift(&mut state).is_empty());
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        while !state.editor.dry_run_next(&state.timeline.run) {}
        assert_eq!(drift(&mut state), ["differs: replicas"]);
        state.update(Msg::Apply);
        let said = "deployment.apps/nginx-deployment configured: replicas 4 → 2, image nginx:1.7.9 → nginx:1.27";
        assert_eq!(state.announcer.notice(), said);
    }

    #[test]
    fn a_manifest_that_is_partly_refused_says_how_much_of_it() {
        let two = format!(
            "{}\n---\n{}",
            (examples::ALL[0].text)(),
            (examples::ALL[0].text)().replace("replicas: 2", "replicas: two")
        );
        let mut state = settled("");
        state.update(EditorMsg::Edit(two));
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Partly(1, 0, 1));
    }

    #[test]
    fn an_empty_cluster_is_offered_where_it_would_accept_what_was_refused() {
        let mut state = settled((examples::ALL[0].text)());
        let text = state.editor.text.clone();
        for (from, to, helps) in [
            // An immutable field; an invalid field; invalid YAML; an accepted text.
            (
                "matchLabels:\n      app: nginx",
                "matchLabels:\n      app: other",
                false,
            ),
            ("app: nginx", "app: other", true),
            ("replicas: 2", "replicas: -1", false),
            ("replicas: 2", "replicas: : 2", false),
            ("replicas: 2", "replicas: 3", false),
        ] {
            assert!(text.contains(from), "{text}");
            state.update(EditorMsg::Edit(text.replace(from, to)));
            state.update(Msg::Apply);
            assert_eq!(
                state.editor.helps_afresh, helps,
                "{to}: {:?}",
                state.editor.diagnostics
            );
        }
    }

    #[test]
    fn the_past_tells_the_manifest_of_its_time_and_the_text_stays() {
        let mut state = settled((examples::ALL[0].text)());
        let (first, second) = (
            state.editor.text.clone(),
            state.editor.text.replace("replicas: 2", "replicas: 3"),
        );
        state.update(EditorMsg::Edit(second.clone()));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(20));
        state.update(EditorMsg::Edit("# not applied yet".into()));
        assert_eq!(state.applied_then(), None, "live");
        state.update(TimelineMsg::Seek(40_000));
        assert_eq!(state.applied_then().as_deref(), Some(second.as_str()));
        state.update(TimelineMsg::Seek(10_000));
        assert_eq!(state.applied_then(), Some(first.clone()));
        // The editor's own text is not returned.
        state.update(EditorMsg::Edit(first.to_string()));
        assert_eq!(state.applied_then(), None);
        state.update(EditorMsg::Edit("# not applied yet".into()));
        state.update(TimelineMsg::Live);
        assert_eq!(
            (state.applied_then(), &*state.editor.text),
            (None, "# not applied yet")
        );
    }

    #[test]
    fn a_refused_manifest_changes_nothing_and_is_told_at_its_line() {
        let mut state = settled((examples::ALL[0].text)());
        let version = state.timeline.run.version();
        state.update(EditorMsg::Edit(
            (examples::ALL[0].text)().replace("  replicas: 2", "  replica: 2"),
        ));
        assert_eq!(state.editor.status, ApplyStatus::Edited);
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Rejected);
        assert_eq!(state.timeline.run.version(), version);
        let diagnostic = &state.editor.diagnostics[0];
        assert_eq!(diagnostic.line, 9);
        assert!(
            diagnostic
                .message
                .contains("unknown field \"spec.replica\""),
            "{}",
            diagnostic.message
        );
        let repair = diagnostic.repair.as_ref().expect("repair");
        assert_eq!(repair.new, "  replicas: 2");
        state.update(EditorMsg::Revert);
        assert_eq!(*state.editor.text, *(examples::ALL[0].text)());
    }

    #[test]
    fn what_went_through_of_a_manifest_is_not_marked_as_changed() {
        let pod = |name: &str, field: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{{field}: {name}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
            )
        };
        let mut state = State::new(&[pod("a", "name"), pod("b", "name")].join("---\n"), 1);
        state.update(TimelineMsg::Seconds(1));
        // The first is relabelled, the second cannot be read.
        let first = pod("a", "labels: {x: z}, name");
        state.update(EditorMsg::Edit(
            [first.clone(), pod("b", "nam")].join("---\n"),
        ));
        state.update(Msg::Apply);
        assert_eq!(
            state.editor.status,
            ApplyStatus::Partly(1, 0, 1),
            "{:?}",
            state.editor.diagnostics
        );
        assert_eq!(
            *state.editor.applied,
            [first.clone(), pod("b", "name")].join("---\n")
        );
        // A refused new document has never been applied.
        state.update(EditorMsg::Edit(
            [first.clone(), pod("b", "name"), pod("c", "nam")].join("---\n"),
        ));
        state.update(Msg::Apply);
        assert_eq!(
            *state.editor.applied,
            [first, pod("b", "name")].join("---\n")
        );
    }

    #[test]
    fn what_applying_it_again_would_change_is_shown_when_asked_for_and_until_something_is_done() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        let entries = state.timeline.run.journal().len();
        let mut asked = || {
            state.update(EditorMsg::Compare);
            while state.editor.in_dry_run() {
                state.editor.dry_run_next(&state.timeline.run);
            }
            state.editor.plan.clone()
        };
        let plan = asked().expect("a plan");
        assert_eq!(
            plan.changes
                .iter()
                .map(|change| change.fields.len())
                .collect::<Vec<_>>(),
            [1]
        );
        assert!(asked().is_none(), "asked for again it is put away");
        assert!(asked().is_some());
        assert_eq!(
            (state.timeline.run.journal().len(), state.editor.status),
            (entries, ApplyStatus::Clean)
        );
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=3".into(),
        ));
        assert!(state.editor.plan.is_none());
    }

    #[test]
    fn a_fragment_is_offered_to_the_selected_object_or_to_the_only_one() {
        let web = |name: &str| {
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
                 template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {{containers: [{{name: c, image: nginx}}]}}\n"
            )
        };
        let offers = |state: &State| {
            let all = state.editor.diagnostics.iter();
            all.filter_map(|told| told.repair.clone())
                .collect::<Vec<_>>()
        };
        let both = [web("a"), web("b")].join("---\n");
        let mut state = settled(&both);
        let text = [&both, "---\nreplicas: 3 # more\n"].concat();
        state.update(SelectionMsg::Select(None));
        state.update(EditorMsg::Edit(text.clone()));
        state.update(EditorMsg::Check);
        while state.editor.in_dry_run() {
            state.dry_run_next();
        }
        assert!(state.editor.diagnostics[0].message.contains("kind not set"));
        assert_eq!(offers(&state), []);
        // A Pod stands for the Deployment that controls it.
        let pods = state.timeline.run.sim().store().list(Kind::Pod);
        let pod = pods
            .map(|pod| pod.key())
            .find(|key| key.name.starts_with("b-"));
        state.update(SelectionMsg::Select(pod));
        let offer = offers(&state).pop().expect("an offer");
        assert_eq!(offer.offer.english(), "Put them into spec of Deployment b");
        let after = offer.apply(&text).expect("a text");
        assert_eq!(after, [&both, "  replicas: 3 # more\n"].concat());
        state.update(EditorMsg::Edit(after));
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Applied);
        // In place of the whole manifest; an apply is refused in kubectl's words.
        let mut state = settled(&web("a"));
        state.update(EditorMsg::Edit("replicas: 3\n".into()));
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Rejected);
        let offer = offers(&state).pop().expect("an offer");
        assert_eq!(
            offer.apply("replicas: 3\n"),
            Some([&*web("a"), "  replicas: 3\n"].concat())
        );
    }

    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boats.example.com}\nspec:\n  group: example.com\n  \
        scope: Namespaced\n  names: {kind: Boat, plural: boats}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, \
        x-kubernetes-preserve-unknown-fields: true}}}]\n";
    const BOAT: &str = "apiVersion: example.com/v1\nkind: Boat\nmetadata: {name: canoe}\n";

    #[test]
    fn a_definition_and_its_object_take_two_applies_and_the_second_is_offered() {
        let text = [DEFINITION, "---\n", BOAT].concat();
        let mut state = settled("");
        state.update(EditorMsg::Edit(text.clone()));
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Partly(1, 0, 1));
        let refused = state.editor.diagnostics[0].clone();
        assert!(refused.message.contains("ensure CRDs are installed first"));
        assert_eq!(refused.repair, None, "it is not established yet");
        state.update(TimelineMsg::Seconds(5));
        let repair = state.editor.diagnostics[0]
            .repair
            .clone()
            .expect("an offer");
        assert_eq!(repair.apply(&text).as_deref(), Some(&*text));
        assert_eq!(
            state.announcer.notice(),
            "Boat is defined now: the manifest can be applied again"
        );
        state.update(EditorMsg::Edit(text));
        state.update(Msg::Apply);
        assert_eq!(state.editor.status, ApplyStatus::Applied);
        assert!(state.editor.diagnostics.iter().all(|told| !told.error));
    }

    #[test]
    fn an_object_is_offered_again_when_its_definition_comes_from_the_console_and_not_before() {
        let mut state = settled("");
        state.update(EditorMsg::Edit(BOAT.into()));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(5));
        assert_eq!(state.editor.diagnostics[0].repair, None);
        state.update(ConsoleMsg::Enter(format!(
            "kubectl apply -f - <<EOF\n{DEFINITION}EOF"
        )));
        state.update(TimelineMsg::Seconds(5));
        assert!(
            state.editor.diagnostics[0].repair.is_some(),
            "{:?}",
            state.editor.diagnostics
        );
        // An edited text is tried anew.
        state.update(EditorMsg::Edit(BOAT.replace("canoe", "kayak")));
        state.update(EditorMsg::Check);
        while !state.editor.dry_run_next(&state.timeline.run) {}
        assert!(state.editor.diagnostics.iter().all(|told| !told.error));
    }

    #[test]
    fn what_was_refused_is_announced_though_the_rest_was_accepted() {
        let mut state = settled((examples::ALL[0].text)());
        let more = "---\napiVersion: v1\nkind: Pod\nmetadata: {nam: x}\n";
        state.update(EditorMsg::Edit([(examples::ALL[0].text)(), more].concat()));
        state.update(Msg::Apply);
        assert!(matches!(state.editor.status, ApplyStatus::Partly(..)));
        let told = state.announcer.notice().to_string();
        assert!(
            state.announcer.failed() && told.starts_with("Line "),
            "{told}"
        );
    }

    #[test]
    fn an_edit_is_tried_on_a_copy_and_says_what_it_would_change() {
        let mut state = settled((examples::ALL[0].text)());
        let (version, entries) = (
            state.timeline.run.version(),
            state.timeline.run.journal().len(),
        );
        let more = "\n---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Pod\nmetadata: {nam: x}\n";
        state.update(EditorMsg::Edit(
            (examples::ALL[0].text)().replace("replicas: 2", "replicas: 5") + more,
        ));
        state.update(EditorMsg::Check);
        while !state.editor.dry_run_next(&state.timeline.run) {}
        let plan = state.editor.plan.clone().expect("a plan");
        let told: Vec<String> = plan
            .changes
            .iter()
            .map(|change| format!("{:?} {}", change.op, change.key.name))
            .collect();
        assert_eq!(told, ["Modified nginx-deployment", "Added c"]);
        let field = &plan.changes[0].fields[0];
        assert_eq!(
            (field.path.as_str(), field.from.as_ref(), field.to.as_ref()),
            ("spec.replicas", Some(&2.into()), Some(&5.into()))
        );
        assert!(
            state.editor.diagnostics[0]
                .message
                .contains("Lease is accepted but not simulated"),
            "{:?}",
            state.editor.diagnostics
        );
        assert!(
            state.editor.diagnostics[1].message.contains("metadata.nam"),
            "{:?}",
            state.editor.diagnostics
        );
        assert_eq!(
            (
                state.timeline.run.version(),
                state.timeline.run.journal().len()
            ),
            (version, entries)
        );
        state.update(EditorMsg::Revert);
        assert_eq!(
            (state.editor.plan.clone(), state.editor.diagnostics.len()),
            (None, 0)
        );
    }
}
