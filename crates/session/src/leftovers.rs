//! Objects of the manifest applied last that the text no longer names: kept, or deleted as `kubectl apply --prune` would.

use super::run::Run;
use k8s_model::ObjectRef;
use std::rc::Rc;

/// Documents of a text that are compared with the page's first manifest.
const LEADING_DOCUMENTS: usize = 16;

/// Objects of the manifest, and those that left it.
#[derive(Clone, Debug, Default)]
pub struct PruneCandidates {
    /// Objects of the manifest applied last.
    owned: Vec<ObjectRef>,
    /// Objects that the text no longer names, once they are known.
    pub found: Rc<Vec<ObjectRef>>,
    /// True if the next apply deletes them.
    pub delete: bool,
    /// True if the manifest came with the page and nobody has acted on its cluster.
    pub from_page: bool,
    /// True if the text has nothing in common with that manifest: it is applied to an empty cluster.
    pub fresh: bool,
}

impl PruneCandidates {
    /// Compares the objects named by a text with those of the manifest before it.
    pub fn compare(&mut self, named: Option<&[ObjectRef]>, run: &Run) {
        self.fresh = named.is_some_and(|named| self.replaces(named.iter().take(LEADING_DOCUMENTS)));
        self.found = Rc::new(if self.fresh {
            Vec::new()
        } else {
            named
                .map(|named| self.missing(named, run))
                .unwrap_or_default()
        });
    }

    /// Resets the comparison with the text.
    pub fn forget(&mut self) {
        (self.found, self.delete, self.fresh) = (Rc::default(), false, false);
    }

    /// Returns true if a text replaces a manifest that came with the page and that nobody has touched.
    pub fn is_replaced_by(&self, text: &str) -> bool {
        self.from_page && self.replaces(actions::first_named(text, LEADING_DOCUMENTS).iter())
    }

    fn replaces<'a>(&self, mut named: impl Iterator<Item = &'a ObjectRef> + Clone) -> bool {
        self.from_page
            && named.clone().next().is_some()
            && !named.any(|key| self.owned.contains(key))
    }

    fn missing(&self, named: &[ObjectRef], run: &Run) -> Vec<ObjectRef> {
        // Usually a manifest replaces a much shorter one, or an empty text.
        let owned = &self.owned;
        let mut order: Vec<usize> = (0..owned.len()).collect();
        order.sort_by(|a, b| owned[*a].cmp(&owned[*b]));
        let mut stays = vec![false; owned.len()];
        for key in named {
            if let Ok(at) = order.binary_search_by(|at| owned[*at].cmp(key)) {
                stays[order[at]] = true;
            }
        }
        let gone = owned
            .iter()
            .zip(stays)
            .filter_map(|(key, stays)| (!stays).then_some(key));
        gone.filter(|key| {
            run.sim()
                .store()
                .get(key)
                .is_some_and(|object| object.meta.deletion_timestamp.is_none())
        })
        .cloned()
        .collect()
    }

    /// Notes that a text naming these objects was applied, and returns kubectl's lines that delete the leftovers. `asked`: the objects
    /// shown to the person, and whether to delete them. Objects not shown are kept, and shown next time.
    pub fn applied(
        &mut self,
        named: &[ObjectRef],
        asked: Option<(&[ObjectRef], bool)>,
        run: &Run,
    ) -> Vec<String> {
        let missing = self.missing(named, run);
        let (decided, open): (Vec<_>, Vec<_>) = missing
            .into_iter()
            .partition(|key| asked.is_some_and(|(keys, _)| keys.contains(key)));
        self.owned = named
            .iter()
            .filter(|key| run.sim().store().get(key).is_some())
            .chain(&open)
            .cloned()
            .collect();
        self.found = Rc::new(open);
        if asked.is_some_and(|(_, delete)| delete) {
            delete_lines(&decided)
        } else {
            Vec::new()
        }
    }
}

/// Builds one delete command per namespace.
fn delete_lines(keys: &[ObjectRef]) -> Vec<String> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for key in keys {
        let name = [" ", &key.kind.qualified_singular(), "/", &key.name].concat();
        match lines
            .iter_mut()
            .find(|(namespace, _)| *namespace == &*key.namespace)
        {
            Some((_, line)) => line.push_str(&name),
            None => lines.push((
                &key.namespace,
                ["kubectl delete --wait=false", &name].concat(),
            )),
        }
    }
    let in_namespace = |(namespace, line): (&str, String)| match namespace {
        "" | "default" => line,
        other => [&line, " -n ", other].concat(),
    };
    lines.into_iter().map(in_namespace).collect()
}

