use session::State;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use views::shape::Scene;

fn workloads(count: usize) -> State {
    let one = |n: usize| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: app-{n}}}, spec: {{replicas: 2, selector: {{matchLabels: {{app: app-{n}}}}}, \
             template: {{metadata: {{labels: {{app: app-{n}}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}}}}}\n---\n"
        )
    };
    let mut state = State::new(&(0..count).map(one).collect::<String>(), 1);
    state.update(session::Msg::Stage(770.0, 560.0));
    state.update(TimelineMsg::Seconds(10));
    state.update(SelectionMsg::Select(None));
    state
}

fn kinds(scene: &Scene, kind: &str) -> usize {
    scene
        .items
        .iter()
        .filter(|item| item.id.kind == kind)
        .count()
}

#[test]
fn forty_deployments_are_seen_together() {
    let mut state = workloads(40);
    let scene: Rc<Scene> = state.picture().scene.clone();
    assert_eq!(
        (
            kinds(&scene, "Deployment"),
            kinds(&scene, "Pods"),
            kinds(&scene, "ReplicaSet")
        ),
        (40, 40, 0)
    );
    assert!(
        scene.height < 1.6 * 560.0 && scene.width <= 770.0 / 0.9,
        "{} x {}",
        scene.width,
        scene.height
    );
    assert!(
        scene
            .items
            .iter()
            .any(|item| item.label.english() == "Deployment — 40 of 40 ready")
    );
    // The selected one is a tree.
    let pod = state
        .timeline
        .run
        .sim()
        .store()
        .list(k8s_model::Kind::Pod)
        .nth(30)
        .unwrap()
        .key();
    state.update(SelectionMsg::Select(Some(pod)));
    let scene = state.picture().scene.clone();
    assert_eq!(
        (
            kinds(&scene, "Deployment"),
            kinds(&scene, "ReplicaSet"),
            kinds(&scene, "Pod")
        ),
        (40, 1, 2)
    );
}

#[test]
fn chips_that_are_kept_are_as_those_drawn_anew() {
    use session::console::ConsoleMsg;
    let service = |n: usize| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: app-{n}}}, spec: {{selector: {{app: app-{n}}}, ports: [{{port: 80}}]}}}}\n---\n"
        )
    };
    let after = |lines: &[&str], draws: bool| {
        let mut state = workloads(250);
        state.update(session::editor::EditorMsg::Edit(
            (0..250).map(service).collect(),
        ));
        state.update(session::Msg::Apply);
        for line in lines {
            if draws {
                state.picture();
            }
            state.update(ConsoleMsg::Enter((*line).into()));
            state.update(TimelineMsg::Seconds(1));
        }
        state.picture().scene.clone()
    };
    let lines = [
        "kubectl scale deployment app-7 --replicas=3",
        "kubectl delete pod -l app=app-8 --wait=false",
        "kubectl delete deployment app-5",
        "kubectl create deployment a --image=nginx",
    ];
    for n in 1..=lines.len() {
        assert_eq!(after(&lines[..n], true), after(&lines[..n], false));
    }
}

#[test]
fn a_few_are_trees() {
    let mut state = workloads(5);
    let scene = state.picture().scene.clone();
    assert_eq!((kinds(&scene, "ReplicaSet"), kinds(&scene, "Pod")), (5, 10));
}

/// A dozen Deployments, each with a Service; the last Service selects the last two.
fn shop(stage: (f64, f64)) -> Rc<Scene> {
    let mut text = String::new();
    for n in 0..12 {
        text += &format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: app-{n}}}, spec: {{replicas: {}, selector: {{matchLabels: {{app: app-{n}}}}}, \
             template: {{metadata: {{labels: {{app: app-{n}, of: {}}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}}}}}\n---\n",
            1 + n % 3,
            if n < 10 { "other" } else { "both" }
        );
        let selector = if n < 10 {
            format!("app: app-{n}")
        } else {
            "of: both".into()
        };
        if n < 11 {
            text += &format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: app-{n}}}, spec: {{selector: {{{selector}}}, ports: [{{port: 80}}]}}}}\n---\n"
            );
        }
    }
    let mut state = State::new(&text, 1);
    state.update(session::Msg::Stage(stage.0, stage.1));
    state.update(TimelineMsg::Seconds(10));
    state.picture().scene.clone()
}

