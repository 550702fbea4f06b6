//! Parts of a Service in Network: its endpoints, its client, and Pods that are not listed yet.

use super::measures::{LOOKED, MOST};
use k8s_model::natural::natural_cmp;
use projection::model::{ControllerCard, Endpoint, Group, Model, Pod, PodState, Root, Service};
use std::rc::Rc;

/// Returns Pods that a Service selects but that are in none of its EndpointSlices, mostly because they have no address yet.
pub(super) fn awaited<'a>(model: &'a Model, service: &'a Service) -> Vec<Endpoint> {
    // With so many endpoints there is no room for unlisted ones.
    if service.endpoints.len() >= MOST {
        return Vec::new();
    }
    // For many Pods the template of their controller decides whether they can match.
    let meant = |of: &Rc<ControllerCard>| service.asks_for(&of.id, &of.labels);
    let of_root = |root: &'a Root| {
        let all = root.controller.as_ref().is_none_or(meant);
        root.groups
            .iter()
            .filter(move |group| all || group.pods.len() <= MOST)
    };
    let pods = model
        .roots
        .iter()
        .flat_map(of_root)
        .flat_map(|group| group.pods.iter().take(LOOKED));
    let comes = |pod: &&Rc<Pod>| {
        !pod.ended
            && service.asks_for(&pod.id, &pod.labels)
            && service.endpoint(&pod.id.name).is_none()
    };
    let of = |pod: &Rc<Pod>| Endpoint {
        pod: pod.id.name.clone(),
        hostname: if pod.ordinal.is_some() {
            pod.id.name.clone()
        } else {
            String::new()
        },
        terminating: pod.state == PodState::Terminating,
        ..Endpoint::default()
    };
    pods.filter(comes).take(MOST).map(of).collect()
}

/// Returns members of a StatefulSet that are missing while later ones exist: their names are looked up all the same.
fn missing(model: &Model, service: &Service) -> Vec<Endpoint> {
    let mut out = Vec::new();
    for root in &model.roots {
        let Some(of) = root
            .controller
            .as_ref()
            .filter(|of| of.id.kind == "StatefulSet" && of.id.namespace == service.id.namespace)
        else {
            continue;
        };
        let (start, governs) = (of.members.0, of.members.1 == service.id.name);
        let pods = || root.groups.iter().flat_map(|group| group.pods.iter());
        let last = pods()
            .filter_map(|pod| pod.ordinal)
            .max()
            .filter(|_| governs)
            .unwrap_or(0);
        for ordinal in start..last.min(start.saturating_add(MOST as u32)) {
            let name = format!("{}-{ordinal}", of.id.name);
            if pods().all(|pod| pod.ordinal != Some(ordinal)) && service.endpoint(&name).is_none() {
                out.push(Endpoint {
                    hostname: name.clone(),
                    pod: name,
                    gone: true,
                    ..Endpoint::default()
                });
            }
        }
    }
    out
}

/// Returns the client: a running Pod that is not behind the Service itself.
pub(super) fn client<'a>(model: &'a Model, service: &Service) -> Option<&'a Pod> {
    // A bare Pod was created for debugging; it is preferred over Pods that serve something.
    let bare = model
        .roots
        .iter()
        .filter(|root| root.controller.is_none())
        .flat_map(|root| &root.groups)
        .flat_map(|group| group.pods.iter().map(|pod| &**pod));
    bare.chain(model.pods()).find(|pod| {
        pod.id.namespace == service.id.namespace
            && matches!(pod.state, PodState::Ready | PodState::NotReady)
            && service.endpoint(&pod.id.name).is_none()
            && !service.asks_for(&pod.id, &pod.labels)
    })
}

/// Returns the Pod behind an endpoint, if it exists: another Pod may already have its name.
pub(super) fn behind<'a>(
    model: &'a Model,
    service: &Service,
    endpoint: &Endpoint,
) -> Option<&'a Pod> {
    model
        .pods()
        .filter(|_| !endpoint.gone)
        .find(|pod| pod.id.name == endpoint.pod && pod.id.namespace == service.id.namespace)
}

/// Returns the first Pods of a revision without any endpoint yet.
pub(super) fn newcomers(model: &Model, service: &Service) -> Vec<Endpoint> {
    let mut groups = model.roots.iter().flat_map(|root| &root.groups);
    let all_new = |group: &&Group| {
        let of = group
            .controller
            .as_ref()
            .filter(|of| service.asks_for(&of.id, &of.labels));
        of.is_some_and(|of| {
            !service
                .endpoints
                .iter()
                .any(|one| one.pod.starts_with(&of.id.name))
        })
    };
    let Some(group) = groups.rfind(all_new) else {
        return Vec::new();
    };
    let comes = |state: &PodState| {
        matches!(
            state,
            PodState::Pending | PodState::Creating | PodState::NotReady | PodState::Failed
        )
    };
    let places = group
        .pods
        .states()
        .take(LOOKED)
        .enumerate()
        .filter(|(_, state)| comes(state))
        .take(2);
    places
        .filter_map(|(at, _)| {
            Some(Endpoint {
                pod: group.pods.get(at)?.id.name.clone(),
                ..Endpoint::default()
            })
        })
        .collect()
}

