use super::check::Flaw;
use super::format::Tongue;
use super::read::{LessonError, Problem};
use super::script::Play;
use super::{ObservedHistory, Value, parse};
use crate::check;
use cluster::Sim;
use k8s_model::Kind;
use std::rc::Rc;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: \"nginx:1.26\"}]}
";

/// Builds a lesson of one step with these lines.
fn lesson(step: &str) -> String {
    let manifest = DEPLOYMENT.replace('\n', "\n      ");
    format!(
        "lesson: 1\ntitle: {{en: a, zh: b}}\nsteps:\n- say: {{en: a, zh: b}}\n  do:\n  - apply: |\n      {manifest}\n  - wait: settled\n{step}\n"
    )
}

/// Builds a lesson of one step with another action at its end.
fn lesson_after(action: &str, step: &str) -> String {
    lesson(step).replacen(
        "  - wait: settled\n",
        &format!("  - {action}\n  - wait: settled\n"),
        1,
    )
}

fn flaws_of(text: &str) -> Vec<Flaw> {
    check::check(&parse(text).unwrap())
        .into_iter()
        .map(|finding| finding.what)
        .collect()
}

fn flaws(step: &str) -> Vec<Flaw> {
    flaws_of(&lesson(step))
}

/// Evaluates expressions after the first step and a rolling update, however it is sliced.
fn after_update(expressions: &[&str], budget: usize) -> Vec<Value> {
    let text = lesson(&format!(
        "- say: {{en: a, zh: b}}\n  do: [{{kubectl: set image deployment/web nginx=nginx:1.27}}, {{wait: settled}}]\n  expect: {expressions:?}"
    ));
    let lesson = parse(&text).unwrap();
    let sim = Sim::new(lesson.cluster.clone(), 1);
    let first = Play::of_step(
        sim,
        ObservedHistory::default(),
        lesson.steps[0].actions.clone(),
        Rc::default(),
    )
    .finish();
    let step = &lesson.steps[1];
    let mut play = Play::of_step(
        first.host.sim,
        first.history,
        step.actions.clone(),
        step.over.clone(),
    );
    while !play.advance(budget) {}
    step.expect
        .iter()
        .map(|expr| play.history.value(&play.host.sim, expr))
        .collect()
}

#[test]
fn values_now_and_over_time_do_not_depend_on_how_the_clock_was_sliced() {
    let all = [
        "max(pods(web))",
        "min(ready(web))",
        "never ready(web) < 3",
        "always ready(web) >= 4",
        "ever updated(web) == 1",
        "created(web)",
        "deleted(web)",
        "deleted(pods)",
        "created(rs)",
        "image(web)",
        "revision(web)",
        "replicas(nothing)",
        "ready(nothing) == 0",
        "updated(web) + 1",
        "ran('set image')",
        "count(pods, 'app=web')",
        "field(web, 'spec.strategy.type')",
        "state(deployment/web)",
        "restarts(web)",
        "available(web)",
    ];
    let found = after_update(&all, usize::MAX);
    assert_eq!(found, after_update(&all, 1));
    assert_eq!(found, after_update(&all, 7));
    let (number, truth, text) = (Value::Number, Value::Truth, |text: &str| {
        Value::Text(text.into())
    });
    let expected = [
        number(4),
        number(3),
        truth(true),
        truth(false),
        truth(true),
        number(3),
        number(3),
        number(3),
        number(1),
        text("nginx:1.27"),
        number(2),
        Value::Nothing,
        truth(false),
        number(4),
        truth(true),
        number(3),
        text("RollingUpdate"),
        Value::Nothing,
        number(0),
        number(3),
    ];
    for ((asked, found), expected) in all.iter().zip(&found).zip(&expected) {
        assert_eq!(found, expected, "{asked}");
    }
}

