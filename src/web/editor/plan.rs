//! Planned changes of an apply, in rows.

use super::{Editor, Msg, Props};
use crate::web::dom::icon;
use crate::web::language::{marked, say};
use actions::{ApplyDiagnostic, PlannedChanges};
use apiserver::Op;
use i18n::{Message, msg};
use k8s_model::Kind;
use projection::changes::{self, Change, ChangedField};
use serde_json::Value;
use session::Msg as Do;
use session::drift::DriftedField;
use session::editor::ApplyStatus;
use session::selection::SelectionMsg;
use views::highlight;
use yew::prelude::*;

/// Accessible name of the text, with the key that leaves it.
pub(super) fn label() -> String {
    say(msg::editor_label())
}

/// Milliseconds after which the code editor is loaded, unless a person wants to type before.
pub(super) const AFTER: u32 = 1_500;

/// Reads a dropped file. The browser only provides it during the event.
pub(super) fn dropped(on_edit: &Callback<String>) -> Callback<DragEvent> {
    let on_edit = on_edit.clone();
    Callback::from(move |event: DragEvent| {
        let Some(file) = event
            .data_transfer()
            .and_then(|data| data.files())
            .and_then(|files| files.get(0))
        else {
            return;
        };
        event.prevent_default();
        let (on_edit, promise) = (on_edit.clone(), file.text());
        wasm_bindgen_futures::spawn_local(async move {
            if let Ok(text) = wasm_bindgen_futures::JsFuture::from(promise).await
                && let Some(text) = text.as_string()
            {
                on_edit.emit(text);
            }
        });
    })
}

/// Draws a changed object with its fields.
pub fn change(change: &Change, on: Option<&Callback<Do>>) -> Html {
    let (sign, class, word) = match change.op {
        Op::Added => ("+", "new", msg::change_created()),
        Op::Deleted => ("−", "gone", msg::change_deleted()),
        Op::Modified => ("~", "", msg::field_changed()),
    };
    let line = |field: &ChangedField| {
        if field.is_deletion() {
            return html! { <p class="field"><ins>{ say(msg::change_being_deleted()) }</ins></p> };
        }
        // A whole added or removed element can be read in the inspector.
        let whole = |text: &str| {
            (field.from.as_ref().or(field.to.as_ref())).is_some_and(Value::is_object)
                && text.len() > 24
        };
        let value = |value: Option<String>| value.unwrap_or_else(|| say(msg::field_not_set()));
        let values = match field.shown() {
            (None, Some(to)) if whole(&to) => html! { <ins>{ say(msg::field_added()) }</ins> },
            (Some(from), None) if whole(&from) => {
                html! { <del>{ say(msg::field_removed()) }</del> }
            }
            (from, to) => {
                html! { <><del>{ value(from) }</del>{ " → " }<ins>{ value(to) }</ins></> }
            }
        };
        // Allow line breaks after the dots of a path.
        html! { <p class="field"><span class="mono">{ for field.path.split_inclusive('.').map(|step| html! { <>{ step }<wbr /></> }) }</span>{ values }</p> }
    };
    let (mut key, other): (Vec<&ChangedField>, Vec<&ChangedField>) = change
        .fields
        .iter()
        .partition(|field| field.is_key(change.key.kind));
    // Spec and data come before metadata and status.
    key.sort_by_key(|field| !field.path.starts_with("spec.") && !field.path.starts_with("data."));
    // Meaningful status fields come before technical ones.
    let slice = matches!(change.key.kind, Kind::EndpointSlice | Kind::Endpoints);
    let (counted, technical): (Vec<&ChangedField>, Vec<&ChangedField>) = other
        .into_iter()
        .partition(|field| !field.is_technical() && (slice || field.path.starts_with("status.")));
    let of = if slice { "endpoints" } else { "status" };
    let folded = match (counted.len(), technical.len()) {
        (0, n) => msg::change_technical(n),
        (n, 0) => msg::change_in(n, of),
        (n, m) => msg::change_in_technical(n, of, m),
    };
    let name = html! { <b class="mono">{ &*change.key.name }</b> };
    let name = match on.filter(|_| change.op != Op::Deleted) {
        Some(on) => {
            let key = change.key.clone();
            html! { <button type="button" class="wl" onclick={on.reform(move |_: MouseEvent| SelectionMsg::Select(Some(key.clone())).into())}>{ name }</button> }
        }
        None => name,
    };
    html! {
        <li class={class}><p><i aria-hidden="true">{ sign }</i><span>{ change.key.kind.name() }</span>{ name }<small>{ say(word) }</small></p>
            { for key.into_iter().map(line) }
            if !counted.is_empty() || !technical.is_empty() { <details><summary>{ say(folded) }</summary>{ for counted.into_iter().chain(technical).map(line) }</details> }
        </li>
    }
}

