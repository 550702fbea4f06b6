//! The top bar: examples, the diagrams' tabs, theme, Share and Embed.

use super::dom::icon;
use super::language::{Lang, say};
use i18n::msg;
use session::examples;
use views::view::View;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlSelectElement, KeyboardEvent};
use yew::prelude::*;

/// Properties of the bar.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Diagram shown.
    pub view: &'static View,
    /// True if the theme is dark.
    pub dark: bool,
    /// True on a small window: the tabs are elsewhere.
    pub narrow: bool,
    /// Example whose text is in the editor.
    pub example: Option<usize>,
    /// True for a moment after a link was copied.
    pub copied: bool,
    /// A diagram was chosen.
    pub on_view: Callback<&'static View>,
    /// An example was chosen.
    pub on_example: Callback<usize>,
    /// Title of the lesson in progress.
    pub lesson: Option<String>,
    /// The lessons are to be shown.
    pub on_learn: Callback<()>,
    /// Language of the page.
    pub lang: Lang,
    /// Another language was chosen.
    pub on_language: Callback<Lang>,
    /// The theme is to be switched.
    pub on_theme: Callback<()>,
    /// A link is to be copied.
    pub on_share: Callback<()>,
    /// The snippet is to be shown.
    pub on_embed: Callback<()>,
    /// The manifest is to be opened (small windows).
    pub on_manifest: Callback<()>,
    /// The console is to be opened (small windows).
    pub on_console: Callback<()>,
    /// The help is to be opened.
    pub on_help: Callback<()>,
    /// The remaining buttons are to be shown (small windows).
    pub on_more: Callback<()>,
}

/// Draws the tabs of the diagrams; ← and → move between them.
pub fn tabs(
    current: &'static View,
    on_view: &Callback<&'static View>,
    size: u32,
    class: &'static str,
) -> Html {
    let all = views::ALL.iter().copied().enumerate().map(|(at, view)| {
        let on = view == current;
        let choose = on_view.clone();
        let onclick = Callback::from(move |_: MouseEvent| choose.emit(view));
        html! {
            <button type="button" role="tab" id={(class == "tabs").then(|| format!("tab-{}", view.id))} aria-selected={on.to_string()} aria-label={say((view.title)())} title={format!("{} ({})", say((view.title)()), at + 1)} aria-controls="stage" tabindex={if on { "0" } else { "-1" }} onclick={onclick}>
                { icon(view.icon, size) }<span>{ say((view.title)()) }</span>
            </button>
        }
    });
    let turn = on_view.clone();
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        let step = match event.key().as_str() {
            "ArrowRight" => 1,
            "ArrowLeft" => views::ALL.len() - 1,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        let at = views::ALL
            .iter()
            .position(|view| *view == current)
            .unwrap_or(0);
        let next = (at + step) % views::ALL.len();
        turn.emit(views::ALL[next]);
        let tabs = event
            .target_dyn_into::<Element>()
            .and_then(|tab| tab.closest("[role='tablist']").ok().flatten());
        if let Some(button) = tabs.and_then(|tabs| tabs.children().item(next as u32)) {
            super::dom::focus(&button);
        }
    });
    html! { <div class={class} role="tablist" aria-label={say(msg::tabs_diagrams())} onkeydown={onkeydown}>{ for all }</div> }
}

