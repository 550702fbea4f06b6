//! Storage: a column per ordinal with Pod, claim and volume; the class that provisioned them.

pub mod layout;
pub mod measures;
mod mounts;
mod read;
mod words;

pub use layout::layout;

use crate::shape::Scene;
use crate::view::{
    Empty, Fit, Legend, ObjectFilter, Scale, Source, Status, Uses, View, ViewMemory, Workloads,
};
use i18n::msg;
use projection::model::Model;

/// Descriptor of the diagram.
pub static VIEW: View = View {
    id: "storage",
    title: msg::view_storage,
    icon: "i-pv",
    legend: Legend::PodStates,
    empty: Empty {
        title: None,
        text: Some(msg::storage_empty),
        examples: false,
        by_filter: true,
    },
    fit: Fit {
        scale: Scale::WholeOrFixed,
        has_low_form: true,
        ..Fit::HANGING
    },
    status: Status::Of(Workloads::InScope),
    filter: ObjectFilter::Words,
    uses: Uses {
        counters: true,
        ..Uses::NOTHING
    },
    refresh_ms: |_| None,
    extent: None,
    draw,
};

fn draw(model: &mut Model, source: &Source, _: &mut ViewMemory) -> Scene {
    model.removed = read::removed(source);
    layout(model, source.uid, source.stage)
}
