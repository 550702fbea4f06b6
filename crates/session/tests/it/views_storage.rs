//! Invariants of the Storage layout.

use i18n::Message;
use projection::model::{Claim, Id, Model, Pod, PodState, Root};
use views::shape::{Label, Line, Rect, Scene};
use views::storage::layout::layout;
use views::storage::measures::{CLOSE, FLAT_BELOW, FLAT_THREE, ROOM, THREE, WIDE};

use projection::model::{Class, ControllerCard, Group, Removed, Volume, counters};
use std::rc::Rc;

const WHOLE: (f64, f64) = (800.0, 700.0);

fn web(replicas: u32, claims: u32) -> Model {
    let pod = |n: u32| Pod {
        id: Id::named("Pod", &format!("web-{n}")),
        ordinal: Some(n),
        claims: vec![format!("www-web-{n}")],
        state: PodState::Ready,
        ..Pod::default()
    };
    let claim = |n: u32| Claim {
        id: Id::named("PersistentVolumeClaim", &format!("www-web-{n}")),
        phase: "Bound".into(),
        volume: format!("pv-{n}"),
        class: "standard".into(),
        member: Some(("web".into(), n)),
        ..Claim::default()
    };
    let volume = |n: u32| Volume {
        id: Id::named("PersistentVolume", &format!("pv-{n}")),
        class: "standard".into(),
        ..Volume::default()
    };
    let set = ControllerCard {
        id: Id::named("StatefulSet", "web"),
        counters: counters(3, 3, 3),
        ..ControllerCard::default()
    };
    Model {
        roots: vec![Root {
            controller: Some(set.into()),
            groups: vec![Group {
                controller: None,
                pods: (0..replicas).map(pod).collect(),
            }],
            ..Root::default()
        }],
        claims: (0..claims).map(claim).collect(),
        volumes: (0..claims).map(volume).collect(),
        classes: vec![Class {
            id: Id::named("StorageClass", "standard"),
            reclaim: "Delete".into(),
        }],
        ..Model::default()
    }
}

fn rect(scene: &Scene, uid: &str) -> Rect {
    scene
        .items
        .iter()
        .find(|item| item.id.uid == uid)
        .expect("drawn")
        .rect
}

#[test]
fn a_member_its_claim_and_its_volume_share_a_column() {
    let scene = layout(&web(3, 3), None, WHOLE);
    let x = rect(&scene, "Pod/web-1").x;
    assert_eq!(rect(&scene, "PersistentVolumeClaim/www-web-1").x, x);
    assert_eq!(rect(&scene, "PersistentVolume/pv-1").x, x);
    assert!(
        rect(&scene, "StorageClass/standard").x > rect(&scene, "PersistentVolume/pv-2").right()
    );
    assert!(scene.width <= 830.0, "{}", scene.width);
}

#[test]
fn a_scale_down_leaves_the_columns_of_the_claims() {
    let scene = layout(&web(1, 3), None, WHOLE);
    assert_eq!(
        rect(&scene, "PersistentVolumeClaim/www-web-2").x,
        rect(&layout(&web(3, 3), None, WHOLE), "Pod/web-2").x
    );
    assert_eq!(
        scene
            .items
            .iter()
            .filter(|item| item.id.kind == "Pod")
            .count(),
        1
    );
}

#[test]
fn three_columns_stand_whole_on_a_small_screen_and_the_bar_is_as_wide_as_they_are() {
    for (pods, desired) in [(1, 1), (2, 2), (3, 3), (5, 5), (1, 3)] {
        let mut model = web(pods, pods);
        let of = model.roots[0]
            .controller
            .as_mut()
            .map(Rc::make_mut)
            .unwrap();
        (of.desired, of.claims) = (desired, true);
        for (width, height) in [
            (656.0, 476.0),
            (800.0, 700.0),
            (1200.0, 700.0),
            (390.0, 600.0),
        ] {
            let scene = layout(&model, None, (width, height));
            let (bar, first, last) = (
                rect(&scene, "StatefulSet/web"),
                rect(&scene, "Pod/web-0"),
                rect(&scene, &format!("Pod/web-{}", pods - 1)),
            );
            assert_eq!(bar.x, first.x);
            // The space for all members is reserved from the beginning, and does not grow with each Pod.
            let coming = (desired - pods as usize) as f64
                * if width < 560.0 {
                    THREE.pitch
                } else if width < ROOM {
                    CLOSE.pitch
                } else {
                    WIDE.pitch
                };
            assert_eq!(bar.right(), last.right() + coming, "{pods} {width}");
            if pods == 3 {
                assert!(scene.width <= width, "{width}: {}", scene.width);
                assert!(
                    width < 560.0 || scene.height <= height,
                    "{width}: {}",
                    scene.height
                );
            }
        }
    }
}