#[cfg(test)]
mod tests {
    use crate::editor::{ApplyStatus, EditorMsg};
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, examples};
    use k8s_model::Kind;

    fn config(names: &[&str]) -> String {
        names
            .iter()
            .map(|name| {
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n---\n")
            })
            .collect()
    }

    fn edit(state: &mut State, text: &str) -> Vec<String> {
        state.update(EditorMsg::Edit(text.into()));
        state.update(EditorMsg::Check);
        while state.editor.in_dry_run() {
            state.editor.dry_run_next(&state.timeline.run);
        }
        found(state)
    }

    fn found(state: &State) -> Vec<String> {
        state
            .editor
            .leftovers
            .found
            .iter()
            .map(|key| key.name.to_string())
            .collect()
    }

    fn there(state: &State) -> Vec<String> {
        let own = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::ConfigMap)
            .filter(|object| &*object.meta.namespace != "kube-system");
        own.map(|object| object.meta.name.to_string())
            .filter(|name| name.len() == 1)
            .collect()
    }

    #[test]
    fn a_pasted_manifest_takes_the_place_of_the_untouched_example() {
        let mut state = State::from_link(None);
        state.update(TimelineMsg::Seconds(5));
        assert!(edit(&mut state, &config(&["a"])).is_empty());
        assert!(state.editor.leftovers.fresh);
        state.update(Msg::Apply);
        assert_eq!(
            (
                state.timeline.run.now(),
                state.timeline.run.branches(),
                state.editor.status
            ),
            (0, (1, vec![]), ApplyStatus::Applied)
        );
        assert_eq!(
            (
                there(&state),
                state.timeline.run.sim().store().count(Kind::Deployment)
            ),
            (vec!["a".to_owned()], 0)
        );
        // From here on the manifest is the person's own.
        state.update(TimelineMsg::Seconds(5));
        state.update(EditorMsg::Edit(config(&["b"])));
        state.update(Msg::Apply);
        assert_eq!(
            (there(&state), state.timeline.run.now()),
            (vec!["a".to_owned(), "b".to_owned()], 5_000)
        );
    }

    #[test]
    fn an_edit_of_the_example_or_one_that_was_touched_does_not() {
        let example = (examples::ALL[0].text)();
        let mut state = State::from_link(None);
        state.update(TimelineMsg::Seconds(5));
        state.update(EditorMsg::Edit(
            [
                &example.replace("replicas: 2", "replicas: 3"),
                "\n---\n",
                &config(&["a"]),
            ]
            .concat(),
        ));
        state.update(Msg::Apply);
        assert_eq!(
            (
                state.timeline.run.now(),
                state.timeline.run.sim().store().count(Kind::Deployment)
            ),
            (5_000, 1)
        );

        let mut state = State::from_link(None);
        state.update(Msg::Fault("node-down node-1".parse().unwrap()));
        state.update(EditorMsg::Edit(config(&["a"])));
        state.update(Msg::Apply);
        assert_eq!(state.timeline.run.sim().store().count(Kind::Deployment), 1);
    }

    #[test]
    fn a_refused_manifest_leaves_the_example_as_it_was() {
        let mut state = State::from_link(None);
        state.update(TimelineMsg::Seconds(5));
        let (objects, epoch) = (state.timeline.run.objects(), state.timeline.run.epoch);
        for text in [
            "a: [",
            "",
            "kind: Pod\n",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n",
        ] {
            state.update(EditorMsg::Edit(text.into()));
            state.update(Msg::Apply);
            assert_eq!(
                (state.editor.status, &*state.editor.text),
                (ApplyStatus::Rejected, text)
            );
            assert!(
                state.timeline.run.objects() == objects && state.timeline.run.now() == 5_000,
                "{text}"
            );
            assert!(!state.editor.diagnostics.is_empty());
        }
        assert!(state.timeline.run.epoch > epoch);
        // It can still be replaced.
        state.update(EditorMsg::Edit(config(&["a"])));
        state.update(Msg::Apply);
        assert_eq!(
            (there(&state), state.timeline.run.now()),
            (vec!["a".to_owned()], 0)
        );
    }

    #[test]
    fn what_left_the_manifest_is_kept_or_deleted_as_chosen() {
        for delete in [false, true] {
            let mut state = State::new(&config(&["a", "b", "c"]), 1);
            state.update(TimelineMsg::Seconds(1));
            assert_eq!(edit(&mut state, &config(&["b", "d"])), ["a", "c"]);
            state.update(EditorMsg::Prune(delete));
            let entries = state.timeline.run.journal().len();
            state.update(Msg::Apply);
            assert_eq!(
                there(&state),
                if delete {
                    vec!["b", "d"]
                } else {
                    vec!["a", "b", "c", "d"]
                }
            );
            let commands = state
                .timeline
                .run
                .journal()
                .from(entries)
                .iter()
                .filter(|entry| format!("{entry:?}").contains("kubectl delete"))
                .count();
            assert_eq!(commands > 0, delete);
            assert!(
                !delete
                    || state
                        .console
                        .lines
                        .iter()
                        .any(|line| line.text
                            == "$ kubectl delete --wait=false configmap/a configmap/c"),
                "{:?}",
                state.console.lines
            );
            // Each question is asked once.
            assert!(edit(&mut state, &config(&["b"])).iter().eq(["d"]));
            assert!(!state.editor.leftovers.delete, "each apply is asked about");
        }
    }

    #[test]
    fn nothing_is_deleted_that_nobody_was_asked_about() {
        let mut state = State::new(&config(&["a", "b"]), 1);
        state.update(EditorMsg::Prune(true));
        // Applied before the dry run has looked at it.
        state.update(EditorMsg::Edit(config(&["b"])));
        state.update(Msg::Apply);
        assert_eq!(
            (there(&state), found(&state)),
            (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned()])
        );
        state.update(EditorMsg::Prune(true));
        state.update(Msg::Apply);
        assert_eq!(
            (there(&state), found(&state).len()),
            (vec!["b".to_owned()], 0)
        );
    }

    #[test]
    fn a_text_that_cannot_be_read_or_is_refused_in_part_prunes_nothing() {
        let mut state = State::new(&config(&["a", "b"]), 1);
        assert!(edit(&mut state, &[&config(&["b"]), "a: ["].concat()).is_empty());
        let refused = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n";
        assert_eq!(
            edit(&mut state, &[&config(&["b"]), refused].concat()),
            ["a"]
        );
        state.update(EditorMsg::Prune(true));
        state.update(Msg::Apply);
        assert_eq!(
            (there(&state), found(&state)),
            (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned()])
        );
    }
}
