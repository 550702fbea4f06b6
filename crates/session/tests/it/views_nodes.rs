//! Invariants of the Nodes layout.

use i18n::{Message, msg};
use projection::model::{Group, Id, Model, Node, Pod, PodState};
use session::console::ConsoleMsg;
use session::editor::EditorMsg;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use session::{Msg, State};
use std::rc::Rc;
use views::nodes::cache::{LayoutCache, PodsOnNode, arrange};
use views::nodes::layout::layout;
use views::nodes::tray::refuses;
use views::shape::CardBody;

use projection::model::Root;

#[test]
fn a_few_nodes_share_the_width() {
    let node = |n: usize| {
        Rc::new(Node {
            id: Id::named("Node", &format!("node-{n}")),
            ready: true,
            ..Node::default()
        })
    };
    for (nodes, width, share) in [
        (3, 1280.0, 0.9),
        (3, 800.0, 0.9),
        (2, 800.0, 0.9),
        (1, 800.0, 0.4),
    ] {
        let model = Model {
            nodes: Rc::new((0..nodes).map(node).collect()),
            ..Model::default()
        };
        let scene = layout(&model, None, width, &mut LayoutCache::default());
        let right = scene
            .items
            .iter()
            .map(|item| item.rect.right())
            .fold(0.0, f64::max);
        assert!(
            right <= width && right > width * share,
            "{nodes} {width}: {right}"
        );
    }
}

#[test]
fn pods_stand_on_their_node_and_the_rest_in_the_tray() {
    let pod = |name: &str, node: &str| Pod {
        id: Id::named("Pod", name),
        node: node.into(),
        cpu: 1500,
        ..Pod::default()
    };
    let node = |name: &str| {
        Rc::new(Node {
            id: Id::named("Node", name),
            ready: true,
            cpu: 4000,
            memory: 8 << 30,
            pods: 110,
            ..Node::default()
        })
    };
    let model = Model {
        roots: vec![Root {
            controller: None,
            groups: vec![Group {
                controller: None,
                pods: [pod("a", "node-1"), pod("b", "node-1"), pod("c", "")]
                    .into_iter()
                    .collect(),
            }],
            ..Root::default()
        }],
        nodes: Rc::new(vec![node("node-1"), node("node-2")]),
        ..Model::default()
    };
    let scene = layout(&model, None, 800.0, &mut LayoutCache::default());
    let under = |name: &str| {
        scene
            .items
            .iter()
            .find(|item| item.id.name == name)
            .and_then(|item| item.parent)
            .map(|parent| scene.items[parent].id.name.clone())
    };
    assert_eq!(under("a").as_deref(), Some("node-1"));
    assert_eq!(under("c").as_deref(), Some(""));
    let CardBody::Node(body) = &scene.items[0].body else {
        panic!("a node")
    };
    assert_eq!(body.meters[0].1, "3 / 4");
    assert!(body.note[0].contains("1 CPU free: not enough"));
}

#[test]
fn the_pods_of_a_chosen_owner_are_marked() {
    let pod = |name: &str| Pod {
        id: Id::named("Pod", name),
        node: "n".into(),
        ..Pod::default()
    };
    let root = |name: &str| Root {
        controller: Some(
            projection::model::ControllerCard {
                id: Id::named("Deployment", name),
                ..Default::default()
            }
            .into(),
        ),
        groups: vec![Group {
            controller: None,
            pods: [pod(&format!("{name}-0"))].into_iter().collect(),
        }],
        ..Root::default()
    };
    let nodes = Rc::new(vec![Rc::new(Node {
        id: Id::named("Node", "n"),
        ready: true,
        pods: 110,
        ..Node::default()
    })]);
    let model = Model {
        roots: vec![root("a"), root("b")],
        nodes,
        ..Model::default()
    };
    let scene = layout(
        &model,
        Some("Deployment/b"),
        800.0,
        &mut LayoutCache::default(),
    );
    let marked = scene
        .items
        .iter()
        .filter(|item| matches!(item.body, CardBody::Tile { kin: true, .. }))
        .map(|item| item.id.name.as_str());
    assert_eq!(marked.collect::<Vec<_>>(), ["b-0"]);
}