#[test]
fn a_set_of_more_members_stands_whole_as_long_as_its_columns_can_be_read() {
    for (pods, width, whole) in [
        (4, 800.0, true),
        (5, 800.0, true),
        (5, 656.0, false),
        (4, 656.0, true),
        (5, 1280.0, true),
        (9, 800.0, false),
    ] {
        let mut model = web(pods, pods);
        let of = model.roots[0]
            .controller
            .as_mut()
            .map(Rc::make_mut)
            .unwrap();
        (of.desired, of.claims) = (pods as usize, true);
        let scene = layout(&model, None, (width, 700.0));
        assert_eq!(
            scene.width <= width,
            whole,
            "{pods} in {width}: {}",
            scene.width
        );
        assert!(
            rect(&scene, "Pod/web-0").w >= THREE.column,
            "{pods} in {width}"
        );
    }
}

#[test]
fn a_claim_that_outlives_its_pod_is_told_of_and_nothing_moves_for_it() {
    let mut model = web(3, 3);
    let quiet = layout(&model, None, WHOLE);
    model.removed = Some(Removed {
        id: Id::named("Pod", "web-1"),
        claims: vec!["www-web-1".into()],
        by_user: true,
        back: false,
    });
    model.claims[1].capacity = "1Gi".into();
    let told = layout(&model, None, WHOLE);
    assert_eq!((told.width, told.height), (quiet.width, quiet.height));
    let words = |scene: &Scene| {
        scene
            .labels
            .iter()
            .find(|label| label.role == views::shape::LabelRole::Kept)
            .map(|label| label.text.clone())
    };
    assert_eq!(words(&quiet), None);
    assert_eq!(
        words(&told).as_deref(),
        Some("You deleted Pod web-1, not its claim: www-web-1 keeps its 1Gi")
    );
    model.removed.as_mut().unwrap().back = true;
    assert_eq!(
        words(&layout(&model, None, WHOLE)).as_deref(),
        Some("You deleted Pod web-1, not its claim: the new Pod uses www-web-1 again")
    );
}

/// Creates two Deployments that mount a claim each, one below the other.
fn deployments() -> Model {
    let mut model = web(1, 2);
    let root = |name: &str, n: u32| {
        let of = |kind: &str, name: &str| ControllerCard {
            id: Id::named(kind, name),
            counters: counters(1, 1, 1),
            ..ControllerCard::default()
        };
        let pod = Pod {
            id: Id::named("Pod", &format!("{name}-1-a")),
            claims: vec![format!("www-web-{n}")],
            state: PodState::Ready,
            ..Pod::default()
        };
        let sets = vec![Group {
            controller: Some(of("ReplicaSet", &format!("{name}-1")).into()),
            pods: std::iter::once(pod).collect(),
        }];
        Root {
            controller: Some(of("Deployment", name).into()),
            groups: sets,
            ..Root::default()
        }
    };
    model.roots = vec![root("a", 0), root("b", 1)];
    model
        .claims
        .iter_mut()
        .for_each(|claim| claim.member = None);
    model
}

#[test]
fn between_a_deployment_and_its_pod_stands_what_owns_the_pod() {
    for size in [WHOLE, (390.0, 600.0), (720.0, 500.0), (720.0, 332.0)] {
        let scene = layout(&deployments(), None, size);
        let at = |uid: &str| {
            scene
                .items
                .iter()
                .position(|item| item.id.uid == uid)
                .expect("drawn")
        };
        let parent = |uid: &str| scene.items[at(uid)].parent;
        assert_eq!(parent("Pod/a-1-a"), Some(at("ReplicaSet/a-1")));
        assert_eq!(parent("ReplicaSet/a-1"), Some(at("Deployment/a")));
        let (of, set, pod) = (
            rect(&scene, "Deployment/a"),
            rect(&scene, "ReplicaSet/a-1"),
            rect(&scene, "Pod/a-1-a"),
        );
        assert!(
            of.bottom() + 8.0 < set.y && set.bottom() + 8.0 < pod.y,
            "{of:?} {set:?} {pod:?}"
        );
    }
}

