//! The rollout budget over the ownership diagram.

use crate::app::format::Px;
use std::rc::Rc;
use yew::prelude::*;

/// What the strip shows.
#[derive(Properties, PartialEq)]
pub struct StripProps {
    /// What it shows.
    pub budget: Rc<crate::scene::budget::Budget>,
}

/// The strip.
#[component]
pub fn Strip(props: &StripProps) -> Html {
    super::dom::renders("Strip");
    let budget = &props.budget;
    let slots = budget.at_most.max(budget.pods()).max(1);
    let (pitch, width) = if slots <= 24 { ((340.0 / slots as f64).clamp(12.0, 68.0), 0.0) } else { (340.0 / slots as f64, 340.0) };
    let x = |n: usize| 20.0 + n as f64 * pitch;
    // Many Pods are drawn as stretches of equal ones, so that a strip is never more than a few elements.
    let few = width == 0.0;
    let pieces = budget
        .cells
        .iter()
        .flat_map(|cell| if few { std::iter::repeat_n((cell, 1), cell.pods) } else { std::iter::repeat_n((cell, cell.pods), 1) });
    let mut at = 0;
    let cells = pieces.map(|(cell, pods)| {
        let from = x(at);
        at += pods;
        let long = if few { pitch - 4.0 } else { pitch * pods as f64 };
        html! {
            <g class={classes!("cell", cell.state.class(), cell.new.then_some("new"))}>
                <rect x={Px(from).to_string()} y="18" width={Px(long.max(1.0)).to_string()} height="16" rx={if few { "4" } else { "0" }} />
                if pitch >= 22.0 { <use href={format!("#{}", cell.state.glyph())} x={Px(from + 4.0).to_string()} y="20" width="12" height="12" /> }
                if pitch >= 58.0 { <text x={Px(from + 19.0).to_string()} y="30">{ crate::app::format::middle(&cell.tag, 6) }</text> }
            </g>
        }
    });
    let (least, most) = (x(budget.at_least) - 2.0, x(budget.at_most) - 2.0);
    let anchor = |at: f64| if at < 130.0 { ("start", at + 6.0) } else { ("end", at - 6.0) };
    let ((a1, x1), (a2, x2)) = (anchor(least), anchor(most));
    html! {
        <section class="budget" aria-label="Rollout budget">
            <div class="b-words">if budget.several { <h2 class="mono ell">{ crate::app::format::middle(&budget.name, 16) }</h2> } else { <h2>{ "Rollout budget" }</h2> }<p>{ format!("surge {}", budget.surge) }<br />{ format!("unavailable {}", budget.unavailable) }</p></div>
            <svg width="384" height="56" role="img" aria-label={budget.label()}>
                { for cells }
                <path class="limit" d={format!("M{} 14V50", Px(least))} /><path class="limit" d={format!("M{} 2V38", Px(most))} />
                <text class="lim" x={Px(x1).to_string()} y="49" text-anchor={a1}>{ format!("at least {} available", crate::app::format::count(budget.at_least)) }</text>
                <text class="lim" x={Px(x2).to_string()} y="11" text-anchor={a2}>{ format!("at most {} Pod{}", crate::app::format::count(budget.at_most), if budget.at_most == 1 { "" } else { "s" }) }</text>
            </svg>
            <div class="grow b-next"><h3>{ &budget.head }</h3><p>{ &budget.text }</p></div>
        </section>
    }
}
