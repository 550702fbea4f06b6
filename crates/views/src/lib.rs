//! The diagrams, one folder each, with model and layout. Pure geometry, no DOM, no randomness: the same state draws the same
//! picture, and an item that stays keeps its key.

pub mod axis;
mod bodies;
pub mod card;
pub mod card_text;
pub mod changed_lines;
pub mod columns;
pub mod grouping;
pub mod highlight;
pub mod icons;
pub mod loops;
pub mod mounted;
pub mod network;
pub mod nodes;
pub mod ownership;
pub mod references;
pub mod rollout;
pub mod roster;
pub mod shape;
pub mod storage;
pub mod svg;
pub mod timeline;
pub mod variant;
pub mod view;
pub mod viewport;

use view::View;

/// All diagrams, in the order of their tabs; the first is shown first.
pub static ALL: &[&View] = &[
    &ownership::VIEW,
    &nodes::VIEW,
    &network::VIEW,
    &storage::VIEW,
    &rollout::VIEW,
    &loops::VIEW,
];

/// The diagram that a link names.
pub fn by_id(id: &str) -> Option<&'static View> {
    ALL.iter().find(|view| view.id == id).copied()
}

/// The diagram that is shown first.
impl Default for &'static View {
    fn default() -> Self {
        ALL[0]
    }
}
