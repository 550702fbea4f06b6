//! The viewport of a stage: scale and position of a picture. Sizes are arguments; nothing here depends on the document.

use crate::shape::{CardBody, Item, Label, Rect, Scene, steps};
use crate::view::{Fit, Scale};
use std::rc::Rc;

/// Height of a frame below which cards are lower.
pub const LOW_FRAME: f64 = 400.0;
/// Height of the controls at the foot.
const CONTROLS_HEIGHT: f64 = 44.0;
/// Minimum scale of a picture that is slightly too large: text of 12 px is 10.5 px then, and smaller text is enlarged (`views.css`).
const MIN_SHRINK_SCALE: f64 = 0.875;
/// Minimum and maximum scale of manual zooming.
const SCALES: (f64, f64) = (0.25, 2.0);
/// Width below which a stage that is not lower counts as a phone's.
const PHONE_WIDTH: f64 = 560.0;
/// Distance out of view above which items are not mounted.
const MOUNT_MARGIN: f64 = 160.0;
/// Part of a panned picture that stays visible, in pixels.
const KEPT_IN_SIGHT: f64 = 96.0;
/// Width and maximum height of a hover card.
const HOVER_CARD_WIDTH: f64 = 264.0;
const HOVER_CARD_HEIGHT: f64 = 256.0;
/// Minimum size of a stage with room for a legend.
const MIN_LEGEND_STAGE: (f64, f64) = (620.0, 300.0);
/// Minimum height of a stage with room for controls.
const MIN_CONTROLS_STAGE_HEIGHT: f64 = 300.0;
/// Maximum number of lines checked for a free corner of the map.
const MAX_MAPPED_EDGES: usize = 300;
/// Maximum size of the map.
const MAX_MAP_SIZE: (f64, f64) = (152.0, 104.0);

/// Picture shown by a viewport.
#[derive(Clone, Copy)]
pub struct ViewedScene<'a> {
    /// Diagram.
    pub scene: &'a Scene,
    /// Scaling and placing of its diagram.
    pub fit: Fit,
    /// True in a frame of another page.
    pub embed: bool,
}

/// Returns true if a line, drawn at a scale, crosses a rectangle of the picture. For a curve its bounding box is used.
fn crosses(d: &str, z: f64, (x, y, w, h): (f64, f64, f64, f64)) -> bool {
    let (mut at, mut found) = ((0.0, 0.0), false);
    for (verb, numbers) in steps(d) {
        let to = match (verb, &numbers[..]) {
            (b'H', [.., x]) => (*x, at.1),
            (b'V', [.., y]) => (at.0, *y),
            (_, [.., x, y]) => (*x, *y),
            _ => at,
        };
        let (left, right, top, low) = (
            f64::min(at.0, to.0) * z,
            f64::max(at.0, to.0) * z,
            f64::min(at.1, to.1) * z,
            f64::max(at.1, to.1) * z,
        );
        found |= verb != b'M' && left < x + w && right > x && top < y + h && low > y;
        at = to;
    }
    found
}

/// Fixed side of a hover card, and its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// Top edge.
    Top(f64),
    /// Bottom edge, from the bottom of the stage.
    Bottom(f64),
}

/// Scale of the map of a diagram.
pub fn map_scale(scene: &Scene) -> f64 {
    (MAX_MAP_SIZE.0 / scene.width).min(MAX_MAP_SIZE.1 / scene.height)
}

/// Size of the map of a diagram.
pub fn map_size(scene: &Scene) -> (f64, f64) {
    (
        scene.width * map_scale(scene),
        scene.height * map_scale(scene),
    )
}

/// Clamps a pan: at most `over` is empty, and nothing that fits is out of view.
fn slide(pan: f64, over: f64) -> f64 {
    pan.clamp(over.min(0.0), over.max(0.0))
}

/// Heights taken by panels at the foot of a stage while they are open.
#[derive(Clone, Copy, Debug, Default)]
pub struct PanelInsets {
    /// Height of the console.
    pub console: f64,
    /// Height of the line that is shown in the past.
    pub past: f64,
}

