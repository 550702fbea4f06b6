//! The inspector: facts, YAML, Events and the chain of causes of the selected object, and the actions on it.

use super::actions::Actions;
use super::dom::{icon, tile};
use super::language::{Lang, marked, say};
use super::replaced;
use super::terms;
use crate::web::dom;
use actions::Action;
use explain::diagnose::{Diagnosis, Remedy};
use explain::handles::assumed_image;
use explain::headline;
use explain::pill::StatusPill;
use explain::properties::{PropertyRole, properties};
use explain::remedies::{self, ActionOffer};
use explain::replaced::Replaced;
use explain::standing::Standing;
use explain::waits::{Health, RemedyKind};
use explain::why::Row;
use explain::words::{self, Reason};
use explain::yaml::yaml as yaml_of;
use i18n::format::{clock, middle, stamp};
use i18n::{Arg, Message, msg};
use k8s_model::{Body, Object, ObjectRef, Timestamp};
use session::Verdicts;
use session::selection::Tab;
use std::rc::Rc;
use views::highlight;
use web_sys::KeyboardEvent;
use yew::prelude::*;

/// Length in characters above which a value is put below its name.
const LONG_VALUE: usize = 40;

/// Explanation of the selected object.
#[derive(Clone, Default, PartialEq)]
pub struct Explanation {
    /// State.
    pub standing: Option<Rc<Standing>>,
    /// Diagnosis: the chain of waiting down to the root cause.
    pub found: Rc<Vec<Diagnosis>>,
    /// Verdicts on the remedies.
    pub verdicts: Verdicts,
    /// Chain of causes, newest first.
    pub chain: Rc<Vec<Reason>>,
    /// Pods that it replaced, or that replaced it.
    pub replaced: Replaced,
    /// Consequences of the newest change.
    pub led: Rc<Vec<Reason>>,
}

/// Properties of the inspector.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Key of the selected object.
    pub key_of: Option<ObjectRef>,
    /// Object, while it exists.
    pub object: Option<Rc<Object>>,
    /// Lag of its status.
    pub late: Option<Message>,
    /// Language of the page.
    pub lang: Lang,
    /// Wall clock at time 0.
    pub epoch: Timestamp,
    /// Open tab.
    pub tab: Tab,
    /// Explanation of the object.
    pub why: Explanation,
    /// Faults that can be injected into it, or repaired.
    pub offers: Vec<ActionOffer>,
    /// Revision to roll back to, if there is one.
    pub undoes: Option<Rc<Object>>,
    /// A remedy was chosen, or all are to be tried on a copy (`None`).
    pub on_cure: Callback<Option<Remedy>>,
    /// Events about it.
    pub events: Rc<Vec<Rc<Object>>>,
    /// A tab was chosen.
    pub on_tab: Callback<Tab>,
    /// Runs an action.
    pub on_command: Callback<Action>,
    /// Selects another object.
    pub on_select: Callback<Option<ObjectRef>>,
    /// Goes to an instant.
    pub on_seek: Callback<u64>,
    /// True if it fills a small page: then it is closed rather than folded away.
    pub narrow: bool,
    /// Folds the inspector away.
    pub on_close: Callback<()>,
}

