//! Pods of a group: as cards, tiles or cells.

use super::measures::{DENSE, Measures, PAD};
use projection::model::PodBlock;

/// Form in which the Pods of a group are drawn.
pub(super) enum Leaves {
    None,
    Cards,
    Tiles {
        rows: usize,
    },
    Cells {
        columns: usize,
        rows: usize,
        side: f64,
        pitch: f64,
    },
}

/// Chooses the form. `most`: maximum number of Pods now or later; `now`: number of Pods for which there must be a place.
pub(super) fn leaves(
    most: usize,
    now: usize,
    total: usize,
    (width, room): (f64, f64),
    of: &Measures,
) -> Leaves {
    match most {
        0 => Leaves::None,
        _ if now == 0 => Leaves::None,
        n if total > DENSE && n > 24 => {
            let (side, pitch) = if total > 20_000 {
                (4.0, 5.0)
            } else {
                (7.0, 8.0)
            };
            // As wide as there is room, then growing downwards.
            let columns = ((n as f64 * 1.6).sqrt().ceil() as usize)
                .min(((room - 2.0 * PAD) / pitch) as usize)
                .max(22);
            Leaves::Cells {
                columns,
                rows: now.div_ceil(columns),
                side,
                pitch,
            }
        }
        n if n <= of.cards => Leaves::Cards,
        n if n <= of.tiles => Leaves::Tiles {
            rows: now.div_ceil(of.across),
        },
        _ => {
            let columns = ((width - 2.0 * PAD) / 10.0) as usize;
            Leaves::Cells {
                columns,
                rows: now.div_ceil(columns),
                side: 8.0,
                pitch: 10.0,
            }
        }
    }
}

/// Height of the counts over cells: a line for each state, or for two if there is room; at least two, so that the second state moves
/// nothing.
pub(super) fn counts_height(pods: &PodBlock, width: f64) -> f64 {
    8.0 + 18.0
        * pods
            .counts()
            .len()
            .div_ceil(if width >= 336.0 { 2 } else { 1 })
            .max(2) as f64
}

pub(super) fn leaves_height(
    pods: &PodBlock,
    now: usize,
    kind: &Leaves,
    pitch: f64,
    of: &Measures,
) -> f64 {
    match kind {
        Leaves::None => 0.0,
        Leaves::Cards => now as f64 * pitch - (pitch - of.pod),
        Leaves::Tiles { rows } => *rows as f64 * of.step.1 - (of.step.1 - of.tile.1),
        Leaves::Cells {
            rows,
            pitch,
            columns,
            ..
        } => counts_height(pods, *columns as f64 * pitch + 2.0 * PAD) + *rows as f64 * pitch + 14.0,
    }
}