/// Scale and position of a picture in a stage.
#[derive(Clone, Debug)]
pub struct Viewport {
    /// Size of the stage.
    pub size: (f64, f64),
    /// Its height with the console and the line of the past closed: these come and go, and the picture keeps its scale.
    pub whole: f64,
    /// Height for which a picture is laid out: `whole`, or with the console if the diagram has a low form.
    laid_out: f64,
    /// Position of the picture's corner.
    pub pan: (f64, f64),
    /// Scale.
    pub zoom: f64,
    /// True if the user moved the picture.
    pub touched: bool,
    /// True if the user asked to fit everything.
    pub all: bool,
    /// Corner of the map, if it is shown.
    pub map: Option<u8>,
    /// Size at the last fit.
    fitted: (f64, f64),
    /// True if the layout size has changed since the last picture.
    resized: bool,
    /// Size of the stage when the map was placed.
    mapped: (f64, f64),
}

impl Default for Viewport {
    fn default() -> Viewport {
        Viewport {
            size: (0.0, 0.0),
            whole: 0.0,
            laid_out: 0.0,
            pan: (0.0, 0.0),
            zoom: 1.0,
            touched: false,
            all: false,
            map: None,
            fitted: (0.0, 0.0),
            resized: false,
            mapped: (0.0, 0.0),
        }
    }
}

impl Viewport {
    /// Sets the size of the stage; `taken`: the heights taken by panels at the foot. Returns false if it is unchanged.
    pub fn resize(&mut self, size: (f64, f64), taken: PanelInsets, of: &ViewedScene) -> bool {
        if size == self.size {
            return false;
        }
        let ((width, before), whole, stage) = (self.size, self.whole, self.stage());
        self.size = size;
        self.measure(of, taken);
        let other = size.0 != width || of.fit.has_low_form && self.stage() != stage;
        self.resized = (self.resized || other) && of.scene.stage != self.stage();
        if self.touched {
        } else if self.all {
            self.fit(of);
        } else if (width, whole) == (size.0, self.whole) {
            self.give_way(of, before);
        } else if !self.stays(of) {
            self.fit(of);
        }
        true
    }

    /// Size of the stage for which a picture is laid out.
    pub fn stage(&self) -> (f64, f64) {
        (self.size.0, self.laid_out)
    }

    /// Returns true if a new scene is the first one laid out for a changed size.
    pub fn take_resized(&mut self, scene: &Scene) -> bool {
        // A scene laid out for the previous size may still arrive.
        let resized = self.resized && scene.stage == self.stage();
        self.resized &= !resized;
        resized
    }

    pub fn fit(&mut self, of: &ViewedScene) {
        let scene = of.scene;
        // A request to fit everything is about the currently visible area.
        let (w, h) = (self.size.0, if self.all { self.size.1 } else { self.whole });
        if w < 1.0 || h < 1.0 || scene.width < 1.0 {
            return;
        }
        let room = self.room_in(of, h);
        let narrow = w < PHONE_WIDTH && h >= w;
        let (across, down) = (w / scene.width, room / scene.height);
        // A picture that does not fit is panned, since unreadable text is of no use. Loops are laid out for the available width.
        let least = match () {
            // Any scale.
            () if self.all => f64::MIN_POSITIVE,
            () if of.fit.scale == Scale::Fixed => 1.0,
            // In a frame the user cannot zoom; a low one has lower cards.
            () if of.embed && h < LOW_FRAME && !scene.dense() => 1.0,
            () if of.embed => 0.85,
            () if w < PHONE_WIDTH => 0.8,
            // A column is read as a whole, and the rest is panned to.
            () if of.fit.scale == Scale::WholeOrFixed && across.min(down) < MIN_SHRINK_SCALE => 1.0,
            () => MIN_SHRINK_SCALE,
        };
        // If it has to be panned vertically anyway, it may take the full width; in a low frame too little would be visible then. The height
        // of nodes with cells changes with their Pods, so that they keep their scale.
        self.zoom = if !self.all && (narrow || scene.dense() || down < least && h > 320.0) {
            across
        } else {
            across.min(down)
        }
        .clamp(least, 1.0);
        self.fitted = (w, h);
        self.place(of);
    }

