//! Invariants of the Ownership layout.

use k8s_model::natural::natural_cmp;
use projection::model::{Claim, ControllerCard, Group, Id, Model, Pod, PodState, Root, Used};
use views::grouping::{GroupBy, Grouping};
use views::ownership::measures::LEAST;
use views::shape::{CardBody, Line, Rect, Scene};

use projection::model::{Endpoint, Service, Volume, counters};
use std::rc::Rc;

fn layout(model: &Model, selected: Option<&str>, size: (f64, f64)) -> Scene {
    views::ownership::layout(
        model,
        selected,
        &Grouping::default(),
        size,
        &mut Default::default(),
    )
}

/// Lays out trees, however many there are.
fn trees(model: &Model, size: (f64, f64)) -> Scene {
    let grouping = Grouping {
        by: GroupBy::Nothing,
        ..Grouping::default()
    };
    views::ownership::layout(model, None, &grouping, size, &mut Default::default())
}

fn pod(name: &str, state: PodState) -> Pod {
    Pod {
        id: Id::named("Pod", name),
        state,
        word: state.word(),
        ..Pod::default()
    }
}

fn group(set: &str, pods: usize) -> Group {
    Group {
        controller: Some(
            ControllerCard {
                id: Id::named("ReplicaSet", set),
                counters: counters(2, 2, 2),
                footer: "nginx:1.25".into(),
                ..ControllerCard::default()
            }
            .into(),
        ),
        pods: (0..pods)
            .map(|i| pod(&format!("{set}-{i}"), PodState::Ready))
            .collect(),
    }
}

