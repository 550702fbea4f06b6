//! Layout of Loops.

use apiserver::Actor;
use controller_runtime::fact::{Fact, FactId};
use i18n::Message;
use k8s_model::Kind;
use views::loops::layout::{ACT, ARROW, BIG, FAR, LETTER, LIST, LIST_GAP, LOWEST, SMALL, layout};
use views::loops::model::{Code, Loop, Loops, Pass, PassPhase, PassRequest, PassStep, written};
use views::shape::{CardBody, Rect, steps};

/// Builds an idle loop with this title.
fn spoke(title: &str) -> Loop {
    Loop {
        actor: Actor::kubelet(&title.into()),
        title: title.into(),
        glyph: "",
        queue: 0,
        key: Default::default(),
        writes: false,
        told: false,
        idle: false,
        slow: Message::default(),
        part: None,
    }
}

fn some(chosen: Option<usize>) -> Loops {
    let of = |name: &str| spoke(name);
    let pass = Pass {
        newest: true,
        act: Some((PassRequest::Create(Kind::Pod), 1)),
        ..Pass::default()
    };
    Loops {
        cache: None,
        loops: ["a", "b", "c", "d"].map(of).to_vec(),
        chosen,
        shown: chosen,
        pass: Some(pass),
        version: 7,
    }
}

#[test]
fn the_chosen_loop_stands_at_the_right_beside_its_panel() {
    let scene = layout(&some(Some(2)), (1200.0, 800.0));
    let (chosen, store, pass) = (
        &scene.items[3],
        &scene.items[0],
        scene.items.last().unwrap(),
    );
    assert_eq!(chosen.id.name, "kubelet c");
    assert!(
        (chosen.rect.y + BIG - store.rect.cy()).abs() < 1.0,
        "on the height of the store"
    );
    assert!(chosen.rect.cx() > store.rect.right() && chosen.rect.right() < pass.rect.x);
}

#[test]
fn a_write_goes_to_the_store_and_its_events_to_the_loops_they_wake() {
    let mut of = some(None);
    of.loops[0].writes = true;
    of.loops[1].queue = 1;
    for size in [(1200.0, 800.0), (700.0, 300.0)] {
        let scene = layout(&of, size);
        let store = &scene.items[0].rect;
        let ends = |key: &str| {
            let edge = scene.edges.iter().find(|edge| edge.key == key)?;
            let (mut at, mut way) = ((0.0, 0.0), Vec::new());
            for (verb, to) in steps(edge.carries()?) {
                at = match (verb, &to[..]) {
                    (b'V', [y]) => (at.0, *y),
                    (_, [x, y]) => (*x, *y),
                    other => panic!("{other:?}"),
                };
                way.push((at.0 - store.cx()).hypot(at.1 - store.cy()));
            }
            Some(way[0] < way[1])
        };
        assert_eq!(ends("write/kubelet a/7"), Some(false), "{size:?}");
        assert_eq!(ends("informs/kubelet b"), Some(true), "{size:?}");
        assert_eq!(ends("watch/kubelet c"), None, "{size:?}");
    }
}

#[test]
fn what_is_written_stands_within_the_stage() {
    for (chosen, shown) in (0..4).flat_map(|at| [(None, at), (Some(at), at)]) {
        let mut of = Loops {
            chosen,
            shown: Some(shown),
            ..some(chosen)
        };
        of.loops[shown].writes = true;
        of.pass = of.pass.map(|pass| Pass {
            act: Some((PassRequest::Bind(Kind::Pod, "node-9".into()), 1)),
            ..pass
        });
        let scene = layout(&of, (800.0, 652.0));
        let half = of
            .pass
            .map_or(0.0, |pass| written(&pass).length() as f64 * ACT / 2.0);
        let (label, store, panel) = (
            &scene.labels[0],
            scene.items[0].rect,
            scene.items.last().unwrap(),
        );
        assert!(
            label.x - half >= 5.9 && label.x + half <= panel.rect.x,
            "{} of {shown}",
            label.x
        );
        let text = Rect::new(label.x - half, label.y, half * 2.0, 16.0);
        let apart = text.right() <= store.x
            || text.x >= store.right()
            || text.y >= store.bottom()
            || text.bottom() <= store.y;
        assert!(apart, "{text:?} on {store:?}");
    }
}

