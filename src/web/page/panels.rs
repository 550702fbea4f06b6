//! State of the panels: open or closed.

use super::menu::Menu;
use super::message::Overlay;
use crate::web::tools::Tool;
use web_sys::Element;

/// Minimum widths in pixels: for both side panels, for the manifest alone, and for panels beside the page rather than over it.
pub(super) const WIDE: f64 = 1280.0;
pub(super) const MEDIUM: f64 = 1024.0;
pub(super) const NARROW: f64 = 768.0;

/// Panels that are open, by the size of the window.
pub(super) struct Panels {
    pub(super) left: bool,
    pub(super) right: bool,
    /// True if the manifest was folded away for the inspector.
    pub(super) gave_way: bool,
    pub(super) console: bool,
    pub(super) over: Overlay,
    /// Overlay when the page was last drawn, and the element that had the focus before it.
    pub(super) drawn_over: Overlay,
    pub(super) left_from: Option<Element>,
    pub(super) tool: Option<Tool>,
    pub(super) as_list: bool,
    pub(super) menu: Menu,
    pub(super) frame: FrameChoice,
    pub(super) size: (f64, f64),
}

/// Options of the frame for other pages.
#[derive(Default)]
pub(super) struct FrameChoice {
    /// Chosen options.
    pub(super) like: Vec<String>,
    /// Links that the frame may open: the manifest alone, and the page as it was when the dialog was opened.
    pub(super) links: [String; 2],
}

impl Panels {
    /// Opens the panels that fit into a window.
    pub(super) fn new(size: (f64, f64)) -> Panels {
        Panels {
            left: size.0 >= MEDIUM,
            right: size.0 >= WIDE,
            gave_way: false,
            console: false,
            over: Overlay::Nothing,
            drawn_over: Overlay::Nothing,
            left_from: None,
            tool: None,
            as_list: false,
            menu: Menu::None,
            frame: FrameChoice::default(),
            size,
        }
    }

    /// Opens and closes panels as a new window size gives or takes their room.
    pub(super) fn resize(&mut self, size: (f64, f64)) {
        let before = self.size.0;
        self.size = size;
        if before >= MEDIUM && size.0 < MEDIUM {
            self.left = false;
        }
        if before >= WIDE && size.0 < WIDE {
            self.right = false;
        }
        if before < WIDE && size.0 >= WIDE {
            (self.left, self.right) = (true, true);
        }
    }

    /// Opens or closes the inspector; without room for both sides the manifest is folded away for it, and restored afterwards.
    pub(super) fn open_right(&mut self, open: bool) {
        self.right = open;
        if self.size.0 < WIDE {
            if open {
                self.gave_way |= std::mem::take(&mut self.left);
            } else {
                self.left |= std::mem::take(&mut self.gave_way);
            }
        }
    }

    /// Opens or closes the manifest; without room for both sides the inspector is closed for it.
    pub(super) fn open_left(&mut self, open: bool) {
        self.left = open;
        self.right &= !open || self.size.0 >= WIDE;
    }

    /// Opens the inspector after a selection if there is room for one side only.
    pub(super) fn selected(&mut self) {
        if self.size.0 >= NARROW && self.size.0 < WIDE {
            self.open_right(true);
        }
    }
}
