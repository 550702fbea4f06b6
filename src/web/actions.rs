//! Actions on the selected object.

use super::dom::icon;
use super::faults::Faults;
use super::language::{Lang, say};
use crate::web::dom;
use actions::Action;
use explain::handles::{ContainerImage, Handles};
use explain::remedies::ActionOffer;
use fault::Fault;
use i18n::format::count;
use i18n::{Message, msg};
use k8s_model::{Body, Kind, Object};
use projection::adapt::revision;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, KeyboardEvent, SubmitEvent};
use yew::prelude::*;

/// Properties of the actions.
#[derive(Properties, PartialEq)]
pub struct ActionProps {
    /// Object.
    pub object: Rc<Object>,
    /// Faults that can be injected.
    pub offers: Vec<ActionOffer>,
    /// Revision to roll back to, if there is one.
    pub undoes: Option<Rc<Object>>,
    /// Language of the page.
    pub lang: Lang,
    /// Runs an action on the cluster.
    pub on_command: Callback<Action>,
}

/// Label of a rollback: the target revision, and its image if it differs. The earlier image may itself be broken, so it is named.
/// is named.
fn roll_back(to: &Object, from: &Object) -> Message {
    match to
        .first_image()
        .filter(|image| from.first_image() != Some(image))
    {
        Some(image) => msg::action_roll_back_image(revision(to), image),
        None => msg::action_roll_back(revision(to)),
    }
}

/// Flag for an object's namespace, if one is needed.
fn namespace_flag(object: &Object) -> String {
    let named = object.meta.namespace != "default" && object.kind.info().namespaced;
    if named {
        format!(" -n {}", object.meta.namespace)
    } else {
        String::new()
    }
}

/// Properties of the replica control.
#[derive(Properties, PartialEq)]
pub struct ReplicasProps {
    /// Workload.
    pub object: Rc<Object>,
    /// Language of the page.
    pub lang: Lang,
    /// Runs an action on the cluster.
    pub on_command: Callback<Action>,
}

/// Draws the number of replicas of a workload, with buttons for one more and one less.
#[component]
pub fn Replicas(props: &ReplicasProps) -> Html {
    let object = &props.object;
    let Some(replicas) = Handles::of(object).replicas else {
        return Html::default();
    };
    let (word, name, namespace) = (
        object.kind.name().to_ascii_lowercase(),
        &object.meta.name,
        namespace_flag(object),
    );
    let scale = |to: i32| {
        let scale = Action::kubectl(format!(
            "kubectl scale {word}/{name} --replicas={to}{namespace}"
        ));
        props.on_command.reform(move |_: MouseEvent| scale.clone())
    };
    html! {
        <div class="row act replicas"><span class="dim">{ say(msg::fact_replicas()) }</span><span class="grow" />
            <button type="button" class="btn icon" aria-label={say(msg::button_remove_replica())} title={say(msg::button_remove_replica())} disabled={replicas == 0} onclick={scale((replicas - 1).max(0))}>{ icon("i-minus", 14) }</button>
            <b class="mono">{ count(replicas.max(0) as usize) }</b>
            <button type="button" class="btn icon" aria-label={say(msg::button_add_replica())} title={say(msg::button_add_replica())} onclick={scale(replicas + 1)}>{ icon("i-plus", 14) }</button>
        </div>
    }
}

