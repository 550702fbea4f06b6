//! What lies over the page.

use super::{Msg, Over, Page};
use crate::app::permalink;
use crate::web::dom::{self, icon};
use yew::prelude::*;

impl Page {
    #[inline(never)]
    fn snippet(&self) -> String {
        let state = self.state.borrow();
        let base = dom::address();
        let home = base.rsplit_once('/').map_or(base.as_str(), |(home, _)| home);
        format!(
            "<script src=\"{home}/embed.js\" async></script>\n<loop-scope view=\"{}\" autoplay\n  hash=\"{}\"></loop-scope>",
            state.view.word(),
            permalink::encode(&state.link()).trim_start_matches('#')
        )
    }

    #[inline(never)]
    pub(super) fn dialog(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let close = link.callback(|_: MouseEvent| Msg::Over(Over::Nothing));
        let (title, body) = match self.over {
            Over::Embed => {
                let text = self.snippet();
                let copy = text.clone();
                let copy = Callback::from(move |_: MouseEvent| dom::copy(&copy));
                (
                    "Embed",
                    html! { <><p>{ "Paste this into a course page. The simulation runs in a sandboxed frame and loads nothing from elsewhere." }</p><textarea class="snippet mono" readonly=true aria-label="Snippet" value={text} /><div class="row"><button type="button" class="btn primary" onclick={copy}>{ "Copy" }</button></div></> },
                )
            }
            Over::Keys => {
                const KEYS: [(&str, &str); 15] = [
                    ("Space", "Play or pause"),
                    ("→  ←", "One reconcile on, back (Shift: ten)"),
                    (".  ,", "One second on, back"),
                    ("]  [", "Next, previous thing you did"),
                    (">  <", "Faster, slower"),
                    ("a  b", "Keep two instants, to compare them"),
                    ("Home  End", "First event, live"),
                    ("1 … 6", "Diagrams"),
                    ("↓  ↑", "Walk the objects"),
                    ("Enter", "Select"),
                    ("W", "Why"),
                    ("+  -  0", "Zoom, fit"),
                    ("`", "kubectl console"),
                    ("F6", "Next panel"),
                    ("Esc", "Close"),
                ];
                (
                    "Keys",
                    html! { <dl class="kv keys">{ for KEYS.iter().map(|(key, words)| html! { <><dt><kbd class="k">{ *key }</kbd></dt><dd>{ *words }</dd></> }) }</dl> },
                )
            }
            _ => return Html::default(),
        };
        html! {
            <div class="dialogbox" onclick={close.clone()}>
                <div class="dialog" role="dialog" aria-modal="true" aria-label={title} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
                    <div class="row"><h2>{ title }</h2><span class="grow" /><button type="button" class="btn ghost icon" aria-label="Close" onclick={close}>{ icon("i-cross", 16) }</button></div>
                    { body }
                </div>
            </div>
        }
    }
}
