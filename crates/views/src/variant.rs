//! Variants of shapes by size, so that the drawing code compares no widths.

use crate::shape::{CardBody, Item, Look, Rect};

/// Width of a storage column on a phone, without glyphs.
const SLENDER: f64 = 150.0;

/// Returns true if a shape has no room for a glyph.
pub fn is_slender(width: f64) -> bool {
    width < SLENDER
}

/// Returns true if a controller's caption is its revision alone.
pub fn has_short_caption(width: f64) -> bool {
    width < 190.0
}

/// Returns true if the numbers of a controller are spaced closely.
pub fn has_tight_numbers(width: f64) -> bool {
    width < 200.0
}

/// Returns true if a controller in a low frame is small.
pub fn is_small_controller(width: f64) -> bool {
    width < 160.0
}

/// Returns true if the counts over cells are thin.
pub fn has_thin_counts(width: f64) -> bool {
    width < 180.0
}

/// Returns true if a stored object has two lines.
pub fn has_two_lines(rect: Rect) -> bool {
    rect.h > 30.0
}

/// Returns true if a controller with counters beside the name has them below it.
pub fn has_counters_below(rect: Rect) -> bool {
    rect.h > 60.0
}

/// Returns true if there is no room for the pill beside the counters of a controller.
pub fn has_no_pill(rect: Rect) -> bool {
    rect.h < 50.0 && rect.w < 480.0
}

/// Returns true if a volume's cylinder is flat.
pub fn is_slim_cylinder(height: f64) -> bool {
    height < 80.0
}

/// Returns true if a Service has one line of text.
pub fn is_flat_service(rect: Rect) -> bool {
    rect.h < 50.0
}

/// Returns true if the kind and the name of a flat Service have a line each.
pub fn has_narrow_name(rect: Rect) -> bool {
    rect.w < 360.0
}

/// Returns true if a flat Service has a small tile.
pub fn is_slim_service(rect: Rect) -> bool {
    rect.h < 40.0
}

/// Returns true if a Pod is a single line.
pub fn is_line(rect: Rect) -> bool {
    rect.h < 40.0
}

/// Returns true if a tile has narrow margins.
pub fn is_slim_tile(rect: Rect) -> bool {
    rect.w < 60.0
}

/// Returns true if the note of a tile stands below its name.
pub fn has_note_below(rect: Rect, note: bool) -> bool {
    rect.w < 120.0 && rect.h > 28.0 && note
}

/// Returns true if a claim is low.
pub fn is_slim_claim(rect: Rect) -> bool {
    rect.h < 50.0
}

/// Number of lines of a claim's name.
pub fn claim_lines(rect: Rect) -> usize {
    if is_slim_claim(rect) { 1 } else { 2 }
}

/// Returns true if the two parts of the store stand side by side.
pub fn is_low_store(rect: Rect) -> bool {
    rect.h < 100.0
}

/// Returns true if the store is a single line.
pub fn is_store_line(rect: Rect) -> bool {
    rect.h < 40.0
}

/// Returns true if a loop is its icon and its name in a line.
pub fn is_loop_line(rect: Rect) -> bool {
    rect.h < 24.0
}

/// Returns true if the ring of a loop is low.
pub fn is_low_loop(rect: Rect) -> bool {
    rect.h < 70.0
}

/// Returns true if the ring of a loop is small.
pub fn is_small_loop(rect: Rect) -> bool {
    rect.w < 132.0
}

/// Returns true if a terminal has a small font.
pub fn is_tight_terminal(rect: Rect) -> bool {
    rect.w < 210.0
}

/// Returns true if a band is a line between two parts.
pub fn divides(band: Rect) -> bool {
    band.h < 2.0
}

