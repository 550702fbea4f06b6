//! The rollout budget over the ownership diagram.

use super::language::{Lang, say};
use i18n::format::Px;
use i18n::msg;
use std::rc::Rc;
use yew::prelude::*;

/// Properties of the strip.
#[derive(Properties, PartialEq)]
pub struct StripProps {
    /// Rollout budget.
    pub budget: Rc<projection::budget::Budget>,
    /// Language of the page.
    pub lang: Lang,
}

/// Draws the strip.
#[component]
pub fn Strip(props: &StripProps) -> Html {
    super::dom::renders("Strip");
    let budget = &props.budget;
    let bar = budget.bar(340.0, 68.0);
    let pitch = bar.pitch;
    // Room after the glyph; a character is 6.6 pixels wide.
    let room = ((pitch - bar.gap - 20.0) / 6.6).max(1.0) as usize;
    // While there are new Pods, the old ones are paler, as in the diagrams.
    let mixed =
        budget.cells.iter().any(|cell| cell.new) && budget.cells.iter().any(|cell| !cell.new);
    let cells = bar.pieces.iter().map(|(cell, x, long)| {
        let x = x + 20.0;
        html! {
            <g class={classes!("cell", cell.state.class(), cell.new.then_some("new"), (mixed && !cell.new).then_some("older"))}>
                <title>{ cell.image.to_string() }</title>
                <rect x={Px(x).to_string()} y="18" width={Px(*long).to_string()} height="16" rx={if bar.gap > 0.0 { "4" } else { "0" }} />
                if pitch >= 22.0 { <use href={format!("#{}", cell.state.glyph())} x={Px(x + 4.0).to_string()} y="20" width="12" height="12" /> }
                if pitch >= 58.0 { <text x={Px(x + 19.0).to_string()} y="30">{ budget.label_of(cell, room) }</text> }
            </g>
        }
    });
    let (least, most) = (
        bar.limit(budget.at_least) + 20.0,
        bar.limit(budget.at_most) + 20.0,
    );
    let anchor = |at: f64| {
        if at < 130.0 {
            ("start", at + 6.0)
        } else {
            ("end", at - 6.0)
        }
    };
    let ((a1, x1), (a2, x2)) = (anchor(least), anchor(most));
    html! {
        <section class="budget" aria-label={say(msg::rollout_limits())}>
            <div class="b-words"><h2 class="mono ell" title={budget.name.clone()}>{ i18n::format::middle(&budget.name, 16) }</h2><p>{ say(msg::strip_surge(&budget.surge)) }<br />{ say(msg::strip_unavailable(&budget.unavailable)) }</p></div>
            <svg width="384" height="56" role="img" aria-label={say(budget.label())}>
                { for cells }
                <path class="limit" d={format!("M{} 14V50", Px(least))} /><path class="limit" d={format!("M{} 2V38", Px(most))} />
                <text class="lim" x={Px(x1).to_string()} y="49" text-anchor={a1}>{ say(msg::strip_at_least(budget.at_least)) }</text>
                <text class="lim" x={Px(x2).to_string()} y="11" text-anchor={a2}>{ say(msg::strip_at_most(budget.at_most)) }</text>
            </svg>
            <div class="grow b-next"><h3>{ say(&budget.head) }</h3><p>{ say(&budget.text) }</p></div>
        </section>
    }
}
