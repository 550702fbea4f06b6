//! The control plane at work: the ring of loops, their queues, and the last pass of the chosen one.

pub mod layout;
pub mod model;
pub mod pass;
pub mod read;

pub use read::read;

use crate::shape::Scene;
use crate::view::{
    Empty, Fit, Legend, ObjectFilter, Scale, Source, Status, Uses, View, ViewMemory,
};
use i18n::msg;
use projection::model::Model;

/// Descriptor of the diagram.
pub static VIEW: View = View {
    id: "loops",
    title: msg::view_loops,
    icon: "i-kubelet",
    legend: Legend::Signs(&[
        ("dot", msg::legend_queue_key),
        ("ln-watch", msg::legend_watch),
        ("ln-inform", msg::legend_event),
        ("ln-write", msg::legend_newest_write),
    ]),
    empty: Empty {
        title: None,
        text: None,
        examples: false,
        by_filter: false,
    },
    fit: Fit {
        scale: Scale::Fixed,
        ..Fit::HANGING
    },
    status: Status::Fixed(msg::pill_loops),
    filter: ObjectFilter::Nothing,
    uses: Uses {
        loops: true,
        endpoints: true,
        ..Uses::NOTHING
    },
    refresh_ms: |_| Some(1),
    extent: None,
    draw,
};

fn draw(_: &mut Model, source: &Source, _: &mut ViewMemory) -> Scene {
    layout::layout(&read(source.sim, source.chosen), source.stage)
}
