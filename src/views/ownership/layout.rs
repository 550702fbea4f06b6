//! Who owns whom: roots, ReplicaSets or Jobs, Pods, their claims and volumes. What selects or scales a tree stands above its
//! root; what selects several stands above all of them. Trees stand in columns where one below the other would be too high.

use super::bundle::{Bundle, bundles};
use super::cards::{claims_of, orphans};
use super::measures::{FLAT, Frame, LEAST, Measures, NARROWEST, USUAL};
use super::narrow;
use super::overview;
use super::words::summary;
use crate::i18n::msg;
use crate::projection::model::{Model, Root};
use crate::views::grouping::{GroupBy, Grouping, WorkloadGroup};
use crate::views::references;
use crate::views::shape::{CardBody, Rect, Scene};
use crate::views::viewport::LOW_FRAME;
use std::rc::Rc;

/// Lays the trees out. `selected` is a uid; the size is the viewport's.
pub fn layout(model: &Model, selected: Option<&str>, grouping: &Grouping, (width, height): (f64, f64)) -> Scene {
    let stacked = width < if height < width { NARROWEST } else { 560.0 };
    let low = if stacked { height < width.min(LOW_FRAME) } else { height < LOW_FRAME };
    let measures = if low { &FLAT } else { &USUAL };
    let (left, top) = if stacked { (narrow::margin(low), narrow::margin(low)) } else { (measures.left, measures.top) };
    let total = model.roots.iter().map(|root| root.desired().max(root.pods())).sum();
    let wide = if stacked { (width - 2.0 * left).max(280.0) } else { width - 2.0 * left };
    let room = if low { wide } else { wide / LEAST - 1.0 };
    let frame = Frame { model, selected, measures, total, width: wide, room, stacked };
    let mut out = Scene { summary: summary(model), ..Scene::default() };
    let mut drawn = Vec::new();
    let many = !stacked && overview::is_wanted(model, (width, height));
    let grouped = match grouping.by {
        GroupBy::Automatic => many,
        GroupBy::Nothing => false,
        _ => true,
    };
    let homes = references::homes(model);
    let bottom = match grouped {
        true => groups(&frame, grouping, (left, top, height), many, &mut out, &mut drawn),
        false => trees(&frame, &homes, (left, top, height), &mut out, &mut drawn),
    };
    if !(many && grouped) {
        references::link(model, &homes, selected, &mut out);
    }
    let least = match () {
        () if stacked => 1,
        () if low => ((wide / 196.0) as usize).max(1),
        () => 3,
    };
    if stacked {
        // What stands at the foot takes the width of a card; the scene is as wide as what is in it.
        out.width = wide;
    }
    orphans(model, (left, bottom), least, &mut out, &drawn);
    if stacked {
        out.width = 0.0;
    }
    out.finish(left)
}

/// Draws workloads below the headings of their groups, as trees, or as chips where they are many; and where they end.
fn groups<'a>(
    frame: &Frame<'a>,
    grouping: &Grouping,
    (left, top, height): (f64, f64, f64),
    many: bool,
    out: &mut Scene,
    drawn: &mut Vec<String>,
) -> f64 {
    let model = frame.model;
    let all = grouping.groups(model);
    let mut y = if many { overview::put_selected(frame, (left, top), out, drawn) } else { top };
    let (parts, rest) = if many { Default::default() } else { split_model(frame, &all, grouping.by) };
    for (at, group) in all.iter().enumerate() {
        let heading = put_heading(frame, group, (left, y), out);
        y += HEADING;
        let first = out.items.len();
        match parts.get(at) {
            _ if group.folded => {
                let pods = group.roots.iter().flat_map(|at| &model.roots[*at].groups).flat_map(|group| group.pods.iter());
                drawn.extend(pods.flat_map(|pod| claims_of(model, pod)).map(|claim| claim.id.uid.clone()));
            }
            None => y = overview::put_chips(frame, group, (left, y), out),
            Some(part) => {
                let own = Frame { model: part, ..*frame };
                y = trees(&own, &references::homes(part), (left, y, height), out, drawn) + frame.measures.apart / 2.0;
            }
        }
        // Pods without an owner keep none: lines lead to them together.
        for item in out.items[first..].iter_mut().filter(|item| item.parent.is_none()) {
            if !matches!(item.body, CardBody::Tile { .. } | CardBody::Cells(_)) {
                Rc::make_mut(item).parent = Some(heading);
            }
        }
        y += if group.folded { 4.0 } else { 14.0 };
    }
    if !rest.services.is_empty() || !rest.policies.is_empty() || !rest.uses.is_empty() {
        y = trees(&Frame { model: &rest, ..*frame }, &references::homes(&rest), (left, y, height), out, drawn);
    }
    y
}

