//! Sheets: canvases on which the cells of many shapes are painted.

use super::Stage;
use std::rc::Rc;
use views::shape::{CardBody, Item, Scene};

/// Side of a sheet, in pixels.
pub(super) const SHEET: f64 = 1024.0;
/// Column and row of a sheet, and its items.
pub(super) type OnSheet = ((i32, i32), Vec<Rc<Item>>);

/// Origin of a sheet in the scene.
pub(super) fn corner((column, row): (i32, i32)) -> (f64, f64) {
    (f64::from(column) * SHEET, f64::from(row) * SHEET)
}

impl Stage {
    /// Returns the shapes whose cells are painted on sheets, by sheet: all those on a sheet with at least one item in the page.
    pub(super) fn sheets(&self, scene: &Scene) -> Vec<OnSheet> {
        let bare = |item: &&Rc<Item>| matches!(&item.body, CardBody::Cells(cells) if cells.bare());
        let place = |item: &Rc<Item>| {
            (
                (item.rect.x / SHEET).floor() as i32,
                (item.rect.y / SHEET).floor() as i32,
            )
        };
        let mut sheets: Vec<OnSheet> = Vec::new();
        for at in self
            .mounted
            .shown(scene)
            .map(|(_, item)| item)
            .filter(bare)
            .map(place)
        {
            if !sheets.iter().any(|(of, _)| *of == at) {
                sheets.push((at, Vec::new()));
            }
        }
        for item in scene.items.iter().filter(bare) {
            if let Some((_, items)) = sheets.iter_mut().find(|(of, _)| *of == place(item)) {
                items.push(item.clone());
            }
        }
        sheets
    }
}
