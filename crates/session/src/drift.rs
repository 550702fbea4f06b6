//! Drift: fields set by the manifest that differ in the cluster from when it was applied.

use super::run::Run;
use actions::Action;
use apiserver::{CommandEffect, Entry, Op};
use cluster::Sim;
use i18n::{Message, msg};
use k8s_model::{Labels, Object, ObjectRef, Str, Time, Uid};
use projection::changes::{Change, ChangedField};
use serde_json::Value;
use std::rc::Rc;

/// Longest text whose drift is computed, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 20_000;
/// Fields that a user does not set, or that identify the object; labels and annotations are compared separately.
const IGNORED_FIELDS: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// Drifted field of an object of the manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftedField {
    /// Object.
    pub object: ObjectRef,
    /// The field, with its applied and its current value; `None` if the object is missing.
    pub field: Option<ChangedField>,
    /// Last key of the path; the key may contain dots.
    key: Str,
}

impl DriftedField {
    /// Returns true if the field is among planned changes.
    pub fn is_in(&self, changes: &[Change]) -> bool {
        // One path may be of a whole list, the other of a field within it.
        let within = |path: &str, part: &str| {
            part.strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let same = |field: &ChangedField| {
            self.field
                .as_ref()
                .is_none_or(|own| within(&own.path, &field.path) || within(&field.path, &own.path))
        };
        changes.iter().any(|change| {
            change.key == self.object
                && (change.op != Op::Modified || change.fields.iter().any(same))
        })
    }

    /// Describes the drift in a sentence.
    pub fn told(&self) -> Message {
        let name = &self.object.name;
        match &self.field {
            Some(field) => {
                let said =
                    |value: Option<String>| value.map_or_else(msg::field_not_set, Message::name);
                let (from, to) = field.shown();
                msg::drift_field(self.object.kind, name, &field.path, said(from), said(to))
            }
            None => msg::drift_missing(self.object.kind, name),
        }
    }

    /// Describes the drift in a few words: the field, or the missing object.
    pub fn brief(&self) -> Message {
        match &self.field {
            Some(_) => msg::drift_field_brief(&*self.key),
            None => msg::drift_missing_brief(&self.object.name),
        }
    }
}

/// Object of the manifest.
#[derive(Debug)]
struct Set {
    key: ObjectRef,
    /// Fields set by the text.
    text: Value,
    /// The object's value when the text was applied.
    then: Value,
    /// Version compared last, and its drifted fields.
    observed: Option<ObservedVersion>,
    differs: Vec<DriftedField>,
}

/// Uid, generation, labels and annotations: everything that a person sets.
type ObservedVersion = (Uid, u64, Labels, Labels);

/// Objects of the manifest applied last.
#[derive(Debug, Default)]
pub struct Drift {
    sets: Vec<Set>,
    /// Time at which they were applied.
    pub since: Time,
    /// Epoch read last: on another branch the same objects may have the same generations.
    epoch: u64,
}

impl Drift {
    /// Notes the state of a text's objects just after it was applied.
    pub fn of(text: &str, sim: &Sim) -> Drift {
        Drift::noted(text, sim.now(), &|key| sim.store().get(key).cloned())
    }

    /// Time at which a text was applied last, up to an instant.
    pub fn last_applied(text: &str, run: &Run, until: Time) -> Option<Time> {
        let until = run.commands().iter().take_while(|did| did.time <= until);
        until
            .filter(|did| matches!(&did.action, Action::Apply(applied) if **applied == *text))
            .last()
            .map(|did| did.time)
    }

    /// Reconstructs the objects' state from the journal for a text applied at an earlier instant, for example in a repeated history.
    pub fn recalled(text: &str, run: &Run, at: Time) -> Drift {
        let journal = run.journal();
        let (start, end) = (
            journal.partition_point(|entry| entry.time < at),
            journal.partition_point(|entry| entry.time <= at),
        );
        // Up to the next command, which may share the instant.
        let applies = |entry: &Entry| entry.command_effect() == Some(CommandEffect::Applies);
        let here = || journal.first(end).iter().skip(start);
        let after = |own: usize| {
            here()
                .skip(own + 1)
                .take_while(|entry| !entry.is_command())
                .count()
        };
        let until = journal.first(
            here()
                .rposition(applies)
                .map_or(end, |own| start + own + 1 + after(own)),
        );
        Drift::noted(text, at, &|key| {
            let (op, object) = until
                .iter()
                .rev()
                .filter_map(Entry::write)
                .find(|(_, object)| object.key() == *key)?;
            (op != Op::Deleted).then(|| object.clone())
        })
    }

