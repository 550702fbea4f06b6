//! Who may call whom: a table of the workloads that NetworkPolicies concern, and whether each may connect to each other.

use super::measures::{HEAD, LEFT, NARROW};
use crate::shape::{CardBody, CardTable, Rect, Scene};
use cluster::Sim;
use cluster_network::connectivity::{Direction, Peer, policies_of, ports_of, verdict};
use i18n::{Message, msg};
use k8s_model::pod::Pod as PodBody;
use k8s_model::{Kind, Object, ObjectRef};
use projection::model::{Id, Model, Pod, Root};
use std::rc::Rc;

/// Maximum number of workloads in the table, and of those among which it looks for them.
const MAX_WORKLOADS: usize = 8;
const MAX_SEARCHED: usize = 100;
/// Port of a Pod that declares none.
const USUAL_PORT: i32 = 80;
/// Height of a row and of the heads.
const ROW: f64 = 40.0;
const HEADS: f64 = 28.0;
/// Width of a column.
const COLUMN: f64 = 130.0;

/// Workload of the table: one of its Pods stands for all.
struct Workload {
    name: String,
    pod: Rc<Object>,
    port: i32,
    isolated_egress: bool,
    isolated_ingress: bool,
}

impl Workload {
    fn is_isolated(&self) -> bool {
        self.isolated_egress || self.isolated_ingress
    }
}

/// Connections between workloads.
pub(super) struct Matrix {
    workloads: Vec<Workload>,
    /// By source and target.
    allowed: Vec<Vec<bool>>,
}

impl Matrix {
    /// Evaluates the connections, if any policy isolates a workload and there are at least two of them.
    pub(super) fn of(sim: &Sim, model: &Model) -> Option<Matrix> {
        let store = sim.store();
        store.list(Kind::NetworkPolicy).next()?;
        let roots = model.roots.iter().flat_map(representatives);
        let mut workloads: Vec<Workload> = roots
            .take(MAX_SEARCHED)
            .filter_map(|(name, pod)| {
                let key = ObjectRef::new(Kind::Pod, &pod.id.namespace, &pod.id.name);
                let pod = store.get(&key)?.clone();
                let ports = ports_of(&pod.get::<PodBody>()?.spec.containers);
                let isolates = |direction| !policies_of(store, direction, &pod).is_empty();
                Some(Workload {
                    name,
                    port: ports.first().copied().unwrap_or(USUAL_PORT),
                    isolated_egress: isolates(Direction::Egress),
                    isolated_ingress: isolates(Direction::Ingress),
                    pod,
                })
            })
            .collect();
        if workloads.len() < 2 || !workloads.iter().any(Workload::is_isolated) {
            return None;
        }
        workloads.sort_by_key(|one| !one.is_isolated());
        workloads.truncate(MAX_WORKLOADS);
        let may = |from: &Workload, to: &Workload| {
            let permits = |is_isolated: bool, direction, end: &Object, peer: &Object| {
                let peer = Peer::pod(peer);
                !is_isolated || !verdict(store, direction, end, &peer, to.port, "TCP").is_denied()
            };
            permits(from.isolated_egress, Direction::Egress, &from.pod, &to.pod)
                && permits(to.isolated_ingress, Direction::Ingress, &to.pod, &from.pod)
        };
        let row = |from: &Workload| workloads.iter().map(|to| may(from, to)).collect();
        let allowed = workloads.iter().map(row).collect();
        Some(Matrix { workloads, allowed })
    }

    /// Draws the table and returns its bottom.
    pub(super) fn put(&self, (top, width): (f64, f64), out: &mut Scene) -> f64 {
        let left = if width <= NARROW { 16.0 } else { LEFT };
        let columns = self.workloads.len() as f64 + 1.0;
        let wide = (columns * COLUMN).min(width - 2.0 * left);
        let high = HEAD + HEADS + self.workloads.len() as f64 * ROW + 4.0;
        let rect = Rect::new(left, top, wide, high);
        let to = |one: &Workload| msg::net_matrix_to(&one.name, one.port);
        let mut head = vec![msg::net_matrix_from()];
        head.extend(self.workloads.iter().map(to));
        let mut denied = Vec::new();
        let mut rows = Vec::new();
        for (at, (from, allowed)) in self.workloads.iter().zip(&self.allowed).enumerate() {
            let mut cells = vec![Message::name(&from.name)];
            for (of, (to, may)) in self.workloads.iter().zip(allowed).enumerate() {
                cells.push(match may {
                    _ if of == at => Message::name("·"),
                    true => msg::net_matrix_allowed(),
                    false => {
                        denied.push(msg::net_matrix_pair(&from.name, &to.name));
                        msg::net_matrix_denied()
                    }
                });
            }
            rows.push((cells, false));
        }
        let table = CardTable {
            kind: "NetworkPolicy",
            caption: Message::name("NetworkPolicy"),
            title: msg::net_matrix_title(),
            pill: Message::default(),
            head,
            rows,
        };
        let id = Id {
            uid: "matrix".into(),
            ..Id::default()
        };
        let label = msg::net_matrix_label(denied);
        out.put(&id, rect, CardBody::Table(table), None, "", label);
        rect.bottom()
    }
}

/// Returns a Pod that stands for each workload; Pods without an owner stand for themselves.
fn representatives(root: &Root) -> Vec<(String, &Pod)> {
    let pods = root.groups.iter().flat_map(|group| group.pods.iter());
    match &root.controller {
        Some(of) => pods
            .take(1)
            .map(|pod| (of.id.name.clone(), &**pod))
            .collect(),
        None => pods.map(|pod| (pod.id.name.clone(), &**pod)).collect(),
    }
}