fn present<const N: usize>(all: [Option<&'static str>; N]) -> Vec<&'static str> {
    all.into_iter().flatten().collect()
}

/// Returns the classes of an item: its shape, its state, and its variant.
pub fn classes(item: &Item) -> Vec<&'static str> {
    let rect = item.rect;
    match &item.body {
        CardBody::Controller { of, look } => {
            let of_look = match look {
                Look::Wide if has_counters_below(rect) => "wide two",
                Look::Wide => "wide",
                Look::Low => "brief",
                _ => "",
            };
            present([Some("card"), Some(of_look), of.leaving.then_some("leaving")])
        }
        CardBody::Service { .. } if is_flat_service(rect) => present([
            Some("card"),
            Some("flat"),
            has_narrow_name(rect).then_some("two"),
            is_slim_service(rect).then_some("slim"),
        ]),
        CardBody::Stored { missing, .. } => present([
            Some("card"),
            Some("chip"),
            has_two_lines(rect).then_some("two"),
            missing.then_some("missing"),
        ]),
        CardBody::Service { .. } | CardBody::Volume { .. } | CardBody::Class { .. } => {
            present([Some("card")])
        }
        CardBody::Cells(cells) if cells.bare() => present([Some("cells"), Some("bare")]),
        CardBody::Cells(_) => present([Some("card"), Some("cells")]),
        CardBody::Pod { state, stale, .. } => {
            let thin = (is_slender(rect.w) && !is_line(rect)).then_some("thin");
            present([
                Some("pod"),
                Some(state.class()),
                is_line(rect).then_some("line"),
                thin,
                stale.then_some("stale"),
            ])
        }
        CardBody::Tile {
            state,
            note,
            stale,
            kin,
            old,
            ..
        } => {
            let slim = is_slim_tile(rect).then_some("slim");
            let two = has_note_below(rect, !note.is_empty()).then_some("two");
            present([
                Some("pod"),
                Some("tile"),
                Some(state.class()),
                slim,
                two,
                stale.then_some("stale"),
                kin.then_some("kin"),
                old.then_some("older"),
            ])
        }
        CardBody::Gone { .. } => present([Some("pod"), Some("tile"), Some("gone")]),
        CardBody::Claim { .. } => present([Some("ticket"), is_slim_claim(rect).then_some("slim")]),
        CardBody::Cylinder { .. } => {
            present([Some("cylinder"), is_slim_cylinder(rect.h).then_some("slim")])
        }
        CardBody::Node(node) => {
            let small = node.small.is_some().then_some("small");
            let down = (!node.ready).then_some("down");
            present([Some("card"), Some("node"), small, down])
        }
        CardBody::Tray { .. } => present([Some("tray")]),
        CardBody::Totals { .. } => present([Some("card"), Some("totals")]),
        CardBody::Heading { folded, .. } => present([Some("heading"), folded.then_some("folded")]),
        CardBody::Note(_) => present([Some("foldnote")]),
        CardBody::Cache(_) => present([Some("card"), Some("cache")]),
        CardBody::Store { .. } => present([
            Some("card"),
            Some("store"),
            is_low_store(rect).then_some("low"),
            is_store_line(rect).then_some("line"),
        ]),
        CardBody::Loop {
            of,
            big,
            above,
            far,
            two,
        } => present([
            Some("loop"),
            is_low_loop(rect).then_some("low"),
            (!of.slow.is_empty()).then_some("slow"),
            of.part.map(|_| "part"),
            is_loop_line(rect).then_some("line"),
            big.then_some("big"),
            is_small_loop(rect).then_some("small"),
            above.then_some("above"),
            far.then_some("far"),
            two.then_some("two"),
            of.writes.then_some("writes"),
            of.told.then_some("arcs"),
        ]),
        CardBody::Pass(_) => present([Some("card"), Some("pass")]),
        CardBody::Terminal { .. } => present([
            Some("card"),
            Some("term"),
            is_tight_terminal(rect).then_some("tight"),
        ]),
        CardBody::Table(_) => present([Some("card"), Some("table")]),
        CardBody::Chart(_) => present([Some("card"), Some("chart")]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Scene;
    use projection::model::Id;

    fn of(body: CardBody, w: f64, h: f64) -> Vec<&'static str> {
        let mut scene = Scene::default();
        scene.put(
            &Id::default(),
            Rect::new(0.0, 0.0, w, h),
            body,
            None,
            "",
            "",
        );
        classes(&scene.items[0])
    }

    #[test]
    fn a_variant_is_chosen_by_the_room_there_is() {
        let claim = || CardBody::Claim {
            fact: Default::default(),
            bound: true,
        };
        assert_eq!(of(claim(), 172.0, 60.0), ["ticket"]);
        assert_eq!(of(claim(), 172.0, 40.0), ["ticket", "slim"]);
        let cylinder = || CardBody::Cylinder {
            fact: Default::default(),
            data: Default::default(),
        };
        assert_eq!(of(cylinder(), 172.0, 96.0), ["cylinder"]);
        assert_eq!(of(cylinder(), 172.0, 70.0), ["cylinder", "slim"]);
        let service = || CardBody::Service {
            form: Default::default(),
        };
        assert_eq!(of(service(), 320.0, 60.0), ["card"]);
        assert_eq!(of(service(), 370.0, 44.0), ["card", "flat"]);
        assert_eq!(of(service(), 300.0, 36.0), ["card", "flat", "two", "slim"]);
        assert_eq!(
            of(CardBody::Store { version: 1 }, 100.0, 36.0),
            ["card", "store", "low", "line"]
        );
        assert_eq!((is_slender(114.0), is_slender(172.0)), (true, false));
    }
}
