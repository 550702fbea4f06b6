//! The timeline: the rows of lanes, and the marks merged into blocks.

use crate::axis::Axis;
use projection::marks::{Lane, Mark};

/// Lanes shown even while they are empty, as long as there is space.
const DEFAULT_LANES: [Lane; 8] = [
    Lane::User,
    Lane::Deployment,
    Lane::ReplicaSet,
    Lane::StatefulSet,
    Lane::Scheduler,
    Lane::Kubelet,
    Lane::Volume,
    Lane::Endpoints,
];
/// Priority of lanes for a row of their own, highest first.
const LANE_PRIORITY: [Lane; 12] = [
    Lane::User,
    Lane::Deployment,
    Lane::ReplicaSet,
    Lane::StatefulSet,
    Lane::Kubelet,
    Lane::Scheduler,
    Lane::Job,
    Lane::DaemonSet,
    Lane::Endpoints,
    Lane::Volume,
    Lane::Node,
    Lane::Autoscaler,
];
/// Maximum number of rows.
const MAX_ROWS: usize = 8;

/// Returns the row of each lane, and the lanes that have a row of their own. A lane without room is drawn among the others.
pub fn rows(all: &[&[Mark]]) -> ([u8; Lane::ALL.len()], Vec<Lane>) {
    let mut used = [false; Lane::ALL.len()];
    for mark in all.iter().copied().flatten() {
        if let Some(slot) = used.get_mut(mark.lane.index()) {
            *slot = true;
        }
    }
    used[Lane::User.index()] = true;
    let count = used.iter().filter(|used| **used).count();
    let mut shown: Vec<Lane> = Lane::ALL[..Lane::Others.index()]
        .iter()
        .copied()
        .filter(|lane| used[lane.index()])
        .collect();
    if count > MAX_ROWS {
        // Loops that somebody has written come first.
        let written = |lane: &Lane| matches!(lane, Lane::Named(_));
        let named = Lane::ALL.into_iter().filter(written);
        let (first, rest) = LANE_PRIORITY.split_at(1);
        shown = (first.iter().copied())
            .chain(named)
            .chain(rest.iter().copied())
            .filter(|lane| used[lane.index()])
            .take(MAX_ROWS - 1)
            .collect::<Vec<_>>();
        shown.sort();
        shown.push(Lane::Others);
    } else {
        shown.extend(used[Lane::Others.index()].then_some(Lane::Others));
        let more: Vec<Lane> = DEFAULT_LANES
            .into_iter()
            .filter(|lane| !used[lane.index()])
            .take(MAX_ROWS - count)
            .collect();
        shown.extend(more);
        shown.sort();
    }
    let last = shown.len() as u8 - 1;
    let mut rows = [last; Lane::ALL.len()];
    for (row, lane) in shown.iter().enumerate() {
        rows[lane.index()] = row as u8;
    }
    (rows, shown)
}

/// Marks closer than 3 px, merged into one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkBlock {
    /// Left edge, from the start of the lane.
    pub x: f64,
    /// Width; 2.5 for one mark.
    pub w: f64,
    /// Lane.
    pub lane: Lane,
    /// Number of marks.
    pub count: u32,
    /// True if the marks are failures: failures within a block form a block of their own on top of it.
    pub bad: bool,
    /// True if the marks are injected faults: these are not merged with other actions.
    pub fault: bool,
}

/// Distance beyond the edge at which a mark may still be partly visible.
const BLOCK_OVERHANG_PX: f64 = 8.0;

/// Merges marks that would touch: all of them, and on top the failures. `marks` must be in order of time.
pub fn blocks(marks: &[Mark], axis: &Axis) -> Vec<MarkBlock> {
    let mut out = Vec::new();
    merge(marks, axis, false, &mut out);
    if marks.iter().any(|mark| mark.bad) {
        merge(marks, axis, true, &mut out);
    }
    out
}

