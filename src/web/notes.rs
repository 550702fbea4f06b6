//! A presenter's own window: the caption of the step, the solution of its task, and the next step. It is a window of this page, for the
//! screen that the audience does not see.

use super::dom;
use super::language::say;
use i18n::msg;
use session::lesson::LessonCard;
use std::cell::RefCell;
use web_sys::{Document, Element, Window};

thread_local! {
    static WINDOW: RefCell<Option<Window>> = const { RefCell::new(None) };
}

/// Opens the window, or brings it to the front.
pub fn open(card: &LessonCard) {
    let found = dom::window()
        .open_with_url_and_target_and_features("", "loopscope-notes", "width=720,height=560")
        .ok()
        .flatten();
    WINDOW.set(found);
    show(card);
}

/// Updates the window with the lesson's step, if it is open.
pub fn show(card: &LessonCard) {
    WINDOW.with_borrow_mut(|window| {
        if window
            .as_ref()
            .is_some_and(|window| window.closed().unwrap_or(true))
        {
            *window = None;
        }
        if let Some(document) = window.as_ref().and_then(Window::document) {
            write(&document, card);
        }
    });
}

fn write(document: &Document, card: &LessonCard) -> Option<()> {
    let body = document.body()?;
    body.set_inner_html("");
    // The page's style sheet does not apply: the window has an address of its own.
    let add = |name: &str, text: &str, style: &str| -> Option<Element> {
        let element = document.create_element(name).ok()?;
        element.set_text_content(Some(&text.replace('`', "")));
        element.set_attribute("style", style).ok()?;
        body.append_child(&element).ok()?;
        Some(element)
    };
    body.set_attribute("style", "font:20px/1.5 system-ui,sans-serif;max-width:44em;margin:24px;color:#171b24;background:#fff").ok()?;
    document.set_title(&card.title);
    add("h1", &card.title, "font-size:20px;margin:0")?;
    add(
        "p",
        &say(msg::lesson_step(card.step.0, card.step.1)),
        "margin:0 0 16px;color:#465065;font-size:16px",
    )?;
    for text in &card.notes.here {
        add("p", text, "margin:0 0 12px")?;
    }
    if !card.notes.solution.is_empty() {
        add(
            "h2",
            &say(msg::lesson_notes_solution()),
            "font-size:16px;margin:16px 0 4px;color:#465065",
        )?;
        add(
            "pre",
            &card.notes.solution.join("\n"),
            "margin:0;padding:8px 12px;background:#f1f3f7;white-space:pre-wrap;font-size:16px",
        )?;
    }
    if !card.notes.next.is_empty() {
        add(
            "h2",
            &say(msg::lesson_notes_next()),
            "font-size:16px;margin:16px 0 4px;color:#465065",
        )?;
        add("p", &card.notes.next, "margin:0;color:#465065")?;
    }
    Some(())
}
