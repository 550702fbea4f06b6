//! Terms of the glossary, explained where a text uses them: under the pointer, at a tap, with the focus.

use super::dom;
use super::language::say;
use lesson::glossary::{self, FirstUses, Span, TERMS};
use web_sys::HtmlElement;
use yew::prelude::*;

/// Width of an explanation, in pixels; less on a narrow page.
const WIDTH: f64 = 288.0;
/// Distance of an explanation from the edges of the page, in pixels.
const GAP: f64 = 6.0;
/// Room that an explanation needs below its term, in pixels.
const ROOM: f64 = 140.0;

/// Draws a text with `code` in it; `words` draws the parts between.
pub fn coded(text: &str, mut words: impl FnMut(&str) -> Html) -> Html {
    let part = |(at, part): (usize, &str)| {
        if at % 2 == 1 {
            html! { <code class="mono">{ part }</code> }
        } else {
            words(part)
        }
    };
    html! { <>{ for text.split('`').enumerate().map(part) }</> }
}

/// Draws a text with `code` in it, whose terms are explained at their first use.
pub fn prose(text: &str) -> Html {
    let mut uses = FirstUses::default();
    coded(text, |part| {
        html! { <>{ for uses.split(part).into_iter().map(drawn) }</> }
    })
}

/// Draws a word, explained if it is a term.
pub fn word(text: String) -> Html {
    match glossary::named(&text) {
        Some(term) => drawn(Span::Term(term, &text)),
        None => html! { { text } },
    }
}

fn drawn(span: Span) -> Html {
    match span {
        Span::Plain(text) => html! { { text } },
        Span::Term(term, words) => {
            html! { <Explained {term} words={words.to_owned()} /> }
        }
    }
}

/// Properties of a term in a text.
#[derive(Properties, PartialEq)]
struct ExplainedProps {
    /// Place in the glossary.
    term: usize,
    /// Words of the text.
    words: String,
}

/// Draws a term, and its definition while it is pointed at or has the focus.
#[component]
fn Explained(props: &ExplainedProps) -> Html {
    let word = use_node_ref();
    // The term that is explained, and the place: in another text the component may be another term's.
    let shown = use_state(|| None::<(usize, String)>);
    let show = {
        let (word, shown, term) = (word.clone(), shown.clone(), props.term);
        Callback::from(move |()| {
            let word = word.cast::<HtmlElement>();
            shown.set(word.map(|word| (term, place(&word))));
        })
    };
    let hide = {
        let shown = shown.clone();
        Callback::from(move |()| shown.set(None))
    };
    let at = (*shown).clone().filter(|(term, _)| *term == props.term);
    let id = format!("definition-{}", props.term);
    let onkeydown = {
        let (hide, is_open) = (hide.clone(), at.is_some());
        Callback::from(move |event: KeyboardEvent| {
            if is_open && event.key() == "Escape" {
                event.stop_propagation();
                hide.emit(());
            }
        })
    };
    let describes = at.is_some().then(|| id.clone());
    let definition = at.map(|(term, style)| {
        let definition = say((TERMS[term].definition)());
        html! { <span class="definition" {id} role="tooltip" {style}>{ definition }</span> }
    });
    html! {
        <span class="term" onmouseenter={show.reform(|_: MouseEvent| ())} onmouseleave={hide.reform(|_: MouseEvent| ())}>
            <button ref={word} type="button" aria-describedby={describes} onclick={show.reform(|_: MouseEvent| ())} onfocus={show.reform(|_: FocusEvent| ())} onblur={hide.reform(|_: FocusEvent| ())} {onkeydown}>{ &props.words }</button>
            { definition.unwrap_or_default() }
        </span>
    }
}

/// Style that places a definition below a word, or above it where the page ends.
fn place(word: &HtmlElement) -> String {
    let (wide, high) = dom::size();
    let word = word.get_bounding_client_rect();
    let width = WIDTH.min(wide - 2.0 * GAP);
    let left = word.left().min(wide - width - GAP).max(GAP);
    if word.bottom() + ROOM > high {
        format!(
            "left:{left}px;bottom:{}px;width:{width}px",
            high - word.top()
        )
    } else {
        format!("left:{left}px;top:{}px;width:{width}px", word.bottom())
    }
}
