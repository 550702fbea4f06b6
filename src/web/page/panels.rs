//! Which panels are open.

use super::menu::Menu;
use super::message::Overlay;
use crate::web::tools::Tool;
use web_sys::Element;

/// From this width on both sides have room, from this one the manifest, and below the last panels lie over the page.
pub(super) const WIDE: f64 = 1280.0;
pub(super) const MEDIUM: f64 = 1024.0;
pub(super) const NARROW: f64 = 768.0;

/// Which panels are open, by the size of the window.
pub(super) struct Panels {
    pub(super) left: bool,
    pub(super) right: bool,
    /// Whether the manifest was folded away for the inspector.
    pub(super) gave_way: bool,
    pub(super) console: bool,
    pub(super) over: Overlay,
    /// What lay over the page when it was last drawn, and what had the focus before.
    pub(super) drawn_over: Overlay,
    pub(super) left_from: Option<Element>,
    pub(super) tool: Option<Tool>,
    pub(super) as_list: bool,
    pub(super) menu: Menu,
    pub(super) frame: FrameChoice,
    pub(super) size: (f64, f64),
}

/// The frame for other pages.
#[derive(Default)]
pub(super) struct FrameChoice {
    /// What was chosen about it.
    pub(super) like: Vec<String>,
    /// What it may open: the manifest alone, and the page as it was when the dialog was opened.
    pub(super) links: [String; 2],
}

impl Panels {
    /// Those that have room in a window.
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

    /// The window has another size: panels open and close where they get room or lose it.
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

    /// Where both sides have no room, the manifest gives way to the inspector, and comes back after it.
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

    /// The manifest; the inspector closes for it where both have no room.
    pub(super) fn open_left(&mut self, open: bool) {
        self.left = open;
        self.right &= !open || self.size.0 >= WIDE;
    }

    /// What was selected is told beside the diagram where there is room for one side only.
    pub(super) fn selected(&mut self) {
        if self.size.0 >= NARROW && self.size.0 < WIDE {
            self.open_right(true);
        }
    }
}