    fn noted(text: &str, at: Time, then: &dyn Fn(&ObjectRef) -> Option<Rc<Object>>) -> Drift {
        let documents = if text.len() > MAX_TEXT_BYTES {
            Vec::new()
        } else {
            manifest::parse(text.as_bytes()).documents
        };
        let set = |document: manifest::Document| {
            let text = document.value;
            let key = actions::key_of(&text)?;
            let then = then(&key)?.to_value();
            Some(Set {
                key,
                text,
                then,
                observed: None,
                differs: Vec::new(),
            })
        };
        Drift {
            sets: documents.into_iter().filter_map(set).collect(),
            since: at,
            epoch: 0,
        }
    }

    /// Returns the fields that have drifted. An object is compared again only after a write to what a person sets.
    pub fn read(&mut self, sim: &Sim, epoch: u64) -> Vec<DriftedField> {
        let epoch_changed = std::mem::replace(&mut self.epoch, epoch) != epoch;
        for set in &mut self.sets {
            let differs = |key, field| DriftedField {
                object: set.key.clone(),
                field,
                key,
            };
            let Some(object) = sim.store().get(&set.key) else {
                (set.observed, set.differs) = (None, vec![differs(Str::default(), None)]);
                continue;
            };
            // Kinds without a spec have no generation.
            let meta = &object.meta;
            let written = if meta.generation > 0 {
                meta.generation as u64
            } else {
                meta.resource_version
            };
            let observed = Some((
                meta.uid,
                written,
                meta.labels.clone(),
                meta.annotations.clone(),
            ));
            if set.observed == observed && !epoch_changed {
                continue;
            }
            let (now, mut fields) = (object.to_value(), Vec::new());
            for (name, text) in set
                .text
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| !IGNORED_FIELDS.contains(&name.as_str()))
            {
                compare(
                    name,
                    name,
                    text,
                    set.then.get(name),
                    now.get(name),
                    &mut fields,
                );
            }
            for name in ["labels", "annotations"] {
                let of = |value: &Value| {
                    value
                        .get("metadata")
                        .and_then(|meta| meta.get(name))
                        .cloned()
                };
                for (key, _) in of(&set.text).iter().filter_map(Value::as_object).flatten() {
                    let one = |value: &Value| of(value)?.get(key).cloned();
                    let path = ["metadata.", name, ".", key].concat();
                    compare(
                        &path,
                        key,
                        &Value::Null,
                        one(&set.then).as_ref(),
                        one(&now).as_ref(),
                        &mut fields,
                    );
                }
            }
            (set.observed, set.differs) = (
                observed,
                fields
                    .into_iter()
                    .map(|(key, field)| differs(key, Some(field)))
                    .collect(),
            );
        }
        self.sets
            .iter()
            .flat_map(|set| set.differs.iter().cloned())
            .collect()
    }
}

/// Finds the element of a list by its `name`.
fn named<'v>(list: Option<&'v Value>, name: &Value) -> Option<&'v Value> {
    list?
        .as_array()?
        .iter()
        .find(|element| element.get("name") == Some(name))
}

