//! The nodes of a diagram as rows: the status of each, and its number of Pods in each state.

use crate::shape::{CardBody, Scene};
use projection::model::PodState;

/// The states that always have a column.
const ALWAYS: [PodState; 3] = [PodState::Ready, PodState::Creating, PodState::Terminating];

/// Row of a node.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// Index of its item.
    pub item: usize,
    /// `Ready`, `NotReady`, `Ready,SchedulingDisabled`
    pub status: &'static str,
    /// Existing and allocatable Pods, as `74 / 110`.
    pub pods: String,
    /// Number of Pods in each state that has a column.
    pub counts: Vec<usize>,
}

/// Returns the states that have a column, and a row per node; empty if the diagram has no nodes.
pub fn rows(scene: &Scene) -> (Vec<PodState>, Vec<NodeRow>) {
    let mut found: Vec<(NodeRow, [usize; PodState::ALL.len()])> = Vec::new();
    // By item, so that an item on a node finds its row.
    let mut of: Vec<Option<usize>> = vec![None; scene.items.len()];
    let place = |state: PodState| {
        PodState::ALL
            .iter()
            .position(|known| *known == state)
            .unwrap_or(0)
    };
    for (at, item) in scene.items.iter().enumerate() {
        let on = item
            .parent
            .and_then(|parent| of.get(parent).copied().flatten());
        match (&item.body, on) {
            (CardBody::Node(node), _) => {
                of[at] = Some(found.len());
                let pods = format!("{} / {}", node.pods.0, node.pods.1);
                found.push((
                    NodeRow {
                        item: at,
                        status: node.status,
                        pods,
                        counts: Vec::new(),
                    },
                    [0; PodState::ALL.len()],
                ));
            }
            (CardBody::Cells(cells), Some(row)) => cells
                .pods
                .counts()
                .iter()
                .for_each(|(state, n)| found[row].1[place(*state)] += n),
            (CardBody::Tile { state, .. }, Some(row)) => found[row].1[place(*state)] += 1,
            _ => {}
        }
    }
    let has = |state: &PodState| {
        ALWAYS.contains(state) || found.iter().any(|(_, counts)| counts[place(*state)] > 0)
    };
    let rest = PodState::ALL
        .into_iter()
        .filter(|state| !ALWAYS.contains(state) && has(state));
    let columns: Vec<PodState> = ALWAYS.into_iter().chain(rest).collect();
    let filled = |(row, counts): (NodeRow, [usize; PodState::ALL.len()])| NodeRow {
        counts: columns.iter().map(|state| counts[place(*state)]).collect(),
        ..row
    };
    let rows = found.into_iter().map(filled).collect();
    (columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::{LayoutCache, layout};
    use projection::model::{Group, Id, Model, Node, Pod, Root};
    use std::rc::Rc;

    #[test]
    fn a_node_is_one_row_whether_its_pods_are_tiles_or_cells() {
        for pods in [3, 300] {
            let pod = |at: usize| Pod {
                id: Id::named("Pod", &format!("p{at}")),
                node: "n".into(),
                state: if at == 0 {
                    PodState::NotReady
                } else {
                    PodState::Ready
                },
                ..Pod::default()
            };
            let node = |name: &str, cordoned| {
                Rc::new(Node {
                    id: Id::named("Node", name),
                    ready: true,
                    cordoned,
                    pods: 500,
                    ..Node::default()
                })
            };
            let groups = vec![Group {
                controller: None,
                pods: (0..pods).map(pod).collect(),
            }];
            let roots = vec![Root {
                controller: None,
                groups,
                ..Root::default()
            }];
            let model = Model {
                roots,
                nodes: Rc::new(vec![node("n", false), node("o", true)]),
                ..Model::default()
            };
            let (columns, rows) = rows(&layout(&model, None, 800.0, &mut LayoutCache::default()));
            assert_eq!(
                columns,
                [
                    PodState::Ready,
                    PodState::Creating,
                    PodState::Terminating,
                    PodState::NotReady
                ]
            );
            let told: Vec<_> = rows
                .iter()
                .map(|row| (row.status, row.pods.clone(), row.counts.clone()))
                .collect();
            assert_eq!(
                told[0],
                ("Ready", format!("{pods} / 500"), vec![pods - 1, 0, 0, 1])
            );
            assert_eq!(
                told[1],
                ("Ready,SchedulingDisabled", "0 / 500".into(), vec![0; 4])
            );
        }
    }
}
