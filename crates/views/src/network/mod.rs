//! Pods behind a name: a band for each Service, with the path of a lookup or of a request.
//!
//! At most two bands, the selected Service (or the one behind the selected Pod) first; the others are cards below. Rows of DNS, of the
//! EndpointSlice and the Pods share one height, so that records and their sources are joined by straight lines.

pub mod endpoints;
mod fronts;
mod headless;
pub mod layout;
mod matrix;
pub mod measures;
mod narrow;
mod parts;
mod policies;
mod read;
mod virtual_ip;
pub mod words;

pub use layout::layout;
pub use read::Traffic;

use crate::shape::Scene;
use crate::view::{
    Empty, Fit, Legend, ObjectFilter, Source, Status, Uses, View, ViewMemory, Workloads,
};
use crate::viewport::LOW_FRAME;
use i18n::msg;
use projection::model::Model;

/// Descriptor of the diagram.
pub static VIEW: View = View {
    id: "network",
    title: msg::view_network,
    icon: "i-service",
    legend: Legend::PodStates,
    empty: Empty {
        title: None,
        text: Some(msg::network_empty),
        examples: false,
        by_filter: true,
    },
    fit: Fit {
        keeps_head: true,
        ..Fit::HANGING
    },
    status: Status::Of(Workloads::InScope),
    filter: ObjectFilter::Words,
    uses: Uses {
        endpoints: true,
        ..Uses::NOTHING
    },
    refresh_ms: |_| None,
    extent: None,
    draw,
};

fn draw(model: &mut Model, source: &Source, _: &mut ViewMemory) -> Scene {
    let (width, height) = source.stage;
    let traffic = Traffic::of(source.sim, source.scope);
    layout(
        model,
        &traffic,
        source.uid,
        if height < LOW_FRAME {
            width.min(measures::NARROW)
        } else {
            width
        },
    )
}