#[test]
fn the_journal_read_is_the_cluster() {
    let lesson = parse(&lesson(
        "- say: a\n  do: [{kubectl: delete deployment web}, {wait: settled}]",
    ))
    .unwrap();
    let mut play = Play::of_step(
        Sim::new(lesson.cluster.clone(), 1),
        ObservedHistory::default(),
        lesson.steps[0].actions.clone(),
        Rc::default(),
    );
    for step in &lesson.steps[1..] {
        play = play.finish();
        let objects: usize = k8s_model::kind::ALL
            .iter()
            .filter(|kind| **kind != Kind::Event)
            .map(|kind| play.host.sim.store().count(*kind))
            .sum();
        assert_eq!(play.history.objects.len(), objects);
        assert!(play.history.objects.values().all(|object| {
            play.host
                .sim
                .store()
                .get(&object.key())
                .is_some_and(|now| Rc::ptr_eq(now, object))
        }));
        play = Play::of_step(
            play.host.sim,
            play.history,
            step.actions.clone(),
            Rc::default(),
        );
    }
    // Reading it again from its beginning gives the same result for the step.
    let mut play = play.finish();
    let (before, created) = (play.history.objects.len(), play.history.deleted.len());
    play.history.reread(&play.host.sim);
    play.history.advance(&play.host.sim, true);
    assert_eq!(
        (play.history.objects.len(), play.history.deleted.len()),
        (before, created)
    );
    assert!(created >= 5);
}

#[test]
fn what_was_not_always_so_never_will_have_been() {
    let text = lesson(
        "- say: a\n  do: [{kubectl: scale deployment web --replicas=1}, {wait: settled}]\n  expect: ['ready(web) == 5 and never ready(web) < 2', 'ready(web) == 5 or always ready(web) == 3', 'ready(web) == 5']",
    );
    let lesson = parse(&text).unwrap();
    let first = Play::of_step(
        Sim::new(lesson.cluster.clone(), 1),
        ObservedHistory::default(),
        lesson.steps[0].actions.clone(),
        Rc::default(),
    )
    .finish();
    let step = &lesson.steps[1];
    let began = first.host.sim.now();
    let play = Play::of_step(
        first.host.sim,
        first.history,
        step.actions.clone(),
        step.over.clone(),
    )
    .finish();
    let can: Vec<bool> = step
        .expect
        .iter()
        .map(|expr| play.history.can_hold(expr))
        .collect();
    assert_eq!(can, [false, true, true]);
    assert!(
        play.history
            .since(&step.expect[0])
            .is_some_and(|at| at > began)
    );
}

#[test]
fn what_is_wrong_with_a_text_is_told_with_its_line() {
    let faults = |text: &str| parse(text).unwrap_err();
    let text = "lesson: 1\ntitle: a\nstep: []\nsteps:\n- say: a\n  view: owners\n- look: 3\n  predict: {ask: a, choices: []}\n  expect: ['redy(web)']\n  do: [{run: x}]\n";
    let found: Vec<(usize, Problem)> = faults(text)
        .into_iter()
        .map(|LessonError { line, problem, .. }| (line, problem))
        .collect();
    let has =
        |line: usize, problem: &Problem| found.iter().any(|one| one.0 == line && one.1 == *problem);
    assert!(
        has(3, &Problem::Unknown("step".into(), Some("steps"))),
        "{found:?}"
    );
    assert!(has(6, &Problem::NoView("owners".into())), "{found:?}");
    assert!(
        has(7, &Problem::Type("text")) && has(7, &Problem::Missing("say")),
        "{found:?}"
    );
    assert!(has(8, &Problem::NoAnswers), "{found:?}");
    assert!(
        found
            .iter()
            .any(|(line, problem)| *line == 9 && matches!(problem, Problem::Expression(_))),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|(line, problem)| *line == 10 && matches!(problem, Problem::Text(_))),
        "{found:?}"
    );
    assert_eq!(
        faults("lesson: 2\ntitle: a\nsteps: [{say: a}]\n")[0].problem,
        Problem::Version
    );
    assert!(matches!(faults("lesson: [\n")[0].problem, Problem::Text(_)));
    assert!(
        faults("")
            .iter()
            .any(|fault| fault.problem == Problem::Type("mapping"))
    );
    for fault in faults(text) {
        assert!(!fault.message().english().contains('{'), "{fault:?}");
    }
}

