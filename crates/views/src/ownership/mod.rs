//! Ownership: roots, ReplicaSets or Jobs, Pods, their claims and volumes. Objects that select or scale a tree stand above its root; those
//! that select several trees stand above all of them. Trees stand in columns if one column would be too high.

mod blocks;
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

/// Maximum number of chips redrawn in one frame.
const DRAWN_AT_ONCE: usize = 1000;

/// Descriptor of the diagram.
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
