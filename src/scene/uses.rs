//! ConfigMaps, Secrets and service accounts: each a small card below what names it, or below everything if several trees
//! do, with a line from every user. What is named and does not exist has a card too.

use super::model::{Id, Model, Used};
use super::shape::{Body, Line, Rect, Scene};
use std::collections::BTreeMap;

/// The height of a card, from one to the next, and from a tree to its first.
pub const CARD: f64 = 40.0;
pub const PITCH: f64 = 48.0;
pub const BELOW: f64 = 14.0;
/// So far beside a card its line goes down; those to what several name stand further out.
const RAIL: f64 = 10.0;
const OUTER: f64 = 15.0;
const NEXT: f64 = 4.0;
const ROUND: f64 = 8.0;

/// The height of so many below a tree.
pub fn height(count: usize) -> f64 {
    if count == 0 { 0.0 } else { BELOW + count as f64 * PITCH - (PITCH - CARD) }
}

/// So many users are named to those who do not see the lines.
const NAMED: usize = 3;

/// For each the tree that all its users are of, if they are of one.
pub fn homes(model: &Model) -> Vec<Option<usize>> {
    if model.uses.is_empty() {
        return Vec::new();
    }
    let mut trees: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, root) in model.roots.iter().enumerate() {
        match &root.controller {
            Some(of) => drop(trees.insert(&of.id.uid, at)),
            None => trees.extend(root.groups.iter().flat_map(|group| group.pods.iter()).map(|pod| (pod.id.uid.as_str(), at))),
        }
    }
    let home = |used: &Used| {
        let mut of = used.users.iter().map(|user| trees.get(user.uid.as_str()).copied());
        let first = of.next()??;
        of.all(|other| other == Some(first)).then_some(first)
    };
    model.uses.iter().map(home).collect()
}

/// Puts a card.
pub fn put(used: &Used, rect: Rect, parent: Option<usize>, out: &mut Scene) {
    let fact = if used.missing { "not found" } else { used.what_for.as_str() };
    let state = if used.missing { "missing" } else { "inert" };
    let users: Vec<String> = used.users.iter().take(NAMED).map(|user| format!("{} {}", user.kind, user.name)).collect();
    let more = used.users.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let fact_of = if fact.is_empty() { String::new() } else { format!("{fact}, ") };
    let label = match users.is_empty() {
        true => format!("{} {}, {}", used.id.kind, used.id.name, fact_of.trim_end_matches(", ")),
        false => format!("{} {}, {fact_of}used by {}{more}", used.id.kind, used.id.name, users.join(", ")),
    };
    out.put(&used.id, rect, Body::Stored { fact: fact.into(), missing: used.missing }, parent, state, label);
}

/// Draws the lines, once everything has its place.
#[inline(never)]
pub fn link(model: &Model, homes: &[Option<usize>], selected: Option<&str>, out: &mut Scene) {
    if model.uses.is_empty() {
        return;
    }
    let mut places: BTreeMap<String, Rect> =
        out.items.iter().filter(|item| !item.id.uid.is_empty()).map(|item| (item.id.uid.clone(), item.rect)).collect();
    // Pods without an owner may be one block.
    let block = out.items.iter().find(|item| item.id.kind == "Pods" && item.parent.is_none()).map(|item| item.rect);
    let mut several = 0;
    for (used, home) in model.uses.iter().zip(homes) {
        let Some(to) = places.remove(&used.id.uid) else { continue };
        let shared = home.is_none();
        let outer = OUTER + f64::from(several % 3) * NEXT;
        for user in &used.users {
            let Some(from) = places.get(&user.uid).copied().or(block) else { continue };
            let line = match () {
                () if used.missing => Line::Waits,
                () if selected == Some(used.id.uid.as_str()) => Line::Chosen,
                () => Line::Uses,
            };
            let d = if shared { over(from, to, outer) } else { beside(from, to) };
            out.link(format!("{}>{}", user.uid, used.id.uid), d, line);
        }
        several += i32::from(shared);
    }
}

/// Down the left side of the tree, into the card's left edge.
fn beside(from: Rect, to: Rect) -> String {
    let rail = (from.x.min(to.x) - RAIL).max(2.0);
    let (a, b, r) = (from.cy(), to.cy(), ROUND.min(from.x.min(to.x) - rail));
    format!("M{} {a}H{}Q{rail} {a} {rail} {}V{}Q{rail} {b} {} {b}H{}", from.x, rail + r, a + r, b - r, rail + r, to.x)
}

/// Down the left side of the column, along above the cards, and into the card's top.
fn over(from: Rect, to: Rect, outer: f64) -> String {
    let rail = (from.x - outer).max(2.0);
    let (a, bus, x) = (from.cy() + outer - RAIL, to.y - outer + 4.0, to.cx());
    let (r, s) = (ROUND.min(from.x - rail), (x - rail).signum() * 4.0);
    format!(
        "M{} {a}H{}Q{rail} {a} {rail} {}V{}Q{rail} {bus} {} {bus}H{}Q{x} {bus} {x} {}V{}",
        from.x,
        rail + r,
        a + r,
        bus - 4.0,
        rail + s,
        x - s,
        (bus + 4.0).min(to.y),
        to.y
    )
}

/// The one whose card stands for an object that does not exist.
pub fn missing(kind: &str, namespace: &str, name: &str) -> Id {
    Id { kind: kind.into(), namespace: namespace.into(), name: name.into(), uid: format!("missing/{kind}/{namespace}/{name}") }
}