/// The room of a heading.
const HEADING: f64 = 32.0;

/// Draws the heading of a group: its title, and how many of its workloads are ready.
fn put_heading(frame: &Frame<'_>, group: &WorkloadGroup, (x, y): (f64, f64), out: &mut Scene) -> usize {
    let owners = group.roots.iter().filter_map(|at| frame.model.roots[*at].controller.as_deref());
    let ready = owners.clone().filter(|of| overview::is_ready(of)).count();
    let text = match owners.count() {
        0 => group.title.clone(),
        all => msg::overview_group(group.title.clone(), ready, all),
    };
    let label = text.clone();
    let wide = (40.0 + 7.8 * text.length() as f64).min(frame.width);
    out.put(&group.id, Rect::new(x, y, wide, 24.0), CardBody::Heading { text, folded: group.folded }, None, "", label)
}

/// A model for each group, with what belongs to its trees alone; and what belongs to none of them, or to several.
fn split_model(frame: &Frame<'_>, groups: &[WorkloadGroup], by: GroupBy) -> (Vec<Model>, Model) {
    let model = frame.model;
    let of_root = |root: usize| groups.iter().position(|group| group.roots.contains(&root));
    let of_uid = |uid: &str| {
        let is = |root: &Root| root.controller.as_ref().is_some_and(|of| of.id.uid == uid);
        of_root(model.roots.iter().position(is)?)
    };
    let empty = || Model { claims: model.claims.clone(), volumes: model.volumes.clone(), chosen: model.chosen.clone(), ..Model::default() };
    let mut parts: Vec<Model> = groups.iter().map(|_| Model { budget: model.budget.clone(), ..empty() }).collect();
    for (part, group) in parts.iter_mut().zip(groups) {
        part.roots = group.roots.iter().map(|at| model.roots[*at].clone()).collect();
    }
    let mut rest = empty();
    for service in &model.services {
        // One that selects nothing stands in its namespace; in a narrow frame each stands over a tree.
        let near = || groups.iter().position(|group| by == GroupBy::Namespace && group.id.name == service.id.namespace);
        let at = service.reached(&model.roots).first().and_then(|root| of_root(*root)).or_else(near).or(frame.stacked.then_some(0));
        at.map_or(&mut rest, |at| &mut parts[at]).services.push(service.clone());
    }
    for policy in &model.policies {
        of_uid(&policy.target).map_or(&mut rest, |at| &mut parts[at]).policies.push(policy.clone());
    }
    let bare = model.roots.iter().position(|root| root.controller.is_none()).and_then(of_root);
    for used in &model.uses {
        let mut homes = used.users.iter().map(|user| if user.kind == "Pod" { bare } else { of_uid(&user.uid) });
        let first = homes.next().flatten();
        let home = first.filter(|_| homes.all(|home| home == first));
        home.map_or(&mut rest, |at| &mut parts[at]).uses.push(used.clone());
    }
    (parts, rest)
}

