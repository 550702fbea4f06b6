//! What lies over the page.

use super::{Msg, Over, Page};
use crate::session::Msg as Do;
use crate::session::permalink;
use crate::web::dom::{self, icon};
use crate::web::embed;
use crate::web::tools::Tool;
use yew::prelude::*;

/// A second simulation of more Pods would leave the first no time.
const PREVIEW: usize = 2_000;

impl Page {
    fn snippet(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let base = dom::address();
        let home = base.rsplit_once('/').map_or(base.as_str(), |(home, _)| home);
        let hash = permalink::encode(&state.link());
        let text = embed::snippet(home, hash.trim_start_matches('#'), state.view, &self.frame_like);
        let copy = text.clone();
        let copy = Callback::from(move |_: MouseEvent| dom::copy(&copy));
        html! {
            <>
                <p>{ "Paste this into a course page. The simulation runs in a sandboxed frame and loads nothing from elsewhere." }</p>
                { embed::choices(&self.frame_like, state.view, ctx.link().callback(|_: Event| Msg::FrameLike)) }
                if state.run.sim().list(crate::api::Kind::Pod).take(PREVIEW + 1).count() > PREVIEW { <p class="meta">{ "So many Pods are not shown twice" }</p> } else { <iframe key={text.clone()} class="preview" title="Preview" tabindex="-1" sandbox="allow-scripts" src={embed::address(&base, &hash, state.view, &self.frame_like)} height={embed::height(&self.frame_like)} /> }
                <textarea class="snippet mono" readonly=true aria-label="Snippet" value={text} />
                <div class="row"><button type="button" class="btn primary" onclick={copy}>{ "Copy" }</button></div>
            </>
        }
    }

    /// Small windows: what has no room in the bars.
    fn more(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let button = |words: &'static str, id: &'static str, glyph: &'static str, msg: fn() -> Msg| {
            html! { <button type="button" class="btn" id={id} onclick={link.callback(move |_: MouseEvent| msg())}>{ icon(glyph, 16) }{ words }</button> }
        };
        let chinese = self.chinese;
        html! {
            <>
                <div class="grid">
                    { button("Pause when…", "break", "i-breakpoint", || Msg::Tool(Some(Tool::Breaks))) }
                    { button("Compare two instants", "compare", "i-diff", || Msg::Tool(Some(Tool::Compare))) }
                    { button("One reconcile back", "back", "i-stepback", || Msg::Do(Do::StepBack)) }
                    { button("Until it is settled", "settle", "i-check", || Msg::Do(Do::Settle)) }
                </div>
                { self.branches(ctx) }
                <div class="grid">{ self.workloads(ctx) }{ self.filter(ctx) }{ self.namespaces(ctx) }</div>
                { self.hidden(ctx) }
                <div class="grid">
                    { button(if self.as_list { "Show as diagram" } else { "Show as list" }, "list", "i-endpointslice", || Msg::List) }
                    { button(if self.copied.is_some() { "Link copied" } else { "Share" }, "share", "i-share", || Msg::Share) }
                    <button type="button" class="btn" aria-label={if chinese { "English" } else { "中文" }} onclick={link.callback(move |_: MouseEvent| Msg::Speak(!chinese))}>{ icon("i-globe", 16) }{ if chinese { "English" } else { "中文" } }</button>
                    { button(if self.dark { "Light theme" } else { "Dark theme" }, "theme", if self.dark { "i-sun" } else { "i-moon" }, || Msg::Theme) }
                </div>
            </>
        }
    }

    pub(super) fn dialog(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let close = link.callback(|_: MouseEvent| Msg::Over(Over::Nothing));
        let (title, body) = match self.over {
            Over::Embed => ("Embed", self.snippet(ctx)),
            Over::Keys => {
                const KEYS: [(&str, &str); 20] = [
                    ("Space", "Play or pause"),
                    ("→ ←", "One reconcile on, back (Shift: ten)"),
                    (".  ,", "One second on, back"),
                    ("]  [", "Next, previous thing you did"),
                    (">  <", "Faster, slower"),
                    ("a  b", "Keep two instants, to compare them"),
                    ("Home  End", "First event, live"),
                    ("1 … 6", "Diagrams"),
                    ("↓  ↑", "Walk the objects"),
                    ("Shift ↓  ↑", "Into what an object holds, and out"),
                    ("Enter", "Select"),
                    ("W", "Why"),
                    ("+  -  0", "Zoom, fit: diagram or timeline"),
                    ("/", "Filter"),
                    ("`", "kubectl console"),
                    ("Ctrl ⏎", "Apply the manifest"),
                    ("F6", "Next panel"),
                    ("f", "Full screen"),
                    ("?", "Keys"),
                    ("Esc", "Close"),
                ];
                (
                    "Keys",
                    html! { <dl class="kv keys">{ for KEYS.iter().map(|(key, words)| html! { <><dt>{ for key.split_whitespace().map(|key| if key == "…" { key.into() } else { html! { <kbd class="k">{ key }</kbd> } }) }</dt><dd>{ *words }</dd></> }) }</dl> },
                )
            }
            Over::More => ("More", self.more(ctx)),
            _ => return Html::default(),
        };
        let low = match self.over {
            Over::More => Some("low"),
            Over::Embed => Some("wide"),
            _ => None,
        };
        html! {
            <div class={classes!("dialogbox", low)} onclick={close.clone()}>
                <div class="dialog" role="dialog" aria-modal="true" aria-label={title} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
                    <div class="row"><h2>{ title }</h2><span class="grow" /><button type="button" class="btn ghost icon" aria-label="Close" onclick={close}>{ icon("i-cross", 16) }</button></div>
                    { body }
                </div>
            </div>
        }
    }
}
