//! Who owns whom: roots, ReplicaSets or Jobs, Pods, their claims and volumes. What selects or scales a tree stands above its
//! root; what selects several stands above all of them. Trees stand in columns where one below the other would be too high.

mod bundle;
mod cards;
mod groups;
mod layout;
mod leaves;
pub mod measures;
mod narrow;
mod overview;
mod read;
mod rows;
mod tree;
mod words;

pub use layout::layout;
pub use overview::ChipMemory;
pub use read::LastScales;

use crate::shape::Scene;
use crate::view::{
    Empty, Fit, Legend, ObjectFilter, Source, Status, Uses, View, ViewMemory, Workloads,
};
use i18n::msg;
use projection::model::Model;

/// Chips that are drawn anew in one frame.
const DRAWN_AT_ONCE: usize = 1000;

/// The diagram.
pub static VIEW: View = View {
    id: "ownership",
    title: msg::view_ownership,
    icon: "i-deployment",
    legend: Legend::PodStates,
    empty: Empty {
        title: Some(msg::ownership_empty_title),
        text: Some(msg::ownership_empty),
        examples: true,
        by_filter: true,
    },
    fit: Fit {
        hangs: false,
        ..Fit::HANGING
    },
    status: Status::Of(Workloads::Drawn),
    filter: ObjectFilter::Words,
    uses: Uses {
        budget: true,
        groups: true,
        counters: true,
        ..Uses::NOTHING
    },
    refresh_ms: |sim| read::refuses(sim).then_some(1000),
    extent: None,
    draw,
};

fn draw(model: &mut Model, source: &Source, memory: &mut ViewMemory) -> Scene {
    read::read(model, source, memory);
    memory
        .chips
        .begin((source.read_limit < usize::MAX).then_some(DRAWN_AT_ONCE));
    let scene = layout(
        model,
        source.uid,
        source.grouping,
        source.stage,
        &mut memory.chips,
    );
    memory.is_cut = !memory.chips.end();
    scene
}