fn overlaps(scene: &Scene) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, a) in scene.items.iter().enumerate() {
        for b in &scene.items[at + 1..] {
            let (a, b) = (&a, &b);
            let apart = a.rect.right() <= b.rect.x
                || b.rect.right() <= a.rect.x
                || a.rect.bottom() <= b.rect.y
                || b.rect.bottom() <= a.rect.y;
            if !apart {
                found.push((a.id.name.clone(), b.id.name.clone()));
            }
        }
    }
    found
}

#[test]
fn a_dozen_deployments_are_seen_with_their_services_and_pods() {
    let scene = shop((800.0, 690.0));
    assert_eq!(overlaps(&scene), []);
    assert!(
        scene.width <= 800.0 / 0.9 && scene.height <= 1.15 * 690.0 / 0.9,
        "{} x {}",
        scene.width,
        scene.height
    );
    assert_eq!(
        (
            kinds(&scene, "Deployment"),
            kinds(&scene, "Service"),
            kinds(&scene, "Pod")
        ),
        (12, 11, 24)
    );
    // A Service of two workloads stands once, and the other mentions it.
    let mentions: Vec<String> = scene
        .labels
        .iter()
        .map(|label| label.text.english())
        .collect();
    assert!(mentions.contains(&"Service app-10".into()), "{mentions:?}");
}

#[test]
fn on_a_phone_a_dozen_deployments_stand_two_in_a_row() {
    let scene = shop((390.0, 560.0));
    assert_eq!(overlaps(&scene), []);
    assert!(scene.width <= 390.0, "{}", scene.width);
    assert_eq!(
        (kinds(&scene, "Deployment"), kinds(&scene, "Pods")),
        (12, 12)
    );
    let chips = scene.items.iter().filter(|item| item.id.kind == "Pods");
    let mut lefts: Vec<i64> = chips.map(|item| item.rect.x as i64).collect();
    lefts.sort_unstable();
    lefts.dedup();
    assert_eq!(lefts.len(), 2, "{lefts:?}");
}

#[test]
fn a_service_tells_the_share_of_each_version() {
    let track = |name: &str, replicas: usize, image: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: app, track: {name}}}}}, \
             template: {{metadata: {{labels: {{app: app, track: {name}}}}}, spec: {{containers: [{{name: c, image: \"{image}\"}}]}}}}}}}}\n---\n"
        )
    };
    let service = "{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {selector: {app: app}, ports: [{port: 80}]}}\n";
    let words = |text: String| {
        let mut state = State::new(&text, 1);
        state.update(session::Msg::Stage(1100.0, 690.0));
        state.update(TimelineMsg::Seconds(10));
        let scene = state.picture().scene.clone();
        let labels = scene.labels.iter().map(|label| label.text.english());
        labels
            .filter(|text| text.contains("ready"))
            .collect::<Vec<_>>()
    };
    let canary = [
        track("stable", 9, "nginx:1.26"),
        track("canary", 1, "nginx:1.27"),
        service.into(),
    ];
    assert_eq!(
        words(canary.concat()),
        ["1.27 10 %, 1.26 90 % · 10 ready endpoints"]
    );
    let one = [track("stable", 2, "nginx:1.26"), service.into()];
    assert_eq!(
        words(one.concat()),
        ["selector app=app · 2 ready endpoints"]
    );
}

#[test]
fn an_application_of_many_workloads_is_seen_as_a_whole_first() {
    let opened = |count: usize| {
        let one = |n: usize| {
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: app-{n}}}, spec: {{selector: {{matchLabels: {{app: app-{n}}}}}, \
                 template: {{metadata: {{labels: {{app: app-{n}}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}}}}}\n---\n"
            )
        };
        let mut state = State::new(&(0..count).map(one).collect::<String>(), 1);
        state.update(TimelineMsg::Seconds(5));
        state
    };
    assert_eq!(
        opened(4).selection.selected.map(|key| key.name.to_string()),
        Some("app-0".into())
    );
    assert_eq!(opened(12).selection.selected, None);
}