    /// Centres the picture, or aligns it at the top.
    pub fn place(&mut self, of: &ViewedScene) {
        let over = |size: f64, length: f64| (size - length * self.zoom).max(0.0);
        let left = over(self.size.0, of.scene.width) / 2.0;
        let whole = over(self.room_in(of, self.whole), of.scene.height) / 2.0;
        let top = if self.hangs(of) {
            0.0
        } else {
            whole.min(over(self.room(of), of.scene.height))
        };
        self.pan = (left.round(), top.round());
    }

    /// Computes the height without panels at the foot; a chart is drawn for the actual height.
    pub fn measure(&mut self, of: &ViewedScene, taken: PanelInsets) {
        self.whole = self.size.1
            + if of.fit.fills {
                0.0
            } else {
                taken.console + taken.past
            };
        self.laid_out = self.whole
            - if of.fit.has_low_form {
                taken.console
            } else {
                0.0
            };
    }

    /// Keeps the visible part in place when a panel at the foot opens or closes.
    fn give_way(&mut self, of: &ViewedScene, before: f64) {
        if self.size.1 > before {
            return self.place(of);
        }
        self.pan.1 = self
            .pan
            .1
            .min((self.room(of) - of.scene.height * self.zoom).max(0.0))
            .round();
    }

    /// Returns true if the picture is aligned at the top: columns and tables, and everything on a phone. Ownership grows to all sides.
    fn hangs(&self, of: &ViewedScene) -> bool {
        self.size.0 < PHONE_WIDTH && self.size.1 >= self.size.0 || !of.embed && of.fit.hangs
    }

    /// Returns true if nothing moves although the height has changed, for example by a line at the foot: everything is still visible.
    fn stays(&self, of: &ViewedScene) -> bool {
        self.size.0 == self.fitted.0
            && (self.whole - self.fitted.1).abs() < 80.0
            && self.pan.1 + of.scene.height * self.zoom <= self.room(of)
    }

    /// Updates the viewport for a changed picture, which keeps its position and scale as long as it is visible. Returns true if it could be
    /// larger or better centred, which is worth a move only if it lasts.
    pub fn settle(&mut self, of: &ViewedScene, opens: bool) -> bool {
        let (pan, zoom) = (self.pan, self.zoom);
        self.fit(of);
        // A chart is as large as the stage for which it is drawn.
        if of.fit.fills {
            return false;
        }
        let over = (
            self.size.0 - of.scene.width * zoom,
            self.room(of) - of.scene.height * zoom,
        );
        if self.zoom < zoom || opens {
            return false;
        }
        let left = slide(pan.0, over.0);
        let aside = over.0 > 0.0 && (over.0 - 2.0 * left).abs() > self.size.0 / 8.0;
        let larger = self.zoom > zoom * 1.01 || aside;
        let top = slide(pan.1, over.1);
        // It may be off the middle by a fifth of the height.
        let top = if !self.hangs(of)
            && over.1 > 0.0
            && (over.1 - 2.0 * top).abs() > self.room(of) / 5.0
        {
            over.1 / 2.0
        } else {
            top
        };
        (self.pan, self.zoom) = ((left.round(), top.round()), zoom);
        larger
    }

    /// Height of the area not covered by the controls at the foot.
    pub fn room(&self, of: &ViewedScene) -> f64 {
        self.room_in(of, self.size.1)
    }

    /// Height of that area in a stage of another height.
    fn room_in(&self, of: &ViewedScene, height: f64) -> f64 {
        if self.controlled(of, height) {
            height - CONTROLS_HEIGHT
        } else {
            height
        }
    }

