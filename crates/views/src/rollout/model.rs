//! A drawn chart, and the values at any of its instants.

use super::layers::{Layer, Shade, Swatch};
use crate::axis::Axis;
use crate::draw::primitive::Anchor;
use crate::shape::Rect;
use i18n::format;
use i18n::{Arg, Message, clauses, msg};
use projection::rollout_track::{Count, Point};

/// Meaning of a path in the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartPart {
    /// Horizontal lines.
    Grid,
    /// Space between the ready Pods and the lower limit.
    Shortfall,
    /// Pods of a revision in a layer.
    Area(Layer, Shade),
    /// Lower limit.
    Least,
    /// Upper limit.
    Most,
    /// Current value of a limit, after the instant shown.
    Ahead,
    /// Line from a note to its subject; true if a limit is violated there.
    Leader(bool),
    /// Subject of a note.
    Dot(bool),
    /// Folded stretch of time.
    Fold,
    /// Instant shown.
    Now,
}

impl ChartPart {
    /// Classes in the page.
    pub fn class(self) -> String {
        match self {
            ChartPart::Grid => "grid".into(),
            ChartPart::Shortfall => "short".into(),
            ChartPart::Area(layer, shade) => {
                format!("layer {} {}", layer.class(), shade.class())
            }
            ChartPart::Least => "bounds least".into(),
            ChartPart::Most => "bounds most".into(),
            ChartPart::Ahead => "bounds ahead".into(),
            ChartPart::Leader(false) => "leader".into(),
            ChartPart::Leader(true) => "leader bad".into(),
            ChartPart::Dot(false) => "dot".into(),
            ChartPart::Dot(true) => "dot bad".into(),
            ChartPart::Fold => "fold".into(),
            ChartPart::Now => "now".into(),
        }
    }
}

/// Path of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPath {
    /// Meaning.
    pub part: ChartPart,
    /// Commands, as in SVG.
    pub d: String,
}

/// Meaning of words in the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordRole {
    /// Number of Pods at a line of the grid.
    Scale,
    /// Time under the plot.
    Time,
    /// Limit, or note; true if it is about a violated limit.
    Note(bool),
    /// Name of a revision; true if it stands over more than its own area.
    Name(bool),
}

/// Words of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartWord {
    /// Position of the anchor.
    pub x: f64,
    /// Foot of the letters.
    pub y: f64,
    /// Anchor.
    pub anchor: Anchor,
    /// Meaning.
    pub role: WordRole,
    /// Words.
    pub text: Message,
}

/// Revision in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct RevisionKey {
    /// Appearance in the plot.
    pub swatch: Swatch,
    /// Index of the revision.
    pub revision: usize,
    /// Image.
    pub image: Message,
    /// Hash and standing.
    pub hash: Message,
}

/// Drawn chart: paths, words, and the values at any instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Paths, in paint order.
    pub paths: Vec<ChartPath>,
    /// Words with their positions.
    pub words: Vec<ChartWord>,
    /// Name of the workload.
    pub title: Message,
    /// Rollback of the workload: target and source revision; empty if there was none.
    pub back: Message,
    /// Revisions in the table.
    pub keys: Vec<RevisionKey>,
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
    pub columns: Vec<Layer>,
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

    /// Returns the heads of the columns with their swatch.
    pub fn heads(&self) -> impl Iterator<Item = (Message, Option<Swatch>)> {
        self.columns.iter().map(|layer| match layer {
            Layer::Ready => (Message::state("Ready"), None),
            Layer::Unready => (msg::state_not_ready(), Some(Swatch::Other(*layer))),
            Layer::Failing => (msg::state_failing(), Some(Swatch::Other(*layer))),
            Layer::Terminating => (msg::state_terminating(), Some(Swatch::Other(*layer))),
        })
    }

    /// Returns the numbers of a revision at an instant, one for each head.
    pub fn numbers(&self, revision: usize, at: u64) -> impl Iterator<Item = String> {
        let count = self.count(revision, at);
        self.columns
            .iter()
            .map(move |layer| format::count(layer.pods(&count) as usize))
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
        let row = |key: &RevisionKey| {
            [
                key.image.clone(),
                key.hash.clone(),
                counted(self.count(key.revision, self.now)),
            ]
        };
        self.keys.iter().rev().map(row).collect()
    }

    /// Describes an instant in words.
    pub fn said(&self, at: u64) -> Message {
        let all = self.keys.iter().map(|key| {
            msg::chart_revision_counts(&key.image, counted(self.count(key.revision, at)))
        });
        clauses(
            [Message::only(Arg::Clock(at as i64)), self.wants(at)]
                .into_iter()
                .chain(all)
                .collect(),
        )
    }
}