/// Draws trees with what belongs to them, in columns or, in a narrow frame, one below the other; and where they end.
fn trees<'a>(
    frame: &Frame<'a>,
    homes: &[Option<usize>],
    (left, top, height): (f64, f64, f64),
    out: &mut Scene,
    drawn: &mut Vec<String>,
) -> f64 {
    if frame.stacked {
        return narrow::put(frame, homes, (left, top), out, drawn);
    }
    let (measures, wide) = (frame.measures, frame.width);
    let apart = measures.apart;
    let (loose, bundles, shared) = bundles(frame, homes);
    let mut top = top;
    for row in &loose {
        row.put(measures, (left, top), f64::MAX, out);
        top += measures.row;
    }
    top += if loose.is_empty() { 0.0 } else { 12.0 };
    let sizes: Vec<(f64, f64)> = bundles.iter().map(Bundle::size).collect();
    let foot = if frame.model.inert.is_empty() { 0.0 } else { 64.0 }
        + if shared.is_empty() { 0.0 } else { apart + references::shared_height(shared.len(), wide) };
    let of = columns(&sizes, (wide, height - if measures.low { 0.0 } else { 44.0 } - top - foot - left), measures);
    let (mut x, mut bottom) = (left, top);
    for column in 0..=of.last().copied().unwrap_or(0) {
        let (mut y, mut wide) = (top, 0.0f64);
        for (bundle, (w, _)) in bundles.iter().zip(&sizes).zip(&of).filter(|(_, at)| **at == column).map(|(it, _)| it) {
            y = bundle.put(frame, (x, y), *w, out, drawn) + apart;
            wide = wide.max(*w);
        }
        bottom = bottom.max(y - apart);
        x += wide + measures.aside;
    }
    // Room for what is to come: the picture does not grow with each Pod.
    (out.width, out.height) = ((x - measures.aside).max(out.width), bottom.max(out.height));
    if !shared.is_empty() {
        let wide = out.width.max(if measures.low { wide } else { 3.0 * 196.0 });
        bottom = references::put_shared(&shared, (left, bottom + apart, wide), out);
    }
    bottom + apart
}

/// The trees that have claims, without Services: storage in a low frame.
pub fn claims(model: &Model, selected: Option<&str>, size: (f64, f64)) -> Scene {
    let mut only = model.clone();
    only.services.clear();
    only.policies.clear();
    only.uses.clear();
    only.inert.clear();
    only.roots.retain(|root| root.mounts() || root.controller.as_ref().is_some_and(|of| of.id.kind == "StatefulSet"));
    layout(&only, selected, &Grouping::default(), size)
}

/// In which column each stands: as few as let everything be as large as it can be, in their order.
pub(super) fn columns(sizes: &[(f64, f64)], (width, height): (f64, f64), measures: &Measures) -> Vec<usize> {
    let (apart, least) = (measures.apart, if measures.low { 1.0 } else { LEAST });
    let mut best: (f64, Vec<usize>) = (0.0, vec![0; sizes.len()]);
    for count in 1..=sizes.len().min(4) {
        let of = split(sizes, count, apart);
        let (mut wide, mut high) = ([0.0f64; 4], [-apart; 4]);
        for ((w, h), column) in sizes.iter().zip(&of) {
            wide[*column] = wide[*column].max(*w);
            high[*column] += h + apart;
        }
        let across = (width / (wide.iter().sum::<f64>() + (count - 1) as f64 * measures.aside)).min(1.0);
        let scale = across.min(height / high.into_iter().fold(0.0, f64::max));
        // Of what does not fit in height, as much as can be read is seen at once.
        let scale = if across >= least { scale.max(0.01 * count as f64) } else { across / 100.0 };
        if scale > best.0 * 1.02 {
            best = (scale, of);
        }
    }
    best.1
}

/// So many columns of about the same height.
pub(super) fn split(sizes: &[(f64, f64)], count: usize, apart: f64) -> Vec<usize> {
    let fill = |most: f64| {
        let (mut column, mut high) = (0, 0.0);
        let put = |(_, h): &(f64, f64)| {
            if high > 0.0 && high + h > most {
                (column, high) = (column + 1, 0.0);
            }
            high += h + apart;
            column
        };
        sizes.iter().map(put).collect::<Vec<usize>>()
    };
    let all: f64 = sizes.iter().map(|(_, h)| h + apart).sum();
    let (mut low, mut high) = (0.0, all);
    while high - low > 4.0 {
        let most = (low + high) / 2.0;
        if fill(most).last().is_some_and(|last| *last < count) { high = most } else { low = most }
    }
    fill(high)
}