#[test]
fn what_a_class_provisions_is_joined_to_it_beside_other_cards() {
    for size in [(390.0, 600.0), (430.0, 900.0)] {
        let scene = layout(&deployments(), None, size);
        let ways: Vec<_> = scene
            .edges
            .iter()
            .filter(|edge| edge.line == Line::Provides)
            .collect();
        let below = rect(&scene, "Deployment/b");
        // The first leaves above the card below it, and crosses no card on the way down.
        let first = ways.iter().find(|edge| {
            edge.d.starts_with(&format!(
                "M{} {}V",
                below.cx(),
                rect(&scene, "PersistentVolume/pv-0").bottom()
            ))
        });
        let mut numbers = first
            .expect("drawn")
            .d
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .filter_map(|n| n.parse::<f64>().ok());
        let (out, aside) = (numbers.nth(2).unwrap(), numbers.next().unwrap());
        assert!(out < below.y, "{out} {below:?}");
        assert!(
            aside < below.x || aside > below.right(),
            "{aside} {below:?}"
        );
    }
}

#[test]
fn small_sets_stand_side_by_side_where_there_is_room() {
    for size in [WHOLE, (720.0, 500.0), (720.0, 332.0)] {
        let scene = layout(&deployments(), None, size);
        let (a, b) = (rect(&scene, "Deployment/a"), rect(&scene, "Deployment/b"));
        assert!(a.y == b.y && a.right() < b.x, "{a:?} {b:?}");
        assert_eq!(
            scene
                .labels
                .iter()
                .filter(
                    |label| label.role == views::shape::LabelRole::RowName && label.text == "Pod"
                )
                .count(),
            1
        );
        assert!(scene.width <= size.0, "{} {size:?}", scene.width);
        // The line of a provisioner leaves at the bottom, and crosses nothing.
        assert!(scene.edges.iter().any(|edge| edge.line == Line::Provides));
    }
}

#[test]
fn the_column_of_what_is_selected_is_highlighted() {
    assert_eq!(
        layout(&web(3, 3), Some("PersistentVolume/pv-2"), WHOLE)
            .bands
            .len(),
        1
    );
    assert!(layout(&web(3, 3), None, WHOLE).bands.is_empty());
    assert!(layout(&Model::default(), None, WHOLE).items.is_empty());
}

/// Creates a set as the page shows it: each claim with its size, one with retained claims.
fn bound(replicas: u32, state: PodState) -> Model {
    let mut model = web(replicas, replicas);
    let of = model.roots[0]
        .controller
        .as_mut()
        .map(Rc::make_mut)
        .unwrap();
    (of.desired, of.claims) = (replicas as usize, true);
    let pods = model.roots[0].groups[0]
        .pods
        .iter()
        .map(|pod| Pod {
            state,
            ..(**pod).clone()
        })
        .collect();
    model.roots[0].groups[0].pods = pods;
    for (claim, volume) in model.claims.iter_mut().zip(&mut model.volumes) {
        claim.capacity = "1Gi".into();
        (volume.capacity, volume.phase, volume.data) =
            ("1Gi".into(), "Bound".into(), Message::name("hello web-0"));
    }
    model.removed = Some(Removed {
        id: Id::named("Pod", "web-0"),
        claims: vec!["www-web-0".into()],
        by_user: true,
        back: false,
    });
    model
}

