//! The sentences of Storage.

use i18n::{Message, msg};
use projection::model::Model;

pub(super) fn row_pod() -> Message {
    Message::name("Pod")
}

pub(super) fn summary(model: &Model) -> Message {
    let bound = model
        .claims
        .iter()
        .filter(|claim| claim.phase == "Bound")
        .count();
    msg::storage_summary(model.claims.len(), bound, model.volumes.len())
}