#[test]
fn a_node_says_with_its_numbers_why_it_takes_no_more() {
    let node = |name: &str| Node {
        id: Id::named("Node", name),
        ready: true,
        cpu: 4000,
        memory: 8 << 30,
        pods: 110,
        ..Node::default()
    };
    let pod = Pod {
        id: Id::named("Pod", "a"),
        cpu: 1500,
        ..Pod::default()
    };
    let full = Rc::new(Pod {
        cpu: 3400,
        ..Pod::default()
    });
    let on = PodsOnNode::new([full].into_iter().collect(), usize::MAX);
    assert_eq!(
        refuses(&node("n"), &on, &pod).unwrap(),
        ["n", "not enough cpu", "requests 1500m, 600m free"]
    );
    assert_eq!(refuses(&node("n"), &PodsOnNode::default(), &pod), None);
    assert_eq!(
        refuses(
            &Node {
                cordoned: true,
                ..node("n")
            },
            &PodsOnNode::default(),
            &pod
        )
        .unwrap()[2],
        "kubectl cordon n"
    );
}

#[test]
fn many_pods_stand_with_the_newest_revision_first_and_three_cards_fit_a_tablet() {
    let pod = |name: String, state| Pod {
        id: Id::named("Pod", &name),
        node: "n".into(),
        state,
        ..Pod::default()
    };
    let group = |set: &str, n: usize, state| Group {
        controller: None,
        pods: (0..n).map(|i| pod(format!("{set}{i}"), state)).collect(),
    };
    let of = projection::model::ControllerCard {
        id: Id::named("Deployment", "d"),
        ..Default::default()
    };
    let groups = vec![
        group("a", 150, PodState::Ready),
        group("b", 60, PodState::Ready),
        group("c", 3, PodState::NotReady),
    ];
    let node = |name: &str| Node {
        id: Id::named("Node", name),
        ready: true,
        pods: 500,
        ..Node::default()
    };
    let roots = vec![Root {
        controller: Some(of.into()),
        groups,
        ..Root::default()
    }];
    let nodes = Rc::new(["n", "o", "p"].map(|name| Rc::new(node(name))).to_vec());
    let model = Model {
        roots,
        nodes,
        ..Model::default()
    };
    let scene = layout(&model, None, 656.0, &mut LayoutCache::default());
    assert!(scene.width <= 656.0, "{}", scene.width);
    let cells = scene
        .items
        .iter()
        .find_map(|item| {
            if let CardBody::Cells(cells) = &item.body {
                Some(cells)
            } else {
                None
            }
        })
        .unwrap();
    let states: Vec<&str> = [0, 2, 3]
        .map(|at| cells.pods[at].id.name.get(..1).unwrap())
        .to_vec();
    assert_eq!((states, cells.old), (vec!["c", "c", "a"], 3));
    let CardBody::Totals { parts, numbers } = &scene.items[0].body else {
        panic!("the strip")
    };
    let numbers: Vec<(usize, String)> = numbers
        .iter()
        .map(|(total, n)| (*n, total.word().to_string()))
        .collect();
    assert_eq!(
        numbers,
        [(213, "Pods in total"), (210, "ready"), (0, "terminating")]
            .map(|(n, word)| (n, word.to_owned()))
    );
    assert_eq!(
        parts[..],
        [(PodState::NotReady, false, 3), (PodState::Ready, true, 210)]
    );
}

