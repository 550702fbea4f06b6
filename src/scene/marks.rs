//! The timeline: lanes, and the marks in them.

use super::axis::Axis;

use std::rc::Rc;

/// The lanes, top down.
pub const LANES: [&str; 13] = [
    "user",
    "deployment",
    "replicaset",
    "statefulset",
    "daemonset",
    "job",
    "autoscaler",
    "scheduler",
    "kubelet",
    "volume",
    "endpoints",
    "node",
    "others",
];
/// The last lane: loops without one of their own.
pub const OTHERS: u8 = LANES.len() as u8 - 1;
/// Lanes that are shown even while they are empty, as long as there is room.
const USUAL: [u8; 8] = [0, 1, 2, 3, 7, 8, 9, 10];
/// Which lanes keep a row of their own when there are too many, the most telling first.
const FIRST: [u8; 12] = [0, 1, 2, 3, 8, 7, 5, 4, 10, 9, 11, 6];
/// As many lanes have room.
const ROOM: usize = 8;

/// Which row each lane is drawn in, and the lanes that have a row. A lane that finds no room is drawn among the others.
pub fn rows(all: &[&[Mark]]) -> ([u8; LANES.len()], Vec<u8>) {
    let mut used = [false; LANES.len()];
    for mark in all.iter().copied().flatten() {
        if let Some(slot) = used.get_mut(usize::from(mark.lane)) {
            *slot = true;
        }
    }
    used[0] = true;
    let count = used.iter().filter(|used| **used).count();
    let mut shown: Vec<u8> = (0..OTHERS).filter(|lane| used[usize::from(*lane)]).collect();
    if count > ROOM {
        shown = FIRST.into_iter().filter(|lane| used[usize::from(*lane)]).take(ROOM - 1).collect();
        crate::sort::sort(&mut shown);
        shown.push(OTHERS);
    } else {
        shown.extend(used[usize::from(OTHERS)].then_some(OTHERS));
        let more: Vec<u8> = USUAL.into_iter().filter(|lane| !used[usize::from(*lane)]).take(ROOM - count).collect();
        shown.extend(more);
        crate::sort::sort(&mut shown);
    }
    let last = shown.len() as u8 - 1;
    let mut rows = [last; LANES.len()];
    for (row, lane) in shown.iter().enumerate() {
        rows[usize::from(*lane)] = row as u8;
    }
    (rows, shown)
}

/// Something to mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Milliseconds.
    pub at: u64,
    /// Index into [`LANES`].
    pub lane: u8,
    /// A failure or refusal.
    pub bad: bool,
    /// A fault that a person has asked for.
    pub fault: bool,
    /// How many entries it stands for.
    pub count: u32,
}

/// More marks than this are not kept: neighbours become one.
const MOST: usize = 20_000;

/// The marks of a history, in order of time.
#[derive(Debug)]
pub struct Marks {
    all: Rc<Vec<Mark>>,
    /// Entries of a lane within so many milliseconds have one mark.
    grain: u64,
    /// With more than this they become fewer.
    most: usize,
    last: [Option<usize>; LANES.len()],
}

impl Default for Marks {
    fn default() -> Self {
        Marks { all: Rc::default(), grain: 1, most: MOST, last: [None; LANES.len()] }
    }
}

impl Marks {
    /// All of them.
    pub fn all(&self) -> Rc<Vec<Mark>> {
        self.all.clone()
    }

    /// Adds the newest.
    pub fn push(&mut self, mark: Mark) {
        let all = Rc::make_mut(&mut self.all);
        let Some(last) = self.last.get_mut(usize::from(mark.lane)) else { return };
        // What a person has done has always a mark of its own.
        let near = last.and_then(|at| all.get_mut(at)).filter(|old| mark.lane != 0 && old.at / self.grain == mark.at / self.grain);
        if let Some(old) = near {
            (old.bad, old.count) = (old.bad | mark.bad, old.count + mark.count);
            return;
        }
        *last = Some(all.len());
        all.push(mark);
        if all.len() > self.most {
            self.thin();
        }
    }

    fn thin(&mut self) {
        // Of what people have done none is lost: should it be all there is, it may be many.
        while self.all.len() > MOST / 2 && self.grain < 1 << 32 {
            let finer = std::mem::take(&mut self.all);
            *self = Marks { grain: self.grain * 2, most: usize::MAX, ..Marks::default() };
            finer.iter().for_each(|mark| self.push(*mark));
        }
        self.most = MOST.max(self.all.len() * 2);
    }
}

/// Marks that stand closer than 3 px: one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Left, from the start of the lane.
    pub x: f64,
    /// Width; 2.5 for one mark.
    pub w: f64,
    /// The lane.
    pub lane: u8,
    /// Marks in it.
    pub count: u32,
    /// Whether they are failures: of a block in which there are some, these have one of their own that lies on it.
    pub bad: bool,
    /// Whether they are faults that a person has asked for: these stand apart from what else was done there.
    pub fault: bool,
}