fn meet(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Bounds of a label, at 5.6 pixels per character.
fn place(label: &Label) -> Rect {
    let wide = label.text.length() as f64 * 5.6;
    Rect::new(
        if label.centred {
            label.x - wide / 2.0
        } else {
            label.x
        },
        label.y,
        wide,
        16.0,
    )
}

#[test]
fn in_a_low_stage_all_down_to_the_volumes_and_the_note_is_in_sight() {
    for (width, height) in [
        (720.0, 332.0),
        (760.0, 400.0),
        (1000.0, 400.0),
        (500.0, 332.0),
    ] {
        for replicas in [1, 2, 3] {
            for state in [PodState::Ready, PodState::Terminating, PodState::Creating] {
                let scene = layout(
                    &bound(replicas, state),
                    Some("PersistentVolume/pv-0"),
                    (width, height),
                );
                let said = format!("{replicas} in {width}x{height}, {state:?}");
                assert!(
                    scene.width <= width && scene.height <= height,
                    "{said}: {} {}",
                    scene.width,
                    scene.height
                );
                for kind in ["Pod", "PersistentVolumeClaim", "PersistentVolume"] {
                    assert_eq!(
                        scene
                            .items
                            .iter()
                            .filter(|item| item.id.kind == kind)
                            .count(),
                        replicas as usize,
                        "{said}: {kind}"
                    );
                }
                let words: Vec<Rect> = scene.labels.iter().map(place).collect();
                let cards: Vec<Rect> = scene.items.iter().map(|item| item.rect).collect();
                for (at, card) in cards.iter().enumerate() {
                    assert!(
                        card.x >= 0.0
                            && card.y >= 0.0
                            && card.right() <= width
                            && card.bottom() <= height,
                        "{said}: {card:?}"
                    );
                    assert!(
                        !cards[..at]
                            .iter()
                            .chain(&words)
                            .any(|other| meet(card, other)),
                        "{said}: {card:?}"
                    );
                }
                for (at, word) in words.iter().enumerate() {
                    assert!(
                        word.right() <= width && word.bottom() <= height,
                        "{said}: {word:?}"
                    );
                    assert!(
                        !words[..at].iter().any(|other| meet(word, other)),
                        "{said}: {word:?}"
                    );
                }
                // The reason for waiting and the retained claims are shown too.
                let says = |text: &str| scene.labels.iter().any(|label| label.text == text);
                assert!(
                    scene
                        .labels
                        .iter()
                        .any(|label| label.role == views::shape::LabelRole::Kept),
                    "{said}"
                );
                assert!(says(match state {
                    PodState::Ready => "mounted",
                    PodState::Terminating => "claim kept",
                    _ if width < 560.0 && replicas > 2 => "not mounted",
                    _ => "waiting to be mounted",
                }));
            }
        }
    }
}

#[test]
fn what_is_flat_depends_on_the_stage_alone() {
    let rows = |model: &Model, height: f64| {
        let scene = layout(model, None, (720.0, height));
        [
            "Pod/web-0",
            "PersistentVolumeClaim/www-web-0",
            "PersistentVolume/pv-0",
        ]
        .map(|uid| (rect(&scene, uid).y, rect(&scene, uid).h))
    };
    let flat = rows(&web(2, 2), 332.0);
    assert_eq!(flat, rows(&web(2, 2), FLAT_BELOW - 1.0));
    for model in [
        web(3, 3),
        web(1, 3),
        bound(2, PodState::Ready),
        bound(3, PodState::Pending),
    ] {
        assert_eq!(rows(&model, 332.0), flat);
    }
    // In the narrower columns of more members only the Pod is higher.
    let narrower = rows(&web(5, 5), 332.0);
    assert_eq!(
        narrower.map(|(_, high)| high),
        [FLAT_THREE.pod, flat[1].1, flat[2].1]
    );
    assert_ne!(flat, rows(&web(2, 2), FLAT_BELOW));
    // The tallest set in the compact layout has its volumes above the controls.
    let last = rows(&web(2, 2), FLAT_BELOW)[2];
    assert!(last.0 + last.1 + 44.0 <= FLAT_BELOW, "{last:?}");
}

#[test]
fn at_usual_heights_the_rows_stand_where_they_stood() {
    let of = |replicas: u32, size: (f64, f64)| {
        let scene = layout(&bound(replicas, PodState::Ready), None, size);
        let of = |uid: &str| (rect(&scene, uid).y, rect(&scene, uid).h);
        let rows = [
            "StatefulSet/web",
            "Pod/web-0",
            "PersistentVolumeClaim/www-web-0",
            "PersistentVolume/pv-0",
        ]
        .map(of);
        (rows, scene.height)
    };
    let low = |bar: f64| {
        [
            (10.0, bar),
            (bar + 62.0, 52.0),
            (bar + 148.0, 60.0),
            (bar + 242.0, 96.0),
        ]
    };
    let high = |bar: f64| {
        [
            (16.0, bar),
            (bar + 86.0, 52.0),
            (bar + 198.0, 60.0),
            (bar + 310.0, 128.0),
        ]
    };
    assert_eq!(of(3, (656.0, 476.0)), (low(54.0), 470.0));
    assert_eq!(of(2, (720.0, 500.0)), (low(84.0), 500.0));
    assert_eq!(of(3, (1100.0, 700.0)), (high(54.0), 568.0));
    assert_eq!(of(2, (1100.0, 700.0)), (high(84.0), 598.0));
}

#[test]
fn a_statefulset_that_a_person_deletes_leaves_its_claims_and_says_so() {
    use session::State;
    use session::console::ConsoleMsg;
    use session::selection::SelectionMsg;
    use session::timeline::TimelineMsg;
    let mut state = State::new((session::examples::ALL[2].text)(), 1);
    state.update(TimelineMsg::Seconds(30));
    state.update(SelectionMsg::View(&views::storage::VIEW));
    state.update(ConsoleMsg::Enter(
        "kubectl delete statefulset web --wait=false".into(),
    ));
    state.update(TimelineMsg::Seconds(40));
    let mut notes = || {
        state
            .picture()
            .scene
            .labels
            .iter()
            .filter(|label| label.role == views::shape::LabelRole::Kept)
            .map(|label| label.text.english())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        notes(),
        ["You deleted StatefulSet web, not its claims: 2 keep their data"]
    );
}