#[test]
fn a_rollout_is_a_wave_in_a_tile_and_pale_where_pods_have_names() {
    use PodState::{Creating, NotReady, Ready, Terminating};
    let pod = |name: &str, state| {
        Rc::new(Pod {
            id: Id::named("Pod", name),
            state,
            ..Pod::default()
        })
    };
    let all = [
        (true, Ready),
        (true, Terminating),
        (false, Creating),
        (false, Ready),
        (false, NotReady),
        (true, Ready),
        (false, Creating),
    ];
    let pods: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(at, (old, state))| (*old, pod(&format!("p{at}"), *state)))
        .collect();
    let some = || {
        pods.iter()
            .map(|(old, pod)| (*old, pod))
            .collect::<Vec<_>>()
    };
    let on = arrange(some(), true);
    assert_eq!(
        on.pods.states().collect::<Vec<_>>(),
        [
            Ready,
            NotReady,
            Creating,
            Creating,
            Terminating,
            Ready,
            Ready
        ]
    );
    assert_eq!(on.old, 5);
    assert_eq!(
        arrange(some(), false).older,
        [true, true, false, false, false, true, false]
    );
}

#[test]
fn many_nodes_stand_as_large_as_few() {
    let node = |n: usize| {
        Rc::new(Node {
            id: Id::named("Node", &format!("node-{n}")),
            ready: true,
            pods: 110,
            ..Node::default()
        })
    };
    let pod = |n: usize| Pod {
        id: Id::named("Pod", &format!("p{n}")),
        node: format!("node-{}", n % 60),
        ..Pod::default()
    };
    let groups = vec![Group {
        controller: None,
        pods: (0..5_000).map(pod).collect(),
    }];
    let roots = vec![Root {
        controller: None,
        groups,
        ..Root::default()
    }];
    let model = Model {
        roots,
        nodes: Rc::new((0..60).map(node).collect()),
        ..Model::default()
    };
    for width in [390.0, 600.0, 656.0, 760.0, 1100.0, 1360.0] {
        let scene = layout(&model, None, width, &mut LayoutCache::default());
        assert!(scene.width <= width, "{width}: {}", scene.width);
    }
}

#[test]
fn pods_that_the_scheduler_has_not_come_to_are_refused_by_nobody() {
    let pod = |name: &str, unscheduled: &str| Pod {
        id: Id::named("Pod", name),
        cpu: 1500,
        unscheduled: unscheduled.into(),
        ..Pod::default()
    };
    let node = Node {
        id: Id::named("Node", "n"),
        ready: true,
        cordoned: true,
        cpu: 4000,
        memory: 8 << 30,
        pods: 110,
        ..Node::default()
    };
    let tray = |pods: &[Pod]| {
        let groups = vec![Group {
            controller: None,
            pods: pods.iter().cloned().collect(),
        }];
        let roots = vec![Root {
            controller: None,
            groups,
            ..Root::default()
        }];
        let model = Model {
            roots,
            nodes: Rc::new(vec![Rc::new(node.clone())]),
            ..Model::default()
        };
        let scene = layout(&model, None, 800.0, &mut LayoutCache::default());
        scene.items.iter().find_map(|item| {
            if let CardBody::Tray { aside, rows, .. } = &item.body {
                Some((aside.clone(), rows.len()))
            } else {
                None
            }
        })
    };
    let queued = tray(&[pod("a", ""), pod("b", "")]).unwrap();
    assert_eq!(queued, (msg::tray_queued(), 0));
    let (pods, model_of) = (
        [pod(
            "a",
            "0/1 nodes are available: 1 node(s) were unschedulable.",
        )],
        |pods: &[Pod]| Model {
            roots: vec![Root {
                controller: None,
                groups: vec![Group {
                    controller: None,
                    pods: pods.iter().cloned().collect(),
                }],
                ..Root::default()
            }],
            nodes: Rc::new(vec![Rc::new(node.clone())]),
            ..Model::default()
        },
    );
    // On a phone the Pod that needs a person's action stands over the nodes, elsewhere below them.
    for (width, over) in [(390.0, true), (800.0, false)] {
        let scene = layout(&model_of(&pods), None, width, &mut LayoutCache::default());
        let at = |uid: &str| {
            scene
                .items
                .iter()
                .find(|item| item.id.uid == uid)
                .unwrap()
                .rect
        };
        assert_eq!(at("tray").bottom() < at("Node/n").y, over);
    }
    let refused = tray(&[
        pod("a", ""),
        pod(
            "b",
            "0/1 nodes are available: 1 node(s) were unschedulable.",
        ),
    ])
    .unwrap();
    assert_eq!(refused, (msg::tray_retried(), 1));
}

