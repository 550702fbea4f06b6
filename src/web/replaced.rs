//! The Pods that the selected one replaced, or that replaced it, in the inspector.

use super::dom::icon;
use super::language::{marked, say};
use explain::replaced::{Other, Replaced};
use i18n::format::clock;
use i18n::{Message, msg};
use k8s_model::ObjectRef;
use yew::prelude::*;

/// Draws the other Pods, each with what happened to it. A Pod of the same name is shown at its time.
pub fn others(
    of: &Replaced,
    key: Option<&ObjectRef>,
    on_select: &Callback<Option<ObjectRef>>,
    on_seek: &Callback<u64>,
) -> Html {
    let row = |(other, words): (&Other, Message)| {
        let (on_select, on_seek, to, at) = (
            on_select.clone(),
            on_seek.clone(),
            other.pod.clone(),
            other.at,
        );
        let same = key == Some(&to);
        let onclick = Callback::from(move |_: MouseEvent| {
            if same {
                on_seek.emit(at)
            } else {
                on_select.emit(Some(to.clone()))
            }
        });
        html! {
            <section class="replaced"><p class="h-cap">{ say(words) }</p>
                <button type="button" class="linkrow" onclick={onclick}>{ icon("i-pod", 14) }<span>{ marked(&other.effect) }</span></button>
                <p class="meta">{ say(&other.actor) }{ " · " }<span class="mono">{ clock(at) }</span></p><div class="rule" />
            </section>
        }
    };
    let both = [(&of.by, msg::replaced_by()), (&of.of, msg::replaced_of())];
    let both = both
        .into_iter()
        .filter_map(|(other, words)| Some((other.as_ref()?, words)));
    html! { <>{ for both.map(row) }</> }
}
