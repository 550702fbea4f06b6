//! Quantities and names on a node.

use crate::projection::model::Pod;

/// Cores and gibibytes as they are read best.
pub(super) fn cores(milli: u64) -> String {
    if milli.is_multiple_of(1000) { (milli / 1000).to_string() } else { format!("{:.1}", milli as f64 / 1000.0) }
}

pub(super) fn gib(bytes: u64) -> String {
    let value = bytes as f64 / f64::from(1 << 30);
    if value.fract() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// `nginx-65blz`: whose Pod it is and what tells it apart; the revision is told by its paleness.
pub(super) fn short(pod: &Pod, most: usize) -> String {
    let (name, tail) = (pod.id.name.as_str(), pod.parts(most).1);
    let family = name.get(..pod.family).unwrap_or("");
    let left = most.saturating_sub(tail.len());
    match family.get(..left.saturating_sub(1)) {
        _ if family.len() <= left => format!("{family}{tail}"),
        Some(start) if left > 3 => format!("{start}…{tail}"),
        _ => tail,
    }
}