/// A mark that is so far out of sight may still reach into it.
const REACH: f64 = 8.0;

/// Merges marks that would touch: all of them, and on those the failures. `marks` must be in order of time.
pub fn blocks(marks: &[Mark], axis: &Axis) -> Vec<Block> {
    let mut out = Vec::new();
    merge(marks, axis, false, &mut out);
    if marks.iter().any(|mark| mark.bad) {
        merge(marks, axis, true, &mut out);
    }
    out
}

/// All marks, or those that are failures of a loop. What a person has asked for has one block whether it was refused or not.
fn merge(marks: &[Mark], axis: &Axis, failed: bool, out: &mut Vec<Block>) {
    let mut open: [Option<Block>; LANES.len()] = [None; LANES.len()];
    for mark in marks.iter().filter(|mark| !failed || mark.bad && mark.lane != 0) {
        let bad = mark.bad && (failed || mark.lane == 0);
        let Some(slot) = open.get_mut(usize::from(mark.lane)) else { continue };
        let x = axis.x(mark.at);
        if x < -REACH || x > axis.width + REACH {
            continue;
        }
        match slot {
            // What a person did is one with what was done at the same place only.
            Some(block) if if mark.lane == 0 { x - block.x < 0.5 && block.fault == mark.fault } else { x - (block.x + block.w) < 0.5 } => {
                block.w = (x + 2.5 - block.x).max(block.w);
                block.count += mark.count;
                block.bad |= bad;
            }
            _ => {
                out.extend(slot.take());
                *slot = Some(Block { x, w: 2.5, lane: mark.lane, count: mark.count, bad, fault: mark.fault });
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
        assert_eq!(shown, USUAL);
        assert_eq!((rows[0], rows[7]), (0, 4));
        let all: Vec<Mark> = (0..LANES.len() as u8).map(|lane| Mark { at: 0, lane, bad: false, fault: false, count: 1 }).collect();
        let (rows, shown) = super::rows(&[&[], &all]);
        assert_eq!((shown.len(), shown[7], rows[8], rows[usize::from(OTHERS)]), (8, OTHERS, 6, 7));
    }

    #[test]
    fn marks_that_touch_merge_and_people_never_do() {
        let axis = Axis::new(0, 1000.0, 1000.0, Vec::new());
        let mark = |at, lane, bad| Mark { at, lane, bad, fault: false, count: 1 };
        let merged = blocks(
            &[mark(10, 2, false), mark(11, 2, true), mark(12, 5, false), mark(100, 2, false), mark(0, 0, false), mark(1, 0, false)],
            &axis,
        );
        let lane2: Vec<(u32, bool)> = merged.iter().filter(|block| block.lane == 2).map(|block| (block.count, block.bad)).collect();
        assert_eq!(lane2, [(2, false), (1, false), (1, true)]);
        assert_eq!(merged.iter().filter(|block| block.lane == 0).count(), 2);
        // What is out of sight makes none.
        let near = axis.scaled(0.1, 500, 500.0, 1000);
        assert_eq!(blocks(&[mark(10, 2, false), mark(500, 2, false), mark(900, 2, false)], &near).len(), 1);
    }

    #[test]
    fn of_a_long_block_only_that_is_red_which_failed() {
        let axis = Axis::new(0, 5_000.0, 1000.0, Vec::new());
        let marks: Vec<Mark> =
            (0..5_000).map(|at| Mark { at, lane: 7, bad: (1_000..1_100).contains(&at), fault: false, count: 1 }).collect();
        let merged = blocks(&marks, &axis);
        let [all, red] = merged[..] else { panic!("{merged:?}") };
        assert!(!all.bad && all.w > 999.0 && all.count == 5_000);
        assert!(red.bad && red.count == 100 && (red.x - 200.0).abs() < 0.1 && red.w < 23.0, "{red:?}");
    }

    #[test]
    fn many_marks_become_fewer_and_none_is_lost() {
        let mut marks = Marks::default();
        let people = 50;
        for at in 0..200_000u64 {
            marks.push(Mark { at, lane: 2 + (at % 3) as u8, bad: at == 77_777, fault: false, count: 1 });
            if at % 4_000 == 0 {
                marks.push(Mark { at, lane: 0, bad: false, fault: false, count: 1 });
            }
        }
        let all = marks.all();
        assert!(all.len() <= MOST && all.len() > MOST / 8, "{}", all.len());
        assert_eq!(all.iter().map(|mark| mark.count as usize).sum::<usize>(), 200_000 + people);
        assert_eq!((all.iter().filter(|mark| mark.lane == 0).count(), all.iter().filter(|mark| mark.bad).count()), (people, 1));
        assert!(all.is_sorted_by_key(|mark| mark.at));
    }
}