/// Draws the inspector.
#[component]
pub fn Inspector(props: &Props) -> Html {
    dom::renders("Inspector");
    // Another object is shown from the top.
    use_effect_with(props.key_of.clone(), |_| {
        if let Some(body) = dom::element("i-body") {
            body.set_scroll_top(0);
        }
    });
    let fold = fold(props.narrow, &props.on_close);
    let Some(key) = &props.key_of else {
        return idle(fold);
    };
    let health = props
        .why
        .standing
        .as_ref()
        .map_or(Health::Note, |standing| standing.health);
    let pill = props
        .object
        .as_ref()
        .and_then(|object| StatusPill::of(object, health));
    let pill = pill.map(|pill| match props.late {
        Some(_) => StatusPill {
            class: "notready",
            glyph: "pod-notready",
            ..pill
        },
        None => pill,
    });
    let head = html! {
        <div class="i-head">{ tile(key.kind.name()) }
            <div class="grow"><small>{ key.kind.name() }
                if let Some(StatusPill { words, class, glyph }) = pill {
                    <span class={classes!("pill", class)} title={props.late.as_ref().map(say)}>if !glyph.is_empty() { { icon(glyph, 12) } }<span class="ell">{ say(words) }</span></span>
                } else if props.object.is_none() {
                    <span class="pill">{ if props.why.chain.is_empty() { say(msg::pill_not_found()) } else { say(msg::pill_deleted()) } }</span>
                }
            </small><b title={key.name.to_string()}>{ key.name.as_str() }</b></div>
            { fold }
        </div>
    };
    let on_tab = props.on_tab.clone();
    let current = props.tab;
    let keys = Callback::from(move |event: KeyboardEvent| {
        let step = match event.key().as_str() {
            "ArrowRight" => 1,
            "ArrowLeft" => Tab::ALL.len() - 1,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        let at = Tab::ALL.iter().position(|tab| *tab == current).unwrap_or(0);
        let next = (at + step) % Tab::ALL.len();
        on_tab.emit(Tab::ALL[next]);
        if let Some(button) = dom::element(&format!("itab-{}", Tab::ALL[next].word())) {
            dom::focus(&button);
        }
    });
    let tabs = Tab::ALL.into_iter().map(|tab| {
        let on_tab = props.on_tab.clone();
        let onclick = Callback::from(move |_: MouseEvent| on_tab.emit(tab));
        let on = tab == props.tab;
        html! { <button type="button" role="tab" id={format!("itab-{}", tab.word())} aria-selected={on.to_string()} aria-controls="i-body" tabindex={if on { "0" } else { "-1" }} onclick={onclick}>{ say(tab.title()) }</button> }
    });
    let body = match (props.tab, &props.object) {
        (Tab::Why, _) => why(props),
        // Events outlive their object.
        (Tab::Events, _) if props.object.is_some() || !props.events.is_empty() => events(props),
        (_, None) | (Tab::Events, _) => {
            html! { <p class="dim">{ say(msg::inspector_absent(&key.name)) }</p> }
        }
        (Tab::Summary, Some(object)) => summary(props, object),
        (Tab::Yaml, Some(object)) => yaml(object),
    };
    html! {
        <aside class="panel right" aria-label={say(msg::panel_inspector())} id="inspector">
            { head }
            if let Some(standing) = &props.why.standing { { stands(props, standing) } }
            <div class="itabs" role="tablist" aria-label={say(msg::inspector_tabs())} onkeydown={keys}>{ for tabs }</div>
            <div class="i-body" id="i-body" role="tabpanel" aria-labelledby={format!("itab-{}", props.tab.word())} tabindex="0">{ body }</div>
            if let Some(object) = &props.object { <Actions lang={props.lang} key={format!("{key}")} object={object.clone()} offers={props.offers.clone()} undoes={props.undoes.clone().filter(|_| !rolls_back(props))} on_command={props.on_command.clone()} /> }
        </aside>
    }
}

/// Button that folds the inspector away, or closes it if it fills a small page.
pub fn fold(narrow: bool, on_close: &Callback<()>) -> Html {
    let close = on_close.reform(|_: MouseEvent| ());
    match narrow {
        true => {
            html! { <button type="button" class="btn" onclick={close}>{ say(msg::button_done()) }</button> }
        }
        false => {
            html! { <button type="button" class="btn ghost icon" aria-label={say(msg::button_hide_inspector())} title={say(msg::button_hide_inspector())} onclick={close}>{ icon("i-panel-r", 16) }</button> }
        }
    }
}

/// Draws the inspector while nothing is selected.
fn idle(fold: Html) -> Html {
    html! {
        <aside class="panel right" aria-label={say(msg::panel_inspector())} id="inspector">
            <div class="p-head"><h2>{ say(msg::panel_inspector()) }</h2><span class="grow" />{ fold }</div>
            <div class="i-body idle"><p>{ say(msg::inspector_empty()) }</p></div>
        </aside>
    }
}

fn summary(props: &Props, object: &Object) -> Html {
    let properties = properties(object, props.epoch);
    let image = properties
        .iter()
        .any(|property| property.role == PropertyRole::Image);
    let rows = properties.into_iter().map(|property| {
        let value = match property.to {
            Some(to) => {
                html! { <button type="button" class="wl" onclick={selects(props, &to)}>{ say(&property.value) }</button> }
            }
            None => html! { { say(&property.value) } },
        };
        html! { <><dt>{ terms::word(say(&property.label)) }</dt><dd class={property.mono.then_some("mono")}>{ value }</dd></> }
    });
    let owner = object
        .meta
        .controller()
        .and_then(|owner| owner.key(&object.meta.namespace));
    html! {
        <>
            <dl class="kv">{ for rows }</dl>
            if image { <p class="aside">{ say(msg::inspector_image_note()) }</p> }
            if let Some(owner) = owner {
                { related(props, owner, msg::inspector_owner()) }
            }
        </>
    }
}

fn related(props: &Props, key: ObjectRef, words: Message) -> Html {
    let (kind, name, onclick) = (key.kind.name(), key.name.clone(), selects(props, &key));
    html! { <><div class="rule" /><p class="h-cap">{ say(words) }</p><button type="button" class="linkrow" onclick={onclick}>{ icon(views::icons::kind_icon(kind).0, 14) }<span>{ kind }{ " " }<span class="mono">{ name.as_str() }</span></span></button></> }
}

fn yaml(object: &Object) -> Html {
    let text = yaml_of(object);
    let mut block = None;
    let rows = text.lines().map(|text| {
        let pieces = highlight::line(text, &mut block)
            .into_iter()
            .map(|(token, piece)| html! { <span class={token.class()}>{ piece }</span> });
        html! { <div>{ for pieces }</div> }
    });
    html! { <div class="yaml">{ for rows }</div> }
}

fn events(props: &Props) -> Html {
    if props.events.is_empty() {
        return html! { <p class="dim">{ say(msg::inspector_no_events()) }</p> };
    }
    let rows = props.events.iter().rev().filter_map(|object| {
        let Body::Event(event) = &object.body else { return None };
        let at = |time: Option<Timestamp>| time.map(|time| stamp(time.since(props.epoch)));
        let last = at(event.last_seen().or(object.meta.creation_timestamp)).unwrap_or_default();
        let times = event.times();
        let who = if event.source.component.is_empty() { event.reporting_component.to_string() } else { event.source.component.to_string() };
        let warning = event.kind == "Warning";
        Some(html! {
            <li><div class="row"><span class={classes!("pill", warning.then_some("failed"))}>if warning { { icon("i-warn", 12) } }{ event.reason.as_str() }</span><span class="grow" /><span class="mono dim">{ last }</span></div>
                <p>{ event.message.as_str() }</p>
                <p class="meta">{ who }if times > 1 { { " · " }{ say(msg::events_repeated(times, at(event.first_seen()).unwrap_or_default())) } }</p>
            </li>
        })
    });
    html! { <ol class="events">{ for rows }</ol> }
}

/// Draws the state of the object: the sentence, its start, and the remedy to try first.
fn stands(props: &Props, standing: &Standing) -> Html {
    let (class, glyph) = match standing.health {
        Health::Well => ("well", "i-check"),
        Health::Note => ("note", "i-info"),
        Health::Waiting => ("waiting", "i-cronjob"),
        Health::Stuck => ("stuck", "i-warn"),
    };
    let first = props.why.found.first();
    let remedy = standing.remedy.and_then(|at| first?.remedies.get(at));
    let assumed = props.object.as_deref().and_then(assumed_image);
    let root = standing
        .root
        .as_ref()
        .filter(|_| matches!(standing.health, Health::Waiting | Health::Stuck));
    html! {
        <section class={classes!("standing", class)} aria-label={say(msg::standing_title())}>
            <p>{ icon(glyph, 16) }<span><span class="vh">{ say(headline::health(standing.health)) }{ ": " }</span>{ marked(&words::abbreviate_names(&standing.sentence)) }</span></p>
            <div class="meta row wrap">
                if let Some(since) = first.and_then(|first| first.since) { <span>{ say(msg::found_since(stamp(since))) }</span> }
                if let Some(image) = assumed { <span title={say(msg::inspector_image_note())}>{ marked(&msg::image_assumed(image)) }</span> }
                if let Some(root) = root { <button type="button" class="wl" onclick={selects(props, root)}>{ say(msg::kind_name(root.kind, middle(&root.name, 24))) }</button> }
            </div>
            if let Some(remedy) = remedy {
                <div class="row wrap">
                    { cure(props, remedy) }
                    if props.why.verdicts.helps.contains(&true) { <span class="meta">{ say(msg::remedy_tested()) }</span> }
                </div>
            }
        </section>
    }
}

/// Returns true if the remedy beside the sentence is a rollback: it is not offered twice.
fn rolls_back(props: &Props) -> bool {
    let offered = props
        .why
        .standing
        .as_ref()
        .and_then(|standing| props.why.found.first()?.remedies.get(standing.remedy?));
    offered.is_some_and(|remedy| remedy.cure == RemedyKind::Undo)
}

/// Callback that selects an object.
fn selects(props: &Props, key: &ObjectRef) -> Callback<MouseEvent> {
    let key = key.clone();
    props.on_select.reform(move |_| Some(key.clone()))
}

/// Draws a remedy as a button.
fn cure(props: &Props, remedy: &Remedy) -> Html {
    let (on_cure, own) = (props.on_cure.clone(), remedy.clone());
    let onclick = Callback::from(move |_: MouseEvent| on_cure.emit(Some(own.clone())));
    html! { <button type="button" class="btn sm" title={remedy.steps.iter().map(Action::to_string).collect::<Vec<_>>().join("\n")} onclick={onclick}>{ say(remedy.words()) }</button> }
}

/// Draws the diagnosis: the deciding fact at the root, the chain down to it, and the remedies.
fn found(props: &Props) -> Html {
    let (Some(first), Some(last)) = (props.why.found.first(), props.why.found.last()) else {
        return Html::default();
    };
    let root = props
        .why
        .found
        .iter()
        .rev()
        .find(|one| one.waits.is_bad())
        .unwrap_or(last);
    let link = |key: &ObjectRef, words: Option<Message>| {
        html! { <button type="button" class="linkrow" onclick={selects(props, key)}>{ icon(views::icons::kind_icon(key.kind.name()).0, 14) }<span><span class="mono">{ key.name.as_str() }</span>{ for words.iter().map(|words| html! { <>{ ": " }{ say(words) }</> }) }</span></button> }
    };
    let mut links: Vec<Html> = props.why.found[1..]
        .iter()
        .map(|next| link(&next.object, Some(next.headline())))
        .collect();
    // The last may wait for an object that has no diagnosis itself.
    if let Some(next) = &last.waits_for {
        links.push(link(next, None));
    }
    let rows = |of: &Diagnosis| {
        if of.facts.is_empty() {
            Html::default()
        } else {
            table(&of.rows(), false)
        }
    };
    let verdicts = &props.why.verdicts;
    let headline = props
        .why
        .standing
        .as_ref()
        .and_then(|standing| standing.remedy);
    let (title, offered) = remedies::offered(
        first.remedies.len(),
        &verdicts.helps,
        verdicts.recovers,
        headline,
    );
    let on_try = props.on_cure.reform(|_: MouseEvent| None);
    html! {
        <section class="found" aria-label={say(msg::diagnosis_title())}>
            { rows(root) }
            if !links.is_empty() { <p class="h-cap">{ say(msg::diagnosis_waiting_for()) }</p><div class="led">{ for links }</div> }
            if root.object != first.object { { rows(first) } }
            if let Some(title) = title {
                <p class="h-cap">{ say(title) }</p>
                <div class="row wrap">{ for offered.iter().map(|at| cure(props, &first.remedies[*at])) }if props.why.verdicts.helps.is_empty() { <button type="button" class="btn sm" onclick={on_try}>{ say(msg::button_test_remedies()) }</button> }</div>
            }
            if let Some(unaffected) = &first.unaffected { <p class="meta">{ say(unaffected) }</p> }
            <div class="rule" />
        </section>
    }
}

fn why(props: &Props) -> Html {
    html! { <>if !props.why.found.is_empty() { { found(props) } }{ replaced::others(&props.why.replaced, props.key_of.as_ref(), &props.on_select, &props.on_seek) }{ chain(props) }</> }
}

fn chain(props: &Props) -> Html {
    if props.why.chain.is_empty() {
        let words = if props.object.is_some() {
            msg::chain_bootstrap()
        } else {
            msg::chain_absent()
        };
        return html! { <p class="dim">{ say(words) }</p> };
    }
    let items = props.why.chain.iter().enumerate().map(|(at, reason)| {
        let on_seek = props.on_seek.clone();
        let time = reason.at;
        let onclick = Callback::from(move |_: MouseEvent| on_seek.emit(time));
        let first = at == 0;
        // The object shown need not be named, and counts are shown beside it.
        let own = reason.object.is_some() && reason.object == props.key_of;
        let counts = reason.effect.args().iter().any(|arg| matches!(arg, Arg::Change(_)));
        let effect = if own || counts { marked(&words::abbreviate_names(&reason.effect)) } else { marked(&reason.effect) };
        html! {
            <li key={reason.entry}>
                <span class={classes!("dotk", reason.user.then_some("user"))}>{ icon(reason.icon, 12) }</span>
                <p>if first { { effect } } else { <button type="button" class="wl" title={say(msg::chain_go_to_time())} onclick={onclick}>{ effect }</button> }</p>
                <p class="meta">{ say(&reason.actor) }{ " · " }<span class="mono">{ clock(reason.at) }</span></p>
                if !reason.short.is_empty() && (!first || reason.saw.is_empty()) { <p class="meta">{ marked(&reason.short) }</p> }
                if first && !reason.saw.is_empty() { { saw(&reason.saw.iter().map(explain::why::row).collect::<Vec<_>>()) } }
            </li>
        }
    });
    html! {
        <>
            <ol class="why">{ for items }</ol>
            if !props.why.led.is_empty() {
                <div class="rule led-rule" />
                <p class="h-cap">{ say(msg::chain_led_to()) }</p>
                <div class="led">{ for props.why.led.iter().map(|reason| {
                    let (on_seek, on_select, time, object) = (props.on_seek.clone(), props.on_select.clone(), reason.at, reason.object.clone());
                    let onclick = Callback::from(move |_: MouseEvent| { on_select.emit(object.clone()); on_seek.emit(time); });
                    html! { <button type="button" class="linkrow" onclick={onclick}>{ icon("i-arrow-right", 14) }<span>{ marked(&reason.effect) }{ " " }<span class="mono">{ clock(reason.at) }</span></span></button> }
                }) }</div>
            }
        </>
    }
}

fn saw(rows: &[Row]) -> Html {
    table(rows, rows.len() > 2)
}

/// Draws names and values; the last row may be the conclusion.
fn table(rows: &[Row], sums: bool) -> Html {
    let last = rows.len() - 1;
    let row = |(at, (name, value)): (usize, &Row)| {
        let value = say(value);
        // Values of several lines are aligned left.
        let long = value.chars().count() > LONG_VALUE;
        html! { <div class={classes!((at == last && sums).then_some("sum"), long.then_some("long"))}><span>{ say(name) }</span><span class="mono">{ value }</span></div> }
    };
    html! { <div class="saw">{ for rows.iter().enumerate().map(row) }</div> }
}