/// Number of Pods of a Service with many endpoints that are in none of its EndpointSlices: they have no address yet.
pub(super) fn unlisted(model: &Model, service: &Service) -> usize {
    let (mut all, mut waits) = (0, 0);
    for root in &model.roots {
        for group in &root.groups {
            let of = group.controller.as_ref().or(root.controller.as_ref());
            if of.is_some_and(|of| service.asks_for(&of.id, &of.labels)) {
                all += group.pods.len();
                let comes =
                    |state: &PodState| matches!(state, PodState::Pending | PodState::Creating);
                waits += group
                    .pods
                    .counts()
                    .iter()
                    .filter(|(state, _)| comes(state))
                    .map(|(_, n)| n)
                    .sum::<usize>();
            }
        }
    }
    // While init containers run, a Pod already has an address.
    waits.min(all.saturating_sub(service.endpoints.len()))
}

/// Returns the endpoints to draw, with Pods that are about to become endpoints, and the number left out: the followed one is always
/// included.
pub fn drawn(model: &Model, service: &Service, follows: Option<&str>) -> (Vec<Endpoint>, usize) {
    let many = service.endpoints.len() > MOST;
    let mut shown = if many {
        newcomers(model, service)
    } else {
        awaited(model, service)
    };
    let mut all = service.endpoints.len()
        + if many {
            unlisted(model, service).max(shown.len())
        } else {
            shown.len()
        };
    if many {
        let mut rows = telling(&service.endpoints);
        rows.truncate(MOST - shown.len());
        shown.splice(0..0, rows);
    } else {
        shown.extend(service.endpoints.iter().cloned());
        let missing = missing(model, service);
        all += missing.len();
        shown.extend(missing);
        shown.sort_by(|a, b| natural_cmp(&a.pod, &b.pod));
    }
    let followed = |one: &Endpoint| Some(one.pod.as_str()) == follows;
    if let Some(at) = shown.iter().position(followed).filter(|at| *at >= MOST) {
        shown.swap(at, MOST - 1);
    }
    shown.truncate(MOST);
    if let Some(one) = service
        .endpoints
        .iter()
        .find(|one| followed(one))
        .filter(|_| !shown.iter().any(followed))
    {
        shown.pop();
        shown.push(one.clone());
    }
    let more = all - shown.len();
    (shown, more)
}

/// Selects a representative sample of more endpoints than can be drawn: with and without traffic, from each of two revisions.
///
/// Each row belongs to one class of endpoints and, by name, to a part of it: it keeps its Pod as long as the Pod exists in that class, and
/// no other row moves when it takes the next. Rows of empty classes go to endpoints with traffic.
pub fn telling(endpoints: &[Endpoint]) -> Vec<Endpoint> {
    let family = |one: &Endpoint| one.pod.rfind('-').map_or(0, |at| at + 1);
    // Endpoints are sorted by name: those of one owner are adjacent.
    let mut families: Vec<&[Endpoint]> = endpoints
        .chunk_by(|a, b| a.pod[..family(a)] == b.pod[..family(b)])
        .collect();
    // The two with most Pods, in the order of their names.
    let mut largest: Vec<usize> = (0..families.len()).collect();
    largest.sort_by_key(|at| std::cmp::Reverse(families[*at].len()));
    largest.truncate(2);
    largest.sort();
    families = largest.into_iter().map(|at| families[at]).collect();
    let sort = |one: &Endpoint| match one {
        one if one.ready => 0,
        one if one.terminating => 1,
        _ => 2,
    };
    // Ordinals are stable, so the first of them may be shown.
    let ordinal = endpoints
        .iter()
        .all(|one| one.pod[family(one)..].parse::<u32>().is_ok());
    let part = |one: &Endpoint, of: usize| one.pod.bytes().map(usize::from).sum::<usize>() % of;
    let mut rows: Vec<Option<&Endpoint>> = Vec::new();
    for (wanted, many) in [(0, 4), (1, 2), (2, 2)] {
        let each = many / families.len();
        for family in &families {
            let mut own = vec![None; each];
            for one in family.iter().filter(|one| sort(one) == wanted) {
                let free = if ordinal {
                    own.iter().position(Option::is_none)
                } else {
                    Some(part(one, each)).filter(|at| own[*at].is_none())
                };
                if let Some(at) = free {
                    own[at] = Some(one);
                } else if own.iter().all(Option::is_some) {
                    break;
                }
            }
            rows.extend(own);
        }
    }
    for row in 0..rows.len() {
        if rows[row].is_some() {
            continue;
        }
        let free = |one: &&Endpoint| !rows.iter().flatten().any(|taken| taken.pod == one.pod);
        let mine = |one: &&Endpoint| one.ready && (ordinal || part(one, MOST) == row) && free(one);
        let other = || {
            endpoints
                .iter()
                .find(|one| one.ready && free(one))
                .or_else(|| endpoints.iter().find(|one| free(one)))
        };
        rows[row] = endpoints.iter().find(mine).or_else(other);
    }
    let mut rows: Vec<Endpoint> = rows.into_iter().flatten().cloned().collect();
    if ordinal {
        rows.sort_by(|a, b| natural_cmp(&a.pod, &b.pod));
    }
    rows
}
