//! Long manifests, which are applied in parts.

use super::{Msg, State, examples};
use crate::compare::CompareMsg;
use crate::console::ConsoleMsg;
use crate::editor::ApplyStatus;
use crate::editor::EditorMsg;
use crate::run::Run;
use crate::selection::SelectionMsg;
use crate::timeline::TimelineMsg;
use actions::Action;
use apiserver::Entry;
use k8s_model::{Kind, ObjectRef, Time};

/// Creates a page whose manifest has run for 30 seconds.
pub fn settled(text: &str) -> State {
    let mut state = State::new(text, 1);
    state.update(TimelineMsg::Seconds(30));
    state
}

/// Number of ready Pods.
pub fn ready(run: &Run) -> usize {
    run.sim()
        .store()
        .list(Kind::Pod)
        .filter(|pod| pod.pod().is_some_and(|pod| pod.is_ready()))
        .count()
}

/// Returns a long manifest with valid and invalid documents of many sorts.
fn long() -> String {
    let deployment = |name: &str, more: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  selector:\n    matchLabels: {{app: {name}}}\n  {more}\n  \
             template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      - {{name: c, image: nginx}}\n"
        )
    };
    let mut text = String::from("# Many\n---\n");
    for at in 0..40 {
        let document = match at {
            7 => deployment("web-7", "replica: 2"),
            11 => deployment("web-11", "replicas: -1"),
            17 => "# nothing\n".to_owned(),
            19 => deployment("web-3", "replicas: 4"),
            20 => deployment("web-4", "replicas: 1"),
            23 => {
                let items: Vec<String> = (0..30)
                    .map(|item| {
                        format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c-{item}}}, {}: {{a: b}}}}\n", ["data", "date"][item % 7 / 6])
                    })
                    .collect();
                format!("apiVersion: v1\nkind: List\nitems:\n{}", items.concat())
            }
            29 => "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\n".to_owned(),
            31 => "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}}\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"k\"}}\n".to_owned(),
            // No document from here on is applied.
            35 => "kind: ConfigMap\nmetadata: {name: c}\n".to_owned(),
            36 => "a: [\n".to_owned(),
            37 => "b: 1\n c: 2\n".to_owned(),
            38 => "just text\n".to_owned(),
            at => deployment(&format!("web-{at}"), "replicas: 1"),
        };
        text.push_str(&document);
        text.push_str(["---\n", "--- # next\n"][at % 2]);
    }
    text
}

fn entries<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    entries.map(|entry| format!("{entry:?}")).collect()
}

/// Everything that must be equal, as text.
fn seen(state: &State) -> String {
    let told = (
        &state.editor.status,
        &state.editor.diagnostics,
        state.announcer.notice(),
        &state.selection.selected,
        &state.editor.text,
        &state.editor.applied,
        &state.editor.plan,
    );
    let run = &state.timeline.run;
    let cluster = (
        run.sim().now(),
        run.sim().store().version(),
        run.objects(),
        entries(run.journal().iter()),
        run.branches(),
        run.in_past(),
    );
    format!(
        "{told:#?}\n{cluster:#?}\n{:?}\n{:?}",
        state.console.lines,
        (state.timeline.playing, state.timeline.run_until)
    )
}

fn finish(state: &mut State) -> usize {
    let mut parts = 0;
    while state.timeline.run.goes_on() {
        state.poll();
        parts += 1;
    }
    // A pending edit is tried.
    while state.editor.in_dry_run() {
        state.editor.dry_run_next(&state.timeline.run);
    }
    parts
}

/// Creates a page on which a long manifest is being applied.
fn begun(text: &str) -> State {
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    state.update(EditorMsg::Edit(text.into()));
    state.update(EditorMsg::Check);
    while state.editor.in_dry_run() {
        state.editor.dry_run_next(&state.timeline.run);
    }
    state.update(Msg::Apply);
    assert!(state.timeline.run.goes_on() && state.timeline.run.applies());
    assert_eq!(
        (
            state.editor.status,
            state.editor.plan.is_none(),
            state.editor.diagnostics.len()
        ),
        (ApplyStatus::Applying, true, 0)
    );
    state
}

