//! The panel beside the ring: the last pass of a loop as Observe, Diff and Act, and its pseudo-code.

use super::dom::icon;
use super::language::say;
use i18n::msg;
use views::loops::model::{Code, PanelForm, Pass, STEP_ICONS};
use yew::prelude::*;

/// Keywords of the pseudo-code.
const WORDS: [&str; 7] = ["for", "range", "if", "else", "nil", "continue", "break"];

/// Draws the panel.
pub fn view(pass: &Pass) -> Html {
    let steps = pass.steps.iter().enumerate().map(|(i, step)| {
        html! {
            <section class={classes!("step", (i == 2 && pass.newest).then_some("on"))}>
                <h2>{ icon(STEP_ICONS[i.min(2)], 16) }{ say(step.0.title()) }</h2>
                { for pass.rows(step).map(|(name, value)| html! { <p><span>{ say(name) }</span><b>{ say(value) }</b></p> }) }
            </section>
        }
    });
    let (steps_class, lines_class) = match pass.form {
        PanelForm::Columns => ("steps", "pseudo"),
        PanelForm::Rows => ("steps rows", "pseudo small"),
        PanelForm::Beside => ("steps beside", "pseudo small"),
        PanelForm::Lines => ("steps lines", "pseudo small one"),
    };
    html! {
        <>
            <div class="hd"><span class="kicon">{ icon(pass.glyph, 18) }</span><div class="grow"><small>{ say(&pass.title) }</small><b class="ell">{ &pass.key }</b></div>
                if pass.newest && matches!(pass.form, PanelForm::Columns | PanelForm::Beside) { <span class="pill act">{ say(msg::legend_newest_write()) }</span> }
            </div>
            if !pass.held.is_empty() {
                <p class="held">{ say(&pass.held) }</p>
            }
            if !pass.steps.is_empty() {
                <div class={steps_class}>{ for steps }</div>
                if pass.held.is_empty() { <p class="again">{ say(msg::pass_write_returns()) }</p> }
            }
            { code(&pass.code, lines_class) }
        </>
    }
}

/// Draws the pseudo-code, with the values of the pass.
pub fn code(lines: &[Code], class: &'static str) -> Html {
    let lines = lines.iter().enumerate().map(|(i, line)| {
        html! {
            <li class={classes!(line.lit.then_some("lit"), line.skipped.then_some("untaken"))}>
                <i>{ i + 1 }</i><code>{ for words(line.text) }</code>
                if !line.value.is_empty() { <b>{ say(&line.value) }</b> }
            </li>
        }
    });
    html! { <ol class={class}>{ for lines }</ol> }
}

/// Draws a line with its keywords coloured.
fn words(line: &str) -> Vec<Html> {
    line.split_inclusive(' ')
        .map(|word| {
            if WORDS.contains(&word.trim()) {
                html! { <em>{ word }</em> }
            } else {
                html! { { word } }
            }
        })
        .collect()
}