/// Draws the bar.
#[component]
pub fn Topbar(props: &Props) -> Html {
    super::dom::renders("Topbar");
    let on_example = props.on_example.clone();
    let shown = props.example.map(|at| at.to_string()).unwrap_or_default();
    // An option selected by a person stays selected, whatever its attribute says.
    let (select, current) = (use_node_ref(), shown.clone());
    use_effect_with((select.clone(), current), |(select, current)| {
        if let Some(select) = select.cast::<HtmlSelectElement>() {
            select.set_value(current);
        }
    });
    let onchange = Callback::from(move |event: Event| {
        if let Some(select) = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlSelectElement>().ok())
        {
            let value = select.value();
            // Until the example has begun, the previous one stays selected: the page may ask first.
            select.set_value(&shown);
            if let Ok(index) = value.parse() {
                on_example.emit(index);
            }
        }
    });
    let picker = html! {
        <label class="picker">if props.lesson.is_none() { <span class="word">{ say(msg::picker_example()) }</span> }
            <select ref={select} aria-label={say(msg::picker_example())} onchange={onchange}>
                if props.example.is_none() { <option value="" selected=true>{ if props.lesson.is_some() { say(msg::picker_example()) } else { say(msg::example_own_manifest()) } }</option> }
                { for examples::ALL.iter().enumerate().map(|(index, example)| html! { <option value={index.to_string()} selected={props.example == Some(index)}>{ say((example.title)()) }</option> }) }
            </select>{ icon("i-down", 14) }
        </label>
    };
    let click = |callback: &Callback<()>| callback.reform(|_: MouseEvent| ());
    let lessons = html! {
        <button type="button" class="btn ghost learn" aria-haspopup="dialog" title={say(msg::learn_means())} onclick={click(&props.on_learn)}>{ icon("i-learn", 16) }<span class="ell">{ props.lesson.clone().unwrap_or_else(|| say(msg::learn_title())) }</span></button>
    };
    let theme = html! {
        <button type="button" class="btn ghost icon" aria-label={if props.dark { say(msg::button_light_theme()) } else { say(msg::button_dark_theme()) }} title={if props.dark { say(msg::button_light_theme()) } else { say(msg::button_dark_theme()) }} onclick={click(&props.on_theme)}>{ icon(if props.dark { "i-moon" } else { "i-sun" }, 16) }</button>
    };
    let choice = |lang: Lang, name: &'static str, short: &'static str| {
        let onclick = props.on_language.reform(move |_: MouseEvent| lang);
        html! { <button type="button" lang={lang.tag()} aria-label={name} aria-pressed={(lang == props.lang).to_string()} onclick={onclick}>{ short }</button> }
    };
    let language = html! {
        <span class="seg lang" role="group" aria-label={say(msg::picker_language())}>{ choice(Lang::English, "English", "EN") }{ choice(Lang::Chinese, "中文", "中文") }</span>
    };
    if props.narrow {
        return html! {
            <header><svg width="24" height="24" role="img" aria-label="Loopscope"><use href="#logo" /></svg>{ picker }{ lessons }<span class="grow" />
                <button type="button" class="btn sm" onclick={click(&props.on_manifest)}>{ icon("i-file", 14) }{ say(msg::panel_manifest()) }</button>
                <button type="button" class="btn ghost icon" aria-label={say(msg::console_title())} title={say(msg::console_title())} onclick={click(&props.on_console)}>{ icon("i-terminal", 16) }</button>
                <button type="button" class="btn ghost icon" id="more" aria-label={say(msg::button_more())} aria-haspopup="dialog" onclick={click(&props.on_more)}>{ icon("i-more", 18) }</button>
            </header>
        };
    }
    html! {
        <header class="topbar">
            <a class="skip" href="#stage" onclick={Callback::from(|event: MouseEvent| {
                event.prevent_default();
                super::dom::enter_stage();
            })}>{ say(msg::link_skip_to_diagram()) }</a>
            <div class="row flush"><span class="brand">{ logo(22) }{ "Loopscope" }</span><span class="sep" />{ picker }{ lessons }</div>
            { tabs(props.view, &props.on_view, 14, "tabs") }
            <div class="top-right">
                <button type="button" class="btn ghost icon" id="help" aria-label={say(msg::button_help())} title={say(msg::button_help_key())} aria-haspopup="dialog" onclick={click(&props.on_help)}>{ "?" }</button>
                { language }{ theme }
                <button type="button" class="btn sm" onclick={click(&props.on_share)}>{ icon(if props.copied { "i-check" } else { "i-share" }, 14) }{ say(msg::button_share()) }if props.copied { <span class="copied" role="status">{ say(msg::share_link_copied()) }</span> }</button>
                <button type="button" class="btn sm" onclick={click(&props.on_embed)}>{ icon("i-embed", 14) }{ say(msg::button_embed()) }</button>
            </div>
        </header>
    }
}

/// Draws the logo.
pub fn logo(size: u32) -> Html {
    icon("logo", size)
}