#[test]
fn pods_without_a_workload_have_a_pill_as_well() {
    let pod = |name: &str, cpu: u8| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{containers: [{{name: c, image: nginx, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}\n"
        )
    };
    let pill = |text: &str| {
        let mut state = State::new(text, 1);
        finish(&mut state);
        state.update(TimelineMsg::Seconds(10));
        while !state.drawing.pods.read(&state.timeline.run, usize::MAX) {}
        state.draw(usize::MAX).pill.clone().map(|pill| pill.words)
    };
    assert_eq!(pill(&pod("a", 1)).as_deref(), Some("All Pods are Ready"));
    assert_eq!(
        pill(&[pod("a", 1), pod("b", 6)].join("---\n")).as_deref(),
        Some("1 Pod: Pending")
    );
    assert_eq!(
        pill(&[pod("a", 7), pod("b", 6)].join("---\n")).as_deref(),
        Some("2 Pods: Pending")
    );
}

#[test]
fn what_is_chosen_at_first_stands_first_in_the_picture() {
    let of = |kind: &str, name: &str| {
        let template =
            "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: nginx}]}}";
        format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{selector: {{matchLabels: {{app: a}}}}, template: {template}}}}}\n"
        )
    };
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: nginx}]}}\n";
    let text = [
        pod.into(),
        of("StatefulSet", "db"),
        of("Deployment", "web-10"),
        of("Deployment", "web-9"),
    ]
    .join("---\n");
    let mut state = State::new(&text, 1);
    finish(&mut state);
    assert_eq!(
        state.selection.selected.as_ref().map(|key| &*key.name),
        Some("web-9")
    );
    while !state.drawing.pods.read(&state.timeline.run, usize::MAX) {}
    let scene = state.draw(usize::MAX).scene.clone();
    let first = scene.items.iter().find(|item| {
        item.id.kind == "Deployment" || item.id.kind == "StatefulSet" || item.id.kind == "Pod"
    });
    assert_eq!(first.map(|item| item.id.name.as_str()), Some("web-9"));
}

#[test]
fn a_long_manifest_is_applied_in_parts_as_it_is_in_one_go() {
    for text in [long(), long().replace('\n', "\r\n")] {
        let mut whole = Run::new(1);
        whole.command(Action::Apply((examples::ALL[0].text)().into()));
        whole.advance(Time(10_000_000), usize::MAX);
        let answer = whole.command(Action::Apply(text.as_str().into()));

        let mut state = begun(&text);
        let now = state.timeline.run.sim().now();
        assert!(finish(&mut state) > 40);
        assert_eq!(state.timeline.run.sim().now(), now);
        assert_eq!(*state.editor.diagnostics, answer.diagnostics);
        let problem = answer
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.error)
            .expect("a problem");
        assert_eq!(
            state.announcer.notice().to_string(),
            format!("Line {}: {}", problem.line, problem.message)
        );
        let refused = answer
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.error)
            .count();
        let (written, unchanged) = (answer.written(), answer.unchanged());
        assert_eq!(
            state.editor.status,
            ApplyStatus::Partly(written, unchanged, refused)
        );
        assert_eq!(
            state.selection.selected.as_ref().map(|key| &*key.name),
            Some("nginx-deployment")
        );
        for seconds in [10, 30] {
            whole.advance(Time(seconds * 1_000_000), usize::MAX);
            while !state.advance(Time(seconds * 1_000_000), 16) {}
            assert_eq!(
                entries(state.timeline.run.journal().iter()),
                entries(whole.journal().iter()),
                "after {seconds} s"
            );
            assert_eq!(
                (state.timeline.run.objects(), state.timeline.run.version()),
                (whole.objects(), whole.version())
            );
        }

        // YAML errors come first, each at its line.
        let lines: Vec<&str> = text.lines().collect();
        let told: Vec<&str> = answer
            .diagnostics
            .iter()
            .map(|told| lines[told.line - 1].trim())
            .collect();
        assert_eq!(
            told[..3],
            ["---", "c: 2", "just text"],
            "{:#?}",
            answer.diagnostics
        );
        assert_eq!(told[3..5], ["replica: 2", "replicas: -1"]);
        assert!(
            told[5..9].iter().all(|line| line.contains("date: {a: b}")),
            "{told:?}"
        );
        assert_eq!(
            told[told.len() - 2..],
            ["kind: ConfigMap", "apiVersion: apps/v1"]
        );
        assert_eq!(
            whole
                .sim()
                .store()
                .get(&ObjectRef::new(Kind::Deployment, "default", "web-39")),
            None
        );
        assert_eq!(
            answer
                .lines
                .iter()
                .filter(|line| line.text.ends_with(" configured"))
                .count(),
            1
        );
        assert_eq!(
            answer
                .lines
                .iter()
                .filter(|line| line.text.ends_with(" unchanged"))
                .count(),
            1
        );
    }
}