#[test]
fn a_lesson_that_is_wrong_is_found_out() {
    let task = |check: &str, solution: &str, wrong: &str| {
        format!(
            "- say: {{en: a, zh: b}}\n  task:\n    goal: {{en: a, zh: b}}\n    check: {check}\n    solution: [{{kubectl: {solution}}}, {{wait: settled}}]\n    wrong: [{{kubectl: {wrong}}}, {{wait: settled}}]"
        )
    };
    let (four, two) = (
        "scale deployment web --replicas=4",
        "scale deployment web --replicas=2",
    );
    assert_eq!(flaws(&task("ready(web) == 4", four, two)), []);
    assert_eq!(
        flaws(&task("ready(web) == 4", two, four)),
        [Flaw::WrongIsRight, Flaw::NoSolution]
    );
    assert_eq!(
        flaws(&task("ready(web) == 3", two, two)),
        [Flaw::DoneAlready]
    );
    assert!(
        matches!(&flaws(&task("ready(web) == 4", "scale deployment wob --replicas=4", two))[..], [Flaw::NoSolution, Flaw::Failed(said)] if said.contains("not found"))
    );
    let asked = "- say: {en: a, zh: b}\n  predict: {ask: {en: a, zh: b}, choices: [{say: {en: a, zh: b}, if: ready(web) > 1}, {say: {en: a, zh: b}, if: ready(web) == 3}]}";
    assert_eq!(flaws(asked), [Flaw::Answers(vec![0, 1])]);
    assert_eq!(
        flaws("- say: only English\n  look: nobody\n  expect: [ready(web) == 2]"),
        [
            Flaw::Untranslated,
            Flaw::NoObject("nobody".into()),
            Flaw::Claim(0)
        ]
    );
    assert_eq!(
        flaws("- say: {en: '{{ image(nobody) }}', zh: b}"),
        [Flaw::NoValue]
    );
}

#[test]
fn texts_have_their_values_filled_in() {
    let lesson =
        parse(&lesson("- say: {en: '{{ ready(web) }} of {{ replicas(web) }} run {{ image(web) }}', zh: '{{ ready(web) }} 个'}")).unwrap();
    let play = Play::of_step(
        Sim::new(lesson.cluster.clone(), 1),
        ObservedHistory::default(),
        lesson.steps[0].actions.clone(),
        Rc::default(),
    )
    .finish();
    let say = &lesson.steps[1].say;
    assert_eq!(
        say.say(Tongue::English, &play.history, &play.host.sim),
        "3 of 3 run nginx:1.26"
    );
    assert_eq!(
        say.say(Tongue::Chinese, &play.history, &play.host.sim),
        "3 个"
    );
    assert_eq!(lesson.title.plain(Tongue::Chinese), "b");
}

#[test]
fn a_manifest_takes_the_place_of_the_objects_that_both_name() {
    let object = |kind: &str, name: &str| format!("kind: {kind}\nmetadata: {{name: {name}}}\n");
    let text = [
        object("Service", "a"),
        object("Pod", "b"),
        object("Pod", "c"),
    ]
    .join("---\n");
    let merged = super::merge(&text, &object("Pod", "b"));
    assert_eq!(
        merged,
        [
            object("Service", "a").trim(),
            object("Pod", "c").trim(),
            &object("Pod", "b")
        ]
        .join("\n---\n")
    );
    // The namespace default need not be written; a group makes another kind; a list stays for the rest of it.
    let merged = |text: &str, other: &str| super::merge(text, other) == other;
    let pod = object("Pod", "b");
    assert!(merged(
        &pod.replace("name: b", "name: b, namespace: default"),
        &pod
    ));
    assert!(!merged(&format!("apiVersion: example.com/v1\n{pod}"), &pod));
    let list = "kind: List\napiVersion: v1\nitems: [{kind: Pod, apiVersion: v1, metadata: {name: a}}, {kind: Pod, apiVersion: v1, metadata: {name: b}}]\n";
    assert!(super::merge(list, &pod).contains("name: a"));
    assert_eq!(super::merge("", "kind: Pod\n"), "kind: Pod\n");
    assert_eq!(super::merge("not: [yaml", "kind: Pod\n"), "kind: Pod\n");
}

