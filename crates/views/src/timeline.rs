//! The timeline: the rows of lanes, and the marks merged into blocks.

use crate::axis::Axis;
use projection::marks::{LANES, Mark, OTHERS};

/// Lanes shown even while they are empty, as long as there is space.
const DEFAULT_LANES: [u8; 8] = [0, 1, 2, 3, 7, 8, 9, 10];
/// Priority of lanes for a row of their own, highest first.
const LANE_PRIORITY: [u8; 12] = [0, 1, 2, 3, 8, 7, 5, 4, 10, 9, 11, 6];
/// Maximum number of rows.
const MAX_ROWS: usize = 8;

/// Returns the row of each lane, and the lanes that have a row of their own. A lane without room is drawn among the others.
pub fn rows(all: &[&[Mark]]) -> ([u8; LANES.len()], Vec<u8>) {
    let mut used = [false; LANES.len()];
    for mark in all.iter().copied().flatten() {
        if let Some(slot) = used.get_mut(usize::from(mark.lane)) {
            *slot = true;
        }
    }
    used[0] = true;
    let count = used.iter().filter(|used| **used).count();
    let mut shown: Vec<u8> = (0..OTHERS)
        .filter(|lane| used[usize::from(*lane)])
        .collect();
    if count > MAX_ROWS {
        shown = LANE_PRIORITY
            .into_iter()
            .filter(|lane| used[usize::from(*lane)])
            .take(MAX_ROWS - 1)
            .collect();
        k8s_model::sort::sort(&mut shown);
        shown.push(OTHERS);
    } else {
        shown.extend(used[usize::from(OTHERS)].then_some(OTHERS));
        let more: Vec<u8> = DEFAULT_LANES
            .into_iter()
            .filter(|lane| !used[usize::from(*lane)])
            .take(MAX_ROWS - count)
            .collect();
        shown.extend(more);
        k8s_model::sort::sort(&mut shown);
    }
    let last = shown.len() as u8 - 1;
    let mut rows = [last; LANES.len()];
    for (row, lane) in shown.iter().enumerate() {
        rows[usize::from(*lane)] = row as u8;
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
    pub lane: u8,
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
    let mut open: [Option<MarkBlock>; LANES.len()] = [None; LANES.len()];
    for mark in marks
        .iter()
        .filter(|mark| !failed || mark.bad && mark.lane != 0)
    {
        let bad = mark.bad && (failed || mark.lane == 0);
        let Some(slot) = open.get_mut(usize::from(mark.lane)) else {
            continue;
        };
        let x = axis.x(mark.at);
        if x < -BLOCK_OVERHANG_PX || x > axis.width + BLOCK_OVERHANG_PX {
            continue;
        }
        match slot {
            // A person's actions are only merged at the same position.
            Some(block)
                if if mark.lane == 0 {
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
        let all: Vec<Mark> = (0..LANES.len() as u8)
            .map(|lane| Mark {
                at: 0,
                lane,
                bad: false,
                fault: false,
                count: 1,
            })
            .collect();
        let (rows, shown) = super::rows(&[&[], &all]);
        assert_eq!(
            (shown.len(), shown[7], rows[8], rows[usize::from(OTHERS)]),
            (8, OTHERS, 6, 7)
        );
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
                mark(10, 2, false),
                mark(11, 2, true),
                mark(12, 5, false),
                mark(100, 2, false),
                mark(0, 0, false),
                mark(1, 0, false),
            ],
            &axis,
        );
        let lane2: Vec<(u32, bool)> = merged
            .iter()
            .filter(|block| block.lane == 2)
            .map(|block| (block.count, block.bad))
            .collect();
        assert_eq!(lane2, [(2, false), (1, false), (1, true)]);
        assert_eq!(merged.iter().filter(|block| block.lane == 0).count(), 2);
        // Marks out of view form no block.
        let near = axis.scaled(0.1, 500, 500.0, 1000);
        assert_eq!(
            blocks(
                &[mark(10, 2, false), mark(500, 2, false), mark(900, 2, false)],
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
                lane: 7,
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