#[test]
fn a_short_manifest_is_applied_at_once() {
    let document = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-";
    let many = |count: usize| {
        (0..count)
            .map(|at| format!("{document}{at}}}\n---\n"))
            .collect::<String>()
    };
    for (count, parts) in [(1, 0), (16, 0), (17, 1), (40, 24)] {
        let mut state = State::new(&many(count), 1);
        assert_eq!(
            state.editor.status,
            if parts == 0 {
                ApplyStatus::Clean
            } else {
                ApplyStatus::Applying
            }
        );
        assert_eq!(finish(&mut state), parts, "{count}");
        // A page opens with its manifest applied.
        assert_eq!(
            (
                state.editor.status,
                state
                    .timeline
                    .run
                    .sim()
                    .store()
                    .list(Kind::ConfigMap)
                    .filter(|c| c.meta.name.starts_with("c-"))
                    .count()
            ),
            (ApplyStatus::Clean, count)
        );
        state.update(Msg::Apply);
        assert_eq!(finish(&mut state), parts);
        assert_eq!(state.editor.status, ApplyStatus::Applied);
    }
}

#[test]
fn actions_during_an_apply_run_after_it() {
    let other = long().replace("web-", "other-");
    let cases: Vec<Vec<Msg>> = vec![
        vec![TimelineMsg::Restart.into()],
        vec![Msg::Load((examples::ALL[2].text)().into(), None)],
        vec![Msg::Load(other.clone(), None)],
        vec![Msg::Apply],
        vec![EditorMsg::Edit(other.clone()).into(), Msg::Apply],
        vec![
            EditorMsg::Edit(other.clone()).into(),
            EditorMsg::Check.into(),
        ],
        vec![
            EditorMsg::Edit(other).into(),
            EditorMsg::Edit(long()).into(),
            EditorMsg::Check.into(),
        ],
        vec![EditorMsg::Revert.into()],
        vec![TimelineMsg::Seek(0).into()],
        vec![TimelineMsg::Seek(5_000).into(), TimelineMsg::Branch.into()],
        vec![TimelineMsg::Seconds(3).into()],
        vec![TimelineMsg::Step.into()],
        vec![TimelineMsg::StepBack.into()],
        vec![ConsoleMsg::Enter("kubectl delete deployment web-2 web-33".into()).into()],
        vec![
            ConsoleMsg::Enter("kubectl get pods -w".into()).into(),
            ConsoleMsg::Interrupt.into(),
        ],
        vec![Msg::Fault("node-down node-1".parse().unwrap())],
        vec![
            Msg::Fault("delay pod 2s".parse().unwrap()),
            Msg::Fault("slow replicaset-controller 300ms".parse().unwrap()),
            TimelineMsg::Seconds(3).into(),
        ],
        vec![
            SelectionMsg::TryRemedies.into(),
            CompareMsg::Mark(true).into(),
        ],
        vec![
            SelectionMsg::Select(None).into(),
            SelectionMsg::View(&views::nodes::VIEW).into(),
        ],
        vec![TimelineMsg::Toggle.into(), TimelineMsg::Settle.into()],
    ];
    let text = long();
    for msgs in cases {
        let after = {
            let mut state = begun(&text);
            finish(&mut state);
            msgs.iter().for_each(|msg| state.update(msg.clone()));
            finish(&mut state);
            seen(&state)
        };
        for parts in [0, 1, 9, 30] {
            let mut state = begun(&text);
            (0..parts).for_each(|_| state.poll());
            assert!(state.timeline.run.applies());
            msgs.iter().for_each(|msg| state.update(msg.clone()));
            finish(&mut state);
            assert!(seen(&state) == after, "{msgs:?} after {parts} parts");
        }
    }
}