/// Names the fields that would change, also while the list is folded: a scaling beside a new image is no surprise.
pub(super) fn named(plan: &PlannedChanges) -> Html {
    let fields = changes::brief(&plan.changes, false);
    if fields.is_empty() {
        Html::default()
    } else {
        html! { <p class="named">{ marked(&Message::list(fields)) }</p> }
    }
}

/// Draws the drift of the cluster from the manifest.
pub(super) fn differs(props: &Props) -> Html {
    let words = match &props.drift[..] {
        [one] => one.brief(),
        all => msg::editor_drift(all.len()),
    };
    let title = msg::editor_in_cluster(
        props
            .drift
            .iter()
            .map(DriftedField::told)
            .collect::<Vec<_>>(),
    );
    // The changes of an edited text are shown anyway.
    if props.standing == ApplyStatus::Edited {
        return html! { <span class="pill notready" id="drift" title={say(title)}>{ say(&words) }</span> };
    }
    let onclick = props.on_compare.reform(|_: MouseEvent| ());
    html! { <button type="button" class="pill notready" id="drift" aria-expanded={props.plan.is_some().to_string()} title={say(title)} onclick={onclick}>{ say(&words) }</button> }
}

/// Draws the manifest at the instant shown, read-only, in place of the text.
pub(super) fn was(ctx: &Context<Editor>, text: &str) -> Html {
    let mut block = None;
    let rows = text.split('\n').enumerate().map(|(at, text)| {
        let pieces = highlight::line(text, &mut block)
            .into_iter()
            .map(|(token, piece)| html! { <span class={token.class()}>{ piece }</span> });
        html! { <div class="ln"><i>{ at + 1 }</i><span>{ for pieces }</span></div> }
    });
    let words = if text.is_empty() {
        msg::editor_then_nothing()
    } else {
        msg::editor_then()
    };
    html! {
        <div class="then" id="then">
            <div class="row" role="status"><span>{ say(words) }</span><button type="button" class="btn sm" onclick={ctx.link().callback(|_: MouseEvent| Msg::Own)}>{ say(msg::editor_then_own()) }</button></div>
            <div class="was" tabindex="0" role="region" aria-label={say(msg::editor_then_label())}>{ for rows }</div>
        </div>
    }
}

/// Offers to apply to an empty cluster if this one refuses the manifest because of existing objects.
pub(super) fn afresh(props: &Props) -> Html {
    let refused = matches!(
        props.standing,
        ApplyStatus::Rejected | ApplyStatus::Partly(..)
    );
    let Some(on_afresh) = props.on_afresh.as_ref().filter(|_| refused) else {
        return Html::default();
    };
    let onclick = on_afresh.reform(|_: MouseEvent| ());
    html! { <p class="prune row"><button type="button" class="btn sm" id="afresh" onclick={onclick}>{ say(msg::button_start_over()) }</button><span>{ say(msg::editor_afresh()) }</span></p> }
}

/// Asks what to do with the objects that left the manifest, before an apply.
pub(super) fn leftovers(props: &Props) -> Html {
    if props.fresh {
        return html! { <p class="prune">{ say(msg::plan_fresh()) }</p> };
    }
    if props.left.is_empty() {
        return Html::default();
    }
    let choice = |delete: bool, words: Message| {
        let onchange = props.on_prune.reform(move |_: Event| delete);
        html! { <label><input type="radio" name="prune" checked={props.prune == delete} onchange={onchange} />{ say(words) }</label> }
    };
    let names: Vec<String> = props
        .left
        .iter()
        .map(|key| format!("{} {}", key.kind.name(), key.name))
        .collect();
    html! {
        <fieldset class="prune" title={names.join(", ")}>
            <legend>{ say(msg::prune_question(props.left.len())) }</legend>
            <p class="ell mono">{ names.join(", ") }</p>
            <div class="row">{ choice(false, msg::prune_keep()) }{ choice(true, msg::prune_delete()) }</div>
        </fieldset>
    }
}

/// Draws a diagnostic; `at` is its place among them.
pub(super) fn message(ctx: &Context<Editor>, at: usize, diagnostic: &ApplyDiagnostic) -> Html {
    let repair = diagnostic.repair.as_ref().map(|repair| {
        let onclick = ctx.link().callback(move |_: MouseEvent| Msg::Repair(at));
        html! { <div>{ say(&repair.reason) }{ " " }<button type="button" tabindex="-1" class="fix" {onclick}>{ say(&repair.offer) }</button></div> }
    });
    html! {
        <div class={classes!("diag", (!diagnostic.error).then_some("warn"))}>{ icon(if diagnostic.error { "i-error" } else { "i-info" }, 16) }
            <div><span class="mono">{ say(&diagnostic.message) }</span>{ repair }</div>
        </div>
    }
}
