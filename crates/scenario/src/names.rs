//! Placeholders in command lines, such as `{{pod:PREFIX:N}}`.

use cluster::Sim;
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Replaces each placeholder by the name of a live object; an unknown one stays as it is.
pub fn resolve(line: &str, sim: &Sim) -> String {
    with_placeholders(line, |inner| name(inner, sim))
}

/// Replaces each placeholder by the result of `name` for the text within its braces; if that is `None` it stays.
pub(super) fn with_placeholders(line: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}") else {
            break;
        };
        let inner = &rest[start + 2..start + end];
        out.push_str(&rest[..start]);
        match name(inner.trim()) {
            Some(name) => out.push_str(&name),
            None => out.push_str(&rest[start..start + end + 2]),
        }
        rest = &rest[start + end + 2..];
    }
    out + rest
}

fn name(placeholder: &str, sim: &Sim) -> Option<String> {
    let parts: Vec<&str> = placeholder.split(':').collect();
    match parts[..] {
        ["pod", prefix, n] => nth(sim, Kind::Pod, prefix, n).map(|o| o.meta.name.to_string()),
        ["rs", prefix, n] => nth(sim, Kind::ReplicaSet, prefix, n).map(|o| o.meta.name.to_string()),
        ["pv", prefix, n] => {
            nth(sim, Kind::PersistentVolume, prefix, n).map(|o| o.meta.name.to_string())
        }
        ["nodeof", prefix] => {
            nth(sim, Kind::Pod, prefix, "0").map(|o| o.body::<Pod>().node_name.to_string())
        }
        ["podon", node] => sim
            .store()
            .list(Kind::Pod)
            .find(|o| o.body::<Pod>().node_name == node)
            .map(|o| o.meta.name.to_string()),
        _ => None,
    }
}

/// Returns the N-th object, by creation, whose name begins with the prefix and that is not being deleted; negative counts from the end.
fn nth(sim: &Sim, kind: Kind, prefix: &str, n: &str) -> Option<Rc<Object>> {
    let mut found: Vec<_> = sim
        .store()
        .list(kind)
        .filter(|o| o.meta.name.starts_with(prefix) && !o.meta.is_deleting())
        .cloned()
        .collect();
    // Within one second the order of creation is that of the first writes.
    let mut created: BTreeMap<Uid, usize> = BTreeMap::new();
    for (at, entry) in sim.journal().iter().enumerate() {
        if let Some((_, object)) = entry.write().filter(|(_, object)| object.kind == kind) {
            created.entry(object.meta.uid).or_insert(at);
        }
    }
    found.sort_by_key(|o| created.get(&o.meta.uid).copied().unwrap_or(usize::MAX));
    let n: i64 = n.parse().ok()?;
    let index = if n < 0 { found.len() as i64 + n } else { n };
    usize::try_from(index)
        .ok()
        .and_then(|i| found.get(i))
        .cloned()
}
