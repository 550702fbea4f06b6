//! One description of each picture: a scene is lowered to primitives, which the SVG writer, the page's component and the canvas of cells draw.

mod card_text;
mod cards;
pub mod cells;
pub mod chart;
mod controllers;
pub mod loops;
pub mod metrics;
pub mod painter;
pub mod primitive;
pub mod scene;

use self::painter::{PLAIN, Painter, TextSetting, outline};
use self::primitive::{Primitive, SMALL};
use crate::shape::{CardBody, Item, Look};

/// Returns the primitives of an item's contents, relative to the item. Its ground is `ground`.
pub fn contents(item: &Item, text: &TextSetting) -> Vec<Primitive> {
    let mut painter = Painter::new(text);
    content(&mut painter, item);
    painter.finish()
}

/// Returns the ground of an item: its shape, its state, and whether it is selected. In the page, where it reacts to the pointer, the ground
/// of a card is its element, and that of any other shape has the class `ground`.
pub fn ground(item: &Item, selected: bool, text: &TextSetting) -> Vec<Primitive> {
    let mut painter = Painter::new(text);
    match &item.body {
        CardBody::Pod { .. } | CardBody::Tile { .. } | CardBody::Gone { .. } => {
            cards::pod_ground(&mut painter, item, selected)
        }
        CardBody::Claim { .. } => cards::claim_ground(&mut painter, item, selected),
        CardBody::Cylinder { .. } => cards::cylinder_ground(&mut painter, item, selected),
        CardBody::Stored { missing, .. } => {
            cards::stored_ground(&mut painter, item, *missing, selected)
        }
        CardBody::Tray { .. } => cards::tray_ground(&mut painter, item),
        body if has_card(body) => {
            let stroke = Some(outline(selected, PLAIN));
            let small = matches!(body, CardBody::Node(node) if node.small.is_some());
            let radius = if small { 8.0 } else { 12.0 };
            painter.rect(item.rect.at_origin(), radius, "surface", stroke);
        }
        _ => {}
    }
    painter.finish()
}

/// Returns true if the ground of an item is a path, which the page draws.
pub fn has_path(body: &CardBody) -> bool {
    matches!(body, CardBody::Claim { .. } | CardBody::Cylinder { .. })
}

/// Opacity of an item.
pub fn opacity(item: &Item) -> f64 {
    let faint = match &item.body {
        CardBody::Pod { stale, .. } | CardBody::Tile { stale, .. } => *stale,
        CardBody::Controller { of, .. } => of.leaving,
        _ => false,
    };
    if faint { 0.6 } else { 1.0 }
}

/// Returns the primitives of cells, which the page paints on a canvas.
pub fn cells_of(item: &Item, text: &TextSetting) -> Vec<Primitive> {
    let mut painter = Painter::new(text);
    if let CardBody::Cells(of) = &item.body {
        cells::grid(&mut painter, of);
    }
    painter.finish()
}

/// Returns true if a body is drawn on a plain card; the others have a shape of their own.
fn has_card(body: &CardBody) -> bool {
    match body {
        CardBody::Controller { .. }
        | CardBody::Service { .. }
        | CardBody::Volume { .. }
        | CardBody::Class { .. }
        | CardBody::Node(_)
        | CardBody::Store { .. }
        | CardBody::Cache(_)
        | CardBody::Pass(_)
        | CardBody::Terminal { .. }
        | CardBody::Table(_)
        | CardBody::Chart(_)
        | CardBody::Totals { .. } => true,
        CardBody::Cells(of) => !of.bare(),
        _ => false,
    }
}

fn content(painter: &mut Painter, item: &Item) {
    match &item.body {
        CardBody::Controller { of, look } => match look {
            Look::Wide => controllers::wide(painter, item, of),
            Look::Low => controllers::brief(painter, item, of),
            Look::Stacked(budget) => controllers::stacked(painter, item, of, budget),
            Look::Tall => controllers::tall(painter, item, of),
        },
        CardBody::Service { form } => cards::service(painter, item, form),
        CardBody::Pod { .. } => cards::pod(painter, item),
        CardBody::Tile { .. } => cards::tile(painter, item),
        CardBody::Gone { name } => cards::gone(painter, item, name),
        CardBody::Cells(of) => {
            if !of.bare() {
                let size = (item.rect.w, of.at.1);
                painter.sized("counts", (0.0, 0.0), |painter| {
                    cells::counts(painter, item, of);
                    size
                });
            }
            cells::ring(painter, of);
        }
        CardBody::Claim { fact, .. } => cards::claim(painter, item, fact),
        CardBody::Cylinder { fact, data } => cards::cylinder(painter, item, fact, data),
        CardBody::Volume { fact } => cards::volume(painter, item, fact),
        CardBody::Class { reclaim } => cards::class(painter, item, reclaim),
        CardBody::Node(of) => cards::node(painter, item, of),
        CardBody::Tray {
            pods,
            aside,
            head,
            rows,
        } => cards::tray(painter, item, *pods, [aside, head], rows),
        CardBody::Totals { numbers, parts } => cells::totals(painter, item, numbers, parts),
        CardBody::Stored { fact, missing } => cards::stored(painter, item, fact, *missing),
        CardBody::Heading { text, folded } => cards::heading(painter, item, text, *folded),
        CardBody::Note(text) => {
            let text = painter.say(text);
            let room = item.rect.w - 12.0;
            painter.text(12.0, item.rect.h / 2.0, room, SMALL, &text);
        }
        CardBody::Store { version } => loops::store(painter, item, *version),
        CardBody::Cache(of) => loops::cache(painter, item, of),
        CardBody::Loop { of, above, .. } => loops::draw(painter, item, of, *above),
        CardBody::Pass(pass) => loops::pass(painter, item, pass),
        CardBody::Terminal {
            state,
            title,
            lines,
        } => cards::terminal(painter, item, *state, title, lines),
        CardBody::Table(of) => cards::table(painter, item, of),
        CardBody::Chart(of) => chart::draw(painter, item, of),
    }
}