/// Merges all marks, or only the failures of loops. A person's actions have one block whether refused or not.
fn merge(marks: &[Mark], axis: &Axis, failed: bool, out: &mut Vec<MarkBlock>) {
    let mut open: [Option<MarkBlock>; Lane::ALL.len()] = [None; Lane::ALL.len()];
    for mark in marks
        .iter()
        .filter(|mark| !failed || mark.bad && mark.lane != Lane::User)
    {
        let bad = mark.bad && (failed || mark.lane == Lane::User);
        let Some(slot) = open.get_mut(mark.lane.index()) else {
            continue;
        };
        let x = axis.x(mark.at);
        if x < -BLOCK_OVERHANG_PX || x > axis.width + BLOCK_OVERHANG_PX {
            continue;
        }
        match slot {
            // A person's actions are only merged at the same position.
            Some(block)
                if if mark.lane == Lane::User {
                    x - block.x < 0.5 && block.fault == mark.fault
                } else {
                    x - (block.x + block.w) < 0.5
                } =>
            {
                block.w = (x + 2.5 - block.x).max(block.w);
                block.count += mark.count;
                block.bad |= bad;
            }
            _ => {
                out.extend(slot.take());
                *slot = Some(MarkBlock {
                    x,
                    w: 2.5,
                    lane: mark.lane,
                    count: mark.count,
                    bad,
                    fault: mark.fault,
                });
            }
        }
    }
    out.extend(open.into_iter().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_are_used_have_a_row_and_the_rest_shares_the_last() {
        let (rows, shown) = rows(&[&[]]);
        assert_eq!(shown, DEFAULT_LANES);
        assert_eq!((rows[0], rows[7]), (0, 4));
        let mark = |lane| Mark {
            at: 0,
            lane,
            bad: false,
            fault: false,
            count: 1,
        };
        let mut all: Vec<Mark> = Lane::ALL
            .into_iter()
            .filter(|lane| !matches!(lane, Lane::Named(_)))
            .map(mark)
            .collect();
        let (rows, shown) = super::rows(&[&[], &all]);
        assert_eq!(
            (shown.len(), shown[7], rows[8], rows[Lane::Others.index()]),
            (8, Lane::Others, 6, 7)
        );
        all.push(mark(Lane::named("mine")));
        let (rows, shown) = super::rows(&[&all]);
        assert!(shown.contains(&Lane::named("mine")));
        assert_eq!(rows[Lane::named("mine").index()], 6);
    }

    #[test]
    fn marks_that_touch_merge_and_people_never_do() {
        let axis = Axis::new(0, 1000.0, 1000.0, Vec::new());
        let mark = |at, lane, bad| Mark {
            at,
            lane,
            bad,
            fault: false,
            count: 1,
        };
        let merged = blocks(
            &[
                mark(10, Lane::ReplicaSet, false),
                mark(11, Lane::ReplicaSet, true),
                mark(12, Lane::Job, false),
                mark(100, Lane::ReplicaSet, false),
                mark(0, Lane::User, false),
                mark(1, Lane::User, false),
            ],
            &axis,
        );
        let lane2: Vec<(u32, bool)> = merged
            .iter()
            .filter(|block| block.lane == Lane::ReplicaSet)
            .map(|block| (block.count, block.bad))
            .collect();
        assert_eq!(lane2, [(2, false), (1, false), (1, true)]);
        assert_eq!(
            merged
                .iter()
                .filter(|block| block.lane == Lane::User)
                .count(),
            2
        );
        // Marks out of view form no block.
        let near = axis.scaled(0.1, 500, 500.0, 1000);
        assert_eq!(
            blocks(
                &[
                    mark(10, Lane::ReplicaSet, false),
                    mark(500, Lane::ReplicaSet, false),
                    mark(900, Lane::ReplicaSet, false)
                ],
                &near
            )
            .len(),
            1
        );
    }

    #[test]
    fn of_a_long_block_only_that_is_red_which_failed() {
        let axis = Axis::new(0, 5_000.0, 1000.0, Vec::new());
        let marks: Vec<Mark> = (0..5_000)
            .map(|at| Mark {
                at,
                lane: Lane::Scheduler,
                bad: (1_000..1_100).contains(&at),
                fault: false,
                count: 1,
            })
            .collect();
        let merged = blocks(&marks, &axis);
        let [all, red] = merged[..] else {
            panic!("{merged:?}")
        };
        assert!(!all.bad && all.w > 999.0 && all.count == 5_000);
        assert!(
            red.bad && red.count == 100 && (red.x - 200.0).abs() < 0.1 && red.w < 23.0,
            "{red:?}"
        );
    }
}