/// Creates a page that shows Nodes, with a manifest that has run for 30 seconds.
fn shown(text: &str) -> State {
    let mut state = State::new(text, 1);
    state.update(TimelineMsg::Seconds(30));
    state.update(SelectionMsg::View(&views::nodes::VIEW));
    state
}

fn tray_of(state: &mut State) -> (Message, Vec<[Message; 3]>) {
    let scene = state.picture().scene.clone();
    let trays = scene.items.iter().filter_map(|item| {
        if let CardBody::Tray { head, rows, .. } = &item.body {
            Some((head, rows))
        } else {
            None
        }
    });
    trays
        .map(|(head, rows)| (head.clone(), rows.clone()))
        .next()
        .expect("a tray")
}

#[test]
fn a_claim_that_keeps_a_pod_from_all_nodes_is_the_only_reason() {
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]\n  containers: [{name: c, image: i}]\n";
    let mut state = shown("");
    state.update(ConsoleMsg::Enter("kubectl cordon node-3".into()));
    state.update(EditorMsg::Edit(format!("{claim}---\n{pod}")));
    state.update(Msg::Apply);
    state.update(TimelineMsg::Seconds(3));
    assert_eq!(
        tray_of(&mut state).1,
        [["3 nodes", "Claim data is not bound", ""]]
    );
}

#[test]
fn the_tray_counts_the_nodes_of_each_reason_and_asks_once_per_answer() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: {disk: ssd}\n  containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}]\n";
    let mut state = shown("");
    state.update(ConsoleMsg::Enter(
        "kubectl label node node-1 disk=ssd".into(),
    ));
    state.update(ConsoleMsg::Enter(
        "kubectl taint nodes node-2 a=b:NoSchedule".into(),
    ));
    state.update(EditorMsg::Edit(
        pod.replace("cpu: 9", "cpu: 1")
            .replace("disk: ssd", "disk: none"),
    ));
    state.update(Msg::Apply);
    state.update(TimelineMsg::Seconds(3));
    let (head, rows) = tray_of(&mut state);
    assert_eq!(head, "The Pod fits on no node");
    // The first filter that refuses a node counts: the tainted one lacks the label as well.
    let expected = [
        ["1 node", "requires disk=none, node has ssd", ""],
        ["1 node", "taint a=b:NoSchedule not tolerated", ""],
        ["1 node", "requires disk=none, node has no such label", ""],
    ];
    assert_eq!(rows, expected);
    // The answer is cached per Pod.
    let asked = std::cell::Cell::new(0);
    let (mut refused, pod) = (
        views::nodes::cache::Unschedulable::default(),
        Pod {
            unscheduled: "no".into(),
            ..Pod::default()
        },
    );
    let ask = || {
        asked.set(asked.get() + 1);
        Vec::new()
    };
    refused.of(&pod, 1, &ask);
    refused.of(&pod, 1, &ask);
    assert_eq!(asked.get(), 1);
    refused.of(
        &Pod {
            unscheduled: "still no".into(),
            ..pod
        },
        1,
        &ask,
    );
    assert_eq!(asked.get(), 2);
}