/// Compares the field at a path with its value in the text; `key` is the last key of the path.
fn compare(
    path: &str,
    key: &str,
    text: &Value,
    then: Option<&Value>,
    now: Option<&Value>,
    out: &mut Vec<(Str, ChangedField)>,
) {
    match text {
        _ if then == now => {}
        Value::Object(map) if now.is_some() => {
            for (key, text) in map {
                compare(
                    &[path, ".", key].concat(),
                    key,
                    text,
                    then.and_then(|v| v.get(key)),
                    now.and_then(|v| v.get(key)),
                    out,
                );
            }
        }
        Value::Array(list)
            if now.is_some()
                && list
                    .iter()
                    .all(|element| element.get("name").is_some_and(Value::is_string)) =>
        {
            for element in list {
                let name = &element["name"];
                let within = |of: &str| [of, "[", name.as_str().unwrap_or_default(), "]"].concat();
                compare(
                    &within(path),
                    &within(key),
                    element,
                    named(then, name),
                    named(now, name),
                    out,
                );
            }
        }
        _ => out.push((
            key.into(),
            ChangedField {
                path: path.into(),
                from: then.cloned(),
                to: now.cloned(),
            },
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::Msg;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::timeline::TimelineMsg;

    fn drift(state: &mut State) -> Vec<String> {
        state
            .editor
            .drift(&state.timeline.run)
            .iter()
            .map(|differs| differs.told().english())
            .collect()
    }

    #[test]
    fn what_the_text_sets_and_the_cluster_has_otherwise_is_told_until_it_is_applied_again() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(drift(&mut state), [""; 0]);
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:1.9.1".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        let image = "Deployment nginx-deployment: spec.template.spec.containers[nginx].image nginx:1.7.9 → nginx:1.9.1";
        assert_eq!(
            drift(&mut state),
            ["Deployment nginx-deployment: spec.replicas 2 → 4", image]
        );
        // Fields that the text does not set do not drift.
        state.update(ConsoleMsg::Enter(
            "kubectl rollout pause deployment/nginx-deployment".into(),
        ));
        assert_eq!(drift(&mut state).len(), 2);
        state.update(Msg::Apply);
        assert_eq!(drift(&mut state), [""; 0]);
        state.update(ConsoleMsg::Enter(
            "kubectl delete deployment nginx-deployment --wait=false".into(),
        ));
        state.update(TimelineMsg::Seconds(60));
        assert_eq!(
            drift(&mut state),
            ["Deployment nginx-deployment is not in the cluster"]
        );
    }

    #[test]
    fn labels_and_annotations_that_the_text_sets_are_compared_too() {
        let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: b, c: d}, annotations: {team: blue}}, data: {k: v}}";
        let mut state = State::new(text, 1);
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(drift(&mut state), [""; 0]);
        state.update(ConsoleMsg::Enter(
            "kubectl label configmap c a=x new=y --overwrite".into(),
        ));
        state.update(ConsoleMsg::Enter(
            "kubectl annotate configmap c team-".into(),
        ));
        assert_eq!(
            drift(&mut state),
            [
                "ConfigMap c: metadata.labels.a b → x",
                "ConfigMap c: metadata.annotations.team blue → not set"
            ]
        );
        // A label of a Deployment drifts too, though it does not change the generation.
        let text = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, labels: {a: w}}, spec: {selector: {matchLabels: {a: w}}, template: {metadata: {labels: {a: w}}, spec: {containers: [{name: c, image: i}]}}}}";
        let mut state = State::new(text, 1);
        assert_eq!(drift(&mut state), [""; 0]);
        state.update(ConsoleMsg::Enter(
            "kubectl label deployment w a=x --overwrite".into(),
        ));
        assert_eq!(drift(&mut state), ["Deployment w: metadata.labels.a w → x"]);
    }

    #[test]
    fn what_was_changed_since_it_was_applied_is_told_though_nobody_has_asked_before() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(Msg::Apply);
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        assert_eq!(
            drift(&mut state),
            ["Deployment nginx-deployment: spec.replicas 2 → 4"]
        );
    }

    #[test]
    fn a_history_that_was_repeated_is_compared_with_what_was_applied_in_it() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(5));
        // At the same instant as another apply.
        state.update(Msg::Apply);
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment/nginx-deployment --replicas=4".into(),
        ));
        state.update(TimelineMsg::Seconds(5));
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            assert_eq!(drift(&mut again), [""; 0]);
            again.run_slice(50);
        }
        assert_eq!(
            drift(&mut again),
            ["Deployment nginx-deployment: spec.replicas 2 → 4"]
        );
        assert_eq!(
            again.console.history.last().map(String::as_str),
            Some("kubectl scale deployment/nginx-deployment --replicas=4")
        );
    }

    #[test]
    fn each_branch_has_its_own_differences() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(drift(&mut state), [""; 0]);
        let scale = |state: &mut State, n: usize| {
            state.update(ConsoleMsg::Enter(format!(
                "kubectl scale deployment/nginx-deployment --replicas={n}"
            )));
            state.update(TimelineMsg::Seconds(10));
            drift(state)
        };
        assert_eq!(
            scale(&mut state, 4),
            ["Deployment nginx-deployment: spec.replicas 2 → 4"]
        );
        state.update(TimelineMsg::Seek(9_000));
        assert_eq!(
            scale(&mut state, 5),
            ["Deployment nginx-deployment: spec.replicas 2 → 5"]
        );
        state.update(TimelineMsg::Switch(1));
        assert_eq!(
            drift(&mut state),
            ["Deployment nginx-deployment: spec.replicas 2 → 4"]
        );
    }

    #[test]
    fn before_the_text_was_applied_again_it_differs_as_it_did_then_also_on_a_new_branch() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:1.27".into(),
        ));
        state.update(TimelineMsg::Seconds(20));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(20));
        assert_eq!(drift(&mut state), [""; 0]);
        state.update(TimelineMsg::Seek(29_000));
        let image = "Deployment nginx-deployment: spec.template.spec.containers[nginx].image nginx:1.7.9 → nginx:1.27";
        assert_eq!(drift(&mut state), [image]);
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=3".into(),
        ));
        state.update(TimelineMsg::Seconds(40));
        assert_eq!(
            drift(&mut state),
            ["Deployment nginx-deployment: spec.replicas 2 → 3", image]
        );
    }
}
