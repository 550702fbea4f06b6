//! A drawn chart, and the values at any of its instants.

use super::layers::LAYERS;
use crate::axis::Axis;
use crate::shape::Rect;
use i18n::format;
use i18n::{Arg, Message, clauses, msg};
use projection::rollout_track::{Count, Point};

/// Position, anchor, class, and words.
pub(super) type PlacedWord = (f64, f64, &'static str, &'static str, Message);

/// Drawn chart: paths with their classes, words, and the values at any instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Class and path, in paint order.
    pub paths: Vec<(String, String)>,
    /// Words with their positions.
    pub words: Vec<PlacedWord>,
    /// Name of the workload.
    pub title: Message,
    /// Rollback of the workload: target and source revision; empty if there was none.
    pub back: Message,
    /// Revisions in the table: class of the swatch, index, image and hash.
    pub keys: Vec<(&'static str, usize, [Message; 2])>,
    /// X position of the table.
    pub left: f64,
    /// True in a low frame, where the revisions are named in one row.
    pub low: bool,
    /// Bounds of the plot.
    pub plot: Rect,
    /// Time axis.
    pub axis: Axis,
    /// Changes, in order of time.
    pub points: Vec<Point>,
    /// Instant shown.
    pub now: u64,
    /// Layers that have a column of numbers: failing and terminating only if there are such Pods.
    pub columns: Vec<&'static str>,
}

/// Describes the number of Pods in each layer.
pub(super) fn counted(of: Count) -> Message {
    let [ready, unready, failing, leaving] =
        [of.ready, of.unready, of.failing, of.leaving].map(|n| format::count(n as usize));
    let counts = match of.failing {
        0 => msg::chart_counts(ready, unready),
        _ => msg::chart_counts_failing(ready, unready, failing),
    };
    if of.leaving == 0 {
        counts
    } else {
        msg::chart_counts_leaving(counts, leaving)
    }
}

impl Chart {
    /// Returns the values at an instant.
    pub fn point(&self, at: u64) -> Point {
        let after = self.points.partition_point(|point| point.at <= at);
        self.points
            .get(after.saturating_sub(1))
            .cloned()
            .unwrap_or_default()
    }

    /// Returns the next change after an instant, or the last before it.
    pub fn next(&self, at: u64, forward: bool) -> u64 {
        let mut times = self.points.iter().map(|point| point.at);
        let found = if forward {
            times.find(|time| *time > at)
        } else {
            times.rfind(|time| *time < at)
        };
        found
            .unwrap_or(if forward { self.now } else { self.axis.from })
            .max(self.axis.from)
    }

    /// Describes the desired number at an instant, and its limits.
    pub fn wants(&self, at: u64) -> Message {
        let Point {
            desired,
            limits: (least, most),
            ..
        } = self.point(at);
        match least == most {
            true => msg::chart_desired(desired),
            false => msg::chart_limits(desired, least, most),
        }
    }

    /// Line under the title. If the rows have no room for a rollback, it describes that until an instant is probed.
    pub fn line(&self, at: u64, asked: bool) -> Message {
        if (self.low || self.left < self.plot.x) && !asked && !self.back.is_empty() {
            self.back.clone()
        } else {
            self.wants(at)
        }
    }

    fn count(&self, revision: usize, at: u64) -> Count {
        self.point(at)
            .counts
            .get(revision)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the heads of the columns with the class of their swatch.
    pub fn heads(&self) -> impl Iterator<Item = (Message, &'static str)> {
        self.columns.iter().map(|class| match *class {
            "rdy" => (Message::state("Ready"), ""),
            "unr" => (msg::state_not_ready(), "unr"),
            "fls" => (msg::state_failing(), "fls"),
            class => (msg::state_terminating(), class),
        })
    }

    /// Returns the numbers of a revision at an instant, one for each head.
    pub fn numbers(&self, revision: usize, at: u64) -> impl Iterator<Item = String> {
        let of = self.count(revision, at);
        let shown = LAYERS
            .into_iter()
            .filter(|(class, _)| self.columns.contains(class));
        shown.map(move |(_, pick)| format::count(pick(&of) as usize))
    }

    /// Ready and total Pods of a revision at an instant.
    pub fn share(&self, revision: usize, at: u64) -> String {
        let of = self.count(revision, at);
        [of.ready, of.all()]
            .map(|n| format::count(n as usize))
            .join(" / ")
    }

    /// Returns a row per revision at the instant shown, the newest first: image, hash, Pods.
    pub fn rows(&self) -> Vec<[Message; 3]> {
        let row = |(_, revision, [image, hash]): &(&'static str, usize, [Message; 2])| {
            [
                image.clone(),
                hash.clone(),
                counted(self.count(*revision, self.now)),
            ]
        };
        self.keys.iter().rev().map(row).collect()
    }

    /// Describes an instant in words.
    pub fn said(&self, at: u64) -> Message {
        let all = self.keys.iter().map(|(_, revision, [image, _])| {
            msg::chart_revision_counts(image, counted(self.count(*revision, at)))
        });
        clauses(
            [Message::only(Arg::Clock(at as i64)), self.wants(at)]
                .into_iter()
                .chain(all)
                .collect(),
        )
    }
}