    /// Returns true if enough is out of view for a map to help.
    fn hides(&self, scene: &Scene) -> bool {
        let seen =
            |pan: f64, length: f64, size: f64| (pan + length * self.zoom).min(size) - pan.max(0.0);
        let (across, down) = (
            seen(self.pan.0, scene.width, self.size.0),
            seen(self.pan.1, scene.height, self.size.1),
        );
        let share =
            across.max(0.0) * down.max(0.0) / (scene.width * scene.height * self.zoom * self.zoom);
        share < 0.97
    }

    /// Chooses a corner in which the map covers nothing. Once the picture was moved the map stays; if there was no such corner, it appears
    /// only then, where it covers least, and never over Pods as cells.
    pub fn place_map(&mut self, of: &ViewedScene, wanted: bool) {
        if !self.controls(of) || !wanted || !self.hides(of.scene) {
            self.map = None;
            return;
        }
        if self.touched && self.map.is_some() && self.mapped == self.size {
            return;
        }
        let (w, h) = map_size(of.scene);
        let z = self.zoom;
        let covered = |corner: &u8| {
            let (x, y) = self.corner(*corner, of);
            let (x, y) = (x - self.pan.0, y - self.pan.1);
            let meets = |item: &Rc<Item>| {
                let at = item.rect;
                at.h > 0.0
                    && at.x * z < x + w
                    && at.right() * z > x
                    && at.y * z < y + h
                    && at.bottom() * z > y
            };
            // Only the position of a label is known: an average width is assumed.
            let over = |label: &Label| {
                let (left, wide) = (
                    if label.centred {
                        label.x - 60.0
                    } else {
                        label.x
                    },
                    120.0,
                );
                left * z < x + w
                    && (left + wide) * z > x
                    && (label.y - 12.0) * z < y + h
                    && (label.y + 12.0) * z > y
            };
            let labels = &of.scene.labels;
            // Few items have few lines; among very many items some are covered anyway.
            let edges = of.scene.edges.iter().take(MAX_MAPPED_EDGES);
            let crossed = edges
                .filter(|edge| crosses(&edge.d, z, (x, y, w, h)))
                .count();
            crossed
                + of.scene.items.iter().filter(|item| meets(item)).count()
                + labels.iter().filter(|label| over(label)).count()
        };
        let cells = of
            .scene
            .items
            .iter()
            .any(|item| matches!(item.body, CardBody::Cells(_)));
        self.map = (0..4)
            .map(|corner| (covered(&corner), corner))
            .min()
            .filter(|(covers, _)| *covers == 0 || self.touched && !cells)
            .map(|(_, corner)| corner);
        self.mapped = self.size;
    }

    /// Position of the map in a corner: right first, bottom first.
    pub fn corner(&self, corner: u8, of: &ViewedScene) -> (f64, f64) {
        let (w, h) = map_size(of.scene);
        let x = if corner & 1 == 0 {
            self.size.0 - w - 12.0
        } else {
            12.0
        };
        (
            x,
            if corner & 2 == 0 {
                self.room(of) - h - 8.0
            } else {
                12.0
            },
        )
    }

    /// Returns true if there is room for the controls: not on a low stage.
    pub fn controls(&self, of: &ViewedScene) -> bool {
        self.controlled(of, self.size.1)
    }

    fn controlled(&self, of: &ViewedScene, height: f64) -> bool {
        self.size.0 >= PHONE_WIDTH && height >= MIN_CONTROLS_STAGE_HEIGHT && !of.embed
    }

    /// Zooms by a factor about a point of the stage.
    pub fn zoom_about(&mut self, scene: &Scene, factor: f64, x: f64, y: f64) {
        // A very large picture that is fitted completely is below the manual minimum.
        let zoom = (self.zoom * factor).clamp(SCALES.0.min(self.zoom), SCALES.1);
        let grown = zoom / self.zoom;
        self.zoom = zoom;
        // A picture that fits stays visible, and a larger one fills the stage.
        let place = |at: f64, pan: f64, size: f64, length: f64| {
            slide(at - (at - pan) * grown, size - length * zoom)
        };
        self.pan = (
            place(x, self.pan.0, self.size.0, scene.width),
            place(y, self.pan.1, self.size.1, scene.height),
        );
        self.touched = true;
    }

