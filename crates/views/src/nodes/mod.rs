//! Placement of Pods: a card per Node with its requests, and the tray of unscheduled Pods.

pub mod cache;
pub mod layout;
mod read;
pub mod tray;
pub mod words;

use cache::by_node;
use layout::DENSE;
use tray::WaitingPods;

pub use cache::LayoutCache;
pub use layout::layout;

use crate::shape::Scene;
use crate::view::{Empty, Fit, Legend, ObjectFilter, Source, Status, Uses, View, ViewMemory};
use i18n::msg;
use projection::model::Model;

/// Descriptor of the diagram.
pub static VIEW: View = View {
    id: "nodes",
    title: msg::view_nodes,
    icon: "i-node",
    legend: Legend::PodStates,
    empty: Empty {
        title: None,
        text: Some(msg::nodes_empty),
        examples: false,
        by_filter: false,
    },
    fit: Fit {
        keeps_head: true,
        ..Fit::HANGING
    },
    status: Status::Summary,
    filter: ObjectFilter::Words,
    uses: Uses {
        nodes: true,
        ..Uses::NOTHING
    },
    refresh_ms: read::refresh_ms,
    extent: None,
    draw,
};

fn draw(model: &mut Model, source: &Source, memory: &mut ViewMemory) -> Scene {
    read::count_down(model, source);
    read::drains(model, source.sim);
    // Computed once per answer of the scheduler, not for every picture.
    if let Some(pod) = WaitingPods::of(
        model,
        by_node(model, model.population() > DENSE, &mut memory.nodes).get(""),
    )
    .first
    {
        memory
            .nodes
            .refused
            .of(&pod, source.epoch, &|| read::refusals(source.sim, &pod));
    }
    memory.nodes.lags = false;
    let scene = layout(model, source.uid, source.stage.0, &mut memory.nodes);
    memory.lags = memory.nodes.lags;
    scene
}
