//! A rollout over time: the ready, unready, failing and terminating Pods of each revision, between the lower and the upper limit.

mod areas;
mod layers;
mod layout;
mod model;
mod notes;

#[cfg(test)]
mod tests;

pub use layers::{Layer, Shade, Swatch};
pub use layout::layout;
pub use model::{Chart, ChartPart, ChartPath, ChartWord, RevisionKey, WordRole};

use crate::shape::Scene;
use crate::view::{
    Empty, Fit, Legend, ObjectFilter, Source, Status, Uses, View, ViewMemory, Workloads,
};
use i18n::msg;
use k8s_model::ObjectRef;
use projection::adapt;
use projection::model::Model;
use projection::rollout_track::{Extent, Track, subject};

/// Descriptor of the diagram.
pub static VIEW: View = View {
    id: "rollout",
    title: msg::view_rollout,
    icon: "i-hpa",
    legend: Legend::Hidden,
    empty: Empty {
        title: None,
        text: Some(msg::rollout_empty),
        examples: false,
        by_filter: false,
    },
    fit: Fit {
        fills: true,
        ..Fit::HANGING
    },
    status: Status::Of(Workloads::Followed),
    filter: ObjectFilter::Namespace,
    uses: Uses::NOTHING,
    refresh_ms: |_| Some(50),
    extent: Some(extent),
    draw,
};

/// Entries that a track reads for the cost of one elsewhere.
const FASTER: usize = 4;

/// Reads the history of the selected workload, or of the first one.
fn track<'m>(source: &Source, memory: &'m mut ViewMemory) -> Option<&'m Track> {
    let sim = source.sim;
    let get = |key: &ObjectRef| sim.store().get(key).cloned();
    let selected = source.selected.and_then(|key| subject(key, &get));
    let object = selected.or_else(|| subject(&adapt::first_workload(sim)?, &get))?;
    Some(memory.rollout.read(
        &object,
        source.history,
        source.epoch,
        sim.now().0 / 1000,
        source.read_limit.saturating_mul(FASTER),
    ))
}

/// Returns the extent of the chart's axes.
pub fn extent(source: &Source, memory: &mut ViewMemory) -> Option<Extent> {
    track(source, memory).map(Extent::of)
}

/// Draws the chart.
fn draw(_: &mut Model, source: &Source, memory: &mut ViewMemory) -> Scene {
    let beside = memory.beside.clone();
    let scene = track(source, memory)
        .map(|track| layout(track, beside.as_deref(), source.stage.0, source.stage.1));
    memory.lags = scene.is_some() && memory.rollout.lags;
    scene.unwrap_or_default()
}
