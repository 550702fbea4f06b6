//! Tests of this crate together with those below it.

mod control_loops;
mod custom_resources;
mod image_changes;
#[path = "../../../kubectl/tests/it/one_pod.rs"]
mod one_pod;
#[path = "../../../kubectl/tests/it/terminal.rs"]
mod terminal;
