//! ConfigMaps, Secrets and service accounts: each a small card below the tree that references it, or below everything if several trees do,
//! with a line from every user. A missing object has a card too. Many are folded to a few and "+N more".

use crate::shape::{CardBody, Line, Rect, Scene};
use i18n::{Message, dotted, msg};
use projection::model::{Id, Model, Used};
use std::collections::BTreeMap;

/// Height of a card, distance from one to the next, and from a tree to its first.
const CARD_HEIGHT: f64 = 40.0;
const PITCH: f64 = 48.0;
pub const BELOW: f64 = 14.0;
/// Row of cards shared by several trees: distance from one to the next, width of a card, and height of a row.
const ACROSS: f64 = 196.0;
const WIDE: f64 = 180.0;
const ROW: f64 = 60.0;
/// Maximum number of cards below a tree, and below all trees; above it the last one shows how many are left out.
const MAX_PER_TREE: usize = 6;
const MAX_SHARED: usize = 24;
/// Distance of a line's vertical part from its card; lines to shared objects run further out.
const RAIL: f64 = 10.0;
const OUTER: f64 = 15.0;
const NEXT: f64 = 4.0;
const ROUND: f64 = 8.0;
/// Maximum number of users named in the accessible label.
const MAX_NAMED_USERS: usize = 3;

/// Height of `uses` cards below a tree.
pub fn height(uses: usize) -> f64 {
    if uses == 0 {
        0.0
    } else {
        BELOW + uses.min(MAX_PER_TREE) as f64 * PITCH - (PITCH - CARD_HEIGHT)
    }
}

/// Index of the trees of a model: by the uid of the root, and the Pods without an owner.
pub struct TreeIndex<'a> {
    roots: BTreeMap<&'a str, usize>,
    bare: Option<usize>,
}

impl<'a> TreeIndex<'a> {
    /// Builds the index of a model.
    pub fn of(model: &'a Model) -> Self {
        let owners = model
            .roots
            .iter()
            .enumerate()
            .filter_map(|(at, root)| Some((root.controller.as_ref()?.id.uid.as_str(), at)));
        TreeIndex {
            roots: owners.collect(),
            bare: model
                .roots
                .iter()
                .position(|root| root.controller.is_none()),
        }
    }

    /// Returns the tree of the root with this uid.
    pub fn root(&self, uid: &str) -> Option<usize> {
        self.roots.get(uid).copied()
    }

    /// Returns the tree of all users, if they have a common one; `within` maps a tree to the group compared.
    pub fn home(&self, used: &Used, within: impl Fn(usize) -> usize) -> Option<usize> {
        let tree = |user: &Id| {
            if user.kind == "Pod" {
                self.bare
            } else {
                self.root(&user.uid)
            }
        };
        let mut of = used.users.iter().map(|user| tree(user).map(&within));
        let first = of.next()??;
        of.all(|other| other == Some(first)).then_some(first)
    }
}

/// Returns for each referenced object the tree of all its users, if they have a common one.
pub fn homes(model: &Model) -> Vec<Option<usize>> {
    if model.uses.is_empty() {
        return Vec::new();
    }
    let trees = TreeIndex::of(model);
    model
        .uses
        .iter()
        .map(|used| trees.home(used, |tree| tree))
        .collect()
}

/// Selects the objects that have a card, and counts the rest. Missing objects come first.
fn fold<'a>(uses: &[&'a Used], most: usize) -> (Vec<&'a Used>, usize) {
    let mut shown = uses.to_vec();
    if shown.len() <= most {
        return (shown, 0);
    }
    shown.sort_by_key(|used| !used.missing);
    shown.truncate(most - 1);
    (shown, uses.len() + 1 - most)
}

/// Draws the cards of the objects used by one tree, one below the other.
pub fn put(uses: &[&Used], (x, y, w): (f64, f64, f64), parent: Option<usize>, out: &mut Scene) {
    let (shown, more) = fold(uses, MAX_PER_TREE);
    let rect = |row: usize| Rect::new(x, y + BELOW + row as f64 * PITCH, w, CARD_HEIGHT);
    shown
        .iter()
        .enumerate()
        .for_each(|(row, used)| card(used, rect(row), parent, out));
    rest(
        more,
        Rect {
            h: 20.0,
            ..rect(shown.len())
        },
        parent,
        out,
    );
}

/// Draws the cards of the objects used by several trees, side by side as far as there is room, and returns their bottom.
pub fn put_shared(uses: &[&Used], (x, y, w): (f64, f64, f64), out: &mut Scene) -> f64 {
    let (shown, more) = fold(uses, MAX_SHARED);
    let across = ((w / ACROSS) as usize).max(1);
    let wide = if across == 1 { w } else { WIDE };
    let rect = |at: usize| {
        Rect::new(
            x + (at % across) as f64 * ACROSS,
            y + (at / across) as f64 * ROW,
            wide,
            CARD_HEIGHT,
        )
    };
    shown
        .iter()
        .enumerate()
        .for_each(|(at, used)| card(used, rect(at), None, out));
    rest(
        more,
        Rect {
            h: 20.0,
            ..rect(shown.len())
        },
        None,
        out,
    );
    y + (shown.len() + usize::from(more > 0)).div_ceil(across) as f64 * ROW
}

/// Height of `uses` shared cards.
pub fn shared_height(uses: usize, w: f64) -> f64 {
    uses.min(MAX_SHARED)
        .div_ceil(((w / ACROSS) as usize).max(1)) as f64
        * ROW
}