#[test]
fn what_a_step_plays_has_an_end() {
    let text = lesson("- say: {en: a, zh: b}\n  do: [{wait: 20m}, {wait: 20m}]");
    assert!(
        parse(&text)
            .unwrap_err()
            .iter()
            .any(|fault| fault.problem == Problem::Lasts)
    );
    let waits =
        "[".to_owned() + &["{kubectl: run x --image=nginx}, {wait: settled}"; 30].join(", ") + "]";
    assert!(parse(&lesson(&format!("- say: a\n  do: {waits}"))).is_ok());
}

#[test]
fn a_task_is_done_when_it_was_done_at_any_instant() {
    // During the update there are temporarily four Pods, and three again at its end.
    let passing = "  task:\n    goal: {en: a, zh: b}\n    check: pods(web) == 4\n    solution: [{kubectl: rollout restart deployment/web}, {wait: settled}]";
    assert_eq!(flaws(passing), []);
    let wrong = format!(
        "{passing}\n    wrong: [{{kubectl: rollout restart deployment/web}}, {{wait: settled}}]"
    );
    assert_eq!(flaws(&wrong), [Flaw::WrongIsRight]);
}

#[test]
fn only_what_was_entered_for_the_task_counts_and_by_its_words() {
    let task = |check: &str, line: &str| {
        let task = format!(
            "  task:\n    goal: {{en: a, zh: b}}\n    check: {check}\n    solution: [{{kubectl: {line}}}, {{wait: settled}}]"
        );
        flaws_of(&lesson_after(
            "{kubectl: rollout restart deployment/web}",
            &task,
        ))
    };
    assert_eq!(
        task("ran('rollout restart')", "rollout restart deployment/web"),
        []
    );
    assert_eq!(
        task("ran('rollout rest')", "rollout restart deployment/web"),
        [Flaw::NoSolution]
    );
    assert_eq!(task("looked(deploy/web)", "describe deployment/web"), []);
    assert_eq!(task("looked(deploy/web)", "describe deployment web"), []);
    assert_eq!(
        task("looked(deploy/web)", "get deployment/web"),
        [Flaw::NoSolution]
    );
    assert_eq!(
        task("looked(deploy/web)", "describe rs"),
        [Flaw::NoSolution]
    );
}

#[test]
fn a_path_may_have_keys_with_dots() {
    let found = after_update(
        &[
            "field(web, 'metadata.annotations[deployment.kubernetes.io/revision]')",
            "field(web, 'spec.template.spec.containers[0].image')",
        ],
        7,
    );
    assert_eq!(
        found,
        [Value::Text("2".into()), Value::Text("nginx:1.27".into())]
    );
}

#[test]
fn what_would_be_lost_in_silence_is_told() {
    let faults = |text: &str| -> Vec<(usize, Problem)> {
        parse(text).map_or_else(
            |faults| {
                faults
                    .into_iter()
                    .map(|fault| (fault.line, fault.problem))
                    .collect()
            },
            |_| Vec::new(),
        )
    };
    assert_eq!(
        faults("lesson: 1\ntitle: a\nseed: abc\nsteps:\n- say: a\n"),
        [(3, Problem::Type("number"))]
    );
    assert_eq!(
        faults("lesson: 1\ntitle: a\nsteps:\n- say: a\n  view: loops\n  view: network\n"),
        [(6, Problem::Repeated("view".into()))]
    );
    assert_eq!(
        faults("lesson: 1\ntitle: a\nsteps:\n- say: a\n---\nkind: Pod\n"),
        [(6, Problem::Second)]
    );
    assert_eq!(
        faults("lesson: 1\ntitle: a\nsteps:\n- say: 'a {{ ready(web) of b'\n"),
        [(4, Problem::OpenHole)]
    );
}
