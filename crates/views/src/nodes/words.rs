//! Quantities and names on a node.

use k8s_model::quantity::Quantity;
use projection::model::Pod;

/// Formats CPU as kubectl does: `50m`, `4`.
pub fn cores(milli: u64) -> String {
    Quantity::millis(milli as i64).to_string()
}

/// Formats memory as kubectl does: `64Mi`, `8Gi`.
pub fn memory(bytes: u64) -> String {
    Quantity::bytes(bytes as i64).to_string()
}

/// Short name such as `nginx-65blz`: the workload and the distinguishing suffix; the revision is shown by opacity.
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

/// Short mark that distinguishes a workload from the others: its name, its name without the words shared at either end, a prefix of that,
/// the initials of its words, or the beginning and the end.
pub fn mark(family: &str, all: &[&str], most: usize) -> String {
    let words = |name: &str| name.split('-').map(str::to_string).collect::<Vec<_>>();
    let own = words(family);
    if family.len() <= most {
        return family.into();
    }
    let others: Vec<Vec<String>> = all
        .iter()
        .filter(|other| **other != family)
        .map(|other| words(other))
        .collect();
    // Leading words shared with any other name, unless the rest is the end of another too.
    let leading = |other: &Vec<String>| own.iter().zip(other).take_while(|(a, b)| a == b).count();
    let tells = |first: &usize| {
        own.len() > *first && !others.iter().any(|other| other.ends_with(&own[*first..]))
    };
    let all_share = others.iter().map(leading).min();
    let first = others
        .iter()
        .map(leading)
        .max()
        .filter(tells)
        .or(all_share.filter(tells))
        .unwrap_or(0);
    // Trailing words shared by all.
    let trailing = |other: &Vec<String>| {
        own[first..]
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let last = others.iter().map(trailing).min().unwrap_or(0);
    let rest = own
        .get(first..own.len() - last)
        .filter(|rest| !rest.is_empty())
        .unwrap_or(&own[first..])
        .join("-");
    if rest.len() <= most {
        return rest;
    }
    let start: String = rest.chars().take(most.saturating_sub(1)).collect();
    let alike = |other: &Vec<String>| {
        other
            .get(first..)
            .is_some_and(|words| words.join("-").starts_with(&start))
    };
    if !others.iter().any(alike) {
        return format!("{start}…");
    }
    let initials = |name: &str| {
        name.split('-')
            .filter_map(|word| word.chars().next())
            .collect::<String>()
    };
    let short = initials(family);
    if short.len() <= most && all.iter().filter(|other| initials(other) == short).count() < 2 {
        return short;
    }
    i18n::format::middle(&rest, most)
}