fn rest(more: usize, rect: Rect, parent: Option<usize>, out: &mut Scene) {
    if more > 0 {
        let text = msg::more(more);
        let id = Id {
            uid: format!("uses/{parent:?}"),
            ..Id::default()
        };
        out.put(&id, rect, CardBody::Note(text.clone()), parent, "", text);
    }
}

fn card(used: &Used, rect: Rect, parent: Option<usize>, out: &mut Scene) {
    let fact = if used.missing {
        msg::used_missing()
    } else {
        Message::list(used.what_for.clone())
    };
    let shared =
        (parent.is_none() && used.users.len() > 1).then(|| msg::used_users(used.users.len()));
    let state = if used.missing { "missing" } else { "inert" };
    let mut parts = vec![msg::kind_name(&used.id.kind, &used.id.name)];
    parts.extend((!fact.is_empty()).then(|| fact.clone()));
    let users: Vec<Message> = used
        .users
        .iter()
        .take(MAX_NAMED_USERS)
        .map(|user| msg::kind_name(&user.kind, &user.name))
        .collect();
    if !users.is_empty() {
        parts.push(msg::used_by(users));
    }
    let more = used.users.len().saturating_sub(MAX_NAMED_USERS);
    parts.extend((more > 0).then(|| msg::and_more(more)));
    let told = dotted([Some(fact), shared].into_iter().flatten().collect());
    out.put(
        &used.id,
        rect,
        CardBody::Stored {
            fact: told,
            missing: used.missing,
        },
        parent,
        state,
        Message::list(parts),
    );
}

/// Draws the lines once everything has its place: one from each user, or from the block of Pods that share a place.
pub fn link(model: &Model, homes: &[Option<usize>], selected: Option<&str>, out: &mut Scene) {
    if model.uses.is_empty() {
        return;
    }
    let cards = out
        .items
        .iter()
        .filter(|item| !matches!(item.body, CardBody::Tile { .. } | CardBody::Cells(_)));
    let places: BTreeMap<String, Rect> =
        cards.map(|item| (item.id.uid.clone(), item.rect)).collect();
    // Pods without an owner may be tiles or one block.
    let many = out.items.iter().filter(|item| {
        item.parent.is_none() && matches!(item.body, CardBody::Tile { .. } | CardBody::Cells(_))
    });
    let block = many.map(|item| item.rect).reduce(around);
    // Shared cards: their lines run above the first row.
    let shared = |(used, home): &(&Used, &Option<usize>)| {
        home.is_none().then(|| places.get(&used.id.uid)).flatten()
    };
    let top = model
        .uses
        .iter()
        .zip(homes)
        .filter_map(|one| shared(&one))
        .map(|rect| rect.y)
        .fold(f64::MAX, f64::min);
    // Shared objects are far from their users: their lines are drawn while the object or one of its users is selected.
    let looked = |used: &Used| {
        let of = |id: &Id| selected == Some(id.uid.as_str());
        used.missing || of(&used.id) || used.users.iter().any(of)
    };
    let mut several = 0;
    for (used, home) in model.uses.iter().zip(homes) {
        let Some(to) = places
            .get(&used.id.uid)
            .filter(|_| home.is_some() || looked(used))
        else {
            continue;
        };
        let outer = if home.is_none() {
            OUTER + f64::from(several % 3) * NEXT
        } else {
            RAIL
        };
        let line = match () {
            () if used.missing => Line::Waits,
            () if selected == Some(used.id.uid.as_str()) => Line::Chosen,
            () => Line::Uses,
        };
        let mut together = false;
        for user in &used.users {
            let own = places.get(&user.uid).copied();
            let first =
                own.is_none() && user.kind == "Pod" && !std::mem::replace(&mut together, true);
            let Some(from) = own.or(block.filter(|_| first)) else {
                continue;
            };
            let d = if from.x == to.x {
                beside(from, *to, outer)
            } else {
                over(from, *to, outer, top)
            };
            out.link(format!("{}>{}", user.uid, used.id.uid), d, line);
        }
        several += i32::from(home.is_none());
    }
}

fn around(a: Rect, b: Rect) -> Rect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    Rect::new(
        x,
        y,
        a.right().max(b.right()) - x,
        a.bottom().max(b.bottom()) - y,
    )
}

/// Path down the left side of the column, into the card's left edge.
fn beside(from: Rect, to: Rect, outer: f64) -> String {
    let rail = (from.x - outer).max(2.0);
    let (a, b, r) = (from.cy() + outer - RAIL, to.cy(), ROUND.min(from.x - rail));
    format!(
        "M{} {a}H{}Q{rail} {a} {rail} {}V{}Q{rail} {b} {} {b}H{}",
        from.x,
        rail + r,
        a + r,
        b - r,
        rail + r,
        to.x
    )
}

/// Path down the left side of the column, along above the cards, and down between them into the card's left edge.
fn over(from: Rect, to: Rect, outer: f64, top: f64) -> String {
    let rail = (from.x - outer).max(2.0);
    let (a, bus, b) = (from.cy() + outer - RAIL, top - outer + 4.0, to.cy());
    let (x, r) = (to.x - RAIL, ROUND.min(from.x - rail));
    let s = (x - rail).signum() * 4.0;
    format!(
        "M{} {a}H{}Q{rail} {a} {rail} {}V{}Q{rail} {bus} {} {bus}H{}Q{x} {bus} {x} {}V{}Q{x} {b} {} {b}H{}",
        from.x,
        rail + r,
        a + r,
        bus - 4.0,
        rail + s,
        x - s,
        bus + 4.0,
        b - 6.0,
        x + 6.0,
        to.x
    )
}
