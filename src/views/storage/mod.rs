//! Where the data is: a column per ordinal with Pod, claim and volume; the class that provisioned them.

mod layout;
mod measures;
mod read;
mod words;

#[cfg(test)]
mod tests;

pub use layout::layout;

use crate::i18n::msg;
use crate::projection::model::Model;
use crate::views::ownership;
use crate::views::shape::Scene;
use crate::views::view::{Empty, Fit, Legend, ObjectFilter, Scale, Source, Status, Uses, View, ViewMemory, Workloads};

/// A frame lower than this shows claims beside their Pods.
const MIN_ROWS_HEIGHT: f64 = 420.0;

/// The diagram.
pub static VIEW: View = View {
    id: "storage",
    title: msg::view_storage,
    icon: "i-pv",
    legend: Legend::PodStates,
    empty: Empty { title: None, text: Some(msg::storage_empty), examples: false, by_filter: true },
    fit: Fit { scale: Scale::WholeOrFixed, ..Fit::HANGING },
    status: Status::Of(Workloads::InScope),
    filter: ObjectFilter::Words,
    uses: Uses { counters: true, ..Uses::NOTHING },
    refresh_ms: |_| None,
    extent: None,
    draw,
};

fn draw(model: &mut Model, source: &Source, _: &mut ViewMemory) -> Scene {
    model.removed = read::removed(source);
    let (width, height) = source.stage;
    // A low frame has no room for three rows; claims stand beside their Pods there.
    if height < MIN_ROWS_HEIGHT && width > height && !model.claims.is_empty() {
        return ownership::claims(model, source.uid, source.stage);
    }
    layout(model, source.uid, source.stage)
}
