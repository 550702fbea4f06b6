//! Each diagram as SVG, drawn from the objects of a small cluster.

use i18n::{Catalogue, Message};
use projection::model::{Id, Pod, PodBlock, PodState};
use std::rc::Rc;
use views::draw::painter::TextSetting;
use views::shape::{CardBody, Rect, Scene};
use views::shape::{Cells, Line};
use views::svg::style::Style;
use views::svg::*;

fn id(kind: &str, name: &str) -> Id {
    Id {
        kind: kind.into(),
        name: name.into(),
        uid: format!("{kind}/{name}"),
        ..Id::default()
    }
}

fn text() -> TextSetting {
    TextSetting::built_in(Rc::new(Catalogue::ENGLISH))
}

fn svg(scene: Scene, selected: &str) -> String {
    picture(Rc::new(scene), selected, Style::built_in(false), text())
}

#[test]
fn a_name_with_markup_stays_text_and_each_icon_comes_once() {
    let mut scene = Scene {
        width: 400.0,
        height: 200.0,
        ..Scene::default()
    };
    let name = "<script>alert(1)</script>";
    for at in 0..60 {
        let rect = Rect::new(0.0, 60.0 * f64::from(at), 400.0, 60.0);
        scene.put(
            &id("Service", name),
            rect,
            CardBody::Service {
                form: Message::state("ClusterIP"),
            },
            None,
            "",
            "",
        );
    }
    let text = svg(scene, "");
    assert!(
        !text.contains("<script") && text.contains("&lt;script&gt;"),
        "{text}"
    );
    assert_eq!(text.matches("<symbol id=\"i-service\"").count(), 1);
    assert!(!text.contains("var(") && !text.contains('$'), "{text}");
}

#[test]
fn a_selected_item_has_the_accent_and_an_edge_the_colour_of_its_line() {
    let mut scene = Scene {
        width: 400.0,
        height: 200.0,
        ..Scene::default()
    };
    scene.put(
        &id("PersistentVolume", "pv"),
        Rect::new(0.0, 0.0, 180.0, 52.0),
        CardBody::Volume {
            fact: Message::state("1Gi"),
        },
        None,
        "",
        "",
    );
    scene.link("a".into(), "M0 0H9".into(), Line::Bound);
    assert!(svg(scene.clone(), "PersistentVolume/pv").contains("stroke=\"#326CE5\""));
    let plain = svg(scene, "");
    assert!(
        !plain.contains("stroke=\"#326CE5\"")
            && plain.contains("<path d=\"M0 0H9\" fill=\"none\" stroke=\"#7048C6\""),
        "{plain}"
    );
}

#[test]
fn cells_are_a_path_for_each_state_and_revision() {
    let states = [
        PodState::Ready,
        PodState::Ready,
        PodState::Pending,
        PodState::Failed,
    ];
    let pods: PodBlock = states
        .into_iter()
        .map(|state| Pod {
            state,
            ..Pod::default()
        })
        .collect();
    let cells = Cells {
        pods,
        columns: 2,
        side: 7.0,
        pitch: 8.0,
        at: (0.0, 0.0),
        old: 1,
        ring: None,
    };
    let mut scene = Scene {
        width: 100.0,
        height: 100.0,
        ..Scene::default()
    };
    scene.put(
        &id("Node", "n"),
        Rect::new(0.0, 0.0, 16.0, 16.0),
        CardBody::Cells(cells),
        None,
        "",
        "",
    );
    let text = svg(scene, "");
    // The newest and an older revision, Failed with its cross, the corners of Pending.
    assert_eq!(text.matches("fill=\"#1B9A59\"").count(), 2, "{text}");
    assert_eq!(
        (
            text.matches("fill=\"#D23B3B\"").count(),
            text.matches("fill=\"#6B7488\"").count()
        ),
        (1, 1)
    );
    assert!(text.contains("opacity=\"0.4\""));
}

#[test]
fn pieces_joined_are_the_picture() {
    let mut scene = Scene {
        width: 400.0,
        height: 200.0,
        ..Scene::default()
    };
    for at in 0..100 {
        scene.put(
            &id("Note", "n"),
            Rect::new(0.0, f64::from(at), 40.0, 20.0),
            CardBody::Note(Message::name("x")),
            None,
            "",
            "",
        );
    }
    let scene = Rc::new(scene);
    let mut pieces = Pieces::new(scene.clone(), "", Style::built_in(true), text());
    let all: Vec<String> = pieces.by_ref().collect();
    assert_eq!(all.len(), 2 + 100_usize.div_ceil(ITEMS_PER_PIECE));
    assert_eq!(
        pieces.head() + &all.concat() + TAIL,
        picture(scene, "", Style::built_in(true), text())
    );
}

#[test]
fn the_name_of_a_pod_that_is_gone_is_struck_through() {
    let mut scene = Scene {
        width: 400.0,
        height: 200.0,
        ..Scene::default()
    };
    scene.put(
        &id("Pod", "web-0"),
        Rect::new(0.0, 0.0, 160.0, 28.0),
        CardBody::Gone {
            name: "web-0".into(),
        },
        None,
        "",
        "",
    );
    assert_eq!(
        svg(scene, "")
            .matches("text-decoration=\"line-through\"")
            .count(),
        1
    );
}

/// Draws each example in each diagram, small and low, in both themes: a document without external references.
#[test]
fn every_diagram_of_every_example_is_written() {
    for example in session::examples::ALL {
        let mut state = session::State::new((example.text)(), 1);
        while !state.advance(k8s_model::Time(12_000_000), 1_000_000) {}
        for (view, stage) in views::ALL.iter().flat_map(|view| {
            [(1200.0, 700.0), (700.0, 300.0), (390.0, 560.0)].map(|stage| (*view, stage))
        }) {
            (state.selection.view, state.drawing.stage) = (view, stage);
            let scene = state.picture().scene.clone();
            let text = picture(scene.clone(), "", Style::built_in(stage.0 > 1000.0), text());
            let what = format!("{} in {} at {stage:?}", example.file, view.id);
            assert!(
                text.starts_with("<svg ") && text.ends_with("</svg>") && !text.contains("var("),
                "{what}"
            );
            assert_eq!(
                text.matches("<g").count(),
                text.matches("</g>").count(),
                "{what}"
            );
            assert!(!text.contains("NaN") && !text.contains("inf\""), "{what}");
            for icon in text
                .split("href=\"#")
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
            {
                assert!(
                    text.contains(&format!("<symbol id=\"{icon}\"")),
                    "{what}: {icon}"
                );
            }
            // The names of all objects that are cards.
            let named = scene
                .items
                .iter()
                .filter(|item| matches!(item.body, CardBody::Service { .. }) && item.rect.h > 0.0);
            for item in named {
                assert!(
                    text.contains(&item.id.name[..4]),
                    "{what}: {}",
                    item.id.name
                );
            }
        }
    }
}
