//! Pickers in the head of the diagram: the filter, the namespace, the grouping, the workload, and the pace of a loop.

use super::{Msg, Page};
use crate::web::dom::icon;
use crate::web::language::say;
use explain::{control_loop, remedies};
use i18n::msg;
use session::State;
use session::drawing::Picture;
use session::selection::SelectionMsg;
use views::grouping::GroupBy;
use views::shape::CardBody;
use views::view::ObjectFilter;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlSelectElement};
use yew::html::Scope;
use yew::prelude::*;

/// Pickers of a picture; each is empty where the picture has no use for it.
pub(super) struct Pickers<'a> {
    pub(super) state: &'a State,
    pub(super) picture: &'a Picture,
    pub(super) link: &'a Scope<Page>,
}

impl Pickers<'_> {
    /// Number of objects hidden by the filter.
    pub(super) fn hidden(&self) -> Html {
        if self.picture.hidden == 0 {
            Html::default()
        } else {
            hidden(self.link, self.picture.hidden)
        }
    }

    pub(super) fn filter(&self) -> Html {
        let state = self.state;
        if state.selection.view.filter < ObjectFilter::Words {
            return Html::default();
        }
        let oninput = self.link.batch_callback(|event: InputEvent| {
            let target = event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
            // The hovered object may be hidden now.
            target.map_or_else(Vec::new, |input| {
                vec![
                    Msg::Hover(None),
                    Msg::Do(SelectionMsg::Filter(input.value()).into()),
                ]
            })
        });
        html! { <input type="search" class="filter" aria-label={say(msg::filter_label())} placeholder={say(msg::filter_placeholder())} title={say(msg::filter_title())} spellcheck="false" value={state.selection.filter.clone()} oninput={oninput} /> }
    }

    pub(super) fn namespaces(&self) -> Html {
        let state = self.state;
        // There is only one namespace.
        if self.picture.namespaces.len() < 2 && state.selection.namespace.is_none() {
            return Html::default();
        }
        let onchange = self.link.batch_callback(|event: Event| {
            let value = event
                .target()?
                .dyn_into::<HtmlSelectElement>()
                .ok()?
                .value();
            Some(Msg::Do(
                SelectionMsg::Namespace((!value.is_empty()).then_some(value)).into(),
            ))
        });
        html! {
            <label class="picker small">
                <select aria-label={say(msg::picker_namespace())} onchange={onchange}>
                    <option value="" selected={state.selection.namespace.is_none()}>{ say(msg::namespace_all()) }</option>
                    { for self.picture.namespaces.iter().map(|name| html! { <option value={name.clone()} selected={state.selection.namespace.as_ref() == Some(name)}>{ name }</option> }) }
                </select>{ icon("i-down", 14) }
            </label>
        }
    }

    /// Selector of the grouping of workloads, if the diagram supports it.
    pub(super) fn grouping(&self) -> Html {
        let state = self.state;
        if !state.selection.view.uses.groups {
            return Html::default();
        }
        let onchange = self.link.batch_callback(|event: Event| {
            let at = event
                .target()?
                .dyn_into::<HtmlSelectElement>()
                .ok()?
                .selected_index();
            GroupBy::ALL
                .get(usize::try_from(at).ok()?)
                .map(|by| Msg::Do(SelectionMsg::GroupBy(*by).into()))
        });
        html! {
            <label class="picker small">
                <select aria-label={say(msg::picker_group())} onchange={onchange}>
                    { for GroupBy::ALL.iter().map(|by| html! { <option selected={state.selection.grouping.by == *by}>{ say(by.title()) }</option> }) }
                </select>{ icon("i-down", 14) }
            </label>
        }
    }

    /// Button that slows the selected loop, or restores its speed.
    pub(super) fn pace(&self) -> Html {
        let state = self.state;
        match &state.selection.selected_loop {
            Some(actor) if state.selection.view.uses.loops => pace(
                self.link,
                control_loop::pace(state.timeline.run.sim(), actor.component),
            ),
            _ => Html::default(),
        }
    }

    /// Selector of the workload whose rollout is drawn, if there are several.
    pub(super) fn workloads(&self) -> Html {
        let Some(shown) = self
            .picture
            .scene
            .items
            .first()
            .filter(|item| matches!(item.body, CardBody::Chart(_)))
        else {
            return Html::default();
        };
        let state = self.state;
        let all = state.selection.workloads(&state.timeline.run);
        if all.len() < 2 {
            return Html::default();
        }
        let uid = shown.id.uid.trim_start_matches("rollout/").to_string();
        let options = all.iter().enumerate().map(|(at, (of, key))| html! { <option value={at.to_string()} selected={*of == uid}>{ format!("{} {}", key.kind.name(), key.name) }</option> });
        let options = options.collect::<Html>();
        let onchange = self.link.batch_callback(move |event: Event| {
            let at: usize = event
                .target_dyn_into::<HtmlSelectElement>()?
                .value()
                .parse()
                .ok()?;
            Some(Msg::Do(
                SelectionMsg::Select(Some(all.get(at)?.1.clone())).into(),
            ))
        });
        html! { <label class="picker small"><select aria-label={say(msg::picker_workload())} onchange={onchange}>{ options }</select>{ icon("i-down", 14) }</label> }
    }
}

fn hidden(link: &Scope<Page>, count: usize) -> Html {
    html! { <button type="button" class="pill notready" title={say(msg::button_clear_filter())} onclick={link.callback(|_| Msg::Do(SelectionMsg::Filter(String::new()).into()))}>{ say(msg::filter_hidden(count)) }{ icon("i-cross", 12) }</button> }
}

fn pace(link: &Scope<Page>, offer: Option<remedies::ActionOffer>) -> Html {
    let Some(remedies::ActionOffer {
        words,
        title,
        action,
    }) = offer
    else {
        return Html::default();
    };
    html! { <button type="button" class="btn sm" id="pace" title={say(title)} onclick={link.callback(move |_: MouseEvent| Msg::Act(action.clone()))}>{ icon("i-cronjob", 14) }{ say(words) }</button> }
}