#[test]
fn a_long_manifest_of_the_past_is_the_same_when_it_is_visited_again_in_parts() {
    let mut state = begun(&long());
    finish(&mut state);
    let (applied, then) = (state.timeline.run.sim().now(), state.timeline.run.objects());
    while !state.advance(Time(applied.0 + 20_000_000), usize::MAX) {}
    let (end, history) = (
        state.timeline.run.objects(),
        entries(state.timeline.run.journal().iter()),
    );
    let before = Time(applied.0 - 1);

    state.timeline.run.seek(before, usize::MAX);
    assert_eq!(state.timeline.run.sim().store().count(Kind::Deployment), 1);
    // Forward across the apply, and to it from the nearest checkpoint, by the smallest steps.
    let mut parts = 0;
    while !state.timeline.run.advance(applied, 1) {
        parts += 1;
    }
    assert!(parts > 40, "{parts}");
    assert_eq!(
        (state.timeline.run.objects(), state.timeline.run.sim().now()),
        (then.clone(), applied)
    );
    let mut there = state.timeline.run.seek(applied, 1);
    while !there {
        there = state.timeline.run.advance(applied, 1);
    }
    assert_eq!(state.timeline.run.objects(), then);
    let to = Time(state.timeline.run.end() * 1000 - 1);
    state.timeline.run.seek(to, usize::MAX);
    assert_eq!(
        (
            state.timeline.run.objects(),
            entries(
                state
                    .timeline
                    .run
                    .journal()
                    .first(state.timeline.run.happened())
                    .iter()
            )
        ),
        (end.clone(), history.clone())
    );

    // A fork in the middle of the apply has all of it.
    state.timeline.run.seek(before, usize::MAX);
    while state.timeline.run.sim().store().count(Kind::Deployment) < 20 {
        assert!(!state.timeline.run.advance(applied, 1));
    }
    state.update(TimelineMsg::Branch);
    assert_eq!(
        (state.timeline.run.objects(), state.timeline.run.sim().now()),
        (then.clone(), applied)
    );
    while !state.advance(Time(applied.0 + 20_000_000), usize::MAX) {}
    assert_eq!(
        (
            state.timeline.run.objects(),
            entries(state.timeline.run.journal().iter())
        ),
        (end, history)
    );
    state.timeline.run.seek(applied, usize::MAX);
    assert_eq!(state.timeline.run.objects(), then);

    // A comparison with another branch at that instant waits until the apply is complete.
    state.update(TimelineMsg::Branch);
    state.update(CompareMsg::With(Some(1)));
    while !state
        .compare
        .sync_branch(&state.timeline.run, &state.selection, 16)
    {}
    let beside = state
        .compare
        .branch
        .as_ref()
        .map(|other| (other.run.objects(), other.run.sim().now()));
    assert_eq!(beside, Some((then, applied)));
}

#[test]
fn all_namespaces_are_those_of_the_system_too() {
    let agent = |namespace: &str| {
        format!(
            "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: agent, namespace: {namespace}}}\nspec:\n  selector: {{matchLabels: {{app: \
             agent}}}}\n  template:\n    metadata: {{labels: {{app: agent}}}}\n    spec: {{containers: [{{name: agent, image: nginx}}]}}\n---\n\
             apiVersion: v1\nkind: Service\nmetadata: {{name: agent, namespace: {namespace}}}\nspec: {{selector: {{app: agent}}, ports: [{{port: 80}}]}}\n"
        )
    };
    let seen = |namespace: &str| {
        let mut state = settled(&agent(namespace));
        let of_view = |view: &&'static views::view::View| {
            state.update(SelectionMsg::View(view));
            let picture = state.picture();
            let kinds: Vec<String> = picture
                .scene
                .items
                .iter()
                .map(|item| item.id.kind.clone())
                .collect();
            (
                view.id,
                kinds,
                picture
                    .scene
                    .summary
                    .english()
                    .replace(namespace, "default"),
            )
        };
        views::ALL.iter().map(of_view).collect::<Vec<_>>()
    };
    let system = seen("kube-system");
    assert_eq!(system, seen("default"));
    assert_eq!(
        system[0].1.iter().filter(|kind| *kind == "Pod").count(),
        3,
        "{system:?}"
    );
}

#[test]
fn the_branch_that_is_given_up_is_the_oldest() {
    let mut state = settled((examples::ALL[0].text)());
    // A branch ends where it began: each begins before the one shown.
    let fork = |state: &mut State, second: u64| {
        state
            .timeline
            .run
            .seek(Time(second * 1_000_000), usize::MAX);
        state.update(TimelineMsg::Branch);
    };
    for second in [5, 4, 3, 2] {
        fork(&mut state, second);
    }
    assert_eq!(state.timeline.run.branches(), (5, vec![1, 2, 3, 4]));
    // The newest takes the place of the first in the list, and stays nevertheless.
    state.update(TimelineMsg::Switch(1));
    fork(&mut state, 1);
    let (shown, mut others) = state.timeline.run.branches();
    others.sort_unstable();
    assert_eq!((shown, others), (6, vec![2, 3, 4, 5]));
}
