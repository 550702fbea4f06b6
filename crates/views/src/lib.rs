//! The diagrams, one folder each, with model and layout. Pure geometry, no DOM, no randomness: the same state draws the same picture, and
//! an item that stays keeps its key.
//!
//! # Adding a diagram
//!
//! (its own folder and a line in `src/lib.rs`).
//!
//! 1. `src/<name>/mod.rs` with a `pub static VIEW: View` (`src/view.rs` says what each field is): its name in links, title, icon (of
//!    `static/icons.svg`), legend, text when empty, how the stage fits it, its pill, what it can be filtered by, when time alone changes
//!    it, and `draw`, which gets the projection's model and a `Source` (cluster, history, Pods, selection, size of the stage) and returns a
//!    `Scene` (`src/shape.rs`). Reads beyond the model go to `read.rs`, geometry to `layout.rs`, sentences to `words.rs`, tests to `tests.rs`.
//! 2. In `src/lib.rs`: `pub mod <name>;` and its `VIEW` in `ALL`, in the order of the tabs. Tabs, keys, links, embeds, legend, empty text and
//!    fit derive from the list.
//!
//! A new sentence is a line in `crates/i18n/src/en.txt` and in `zh.txt`. A new shape needs a variant of `CardBody` and a function in `src/draw/`; state that
//! a diagram keeps from one picture to the next is a field of `ViewMemory` (`src/view.rs`). `storage/` is the simplest to copy.
//!
//! # Stability of a diagram
//!
//! Layouts are pure functions of objects, selection and stage size. A tree of Ownership reserves the space that it will need (`OwnershipTree::measure`):
//! for its desired Pods from the beginning; during an update of up to 24 Pods, for the most Pods that can exist at one time: all of one
//! revision, and as many of the other as both limits allow while Pods are still terminating. Within that space the newer revision moves up as
//! the older one shrinks; the root, its Services and all other trees stay where they are. A frame lower than 400 px has its own measures
//! (`FLAT`): lower and fewer cards, with text of the same size. Storage has such measures for a stage lower than 466 px, and takes them over
//! an open console too (`Fit::has_low_form`). The column of a tree is decided by its height outside updates. A Deployment with very many Pods
//! is drawn above its blocks, each half its width: the other half is for the next revision. The stage fits a picture once
//! it is laid out for the stage's size (`Scene::stage`) and then keeps scale and position (`Viewport::settle`): it is refitted when something is
//! out of sight that a smaller scale would show, or when for three seconds it could have been larger or centered. No picture is fitted below the
//! scale at which it can be read, unless a user asks for all of it. Only items that have just appeared have an entrance animation.

pub mod axis;
mod bodies;
pub mod card;
pub mod changed_lines;
pub mod columns;
pub mod draw;
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

/// All diagrams, in the order of their tabs; the page opens with the first.
pub static ALL: &[&View] = &[
    &ownership::VIEW,
    &nodes::VIEW,
    &network::VIEW,
    &storage::VIEW,
    &rollout::VIEW,
    &loops::VIEW,
];

/// Returns the diagram with this id, as in links.
pub fn by_id(id: &str) -> Option<&'static View> {
    ALL.iter().find(|view| view.id == id).copied()
}

/// Diagram with which the page opens.
impl Default for &'static View {
    fn default() -> Self {
        ALL[0]
    }
}