#[test]
fn a_node_that_is_drained_says_which_budget_refuses() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: shop}}\n  \
                template:\n    metadata: {labels: {app: shop}}\n    spec: {containers: [{name: c, image: i}]}\n---\napiVersion: policy/v1\n\
                kind: PodDisruptionBudget\nmetadata: {name: calm}\nspec: {minAvailable: 3, selector: {matchLabels: {app: shop}}}\n";
    let mut state = shown(text);
    let notes = |state: &mut State, name: &str| {
        let scene = state.picture().scene.clone();
        let of = scene
            .items
            .iter()
            .find(|item| item.id.name == name)
            .map(|item| item.body.clone());
        let Some(CardBody::Node(body)) = of else {
            panic!("a node")
        };
        body.note.iter().map(Message::english).collect::<Vec<_>>()
    };
    state.update(ConsoleMsg::Enter("kubectl drain node-1".into()));
    state.update(TimelineMsg::Seconds(2));
    assert_eq!(
        notes(&mut state, "node-1"),
        ["Eviction refused by pdb/calm, next try in 3 s"]
    );
    assert!(
        notes(&mut state, "node-2")
            .iter()
            .all(|note| !note.contains("refused"))
    );
    // The note disappears once the drain has been given up.
    state.update(ConsoleMsg::Interrupt);
    state.update(TimelineMsg::Seconds(20));
    assert_eq!(
        notes(&mut state, "node-1"),
        ["No new Pods are scheduled here"]
    );
}

#[test]
fn a_pod_on_a_node_tells_its_workload_also_where_its_tile_is_narrow() {
    let names = ["shop-frontend", "shop-backend", "shop-recommendations"];
    let pod = |name: &str, i: usize| Pod {
        id: Id::named("Pod", &format!("{name}-5d59d67564-{i}sd2k")),
        prefix: name.len() + 12,
        family: name.len() + 1,
        node: "n".into(),
        ..Pod::default()
    };
    let roots = |names: &[&str]| -> Vec<Root> {
        let group = |name: &str| Group {
            controller: None,
            pods: (0..2).map(|i| pod(name, i)).collect(),
        };
        names
            .iter()
            .map(|name| Root {
                controller: None,
                groups: vec![group(name)],
                ..Root::default()
            })
            .collect()
    };
    let node = Node {
        id: Id::named("Node", "n"),
        ready: true,
        pods: 110,
        ..Node::default()
    };
    let nodes = Rc::new((0..6).map(|_| Rc::new(node.clone())).collect::<Vec<_>>());
    let said = |names: &[&str], width: f64| -> Vec<String> {
        let model = Model {
            roots: roots(names),
            nodes: nodes.clone(),
            ..Model::default()
        };
        let scene = layout(&model, None, width, &mut LayoutCache::default());
        let of = |item: &Rc<views::shape::Item>| match &item.body {
            CardBody::Tile { tail, note, .. } => Some(format!("{tail} {note}")),
            _ => None,
        };
        scene
            .items
            .iter()
            .filter_map(of)
            .take(names.len() * 2)
            .collect()
    };
    let narrow = said(&names, 1320.0);
    assert_eq!(
        narrow,
        [
            "0sd2k backend",
            "1sd2k backend",
            "0sd2k frontend",
            "1sd2k frontend",
            "0sd2k recomme…",
            "1sd2k recomme…"
        ]
    );
    use views::nodes::words::mark;
    let all = [
        "payments-worker-eu-central",
        "payments-worker-eu-west",
        "payments-worker-eastern-region",
    ];
    assert_eq!(
        all.map(|name| mark(name, &all, 8)),
        ["central", "west", "eastern…"]
    );
    let mixed = [
        "shop-backend",
        "shop-frontend",
        "payments-backend",
        "payments-worker",
    ];
    assert_eq!(
        mixed.map(|name| mark(name, &mixed, 8)),
        ["shop-ba…", "frontend", "pb", "worker"]
    );
    // Names with the same beginning may have different initials.
    assert_eq!(
        mark("customer-orders", &["customer-orders", "customerdata"], 7),
        "co"
    );
    // With one workload no mark is needed, and a wide card has room for the names.
    assert!(
        said(&names[..1], 1320.0)
            .iter()
            .all(|words| words.ends_with(' '))
    );
}

#[test]
fn quantities_are_those_that_kubectl_prints() {
    use views::nodes::words::{cores, memory};
    assert_eq!([50, 1500, 4000, 0].map(cores), ["50m", "1500m", "4", "0"]);
    assert_eq!(
        [64 << 20, 1536 << 20, 8 << 30, 0].map(memory),
        ["64Mi", "1536Mi", "8Gi", "0"]
    );
}