    /// Zooms by a factor about the middle.
    pub fn zoom_middle(&mut self, scene: &Scene, factor: f64) {
        self.zoom_about(scene, factor, self.size.0 / 2.0, self.size.1 / 2.0);
    }

    /// Pans the picture. A part of it stays visible.
    pub fn pan_by(&mut self, x: f64, y: f64, scene: &Scene) {
        let hold = |to: f64, stage: f64, picture: f64| {
            let seen = KEPT_IN_SIGHT.min(picture).min(stage);
            to.clamp(seen - picture, (stage - seen).max(seen - picture))
        };
        let (width, height) = (scene.width * self.zoom, scene.height * self.zoom);
        self.pan = (
            hold(self.pan.0 + x, self.size.0, width),
            hold(self.pan.1 + y, self.size.1, height),
        );
        self.touched = true;
    }

    /// Centres a point of the scene.
    pub fn centre(&mut self, x: f64, y: f64) {
        self.pan = (
            self.size.0 / 2.0 - x * self.zoom,
            self.size.1 / 2.0 - y * self.zoom,
        );
        self.touched = true;
    }

    /// Returns the point of the scene under a point of the stage.
    pub fn to_scene(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.pan.0) / self.zoom, (y - self.pan.1) / self.zoom)
    }

    /// Fits the picture again: as on opening, or all of it.
    pub fn refit(&mut self, of: &ViewedScene, all: bool) {
        (self.touched, self.all) = (false, all);
        self.fit(of);
    }

    /// Returns true if a position of the scene is above the foot.
    pub fn above_foot(&self, of: &ViewedScene, y: f64) -> bool {
        y * self.zoom + self.pan.1 < self.room(of)
    }

    /// Returns true if the picture extends below the controls.
    pub fn overflows(&self, of: &ViewedScene) -> bool {
        self.pan.1 + of.scene.height * self.zoom > self.room(of) + 12.0
    }

    /// Returns true if there is room for a legend.
    pub fn has_legend(&self, of: &ViewedScene) -> bool {
        self.size.0 >= MIN_LEGEND_STAGE.0
            && self.size.1 >= MIN_LEGEND_STAGE.1
            && !of.embed
            && !of.scene.dense()
    }

    /// Position of a hover card: from the left, and from the top or the bottom.
    pub fn card_at(&self, rect: Rect) -> (f64, Side) {
        let (x, y) = (
            rect.x * self.zoom + self.pan.0,
            rect.y * self.zoom + self.pan.1,
        );
        let (w, h) = (rect.w * self.zoom, rect.h * self.zoom);
        let (width, height) = self.size;
        // Below, above, or beside the rectangle: where there is room.
        let middle = (x + w / 2.0 - HOVER_CARD_WIDTH / 2.0)
            .clamp(8.0, (width - HOVER_CARD_WIDTH - 8.0).max(8.0));
        if height - y - h >= HOVER_CARD_HEIGHT {
            (middle, Side::Top(y + h + 10.0))
        } else if y >= HOVER_CARD_HEIGHT {
            (middle, Side::Bottom(height - y + 10.0))
        } else {
            let right = x + w + 10.0;
            let left = if right + HOVER_CARD_WIDTH <= width {
                right
            } else {
                (x - HOVER_CARD_WIDTH - 10.0).max(8.0)
            };
            (
                left,
                Side::Top(y.clamp(8.0, (height - HOVER_CARD_HEIGHT).max(8.0))),
            )
        }
    }

    /// Pans the picture until a rectangle is visible; returns true if it had to move.
    pub fn bring(&mut self, of: &ViewedScene, rect: Rect) -> bool {
        let (w, h) = (self.size.0, self.room(of));
        let (x, y) = (
            rect.x * self.zoom + self.pan.0,
            rect.y * self.zoom + self.pan.1,
        );
        let (iw, ih) = (rect.w * self.zoom, rect.h * self.zoom);
        let shift = |at: f64, size: f64, room: f64| {
            if at < 12.0 {
                12.0 - at
            } else if at + size > room - 12.0 {
                (room - 12.0 - at - size).max(12.0 - at)
            } else {
                0.0
            }
        };
        let (dx, dy) = (shift(x, iw, w), shift(y, ih, h));
        self.pan = (self.pan.0 + dx, self.pan.1 + dy);
        dx != 0.0 || dy != 0.0
    }

    /// Returns true if an item is visible, or nearly.
    pub fn sees(&self, rect: Rect) -> bool {
        self.near(rect.x, rect.right(), self.pan.0, self.size.0)
            && self.sees_rows(rect.y, rect.bottom())
    }

    /// Returns true if a vertical range is visible, or nearly.
    pub fn sees_rows(&self, top: f64, bottom: f64) -> bool {
        self.near(top, bottom, self.pan.1, self.size.1)
    }

    fn near(&self, from: f64, to: f64, pan: f64, size: f64) -> bool {
        to * self.zoom + pan > -MOUNT_MARGIN && from * self.zoom + pan < size + MOUNT_MARGIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use projection::model::Id;

    fn scene(width: f64, height: f64) -> Scene {
        let mut scene = Scene::default();
        scene.put(
            &Id::default(),
            Rect::new(0.0, 0.0, width, height),
            CardBody::Note(Default::default()),
            None,
            "",
            "",
        );
        scene.finish(0.0)
    }

    fn shown<'a>(scene: &'a Scene, view: &str) -> ViewedScene<'a> {
        ViewedScene {
            scene,
            fit: crate::by_id(view).unwrap().fit,
            embed: false,
        }
    }

    fn opened(of: &ViewedScene, size: (f64, f64)) -> Viewport {
        let mut port = Viewport::default();
        assert!(port.resize(size, PanelInsets::default(), of));
        port
    }

    #[test]
    fn everything_fits_at_any_size() {
        for (width, height) in [
            (400.0, 300.0),
            (60_000.0, 300.0),
            (900.0, 80_000.0),
            (60_000.0, 80_000.0),
        ] {
            for (view, stage) in [
                ("ownership", (1_000.0, 700.0)),
                ("nodes", (600.0, 320.0)),
                ("loops", (900.0, 500.0)),
            ] {
                let all = scene(width, height);
                let of = shown(&all, view);
                let mut port = opened(&of, stage);
                port.refit(&of, true);
                let (right, bottom) = (
                    port.pan.0 + width * port.zoom,
                    port.pan.1 + height * port.zoom,
                );
                assert!(
                    port.pan.0 >= 0.0
                        && port.pan.1 >= 0.0
                        && right <= stage.0 + 1.0
                        && bottom <= port.room(&of) + 1.0,
                    "{view} {port:?}"
                );
                // With the console open, less is visible.
                let mut low = port.clone();
                low.resize(
                    (stage.0, stage.1 - 120.0),
                    PanelInsets {
                        console: 120.0,
                        past: 0.0,
                    },
                    &of,
                );
                assert!(
                    low.pan.1 + height * low.zoom <= low.room(&of) + 1.0,
                    "{view} {low:?}"
                );
                // Zooming out stops at the minimum, and zooming in continues from there.
                let before = port.zoom;
                port.zoom_middle(&all, 1.25);
                assert!(port.zoom > before && port.zoom < before * 1.26);
            }
        }
    }

    #[test]
    fn a_picture_that_is_moved_stays_in_sight() {
        for (width, height) in [(60.0, 40.0), (900.0, 400.0), (4_000.0, 3_000.0)] {
            let all = scene(width, height);
            let mut port = opened(&shown(&all, "network"), (1_000.0, 700.0));
            for (x, y) in [(9_999.0, 9_999.0), (-99_999.0, -99_999.0)] {
                port.pan_by(x, y, &all);
                let (right, bottom) = (
                    port.pan.0 + width * port.zoom,
                    port.pan.1 + height * port.zoom,
                );
                assert!(
                    port.pan.0 <= 960.0 && port.pan.1 <= 660.0 && right >= 40.0 && bottom >= 40.0,
                    "{port:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_a_little_too_large_is_made_smaller_and_no_more_than_can_be_read() {
        let (fits, wide, far) = (
            scene(400.0, 300.0),
            scene(1_100.0, 300.0),
            scene(4_000.0, 300.0),
        );
        assert_eq!(
            opened(&shown(&fits, "ownership"), (1_000.0, 700.0)).zoom,
            1.0
        );
        assert_eq!(
            opened(&shown(&wide, "ownership"), (1_000.0, 700.0)).zoom,
            1_000.0 / 1_100.0
        );
        assert_eq!(
            opened(&shown(&far, "ownership"), (1_000.0, 700.0)).zoom,
            MIN_SHRINK_SCALE
        );
        assert_eq!(opened(&shown(&wide, "loops"), (1_000.0, 700.0)).zoom, 1.0);
        let of = shown(&far, "ownership");
        let mut port = opened(&of, (1_000.0, 700.0));
        port.refit(&of, true);
        assert_eq!(port.zoom, 0.25);
    }

    #[test]
    fn ownership_stands_in_the_middle_and_tables_hang_from_the_top() {
        let of = scene(400.0, 300.0);
        assert_eq!(
            opened(&shown(&of, "ownership"), (1_000.0, 700.0)).pan,
            (300.0, (700.0 - CONTROLS_HEIGHT - 300.0) / 2.0)
        );
        assert_eq!(
            opened(&shown(&of, "network"), (1_000.0, 700.0)).pan,
            (300.0, 0.0)
        );
    }

    #[test]
    fn the_place_under_the_pointer_stays_while_zooming() {
        let of = scene(4_000.0, 3_000.0);
        let mut port = opened(&shown(&of, "ownership"), (1_000.0, 700.0));
        port.centre(2_000.0, 1_500.0);
        let before = port.to_scene((300.0, 200.0));
        port.zoom_about(&of, 1.25, 300.0, 200.0);
        let after = port.to_scene((300.0, 200.0));
        assert!((before.0 - after.0).abs() < 1e-9 && (before.1 - after.1).abs() < 1e-9);
        assert!(port.touched);
        (0..40).for_each(|_| port.zoom_middle(&of, 1.25));
        assert_eq!(port.zoom, SCALES.1);
    }

    #[test]
    fn a_picture_that_grows_keeps_its_place_as_long_as_it_is_in_sight() {
        let (small, more, huge) = (
            scene(400.0, 300.0),
            scene(420.0, 330.0),
            scene(1_050.0, 300.0),
        );
        let mut port = opened(&shown(&small, "network"), (1_000.0, 700.0));
        let pan = port.pan;
        assert!(!port.settle(&shown(&more, "network"), false));
        assert_eq!(port.pan, pan);
        // It is reduced at once; enlarged only if that lasts.
        port.settle(&shown(&huge, "network"), false);
        assert!(port.zoom < 1.0);
        assert!(port.settle(&shown(&small, "network"), false));
        assert!(port.zoom < 1.0);
    }

    #[test]
    fn a_panel_at_the_foot_moves_only_what_it_would_cover() {
        let of = scene(400.0, 600.0);
        let of = shown(&of, "ownership");
        let mut port = opened(&of, (1_000.0, 700.0));
        let pan = port.pan;
        assert!(!port.resize((1_000.0, 700.0), PanelInsets::default(), &of));
        port.resize(
            (1_000.0, 660.0),
            PanelInsets {
                console: 0.0,
                past: 40.0,
            },
            &of,
        );
        assert_eq!((port.zoom, port.pan.0), (1.0, pan.0));
        assert!(port.pan.1 < pan.1);
    }

    #[test]
    fn over_a_console_a_diagram_with_a_low_form_is_laid_out_for_what_is_left_and_the_line_of_the_past_changes_nothing()
     {
        let of = scene(400.0, 600.0);
        for (view, low) in [("ownership", 600.0), ("storage", 400.0)] {
            let of = shown(&of, view);
            let mut port = opened(&of, (1_000.0, 600.0));
            assert!(port.take_resized(&Scene {
                stage: port.stage(),
                ..scene(400.0, 600.0)
            }));
            port.resize(
                (1_000.0, 560.0),
                PanelInsets {
                    console: 0.0,
                    past: 40.0,
                },
                &of,
            );
            assert_eq!(port.stage(), (1_000.0, 600.0), "{view}");
            port.resize(
                (1_000.0, 360.0),
                PanelInsets {
                    console: 200.0,
                    past: 40.0,
                },
                &of,
            );
            assert_eq!(port.stage(), (1_000.0, low), "{view}");
            // A scene laid out for the new size is placed at once.
            let flat = Scene {
                stage: port.stage(),
                ..scene(400.0, 300.0)
            };
            assert_eq!(port.take_resized(&flat), view == "storage");
        }
    }

    #[test]
    fn an_item_is_brought_into_sight_by_the_shortest_way() {
        let of = scene(4_000.0, 3_000.0);
        let of = shown(&of, "loops");
        let mut port = opened(&of, (1_000.0, 700.0));
        let rect = Rect::new(1_200.0, 100.0, 100.0, 50.0);
        assert!(!port.sees(rect));
        assert!(port.bring(&of, rect));
        assert_eq!(port.pan.0, 1_000.0 - 12.0 - 1_300.0);
        assert!(port.sees(rect) && !port.bring(&of, rect));
    }

    #[test]
    fn a_map_comes_where_something_is_out_of_sight_and_covers_nothing() {
        let of = scene(400.0, 300.0);
        let mut port = opened(&shown(&of, "ownership"), (1_000.0, 700.0));
        port.place_map(&shown(&of, "ownership"), true);
        assert_eq!(port.map, None);
        let mut of = scene(900.0, 300.0);
        of.width = 3_000.0;
        let mut port = opened(&shown(&of, "loops"), (1_000.0, 700.0));
        port.place_map(&shown(&of, "loops"), true);
        let corner = port.map.unwrap();
        assert!(corner & 2 == 0, "at the foot: {corner}");
        port.place_map(&shown(&of, "loops"), false);
        assert_eq!(port.map, None);
    }

    #[test]
    fn a_map_lies_on_no_line() {
        let at = |x: f64, y: f64| (x, y, 100.0, 80.0);
        assert!(
            crosses("M10 20H500V300", 1.0, at(200.0, 0.0))
                && crosses("M10 20H500V300", 1.0, at(450.0, 200.0))
        );
        assert!(
            !crosses("M10 20H500V300", 1.0, at(200.0, 100.0))
                && !crosses("M10 20M500 300", 1.0, at(200.0, 0.0))
        );
        assert!(crosses("M0 0C10 0 20 50 400 400", 0.5, at(150.0, 150.0)));
    }

    #[test]
    fn a_card_stands_where_there_is_room() {
        let of = scene(1_000.0, 700.0);
        let port = opened(&shown(&of, "loops"), (1_000.0, 700.0));
        assert!(
            matches!(port.card_at(Rect::new(100.0, 50.0, 100.0, 50.0)).1, Side::Top(y) if y == port.pan.1 + 110.0)
        );
        assert!(matches!(
            port.card_at(Rect::new(100.0, 600.0, 100.0, 50.0)).1,
            Side::Bottom(_)
        ));
        assert_eq!(port.card_at(Rect::new(0.0, 100.0, 100.0, 500.0)).0, 110.0);
    }
}
