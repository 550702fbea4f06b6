//! Overlays of the picture: the hover card, the legend, the menu, the link to the tray.

use super::Stage;
use super::props::{Msg, Props};
use crate::web::dom::{icon, tile};
use crate::web::export::ImageFormat;
use crate::web::language::{marked, say};
use explain::pill::StatusPill;
use i18n::format::clock;
use i18n::msg;
use views::card::Card;
use views::shape::{CardBody, Rect, Scene};
use views::view::Legend;
use views::viewport::Side;
use web_sys::{MouseEvent, PointerEvent};
use yew::prelude::*;

/// Draws the legend of a diagram.
pub(super) fn legend(of: &Legend, scene: &Scene) -> Html {
    let cells = scene
        .items
        .iter()
        .any(|item| matches!(item.body, CardBody::Cells(_)));
    match of {
        Legend::Hidden => Html::default(),
        Legend::Signs(signs) => html! {
            <div class="legend">{ for signs.iter().map(|(class, words)| html! { <span><i class={*class} />{ say(words()) }</span> }) }</div>
        },
        Legend::PodStates => html! {
            <div class="legend">{ for scene.states().iter().map(|state| html! { <span>{ if cells { html! { <i class={crate::web::cells::swatch(*state, false)} /> } } else { icon(state.glyph(), 14) } }{ say(scene.word(*state)) }</span> }) }if scene.has_older() { <span class="older">{ icon("pod-ready", 14) }{ say(msg::legend_older_revision()) }</span> }</div>
        },
    }
}

impl Stage {
    /// Draws the menu of the formats in which the picture can be saved.
    pub(super) fn menu(link: &yew::html::Scope<Self>, props: &Props) -> Html {
        html! {
            <div class="menu" role="menu" aria-label={say(msg::button_save_image())}>
                { for ImageFormat::of(&props.scene).map(|form| html! { <button type="button" role="menuitem" onclick={link.callback(move |_| Msg::Export(form))}>{ form.title(props.save.stretch) }</button> }) }
            </div>
        }
    }

    /// Draws a button with the number of unscheduled Pods, which leads to their tray if that is out of view at the foot.
    pub(super) fn far_tray(&self, ctx: &Context<Self>, pods: usize, rect: Rect) -> Html {
        let props = ctx.props();
        if props.embed || self.port.above_foot(&props.picture(), rect.y + 40.0) {
            return Html::default();
        }
        let words = say(msg::tray_far(pods));
        let go = ctx.link().callback(move |event: MouseEvent| {
            event.stop_propagation();
            Msg::Centre(rect.cx(), rect.cy())
        });
        // If no controls reserve this space, the diagram is not drawn under the button.
        let under =
            (!self.port.controls(&props.picture())).then(|| html! { <div class="foot under" /> });
        html! { <>{ under }<button type="button" class="btn sm tofar" style={format!("bottom:{}px", if props.scene.dense() { 12 } else { 52 })} onclick={go} onpointerdown={Callback::from(|event: PointerEvent| event.stop_propagation())}>{ icon("i-down", 14) }{ words }</button></> }
    }

    pub(super) fn card(&self, props: &Props) -> Html {
        match (&self.over, &props.card, self.rested) {
            (Some((_, rect)), Some(card), true) => self.carded(*rect, card),
            _ => Html::default(),
        }
    }

    /// Draws the card beside its object, within the stage.
    pub(super) fn carded(&self, rect: Rect, card: &Card) -> Html {
        let (left, side) = self.port.card_at(rect);
        let place = match side {
            Side::Top(top) => format!("top:{top}px"),
            Side::Bottom(bottom) => format!("bottom:{bottom}px"),
        };
        html! {
            <div class="hover" role="tooltip" id="hover" style={format!("left:{left}px;{place}")}>
                <div class="row">{ tile(card.kind.name()) }<div class="grow"><div class="row"><small class="grow">{ say(&card.caption) }</small>
                    if let Some(StatusPill { words, class, glyph }) = &card.pill { <span class={classes!("pill", *class)}>if !glyph.is_empty() { { icon(glyph, 12) } }{ say(words) }</span> }
                    </div><b class="mono">{ &card.name }</b></div>
                </div>
                if !card.facts.is_empty() {
                    <dl class="kv">{ for card.facts.iter().map(|(name, value)| html! { <><dt>{ say(name) }</dt><dd>{ say(value) }</dd></> }) }</dl>
                }
                if let Some((actor, at)) = &card.by {
                    <p class="last">{ marked(&card.effect) }<small>{ say(actor) }{ " · " }{ clock(*at) }</small>
                        if !card.short.is_empty() { <small>{ say(&card.short) }</small> }
                    </p>
                }
            </div>
        }
    }
}