#[cfg(test)]
mod tests {
    use super::primitive::{Anchor, Primitive};
    use super::*;
    use crate::shape::{Rect, Scene};
    use i18n::{Catalogue, Message};
    use projection::model::{
        Container, ControllerCard, Counter, Id, Metric, PodContainers, PodState, Tone,
    };
    use std::rc::Rc;

    /// Returns the texts of the lines and pills, in paint order.
    fn texts(parts: &[Primitive]) -> Vec<String> {
        let text = |part: &Primitive| match part {
            Primitive::Line(line) => vec![line.runs.iter().map(|run| run.text.as_str()).collect()],
            Primitive::Pill(pill) => vec![pill.text.clone()],
            Primitive::Group(group) => texts(&group.parts),
            _ => vec![],
        };
        parts.iter().flat_map(text).collect()
    }

    fn lowered(body: CardBody, w: f64, h: f64) -> Vec<Primitive> {
        let mut scene = Scene::default();
        let rect = Rect::new(30.0, 40.0, w, h);
        scene.put(&Id::named("Service", "shop"), rect, body, None, "", "");
        let setting = TextSetting::built_in(Catalogue::ENGLISH.into());
        contents(&scene.items[0], &setting)
    }

    #[test]
    fn a_card_is_placed_from_its_own_corner_and_equal_items_are_equal_primitives() {
        let service = || CardBody::Service {
            form: Message::state("ClusterIP"),
        };
        let parts = lowered(service(), 240.0, 52.0);
        assert_eq!(texts(&parts), ["ClusterIP", "Service", "shop"]);
        assert!(matches!(&parts[0], Primitive::Block(tile) if tile.rect.x == 12.0));
        assert_eq!(parts, lowered(service(), 240.0, 52.0));
    }

    #[test]
    fn a_slender_pod_breaks_the_word_of_its_state_before_a_capital_letter() {
        let pod = CardBody::Pod {
            state: PodState::Creating,
            lead: "web-".into(),
            tail: "0".into(),
            word: Message::state("ContainerCreating"),
            note: Message::default(),
            stale: false,
            containers: None,
        };
        assert_eq!(
            texts(&lowered(pod, 114.0, 60.0)),
            ["web-0", "Container", "Creating"]
        );
    }

    #[test]
    fn a_pod_of_several_containers_has_a_glyph_for_each_or_their_number() {
        let pod = |list: usize| {
            let one = |at: usize| Container {
                name: "c".into(),
                is_init: at == 0,
                state: PodState::Ready,
            };
            CardBody::Pod {
                state: PodState::Ready,
                lead: "web-".into(),
                tail: "0".into(),
                word: PodState::Ready.word(),
                note: Message::name("node-1"),
                stale: false,
                containers: Some(Rc::new(PodContainers {
                    ready: 2,
                    total: list - 1,
                    restarts: 4,
                    list: (0..list).map(one).collect(),
                })),
            }
        };
        let glyphs = |parts: &[Primitive]| {
            let icons = parts
                .iter()
                .filter(|part| matches!(part, Primitive::Icon(icon) if icon.size == 12.0));
            icons.count()
        };
        // Three containers, and the mark of the restarts. The node has no room beside them.
        let parts = lowered(pod(3), 196.0, 50.0);
        assert_eq!(
            (texts(&parts), glyphs(&parts)),
            (vec!["web-0".to_owned(), "4".into(), "Ready".into()], 4)
        );
        let parts = lowered(pod(12), 196.0, 50.0);
        assert_eq!(
            (texts(&parts), glyphs(&parts)),
            (
                vec![
                    "web-0".to_owned(),
                    "4".into(),
                    "2/11".into(),
                    "Ready".into()
                ],
                1
            )
        );
    }

    #[test]
    fn a_counter_stands_over_its_word_and_pops_when_it_changes() {
        let card = ControllerCard {
            id: Id::named("Deployment", "web"),
            counters: vec![Counter {
                value: "3".into(),
                metric: Metric::Ready,
                tone: Tone::Ok,
                lags: Message::default(),
            }],
            ..Default::default()
        };
        let look = Look::Tall;
        let parts = lowered(
            CardBody::Controller {
                of: card.into(),
                look,
            },
            200.0,
            105.0,
        );
        let Some(Primitive::Group(numbers)) = parts.last() else {
            panic!("{parts:?}");
        };
        assert!(
            matches!(&numbers.parts[..], [Primitive::Line(number), Primitive::Line(_)]
            if number.pops && number.anchor == Anchor::Start && number.x == 12.0)
        );
    }
}