fn deployment(groups: Vec<Group>) -> Model {
    let controller = ControllerCard {
        id: Id::named("Deployment", "nginx"),
        counters: counters(3, 4, 3),
        desired: 3,
        surplus: 1,
        ..ControllerCard::default()
    };
    Model {
        roots: vec![Root {
            controller: Some(controller.into()),
            groups,
            ..Root::default()
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

fn nothing_overlaps(scene: &Scene) {
    for (i, a) in scene.items.iter().enumerate() {
        for b in &scene.items[i + 1..] {
            let apart = a.rect.right() <= b.rect.x
                || b.rect.right() <= a.rect.x
                || a.rect.bottom() <= b.rect.y
                || b.rect.bottom() <= a.rect.y;
            assert!(
                apart,
                "{} covers {}: {:?} {:?}",
                a.id.uid, b.id.uid, a.rect, b.rect
            );
        }
    }
}

#[test]
fn a_parent_is_centred_on_its_children_and_nothing_overlaps() {
    let scene = layout(
        &deployment(vec![group("a", 3), group("b", 2)]),
        None,
        (800.0, 700.0),
    );
    assert_eq!(
        rect(&scene, "ReplicaSet/a").cy(),
        rect(&scene, "Pod/a-1").cy()
    );
    let middle = (rect(&scene, "ReplicaSet/a").cy() + rect(&scene, "ReplicaSet/b").cy()) / 2.0;
    assert_eq!(rect(&scene, "Deployment/nginx").cy(), middle);
    nothing_overlaps(&scene);
    assert!(scene.width <= 800.0, "{}", scene.width);
}

#[test]
fn one_state_draws_one_picture() {
    let model = deployment(vec![group("a", 3), group("b", 9)]);
    assert_eq!(
        layout(&model, Some("Pod/a-1"), (800.0, 700.0)),
        layout(&model.clone(), Some("Pod/a-1"), (800.0, 700.0))
    );
}

#[test]
fn pods_fold_into_tiles_then_cells_then_dense_cells() {
    let bodies = |n: usize| {
        let scene = layout(&deployment(vec![group("a", n)]), None, (800.0, 700.0));
        nothing_overlaps(&scene);
        let cells = scene.items.iter().find_map(|item| match &item.body {
            CardBody::Cells(cells) => Some((cells.pods.len(), cells.pitch)),
            _ => None,
        });
        let tiles = scene
            .items
            .iter()
            .filter(|item| matches!(item.body, CardBody::Tile { .. }))
            .count();
        let cards = scene
            .items
            .iter()
            .filter(|item| matches!(item.body, CardBody::Pod { .. }))
            .count();
        (cards, tiles, cells)
    };
    assert_eq!(bodies(0), (0, 0, None));
    assert_eq!(bodies(6), (6, 0, None));
    assert_eq!(bodies(7), (0, 7, None));
    assert_eq!(bodies(24), (0, 24, None));
    assert_eq!(bodies(25), (0, 0, Some((25, 10.0))));
    assert_eq!(bodies(200), (0, 0, Some((200, 10.0))));
    assert_eq!(bodies(201), (0, 0, Some((201, 8.0))));
    assert_eq!(bodies(30_000), (0, 0, Some((30_000, 5.0))));
}

#[test]
fn a_leaving_pod_has_a_fading_edge_and_the_chosen_path_is_drawn_last() {
    let mut model = deployment(vec![group("a", 2)]);
    model.roots[0].groups[0]
        .pods
        .replace(0, Rc::new(pod("a-0", PodState::Terminating)));
    let scene = layout(&model, Some("Pod/a-1"), (800.0, 700.0));
    let line = |key: &str| {
        scene
            .edges
            .iter()
            .find(|edge| edge.key == key)
            .expect("drawn")
            .line
    };
    assert_eq!(line("Pod/a-0"), Line::Leaving);
    assert_eq!(line("Pod/a-1"), Line::Chosen);
    assert_eq!(line("ReplicaSet/a"), Line::Chosen);
    assert_eq!(scene.edges.last().map(|edge| edge.line), Some(Line::Chosen));
}

#[test]
fn a_service_reaches_the_pods_in_its_endpoints_and_owns_nothing() {
    let mut model = deployment(vec![group("a", 3)]);
    let endpoint = |pod: &str, ready| projection::model::Endpoint {
        pod: pod.into(),
        ready,
        ..Default::default()
    };
    let endpoints = vec![endpoint("a-0", true), endpoint("a-1", false)];
    model.services.push(Rc::new(Service {
        id: Id::named("Service", "nginx"),
        selector: "app=nginx".into(),
        endpoints,
        ..Service::default()
    }));
    let scene = layout(&model, None, (800.0, 700.0));
    let ports: Vec<bool> = scene.ports.iter().map(|port| port.full).collect();
    assert_eq!(ports, [true, false]);
    assert!(scene.items.iter().all(|item| {
        item.parent
            .is_none_or(|parent| scene.items[parent].id.kind != "Service")
    }));
    nothing_overlaps(&scene);
}

#[test]
fn claims_and_volumes_follow_their_pod_and_outlive_it() {
    let mut member = pod("web-0", PodState::Ready);
    member.claims = vec!["www-web-0".into()];
    let claim = |name: &str| Claim {
        id: Id::named("PersistentVolumeClaim", name),
        phase: "Bound".into(),
        volume: "pv-1".into(),
        ..Claim::default()
    };
    let set = ControllerCard {
        id: Id::named("StatefulSet", "web"),
        counters: counters(1, 1, 1),
        ..ControllerCard::default()
    };
    let model = Model {
        roots: vec![Root {
            controller: Some(set.into()),
            groups: vec![Group {
                controller: None,
                pods: [member].into_iter().collect(),
            }],
            ..Root::default()
        }],
        claims: vec![claim("www-web-0"), claim("www-web-1")],
        volumes: vec![Volume {
            id: Id::named("PersistentVolume", "pv-1"),
            ..Volume::default()
        }],
        ..Model::default()
    };
    let scene = layout(&model, None, (800.0, 700.0));
    let at = |uid: &str| {
        scene
            .items
            .iter()
            .position(|item| item.id.uid == uid)
            .expect("drawn")
    };
    assert_eq!(
        scene.items[at("PersistentVolumeClaim/www-web-0")].parent,
        Some(at("Pod/web-0"))
    );
    assert_eq!(
        scene.items[at("PersistentVolume/pv-1")].parent,
        Some(at("PersistentVolumeClaim/www-web-0"))
    );
    assert_eq!(
        scene.items[at("PersistentVolumeClaim/www-web-1")].parent,
        None
    );
    nothing_overlaps(&scene);
    nothing_overlaps(&layout(&model, None, (390.0, 700.0)));
}

/// Trees of a Deployment and its Service each.
fn shops(count: usize, pods: usize) -> Model {
    let mut model = Model::default();
    for i in 0..count {
        let mut root = deployment(vec![group(&format!("set{i}"), pods)])
            .roots
            .remove(0);
        let of = Rc::make_mut(root.controller.as_mut().unwrap());
        (of.id, of.labels, of.desired) = (
            Id::named("Deployment", &format!("shop{i}")),
            vec![format!("app=shop{i}")],
            pods,
        );
        let endpoint = |pod: &Rc<Pod>| projection::model::Endpoint {
            pod: pod.id.name.clone(),
            ready: true,
            ..Default::default()
        };
        let endpoints = root.groups[0].pods.iter().map(endpoint).collect();
        let id = Id::named("Service", &format!("shop{i}"));
        model.services.push(Rc::new(Service {
            id,
            selector: format!("app=shop{i}"),
            endpoints,
            ..Service::default()
        }));
        model.roots.push(root);
    }
    model
}

#[test]
fn chips_of_many_workloads_are_drawn_some_at_a_time() {
    let mut chips = views::ownership::ChipMemory::default();
    let mut passes = |model: &Model, most: usize| {
        let mut lay_out = || {
            chips.begin(Some(most));
            let scene = views::ownership::layout(
                model,
                Some("Pod/set7-1"),
                &Grouping::default(),
                (800.0, 560.0),
                &mut chips,
            );
            (chips.end(), scene)
        };
        let cut = std::iter::from_fn(|| Some(lay_out()).filter(|(whole, _)| !whole))
            .take(10)
            .count();
        let (whole, scene) = lay_out();
        assert!(whole && scene == layout(model, Some("Pod/set7-1"), (800.0, 560.0)));
        cut
    };
    let mut model = shops(40, 2);
    // The selected one is a tree; the rest are chips.
    assert_eq!((passes(&model, 15), passes(&model, 15)), (2, 0));
    for at in [3, 20, 30] {
        Rc::make_mut(model.roots[at].controller.as_mut().unwrap()).counters = counters(2, 1, 1);
    }
    assert_eq!((passes(&model, 2), passes(&model, 1)), (1, 0));
    // A chip shows the Service that selects it as well; removed objects are forgotten.
    model.services.remove(30);
    assert_eq!((passes(&model, 1), passes(&model, 1)), (0, 0));
    model.roots.truncate(20);
    assert_eq!(passes(&model, 30), 0);
}

#[test]
fn a_service_stands_over_its_tree_and_its_line_crosses_no_other() {
    let scene = layout(&shops(4, 2), None, (800.0, 560.0));
    nothing_overlaps(&scene);
    for i in 0..4 {
        let (service, root) = (
            rect(&scene, &format!("Service/shop{i}")),
            rect(&scene, &format!("Deployment/shop{i}")),
        );
        assert!(
            service.x == root.x && service.bottom() < root.y && root.y - service.bottom() < 60.0
        );
        let (from, to) = (service.y, rect(&scene, &format!("Pod/set{i}-1")).bottom());
        let own = scene
            .edges
            .iter()
            .filter(|edge| edge.key.starts_with(&format!("Service/shop{i}")));
        for number in own.flat_map(|edge| edge.d.split('V').skip(1)) {
            let y: f64 = number
                .split(|c: char| c.is_alphabetic())
                .next()
                .unwrap()
                .parse()
                .unwrap();
            assert!(from <= y && y <= to, "{y} not in {from}..{to}");
        }
    }
    assert_eq!(scene.ports.len(), 8);
}

#[test]
fn trees_stand_in_columns_where_height_is_the_limit() {
    let (narrow, wide) = (
        trees(&shops(11, 2), (800.0, 560.0)),
        trees(&shops(11, 2), (1600.0, 800.0)),
    );
    assert!(narrow.width <= 800.0 / LEAST && wide.width <= 1600.0 / LEAST);
    assert!(
        wide.height < narrow.height * 0.6,
        "{} {}",
        wide.height,
        narrow.height
    );
    nothing_overlaps(&wide);
}

#[test]
fn a_rollout_moves_no_other_tree_while_it_goes_on() {
    let at = |old: usize, new: usize, uses: usize| {
        let mut model = shops(2, 3);
        let named = |name: &str, n: usize| Group {
            pods: (0..n)
                .map(|i| pod(&format!("{name}-{i}"), PodState::Ready))
                .collect(),
            ..group(name, 0)
        };
        model.roots[0].groups = vec![named("set0", old), named("next", new)];
        model.uses = (0..uses)
            .map(|i| used("ConfigMap", &format!("c{i}"), &["Deployment/shop0"]))
            .collect();
        layout(&model, None, (800.0, 560.0))
    };
    for uses in [0, 4] {
        let first = at(3, 1, uses);
        for (old, new) in [(3, 1), (2, 2), (3, 2), (1, 3), (2, 3)] {
            let scene = at(old, new, uses);
            nothing_overlaps(&scene);
            let named = (0..uses).map(|i| format!("ConfigMap/c{i}"));
            // The newer revision moves up where the older one shrinks: both stay within their area.
            let others = [
                "Deployment/shop0",
                "Pod/set0-0",
                "Deployment/shop1",
                "Service/shop1",
            ];
            for uid in others.into_iter().map(String::from).chain(named) {
                assert_eq!(
                    rect(&scene, &uid),
                    rect(&first, &uid),
                    "{uid}, {old} and {new}"
                );
            }
            assert_eq!((scene.width, scene.height), (first.width, first.height));
        }
    }
}

/// Creates a Deployment in a rolling update with a number of Pods of each revision.
fn update(desired: usize, surge: usize, old: usize, new: usize) -> Model {
    let mut model = shops(1, desired);
    let of = Rc::make_mut(model.roots[0].controller.as_mut().unwrap());
    of.surplus = surge;
    let named = |name: &str, n: usize| Group {
        pods: (0..n)
            .map(|i| pod(&format!("{name}-{i}"), PodState::Ready))
            .collect(),
        ..group(name, 0)
    };
    model.roots[0].groups = vec![
        named("nginx-7b7f8bfb66", old),
        named("nginx-75dc64fcbd", new),
    ];
    model
}

#[test]
fn an_update_has_room_for_the_pods_that_there_can_be_at_one_time_and_no_more() {
    // Height of the stage on a page of 1440 by 900 at 100 %.
    let at = |old, new| layout(&update(4, 1, old, new), None, (760.0, 588.0));
    let first = at(4, 1);
    assert!(first.height <= 588.0 - 44.0, "{}", first.height);
    for (old, new) in [(4, 1), (3, 2), (2, 3), (1, 4), (4, 0)] {
        let scene = at(old, new);
        nothing_overlaps(&scene);
        assert_eq!(
            (scene.height, rect(&scene, "Deployment/shop0")),
            (first.height, rect(&first, "Deployment/shop0"))
        );
        let bottom = |set: &str, pods: usize| {
            rect(&scene, &format!("Pod/nginx-{set}-{}", pods - 1)).bottom()
        };
        if new > 0 {
            let gap = rect(&scene, "Pod/nginx-75dc64fcbd-0").y - bottom("7b7f8bfb66", old);
            assert!(gap <= 36.0 + 136.0 - 52.0, "{old} and {new}: {gap}");
        }
    }
}

#[test]
fn a_low_frame_shows_both_revisions_of_an_update_without_smaller_letters() {
    for (size, most) in [
        ((480.0, 272.0), 3),
        ((480.0, 232.0), 3),
        ((720.0, 332.0), 4),
        ((844.0, 250.0), 3),
    ] {
        for desired in 1..=most {
            for (old, new) in [(desired, 1), (1, desired)] {
                let scene = layout(&update(desired, 1, old, new), None, size);
                nothing_overlaps(&scene);
                assert!(
                    scene.width <= size.0 && scene.height <= size.1,
                    "{desired} at {size:?}: {} {}",
                    scene.width,
                    scene.height
                );
            }
        }
    }
    // More Pods fold into tiles, and their update fits as well.
    for desired in [5, 6, 8, 10, 12] {
        let scene = layout(
            &update(desired, desired.div_ceil(4), desired, desired.div_ceil(4)),
            None,
            (480.0, 272.0),
        );
        nothing_overlaps(&scene);
        assert!(
            scene.width <= 480.0 && scene.height <= 272.0,
            "{desired}: {} {}",
            scene.width,
            scene.height
        );
    }
}

#[test]
fn a_service_that_reaches_two_trees_stands_over_both() {
    let mut model = shops(2, 2);
    for root in &mut model.roots {
        Rc::make_mut(root.controller.as_mut().unwrap())
            .labels
            .push("tier=web".into());
    }
    let endpoints = model
        .services
        .iter()
        .flat_map(|service| service.endpoints.clone())
        .collect();
    model.services.push(Rc::new(Service {
        id: Id::named("Service", "z"),
        selector: "tier=web".into(),
        endpoints,
        ..Service::default()
    }));
    let scene = layout(&model, None, (800.0, 560.0));
    nothing_overlaps(&scene);
    assert!(rect(&scene, "Service/z").bottom() < rect(&scene, "Service/shop0").y);
    assert_eq!(scene.ports.len(), 8);
}

#[test]
fn two_blocks_of_cells_have_a_stub_each() {
    let mut model = shops(1, 100);
    model.roots[0].groups.push(group("next", 60));
    // A block that no EndpointSlice lists has no port; one without a ready Pod has a hollow port.
    let full = |model: &Model| {
        layout(model, None, (800.0, 560.0))
            .ports
            .iter()
            .map(|port| port.full)
            .collect::<Vec<_>>()
    };
    assert_eq!(full(&model), [true]);
    let next = model.roots[0].groups[1].pods.iter().map(|pod| Endpoint {
        pod: pod.id.name.clone(),
        ..Endpoint::default()
    });
    let next: Vec<Endpoint> = next.collect();
    Rc::make_mut(&mut model.services[0]).endpoints.extend(next);
    Rc::make_mut(&mut model.services[0])
        .endpoints
        .sort_by(|a, b| natural_cmp(&a.pod, &b.pod));
    assert_eq!(full(&model), [true, false]);
    let scene = layout(&model, None, (800.0, 560.0));
    let blocks = scene
        .items
        .iter()
        .filter(|item| matches!(item.body, CardBody::Cells(_)))
        .map(|item| (item.rect.right() + 7.0, item.rect.cy()));
    let ports: Vec<(f64, f64)> = scene.ports.iter().map(|port| (port.x, port.y)).collect();
    assert_eq!(ports, blocks.collect::<Vec<_>>());
}

#[test]
fn of_many_pods_both_revisions_are_in_sight_and_the_older_one_stays_where_it_was() {
    let at = |groups: &[(&str, usize)]| {
        let mut model = shops(1, 1);
        let root = &mut model.roots[0];
        root.groups = groups.iter().map(|(set, pods)| group(set, *pods)).collect();
        Rc::make_mut(root.controller.as_mut().unwrap()).desired = 5_000;
        layout(&model, None, (800.0, 590.0))
    };
    let block = |scene: &Scene, set: &str| {
        scene
            .items
            .iter()
            .find(|item| item.id.kind == "Pods" && item.id.name == set)
            .unwrap()
            .rect
    };
    let (rest, update) = (
        at(&[("set0", 5_000)]),
        at(&[("set0", 3_750), ("next", 2_500)]),
    );
    nothing_overlaps(&update);
    let (old, new) = (block(&update, "set0"), block(&update, "next"));
    assert!(old.right() < new.x && old.y == new.y, "{old:?} {new:?}");
    assert!(
        update.width <= 800.0 / LEAST + 1.0 && new.bottom() < (590.0 - 44.0) / LEAST + 40.0,
        "{} {new:?}",
        update.width
    );
    // Existing cards do not move, and the picture does not grow.
    let before = block(&rest, "set0");
    assert_eq!((before.x, before.y, before.w), (old.x, old.y, old.w));
    for uid in ["Deployment/shop0", "ReplicaSet/set0", "Service/shop0"] {
        assert_eq!(rect(&rest, uid), rect(&update, uid), "{uid}");
    }
    assert_eq!((rest.width, rest.height), (update.width, update.height));
    // The two blocks take the whole width, below their root.
    let root = rect(&rest, "Deployment/shop0");
    assert!(
        root.bottom() < old.y && old.x == root.x && new.right() == root.right() && root.w > 700.0,
        "{root:?} {old:?} {new:?}"
    );
    // Of three revisions, the newest two stand in the first row.
    let three = at(&[("set0", 2_000), ("next", 1_000), ("last", 2_000)]);
    nothing_overlaps(&three);
    assert!(
        block(&three, "last").y == block(&three, "next").y
            && block(&three, "set0").y > block(&three, "last").y
    );
}

fn used(kind: &str, name: &str, users: &[&str]) -> Used {
    let named = |user: &str| {
        user.split_once('/')
            .map_or_else(Id::default, |(kind, name)| Id::named(kind, name))
    };
    Used {
        id: Id::named(kind, name),
        what_for: vec!["env".into()],
        users: users.iter().map(|user| named(user)).collect(),
        missing: false,
    }
}

#[test]
fn cards_are_narrower_before_letters_are_smaller() {
    for width in [656.0, 700.0, 800.0, 1200.0] {
        for trees in [1, 2, 5] {
            let scene = layout(&shops(trees, 3), None, (width, 460.0));
            nothing_overlaps(&scene);
            assert!(scene.width <= width, "{trees} at {width}: {}", scene.width);
        }
    }
}

#[test]
fn what_a_tree_names_stands_below_its_root_and_what_several_name_below_all() {
    for size in [(800.0, 560.0), (1600.0, 800.0), (390.0, 700.0)] {
        for pods in [1, 5, 30] {
            let mut model = shops(2, pods);
            model.uses = vec![
                used("ConfigMap", "own", &["Deployment/shop1"]),
                used("Secret", "both", &["Deployment/shop0", "Deployment/shop1"]),
                used("ServiceAccount", "robot", &["Deployment/shop1"]),
            ];
            let scene = layout(&model, None, size);
            nothing_overlaps(&scene);
            let at = |uid: &str| {
                scene
                    .items
                    .iter()
                    .position(|item| item.id.uid == uid)
                    .expect("drawn")
            };
            assert_eq!(
                scene.items[at("ConfigMap/own")].parent,
                Some(at("Deployment/shop1"))
            );
            assert_eq!(scene.items[at("Secret/both")].parent, None);
            let (root, own, robot) = (
                rect(&scene, "Deployment/shop1"),
                rect(&scene, "ConfigMap/own"),
                rect(&scene, "ServiceAccount/robot"),
            );
            assert!(own.y > root.bottom() && own.x == root.x && robot.y > own.bottom());
            let lowest = scene
                .items
                .iter()
                .map(|item| item.rect.bottom())
                .fold(0.0, f64::max);
            assert_eq!(rect(&scene, "Secret/both").bottom(), lowest);
            let lines = |scene: &Scene| -> Vec<String> {
                scene
                    .edges
                    .iter()
                    .filter(|edge| edge.line == Line::Uses)
                    .map(|edge| edge.key.clone())
                    .collect()
            };
            let own = [
                "Deployment/shop1>ConfigMap/own",
                "Deployment/shop1>ServiceAccount/robot",
            ];
            assert_eq!(lines(&scene), own);
            // A shared object has its lines while one of its users is selected; otherwise the number of its users is shown.
            let looked = layout(&model, Some("Deployment/shop0"), size);
            assert_eq!(
                lines(&looked),
                [
                    own[0],
                    "Deployment/shop0>Secret/both",
                    "Deployment/shop1>Secret/both",
                    own[1]
                ]
            );
            let CardBody::Stored { fact, .. } = &scene.items[at("Secret/both")].body else {
                panic!("its card")
            };
            assert_eq!(fact, "env · used by 2 objects");
        }
    }
}

#[test]
fn pods_without_an_owner_have_lines_to_what_they_name_and_what_is_missing_is_dashed() {
    let mut model = Model {
        roots: vec![Root {
            controller: None,
            groups: vec![Group {
                controller: None,
                pods: group("a", 3).pods,
            }],
            ..Root::default()
        }],
        uses: vec![
            used("ConfigMap", "own", &["Pod/a-0", "Pod/a-2"]),
            used("Secret", "none", &["Pod/a-1"]),
        ],
        ..Model::default()
    };
    model.uses[1].missing = true;
    for size in [(800.0, 560.0), (390.0, 700.0)] {
        let scene = layout(&model, Some("ConfigMap/own"), size);
        nothing_overlaps(&scene);
        let lines: Vec<(&str, Line)> = scene
            .edges
            .iter()
            .filter(|edge| edge.key.contains('>'))
            .map(|edge| (edge.key.as_str(), edge.line))
            .collect();
        assert_eq!(
            lines,
            [
                ("Pod/a-1>Secret/none", Line::Waits),
                ("Pod/a-0>ConfigMap/own", Line::Chosen),
                ("Pod/a-2>ConfigMap/own", Line::Chosen)
            ]
        );
        assert!(
            scene
                .items
                .iter()
                .any(|item| item.label == "Secret none, not found, used by Pod a-1")
        );
    }
}

/// Corners of a path of straight lines with rounded corners.
fn corners(d: &str) -> Vec<(f64, f64)> {
    let spaced: String = d
        .chars()
        .map(|c| {
            if c.is_alphabetic() {
                format!(" {c} ")
            } else {
                c.to_string()
            }
        })
        .collect();
    let mut words = spaced.split_whitespace();
    let (mut at, mut out) = ((0.0, 0.0), Vec::new());
    while let Some(verb) = words.next() {
        let mut number = || {
            words
                .next()
                .and_then(|word| word.parse::<f64>().ok())
                .expect("a number")
        };
        at = match verb {
            "H" => (number(), at.1),
            "V" => (at.0, number()),
            "Q" => {
                let _ = (number(), number());
                (number(), number())
            }
            _ => (number(), number()),
        };
        out.push(at);
    }
    out
}

fn lines_cross_no_card(scene: &Scene) {
    for edge in scene
        .edges
        .iter()
        .filter(|edge| edge.key.contains(">ConfigMap/"))
    {
        let ends: Vec<&str> = edge.key.split('>').collect();
        for pair in corners(&edge.d).windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            assert!(x1 >= 0.0 && x2 >= 0.0, "{}: {}", edge.key, edge.d);
            for item in scene
                .items
                .iter()
                .filter(|item| !ends.contains(&item.id.uid.as_str()))
            {
                let r = item.rect;
                let across = x1.max(x2) > r.x + 0.5 && x1.min(x2) < r.right() - 0.5;
                assert!(
                    !across || y1.max(y2) <= r.y + 0.5 || y1.min(y2) >= r.bottom() - 0.5,
                    "{} through {}",
                    edge.key,
                    item.id.uid
                );
            }
        }
    }
}

#[test]
fn lines_to_what_is_named_lead_past_all_other_cards() {
    let of = |trees: usize| {
        (0..trees)
            .map(|i| format!("Deployment/shop{i}"))
            .collect::<Vec<_>>()
    };
    for (trees, pods, own, shared) in [
        (1, 3, 40, 0),
        (2, 30, 7, 3),
        (4, 3, 2, 8),
        (10, 3, 0, 30),
        (11, 2, 1, 9),
    ] {
        for size in [
            (1600.0, 900.0),
            (900.0, 600.0),
            (640.0, 500.0),
            (390.0, 700.0),
            (320.0, 600.0),
        ] {
            let mut model = shops(trees, pods);
            let all = of(trees);
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            model.uses = (0..own)
                .map(|i| used("ConfigMap", &format!("own{i}"), &all[..1]))
                .collect();
            model
                .uses
                .extend((0..shared).map(|i| used("ConfigMap", &format!("shared{i}"), &all)));
            model
                .uses
                .iter_mut()
                .take(1)
                .for_each(|one| one.missing = true);
            let scene = self::trees(&model, size);
            nothing_overlaps(&scene);
            lines_cross_no_card(&scene);
            let first = &model.uses[0].id.uid;
            assert!(
                scene
                    .edges
                    .iter()
                    .any(|edge| edge.line == Line::Waits && edge.key.ends_with(first)),
                "what is missing has its card"
            );
            let cards = scene
                .items
                .iter()
                .filter(|item| matches!(item.body, CardBody::Stored { .. }))
                .count();
            let more: usize = scene
                .items
                .iter()
                .filter_map(|item| match &item.body {
                    CardBody::Note(text) => text
                        .strip_prefix('+')?
                        .split(' ')
                        .next()?
                        .parse::<usize>()
                        .ok(),
                    _ => None,
                })
                .sum();
            assert_eq!(cards + more, own + shared, "{trees} {pods} {size:?}");
        }
    }
}

#[test]
fn many_pods_without_an_owner_have_one_line_together() {
    for pods in [3, 12, 60, 300] {
        let users: Vec<String> = (0..pods).map(|i| format!("Pod/a-{i}")).collect();
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        let mut model = shops(1, 2);
        model.roots.push(Root {
            controller: None,
            groups: vec![Group {
                controller: None,
                pods: group("a", pods).pods,
            }],
            ..Root::default()
        });
        model.uses = vec![
            used("ConfigMap", "one", &users),
            used("ConfigMap", "two", &users[..2]),
        ];
        for size in [(1600.0, 900.0), (900.0, 600.0), (390.0, 700.0)] {
            let scene = layout(&model, None, size);
            nothing_overlaps(&scene);
            lines_cross_no_card(&scene);
            let lines = scene
                .edges
                .iter()
                .filter(|edge| edge.line == Line::Uses)
                .count();
            assert_eq!(lines, if pods <= 6 { 3 + 2 } else { 2 }, "{pods} {size:?}");
        }
    }
}

#[test]
fn a_phone_gets_a_stack_that_fits_its_width() {
    let scene = layout(
        &deployment(vec![group("a", 3), group("b", 40)]),
        None,
        (390.0, 700.0),
    );
    nothing_overlaps(&scene);
    assert!(scene.width <= 390.0, "{}", scene.width);
}

#[test]
fn a_frame_too_narrow_for_a_tree_shows_the_root_and_its_pods() {
    // The stage of an embed of 320 by 300 pixels.
    let size = (320.0, 212.0);
    for groups in [
        vec![group("a", 2)],
        vec![group("a", 4)],
        vec![group("a", 1), group("b", 2)],
    ] {
        let scene = layout(&deployment(groups), None, size);
        nothing_overlaps(&scene);
        lines_cross_no_card(&scene);
        assert!(
            scene.width <= size.0 && scene.height <= size.1 + 12.0,
            "{} {}",
            scene.width,
            scene.height
        );
        assert_eq!(scene.items[0].id.kind, "Deployment");
    }
    let many = layout(&deployment(vec![group("a", 3), group("b", 40)]), None, size);
    nothing_overlaps(&many);
    assert!(many.width <= size.0, "{}", many.width);
}

#[test]
fn groups_stand_below_their_headings_and_fold() {
    let of = |scene: &Scene, uid: &str| scene.items.iter().position(|item| item.id.uid == uid);
    for size in [(800.0, 560.0), (390.0, 700.0), (700.0, 300.0)] {
        let model = shops(4, 2);
        let mut grouping = Grouping {
            by: GroupBy::Kind,
            ..Grouping::default()
        };
        let scene =
            views::ownership::layout(&model, None, &grouping, size, &mut Default::default());
        nothing_overlaps(&scene);
        let headings: Vec<&Id> = scene
            .items
            .iter()
            .filter(|item| matches!(item.body, CardBody::Heading { .. }))
            .map(|item| &item.id)
            .collect();
        assert_eq!(headings.len(), 1);
        let heading = of(&scene, &headings[0].uid).unwrap();
        let roots: Vec<usize> = model
            .roots
            .iter()
            .map(|root| of(&scene, &root.controller.as_ref().unwrap().id.uid).expect("drawn"))
            .collect();
        assert!(
            roots
                .iter()
                .all(|root| scene.items[*root].parent == Some(heading)
                    && scene.items[*root].rect.y > scene.items[heading].rect.y)
        );
        let plain = layout(&model, None, size);
        assert_eq!(scene.items.len(), plain.items.len() + 1, "nothing is lost");
        grouping.toggle(headings[0].uid.clone());
        let folded =
            views::ownership::layout(&model, None, &grouping, size, &mut Default::default());
        assert_eq!(folded.items.len(), 1, "only the heading is left");
        assert!(
            matches!(&folded.items[0].body, CardBody::Heading { folded: true, text } if text.english() == "Deployment — 4 of 4 ready")
        );
        // Without grouping the picture is unchanged, even for many workloads.
        let grouping = Grouping {
            by: GroupBy::Nothing,
            ..Grouping::default()
        };
        assert_eq!(
            views::ownership::layout(&model, None, &grouping, size, &mut Default::default()),
            plain
        );
    }
}

#[test]
fn how_a_replicaset_was_scaled_in_an_earlier_rollout_is_not_told_in_the_next() {
    use session::console::ConsoleMsg;
    use session::timeline::TimelineMsg;
    use session::{State, examples};
    let mut state = State::new((examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(30));
    let mut chips = |image: &str, seconds: i64| {
        state.update(ConsoleMsg::Enter(format!(
            "kubectl set image deployment/nginx-deployment nginx={image}"
        )));
        state.update(TimelineMsg::Seconds(seconds));
        let scene = state.picture().scene.clone();
        let sets = scene.items.iter().filter_map(|item| match &item.body {
            CardBody::Controller { of, .. } if item.id.kind == "ReplicaSet" => {
                Some(of.chip.to_string())
            }
            _ => None,
        });
        sets.collect::<Vec<_>>()
    };
    // Setting the same image again starts no rollout: the current one goes on.
    let seen: Vec<String> = (0..10).flat_map(|_| chips("nginx:1.27", 1)).collect();
    assert!(seen.iter().any(|chip| chip.contains('→')), "{seen:?}");
    // The ReplicaSet scaled up last time is not scaled now: no new Pod becomes ready.
    assert_eq!(
        chips("nginx:9.99", 20).first().map(String::as_str),
        Some("")
    );
}

#[test]
fn a_budget_says_which_eviction_it_refuses_until_none_is_asked_for() {
    use session::console::ConsoleMsg;
    use session::timeline::TimelineMsg;
    let budget = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: calm}\nspec: {minAvailable: 2, selector: {matchLabels: {app: nginx}}}\n";
    let mut state = session::State::new(&[(session::examples::ALL[0].text)(), budget].concat(), 1);
    state.update(TimelineMsg::Seconds(10));
    let told = |state: &mut session::State| {
        let scene = state.picture().scene.clone();
        scene
            .labels
            .iter()
            .map(|label| label.text.english())
            .find(|text| text.contains("refused"))
    };
    assert_eq!(told(&mut state), None);
    for node in 1..=3 {
        state.update(ConsoleMsg::Enter(format!("kubectl drain node-{node}")));
        state.update(TimelineMsg::Seconds(1));
        if told(&mut state).is_some() {
            break;
        }
        state.update(ConsoleMsg::Interrupt);
    }
    assert!(
        told(&mut state).is_some_and(|text| text.ends_with("refused, next try in 4 s")),
        "{:?}",
        told(&mut state)
    );
    state.update(ConsoleMsg::Interrupt);
    state.update(TimelineMsg::Seconds(10));
    assert_eq!(told(&mut state), None);
}