#[test]
fn on_a_ring_no_name_touches_another() {
    let names = [
        "deployment",
        "replicaset",
        "statefulset",
        "endpoint",
        "endpointslice",
        "volume",
        "garbage collector",
        "scheduler",
    ];
    let nodes: Vec<String> = (1..=4).map(|n| format!("kubelet node-{n}")).collect();
    let titles: Vec<&str> = names
        .into_iter()
        .chain(nodes.iter().map(String::as_str))
        .collect();
    for (size, most) in [((800.0, 652.0), 11), ((1400.0, 800.0), 12)] {
        for (count, chosen) in (4..=most)
            .flat_map(|count| (0..=count).map(move |at| (count, (at < count).then_some(at))))
        {
            let of = |title: &&str| spoke(title);
            let scene = layout(
                &Loops {
                    loops: titles[titles.len() - count..].iter().map(of).collect(),
                    ..some(chosen)
                },
                size,
            );
            let name = |item: &std::rc::Rc<views::shape::Item>| match &item.body {
                CardBody::Loop {
                    of,
                    above,
                    far,
                    two,
                    big,
                } => {
                    // Beside its circle, or as much further off.
                    let long = if *two {
                        of.title.split(' ').map(str::len).max().unwrap()
                    } else {
                        of.title.len()
                    };
                    let (wide, high) = (long as f64 * LETTER, if *two { 28.0 } else { 15.0 });
                    let off = if *far { FAR } else { 0.0 };
                    let across = if *big { BIG } else { SMALL } * 2.0;
                    let y = if *above {
                        item.rect.bottom() - across - off - high - 2.0
                    } else {
                        item.rect.y + across + off + 2.0
                    };
                    Some(Rect::new(item.rect.cx() - wide / 2.0, y, wide, high))
                }
                _ => None,
            };
            let all: Vec<Rect> = scene.items.iter().filter_map(name).collect();
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    let apart = a.right() <= b.x
                        || b.right() <= a.x
                        || a.bottom() <= b.y
                        || b.bottom() <= a.y;
                    assert!(apart, "{count} {chosen:?} {size:?}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn a_name_of_two_words_breaks_before_it_leaves_its_circle() {
    let names = [
        "deployment",
        "replicaset",
        "statefulset",
        "endpointslice",
        "volume",
        "garbage collector",
        "scheduler",
    ];
    let titles = names
        .into_iter()
        .chain(["kubelet node-1", "kubelet node-2", "kubelet node-3"]);
    let loops: Vec<Loop> = titles.map(spoke).collect();
    for (size, chosen) in [(800.0, 652.0), (1400.0, 800.0)]
        .into_iter()
        .flat_map(|size| (0..10).map(move |at| (size, at)))
    {
        let scene = layout(
            &Loops {
                loops: loops.clone(),
                ..some(Some(chosen))
            },
            size,
        );
        let hangs = scene.items.iter().filter(|item| matches!(&item.body, CardBody::Loop { of, far: true, .. } if of.title.contains(' ')));
        assert_eq!(hangs.count(), 0, "{chosen} {size:?}");
    }
}

#[test]
fn without_room_for_a_ring_what_the_loop_does_begins_in_sight() {
    // A phone, the stage of a small screen, two embeds.
    for (width, height) in [
        (390.0, 584.0),
        (656.0, 476.0),
        (720.0, 332.0),
        (480.0, 272.0),
    ] {
        let names = [
            "deployment",
            "replicaset",
            "statefulset",
            "endpointslice",
            "volume",
            "garbage collector",
            "scheduler",
        ];
        let nodes = ["kubelet node-1", "kubelet node-2", "kubelet node-3"];
        let one = |i: usize| spoke(names.iter().chain(&nodes).nth(i).unwrap());
        let row = |id: FactId| Fact::name(id, "3 − 3 = 0");
        let steps = vec![
            PassStep::facts(PassPhase::Observe, vec![row(FactId::Desired); 3]),
            PassStep::facts(PassPhase::Diff, vec![row(FactId::Actual); 3]),
            PassStep::facts(PassPhase::Act, vec![row(FactId::StatusOutOfDate)]),
        ];
        let code = (0..11)
            .map(|i| Code {
                text: "    pods := active(cache.Owned(rs))".into(),
                lit: i == 4,
                ..Code::default()
            })
            .collect();
        let pass = Pass {
            steps,
            code,
            ..Pass::default()
        };
        let scene = layout(
            &Loops {
                loops: (0..10).map(one).collect(),
                pass: Some(pass),
                ..some(None)
            },
            (width, height),
        );
        let pass = scene.items.last().unwrap();
        // A phone scrolls; in every other frame all of it is in sight.
        let least = if width == 390.0 { 56.0 } else { pass.rect.h };
        assert!(
            pass.rect.y + least <= height && scene.width <= width,
            "{:?}",
            pass.rect
        );
        let (store, loops) = (scene.items[0].rect, &scene.items[1..11]);
        let above = loops
            .iter()
            .filter(|one| one.rect.bottom() < store.y)
            .count();
        let listed = height < LOWEST && width < 720.0;
        if listed {
            // Readable names stand beside each other and do not overlap.
            for (i, a) in loops.iter().enumerate() {
                assert!(
                    a.rect.x >= 16.0 && a.rect.right() <= width - 15.9 && a.rect.h == LIST,
                    "{:?}",
                    a.rect
                );
                for b in &loops[i + 1..] {
                    assert!(
                        b.rect.y > a.rect.y || b.rect.x >= a.rect.right() + LIST_GAP - 0.01,
                        "{:?} {:?}",
                        a.rect,
                        b.rect
                    );
                }
            }
        }
        // Arrows to and from the bar are long enough to be seen.
        let gap = |one: &std::rc::Rc<views::shape::Item>| {
            (store.y - one.rect.bottom()).max(one.rect.y - store.bottom())
        };
        assert!(
            listed || loops.iter().all(|one| gap(one) >= ARROW),
            "{width}"
        );
        assert!(
            above == if height < LOWEST { 10 } else { 5 }
                && loops[above..].iter().all(|one| one.rect.y > store.bottom())
        );
        assert!(loops.windows(2).all(
            |two| two[0].rect.right() <= two[1].rect.x + 0.01 || two[0].rect.y < two[1].rect.y
        ));
    }
}

#[test]
fn ring_and_panel_are_as_wide_as_the_stage_at_most() {
    for width in [780.0, 800.0, 1000.0, 1149.0, 1150.0, 1280.0, 1400.0] {
        for chosen in [None, Some(1)] {
            let scene = layout(&some(chosen), (width, 600.0));
            assert!(
                scene.width <= width && scene.height <= 600.0,
                "{width}: {}x{}",
                scene.width,
                scene.height
            );
        }
    }
}

#[test]
fn nothing_overlaps_on_the_ring() {
    let stages = [
        (4, 1200.0, 800.0),
        (9, 1200.0, 652.0),
        (12, 1200.0, 576.0),
        (16, 1200.0, 652.0),
        (10, 800.0, 652.0),
        (11, 800.0, 652.0),
    ];
    for (count, width, height) in stages {
        let loops = (0..count)
            .map(|i| Loop {
                title: String::new(),
                ..spoke(&i.to_string())
            })
            .collect();
        let scene = layout(
            &Loops {
                loops,
                ..Loops::default()
            },
            (width, height),
        );
        for (i, a) in scene.items.iter().enumerate() {
            for b in &scene.items[i + 1..] {
                let circle = |r: &Rect| Rect::new(r.cx() - SMALL, r.y, SMALL * 2.0, r.h);
                let (a, b) = (circle(&a.rect), circle(&b.rect));
                let apart =
                    a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
                assert!(apart, "{count} loops: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn a_write_of_the_spec_that_counts_no_generation_is_no_write_of_the_status() {
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(session::timeline::TimelineMsg::Seconds(10));
    state.update(session::console::ConsoleMsg::Enter(
        "kubectl cordon node-1".into(),
    ));
    state.update(session::timeline::TimelineMsg::Seconds(2));
    let of = |loops: &str, kind: Kind| {
        let all = state
            .timeline
            .run
            .journal()
            .iter()
            .filter(|entry| entry.actor.component.name() == loops);
        all.filter(|entry| entry.write().is_some_and(|(_, object)| object.kind == kind))
            .map(views::loops::pass::act)
            .next_back()
    };
    assert_eq!(
        of("node-lifecycle-controller", Kind::Node),
        Some(PassRequest::Update(Kind::Node))
    );
    assert_eq!(
        of("deployment-controller", Kind::Deployment),
        Some(PassRequest::Status(Kind::Deployment))
    );
}

#[test]
fn a_loop_that_is_a_program_shows_its_lines_and_the_one_that_decided() {
    use session::State;
    use session::selection::SelectionMsg;
    use session::timeline::TimelineMsg;
    let text = "apiVersion: loopscope.dev/v1\nkind: ControlLoop\nmetadata: {name: keep}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  owns: [{apiVersion: v1, kind: Pod}]\n  \
        program: |\n    def reconcile(key):\n        config = get(\"ConfigMap\", key)\n        if not config or not config.data or not config.data.pods: return\n        \
        for n in range(len(list(\"Pod\", owner=config)), int(config.data.pods)):\n            pod = {\"kind\": \"Pod\", \"metadata\": {\"generateName\": \"a-\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"nginx\"}]}}\n            \
        check(create(set_owner(pod, config)))\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {pods: \"3\"}\n";
    let mut state = State::new(text, 1);
    state.update(session::Msg::Stage(1100.0, 900.0));
    state.update(TimelineMsg::Seconds(5));
    state.update(SelectionMsg::View(&views::loops::VIEW));
    let scene = state.picture().scene.clone();
    let actor = scene.items.iter().find_map(|item| match &item.body {
        CardBody::Loop { of, .. } if of.title.contains("keep") => Some(of.actor.clone()),
        _ => None,
    });
    state.update(SelectionMsg::Loop(actor));
    let scene = state.picture().scene.clone();
    let pass = scene.items.iter().find_map(|item| match &item.body {
        CardBody::Pass(pass) => Some(pass.clone()),
        _ => None,
    });
    let pass = pass.expect("the panel");
    let lines: Vec<&str> = pass.code.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines[0], "def reconcile(key):");
    let lit: Vec<&str> = pass
        .code
        .iter()
        .filter(|line| line.lit)
        .map(|line| line.text.trim())
        .collect();
    assert_eq!(lit, ["check(create(set_owner(pod, config)))"]);
    let told = pass
        .code
        .iter()
        .find(|line| line.lit)
        .unwrap()
        .value
        .english();
    assert_eq!(told, "create Pod ×3");
}

#[test]
fn the_keys_of_two_queues_are_named_where_nothing_is_touched() {
    let named = |queues: &[usize], key: &str| {
        let mut of = some(None);
        for at in queues {
            (of.loops[*at].queue, of.loops[*at].key) = (1, key.into());
        }
        let scene = layout(&of, (1200.0, 800.0));
        let loops = scene.items.iter().filter_map(|item| match &item.body {
            CardBody::Loop { of, .. } => Some(!of.key.is_empty()),
            _ => None,
        });
        loops.collect::<Vec<_>>()
    };
    assert_eq!(named(&[0, 2], "web"), [true, false, true, false]);
    assert_eq!(named(&[0, 1, 2], "web"), [false; 4]);
    assert_eq!(named(&[], "web"), [false; 4]);
    // On a phone the loops stand in rows, with dots alone.
    let mut of = some(None);
    (of.loops[0].queue, of.loops[0].key) = (1, "web".into());
    let scene = layout(&of, (390.0, 600.0));
    let keyed = scene
        .items
        .iter()
        .any(|item| matches!(&item.body, CardBody::Loop { of, .. } if !of.key.is_empty()));
    assert!(!keyed);
}
