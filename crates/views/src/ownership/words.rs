//! The sentences of Ownership.

use crate::bodies::numbers;
use i18n::{Message, clauses, msg};
use projection::model::Model;

/// Describes the picture in a sentence.
pub(super) fn summary(model: &Model) -> Message {
    let mut parts: Vec<Message> = Vec::new();
    for root in model.roots.iter().take(6) {
        let pods = root
            .groups
            .iter()
            .map(|group| group.pods.len())
            .sum::<usize>();
        match &root.controller {
            Some(of) => {
                let sets = root
                    .groups
                    .iter()
                    .filter(|group| group.controller.is_some())
                    .count();
                let mut all = numbers(of);
                all.extend((sets > 0).then(|| msg::summary_sets(sets)));
                all.push(msg::summary_pods(pods));
                parts.push(msg::summary_root(&of.id.kind, &of.id.name, all));
            }
            None => parts.push(msg::summary_bare(pods)),
        }
    }
    if model.roots.len() > 6 {
        parts.push(msg::summary_more(model.roots.len() - 6));
    }
    if parts.is_empty() {
        msg::summary_nothing()
    } else {
        clauses(parts)
    }
}
