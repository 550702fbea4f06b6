//! The language of the page: messages become text here, when they are drawn.

use i18n::{Catalogue, Message, Part};
use lesson::format::Tongue;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use yew::prelude::*;

/// Language of the page. Components that show text have it as a property, so that they are redrawn when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English, which is compiled in.
    #[default]
    English,
    /// 简体中文, whose catalogue is loaded when it is chosen.
    Chinese,
}

impl Lang {
    /// Value of the `lang` attribute in HTML.
    pub fn tag(self) -> &'static str {
        match self {
            Lang::English => "en",
            Lang::Chinese => "zh-CN",
        }
    }

    /// Parses a language tag; English by default.
    pub fn of(tag: &str) -> Lang {
        if tag.to_ascii_lowercase().starts_with("zh") {
            Lang::Chinese
        } else {
            Lang::English
        }
    }
}

thread_local! {
    static WORDS: RefCell<Rc<Catalogue>> = RefCell::new(Rc::new(Catalogue::ENGLISH));
    static LANG: Cell<Lang> = const { Cell::new(Lang::English) };
}

/// Language whose catalogue is in use.
pub fn current() -> Lang {
    LANG.get()
}

/// Language of lessons.
pub fn tongue() -> Tongue {
    if current() == Lang::Chinese {
        Tongue::Chinese
    } else {
        Tongue::English
    }
}

/// Formats a message in the language of the page.
pub fn say(message: impl Into<Message>) -> String {
    message.into().say(&words())
}

/// Catalogue of the page.
pub fn words() -> Rc<Catalogue> {
    WORDS.with_borrow(Clone::clone)
}

/// Sets the language. The caller must redraw components that show text.
pub fn choose(lang: Lang, catalogue: Catalogue) {
    WORDS.set(Rc::new(catalogue));
    LANG.set(lang);
    if let Some(root) = super::dom::document().document_element() {
        let _ = root.set_attribute("lang", lang.tag());
    }
}

/// Draws a sentence with its names and values marked.
pub fn marked(message: &Message) -> Html {
    let mut parts = Vec::new();
    message.parts(&words(), &mut |part, text| {
        let text = text.to_string();
        parts.push(match part {
            Part::Plain => html! { { text } },
            Part::Name => html! { <span class="mono">{ text }</span> },
            Part::Change => html! { <b class="semi">{ unbroken(&text) }</b> },
        });
    });
    html! { <>{ for parts }</> }
}

/// Replaces the spaces around an arrow between numbers by non-breaking ones.
fn unbroken(text: &str) -> String {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut parts = text.split(" → ");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let stays = digit(out.chars().next_back()) && digit(part.chars().next());
        out.push_str(if stays { "\u{a0}→\u{a0}" } else { " → " });
        out.push_str(part);
    }
    out
}