/// Buttons below the inspector.
#[component]
pub fn Actions(props: &ActionProps) -> Html {
    dom::renders("Actions");
    let object = &props.object;
    let (kind, name) = (object.kind, object.meta.name.to_string());
    let namespace = namespace_flag(object);
    let word = kind.name().to_ascii_lowercase();
    let Handles { replicas, image } = Handles::of(object);
    let entered = use_state(|| None::<String>);
    let run = |action: Action| {
        let on_command = props.on_command.clone();
        Callback::from(move |_: MouseEvent| on_command.emit(action.clone()))
    };
    // The tooltip is the command that the button enters.
    let button = |words: Message, line: String| html! { <button type="button" class="btn sm" title={line.clone()} onclick={run(Action::kubectl(line))}>{ say(words) }</button> };
    let mut rows: Vec<Html> = Vec::new();
    if replicas.is_some() {
        rows.push(html! { <Replicas object={object.clone()} lang={props.lang} on_command={props.on_command.clone()} /> });
    }
    if let Some(ContainerImage {
        container,
        image: current,
    }) = image
    {
        let value = (*entered).clone().unwrap_or_else(|| current.clone());
        let oninput = {
            let entered = entered.clone();
            Callback::from(move |event: InputEvent| {
                if let Some(input) = event
                    .target()
                    .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
                {
                    entered.set(Some(input.value()));
                }
            })
        };
        let onsubmit = {
            let (on_command, entered, line) = (
                props.on_command.clone(),
                entered.clone(),
                // A name with a space is passed as one word, and refused as such.
                format!(
                    "kubectl set image {word}/{name} '{container}={}'{namespace}",
                    value.trim().replace('\'', "")
                ),
            );
            Callback::from(move |event: SubmitEvent| {
                event.prevent_default();
                on_command.emit(Action::kubectl(line.as_str()));
                entered.set(None);
            })
        };
        let same = value.trim() == current || value.trim().is_empty();
        rows.push(html! {
            <form class="row act" onsubmit={onsubmit}><input type="text" class="mono grow" aria-label={say(msg::input_image())} spellcheck="false" value={value} oninput={oninput} onkeydown={Callback::from(|event: KeyboardEvent| event.stop_propagation())} />
                <button type="submit" class="btn sm" disabled={same}>{ say(msg::button_set_image()) }</button></form>
        });
    }
    let mut buttons: Vec<Html> = Vec::new();
    if matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
        if let Some(to) = &props.undoes {
            buttons.push(button(
                roll_back(to, object),
                format!("kubectl rollout undo {word}/{name}{namespace}"),
            ));
        }
        buttons.push(button(
            msg::action_restart(),
            format!("kubectl rollout restart {word}/{name}{namespace}"),
        ));
    }
    if let (Body::ReplicaSet(set), Some(owner), number) =
        (&object.body, object.meta.controller(), revision(object))
        && set.spec.replicas == 0
        && number > 0
    {
        let line = format!(
            "kubectl rollout undo deployment/{} --to-revision={number}{namespace}",
            owner.name
        );
        buttons.push(button(msg::action_roll_back_to(), line));
    }
    if object
        .pod()
        .is_some_and(|pod| object.meta.namespace == "default" && !pod.node_name.is_empty())
    {
        let (title, onclick) = (
            say(msg::action_evict_title()),
            run(Fault::Evict {
                pod: object.meta.name.clone(),
            }
            .into()),
        );
        buttons.push(html! { <button type="button" class="btn sm" title={title} onclick={onclick}>{ say(msg::action_evict()) }</button> });
    }
    if kind == Kind::Node {
        buttons.push(button(
            msg::action_drain(),
            format!("kubectl drain {name} --ignore-daemonsets"),
        ));
        let cordoned = matches!(&object.body, Body::Node(node) if node.spec.unschedulable);
        let verb = if cordoned { "uncordon" } else { "cordon" };
        let words = if cordoned {
            msg::button_uncordon()
        } else {
            msg::button_cordon()
        };
        buttons.push(button(words, format!("kubectl {verb} {name}")));
    }
    // Faults are separated from a person's ordinary actions.
    if !props.offers.is_empty() {
        let own = match kind {
            Kind::Pod | Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet => {
                msg::fault_container()
            }
            _ => Message::name(kind),
        };
        let title = msg::faults_of(kind, i18n::format::front(&name, 17));
        buttons
            .push(html! { <Faults {title} {own} offers={props.offers.clone()} on_command={props.on_command.clone()} lang={props.lang} /> });
    }
    if !matches!(kind, Kind::Node | Kind::Namespace) {
        buttons.push(html! { <button type="button" class="btn sm danger" aria-label={say(msg::delete_kind(kind))} onclick={run(Action::kubectl(format!("kubectl delete {word} {name} --wait=false{namespace}")))}>{ say(msg::button_delete()) }</button> });
    }
    html! { <div class="actions">{ for rows }<div class="row wrap">{ for buttons }</div></div> }
}
