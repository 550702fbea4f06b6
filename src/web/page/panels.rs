//! Panels, menus and overlays: which are open, and where the focus goes when one opens or closes.

use super::dialogs::EDIT;
use super::keys::STOPS;
use super::menu::Menu;
use super::message::Overlay;
use crate::web::tools::Tool;
use crate::web::{console, dom};
use lesson::format::StepPanels;
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
    /// True in a frame of another page, which is never laid out as a phone.
    pub(super) embed: bool,
    /// Side panels of the lesson's step, while there is a lesson.
    pub(super) staged: Option<StagedPanels>,
}

/// Side panels during a lesson: those that a step does not use are folded away.
pub(super) struct StagedPanels {
    /// Lesson and step.
    of: (String, usize),
    /// True for each side, left and right, that a person has opened or closed since the lesson began.
    chosen: [bool; 2],
    /// True for each side that was open before the lesson.
    before: [bool; 2],
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
    pub(super) fn new(size: (f64, f64), embed: bool) -> Panels {
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
            embed,
            staged: None,
        }
    }

    /// Folds away the side panels that the step of a lesson does not use, and restores them after the lesson. A side that a person has
    /// opened or closed meanwhile stays so.
    pub(super) fn stage(&mut self, of: Option<(&str, usize, StepPanels)>) {
        let now = [self.left, self.right];
        let is_narrow = self.embed || self.size.0 < MEDIUM;
        let Some((name, step, uses)) = of else {
            if let Some(staged) = self.staged.take().filter(|_| !is_narrow) {
                self.open_sides(staged.before, staged.chosen);
            }
            return;
        };
        let is_here = |staged: &StagedPanels| (staged.of.0.as_str(), staged.of.1) == (name, step);
        if is_narrow || self.staged.as_ref().is_some_and(is_here) {
            return;
        }
        let staged = self.staged.take();
        let (before, chosen) = match &staged {
            Some(staged) if staged.of.0 == name => (staged.before, staged.chosen),
            Some(staged) => (staged.before, [false; 2]),
            None => (now, [false; 2]),
        };
        let right = uses.inspector && (self.size.0 >= WIDE || !uses.manifest);
        self.open_sides([uses.manifest, right], chosen);
        self.staged = Some(StagedPanels {
            of: (name.to_owned(), step),
            chosen,
            before,
        });
    }

    /// Opens or closes each side that is not to be kept.
    fn open_sides(&mut self, open: [bool; 2], kept: [bool; 2]) {
        for (side, (open, kept)) in [&mut self.left, &mut self.right]
            .into_iter()
            .zip(open.into_iter().zip(kept))
        {
            if !kept {
                *side = open;
            }
        }
    }

    /// Opens or closes the manifest for a person.
    pub(super) fn choose_left(&mut self, open: bool) {
        self.open_left(open);
        if let Some(staged) = &mut self.staged {
            staged.chosen[0] = true;
        }
    }

    /// Opens or closes the inspector for a person.
    pub(super) fn choose_right(&mut self, open: bool) {
        self.open_right(open);
        if let Some(staged) = &mut self.staged {
            staged.chosen[1] = true;
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

    /// Returns true if the inspector is open, beside the diagram or over it.
    pub(super) fn shows_inspector(&self) -> bool {
        self.right || self.over == Overlay::Inspector || self.is_narrow()
    }

    /// Opens the inspector after a selection if there is room for one side only.
    pub(super) fn selected(&mut self) {
        if self.size.0 >= NARROW && self.size.0 < WIDE {
            self.open_right(true);
        }
    }

    /// Returns true if panels are overlays.
    pub(super) fn is_narrow(&self) -> bool {
        self.size.0 < NARROW && !self.embed
    }

    /// Returns true if entering a line opens the console: there is room for its output.
    pub(super) fn opens_console(&self) -> bool {
        // In a frame the console belongs to a task, and shows its output there.
        self.embed || self.size.1 >= 700.0 && !self.is_narrow()
    }

    /// Closes a panel that covers the diagram, so that the result of an action is visible.
    pub(super) fn uncover(&mut self) {
        if self.is_narrow()
            && matches!(
                self.over,
                Overlay::Manifest | Overlay::Inspector | Overlay::More
            )
        {
            self.over = Overlay::Nothing;
        }
    }

    /// Closes the open menu, and focuses its button. Returns true if one was open.
    pub(super) fn close_menu(&mut self) -> bool {
        let open = std::mem::take(&mut self.menu) != Menu::None;
        if let Some(opener) = dom::document()
            .query_selector(".opens[aria-expanded='true']")
            .ok()
            .flatten()
            .filter(|_| open)
        {
            dom::focus(&opener);
        }
        open
    }

    /// Moves the focus of a closed timeline panel to the button that opens it.
    pub(super) fn focus_history(&self) {
        let document = dom::document();
        let inside = document
            .active_element()
            .is_some_and(|element| element.closest(".tools").ok().flatten().is_some());
        let button = document.query_selector("#history").ok().flatten();
        if let Some(button) = button.filter(|_| inside) {
            dom::focus(&button);
        }
    }

    /// Moves the focus into a new overlay, and back when it closes.
    pub(super) fn refocus(&mut self) {
        let document = dom::document();
        if self.drawn_over == Overlay::Nothing {
            self.left_from = document
                .active_element()
                .filter(|element| element.tag_name() != "BODY");
        }
        self.drawn_over = self.over;
        let found = match self.over {
            Overlay::Nothing => self
                .left_from
                .take()
                .filter(|element| element.is_connected()),
            Overlay::Console => return console::focus(),
            Overlay::Edit => dom::element(EDIT),
            Overlay::Ask => document.query_selector(".dialog .primary").ok().flatten(),
            Overlay::Learn => [".paths .primary", STOPS]
                .into_iter()
                .find_map(|selector| document.query_selector(selector).ok().flatten()),
            Overlay::Embed | Overlay::Help | Overlay::More => {
                document.query_selector(STOPS).ok().flatten()
            }
            Overlay::Manifest | Overlay::Inspector => {
                document.query_selector(".fullscreen button").ok().flatten()
            }
        };
        if let Some(element) = found {
            dom::focus(&element);
        }
    }

    /// Closes the buttons of a small window, so that the result of an action is visible.
    pub(super) fn close_more(&mut self) {
        if self.over == Overlay::More {
            self.over = Overlay::Nothing;
        }
    }
}
