//! The kubectl console: one line at the foot, its output above when it is open.

use super::dom::icon;
use super::language::{Lang, marked, say};
use crate::web::dom;
use actions::OutputLine;
use i18n::msg;
use k8s_model::ObjectRef;
use session::console::{ConsoleJob, OWN, PROMPT, SHELL_PROMPT};
use std::cell::Cell;
use std::rc::Rc;
use views::columns;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlTextAreaElement, KeyboardEvent};
use yew::prelude::*;

/// Properties of the console.
#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    /// Language of the page.
    pub lang: Lang,
    /// Output, with the lines entered.
    pub lines: Rc<Vec<OutputLine>>,
    /// Lines entered.
    pub history: Rc<Vec<String>>,
    /// Returns the completions of a word: kinds' plurals and names of objects.
    pub on_complete: Callback<String, Vec<String>>,
    /// Command that still waits.
    pub waits: Option<AttrValue>,
    /// True if the clock is paused.
    pub paused: bool,
    /// Starts the clock.
    pub on_play: Callback<()>,
    /// True if a program in a container reads the input.
    pub shell: bool,
    /// True if the output is shown.
    pub open: bool,
    /// True if columns are narrow, as on a phone.
    pub narrow: bool,
    /// A line was entered.
    pub on_line: Callback<String>,
    /// Commands that wait, each with a block of the output.
    pub jobs: Vec<ConsoleJob>,
    /// Ctrl+C was pressed in an empty line.
    pub on_stop: Callback<()>,
    /// The command of a block is to be stopped.
    pub on_stop_job: Callback<u32>,
    /// The console is to be opened or closed.
    pub on_open: Callback<bool>,
    /// Returns true if the object exists.
    pub on_find: Callback<ObjectRef, bool>,
    /// A name was chosen.
    pub on_select: Callback<Option<ObjectRef>>,
}

/// Console.
pub struct Console {
    input: NodeRef,
    output: NodeRef,
    /// Position in the history, from the end.
    back: Cell<usize>,
    /// True after a line was entered: its output is shown from the beginning.
    asked: Cell<bool>,
    /// True if the end is visible: new output is scrolled into view.
    ends: bool,
}

impl Console {
    fn complete(props: &Props, input: &HtmlTextAreaElement) {
        let text = input.value();
        let (head, last) = text.split_at(text.rfind(char::is_whitespace).map_or(0, |at| at + 1));
        let line = head.rsplit('\n').next().unwrap_or(head).trim();
        let words = line.split_whitespace().count();
        let own = |list: &mut dyn Iterator<Item = String>| {
            list.filter(|word| word.starts_with(last) && *word != last)
                .collect::<Vec<_>>()
        };
        let mut found = match words {
            0 => own(&mut ["kubectl", "fault"]
                .into_iter()
                .chain(OWN)
                .map(str::to_string)),
            1 if line == "kubectl" => {
                own(&mut kubectl::VERBS.iter().map(|verb| verb.name.to_string()))
            }
            _ => own(&mut props.on_complete.emit(last.to_string()).into_iter()),
        };
        found.sort();
        found.dedup();
        let Some(first) = found.first() else { return };
        let mut common = first.clone();
        for word in &found[1..] {
            let n = common
                .chars()
                .zip(word.chars())
                .take_while(|(a, b)| a == b)
                .count();
            common = common.chars().take(n).collect();
        }
        let space = if found.len() == 1 { " " } else { "" };
        if common.len() >= last.len() {
            input.set_value(&format!("{head}{common}{space}"));
        }
    }

    /// Handles a key in the input.
    fn key(&self, props: &Props, event: &KeyboardEvent) {
        let Some(input) = self.input.cast::<HtmlTextAreaElement>() else {
            return;
        };
        let history = &props.history;
        if event.key() != "F6" {
            event.stop_propagation();
        }
        match event.key().as_str() {
            // Text of several lines comes from pasting, or Shift+Enter.
            "Enter" if !event.is_composing() && !event.shift_key() => {
                event.prevent_default();
                let line = input.value();
                if !line.trim().is_empty() {
                    input.set_value("");
                    self.back.set(0);
                    self.asked.set(true);
                    props.on_line.emit(line.trim_end().to_owned());
                }
            }
            "c" if event.ctrl_key() && input.value().is_empty() => props.on_stop.emit(()),
            // The key that opens the console closes it.
            "`" if input.value().is_empty() => {
                event.prevent_default();
                props.on_open.emit(!props.open);
                if props.open {
                    let _ = input.blur();
                }
            }
            "ArrowUp" | "ArrowDown" if self.back.get() > 0 || !input.value().contains('\n') => {
                event.prevent_default();
                let back = self.back.get().min(history.len());
                self.back.set(if event.key() == "ArrowUp" {
                    (back + 1).min(history.len())
                } else {
                    back.saturating_sub(1)
                });
                let line = if self.back.get() == 0 {
                    ""
                } else {
                    &history[history.len() - self.back.get()]
                };
                input.set_value(line);
            }
            // In an empty line Tab moves the focus: the console must not trap it.
            "Tab" if !event.shift_key() && !input.value().is_empty() => {
                event.prevent_default();
                Self::complete(props, &input);
            }
            "Escape" => {
                if input.value().is_empty() {
                    props.on_open.emit(false);
                    let _ = input.blur();
                }
                input.set_value("");
            }
            // A changed line is a new one.
            key if key.chars().count() == 1 || matches!(key, "Backspace" | "Delete") => {
                self.back.set(0)
            }
            _ => {}
        }
    }
}

impl Component for Console {
    type Message = ();
    type Properties = Props;

    fn create(_: &Context<Self>) -> Self {
        Console {
            input: NodeRef::default(),
            output: NodeRef::default(),
            back: Cell::new(0),
            asked: Cell::new(false),
            ends: true,
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Console");
        let props = ctx.props();
        let open = props.open;
        let narrow = if props.narrow {
            columns::narrow(&props.lines)
        } else {
            Vec::new()
        };
        let exists = |key: &_| props.on_find.emit(ObjectRef::clone(key));
        let names = if props.lines.is_empty() {
            Vec::new()
        } else {
            columns::names(&props.lines, &exists)
        };
        let words = |at: usize, line: &OutputLine| {
            let said = line.said.as_ref().map(marked);
            if let Some(enters) = line.enters.clone() {
                // `!3` is a command of the history.
                let title = enters
                    .starts_with('!')
                    .then(|| say(msg::history_run_again()));
                let onclick = props.on_line.reform(move |_: MouseEvent| enters.clone());
                let words = said.unwrap_or_else(|| html! { { &line.text } });
                return html! { <button type="button" class="wl" tabindex="-1" title={title} onclick={onclick}>{ words }</button> };
            }
            if let Some(said) = said {
                return said;
            }
            let text = narrow.get(at).unwrap_or(&line.text);
            let first = names.partition_point(|(of, ..)| *of < at);
            let linked = names[first..].iter().take_while(|(of, ..)| *of == at);
            parts(
                text,
                linked.map(|(_, word, key)| {
                    (
                        *word,
                        props.on_select.reform({
                            let key = key.clone();
                            move |_: MouseEvent| Some(key.clone())
                        }),
                    )
                }),
            )
        };
        let stop = |job: &ConsoleJob| {
            let (number, name) = (job.number, say(msg::console_stop_job(&*job.command)));
            let onclick = props.on_stop_job.reform(move |_: MouseEvent| number);
            html! { <button type="button" class="btn sm stop" aria-label={name.clone()} title={name} onclick={onclick}>{ icon("i-cross", 12) }</button> }
        };
        let row = |(at, line): (usize, &OutputLine)| {
            let is_heading = line.entered.is_some();
            let job = props
                .jobs
                .iter()
                .find(|job| is_heading && line.job == Some(job.number) && !job.is_aside);
            html! { <span class={classes!(line.error.then_some("err"), is_heading.then_some("cmdline"), line.text.contains('\n').then_some("many"))}>{ words(at, line) }{ for job.map(stop) }{ "\n" }</span> }
        };
        let aside = |line: &OutputLine| {
            let mut aside = props.jobs.iter().filter(|job| job.is_aside);
            aside.find(|job| line.job == Some(job.number) && line.entered.is_none())
        };
        let lines = || props.lines.iter().enumerate();
        // A watch beside other commands, as in a terminal of its own.
        let beside = |job: &ConsoleJob| {
            let own = lines().filter(|(_, line)| aside(line) == Some(job));
            html! {
                <section class="job" key={job.number} aria-label={job.command.to_string()}>
                    <div class="row"><span class="ps" aria-hidden="true">{ PROMPT }</span><b class="ell" title={job.command.to_string()}>{ &*job.command }</b>{ stop(job) }</div>
                    <div class="out" tabindex="0" role="group" aria-label={say(msg::console_output())}><div>{ for own.map(row) }</div></div>
                </section>
            }
        };
        let still = |command: &str| match (props.shell, props.paused) {
            (true, _) => msg::console_shell(command),
            (false, true) => msg::console_waits_paused(command),
            (false, false) => msg::console_waits(command),
        };
        let on_open = props.on_open.clone();
        let toggle = Callback::from(move |_: MouseEvent| {
            on_open.emit(!open);
            if !open {
                focus();
            }
        });
        let (link, owned) = (ctx.link().clone(), props.clone());
        let onkeydown = dom::answer(&link, move |console: &Console, event| {
            console.key(&owned, event)
        });
        html! {
            <section class="console" aria-label={say(msg::console_title())} id="console">
                <div class="bar"><span class="ps" aria-hidden="true">{ if props.shell { SHELL_PROMPT } else { PROMPT } }</span>
                    <textarea ref={self.input.clone()} rows="1" enterkeyhint="send" aria-label={say(msg::console_input())} placeholder={if props.shell { "ls" } else { "kubectl get pods" }} spellcheck="false" autocomplete="off" autocapitalize="off" onkeydown={onkeydown} />
                    if let Some(command) = &props.waits {
                        <span class="waits ell" id="console-waits" title={say(still(command))}>{ say(still(command)) }</span>
                        if props.paused && !props.shell {
                            <button type="button" class="btn sm primary" id="console-play" onclick={props.on_play.reform(|_: MouseEvent| ())}>{ say(msg::button_play()) }</button>
                        }
                        <button type="button" class="btn sm" title={say(msg::with_key(msg::console_stop(), "Ctrl+C"))} onclick={props.on_stop.reform(|_: MouseEvent| ())}>{ say(msg::console_stop()) }</button>
                    }
                    if props.waits.is_none() && props.paused && open && !props.lines.is_empty() {
                        <span class="waits ell">{ say(msg::console_paused()) }</span>
                        <button type="button" class="btn sm" onclick={props.on_play.reform(|_: MouseEvent| ())}>{ say(msg::button_play()) }</button>
                    }
                    <span class="hint" onclick={toggle.clone()}>{ say(msg::console_title()) }<kbd class="k">{ "`" }</kbd></span>
                    <button type="button" class="btn ghost icon" aria-label={say(if open { msg::button_close_console() } else { msg::button_open_console() })} title={say(if open { msg::with_key(msg::button_close_console(), "Esc") } else { msg::with_key(msg::button_open_console(), "`") })} aria-expanded={open.to_string()} onclick={toggle}>{ icon(if open { "i-down" } else { "i-up" }, 14) }</button>
                </div>
                if open {
                    <div class={classes!("outs", props.narrow.then_some("stacked"))}>
                        if props.jobs.iter().any(|job| job.is_aside) {
                            <div class="jobs">{ for props.jobs.iter().filter(|job| job.is_aside).map(beside) }</div>
                        }
                        <pre ref={self.output.clone()} tabindex="0" role="log" aria-label={say(msg::console_output())}>{ for lines().filter(|(_, line)| aside(line).is_none()).map(row) }</pre>
                    </div>
                }
            </section>
        }
    }

    fn changed(&mut self, _: &Context<Self>, _: &Props) -> bool {
        self.ends = self.output.cast::<Element>().is_none_or(|output| {
            output.scroll_top() + output.client_height() + 4 >= output.scroll_height()
        });
        true
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        let Some(output) = self.output.cast::<Element>() else {
            return;
        };
        // The command line is sticky: its position follows from the element after it.
        let lines = output
            .query_selector_all(".cmdline")
            .ok()
            .filter(|_| self.asked.get());
        let last = lines.and_then(|all| {
            all.item(all.length().checked_sub(1)?)?
                .dyn_into::<Element>()
                .ok()
        });
        if let Some((line, next)) =
            last.and_then(|line| line.next_element_sibling().map(|next| (line, next)))
        {
            self.asked.set(false);
            let far =
                next.get_bounding_client_rect().top() - output.get_bounding_client_rect().top();
            output.set_scroll_top(output.scroll_top() + far as i32 - line.client_height());
        } else if self.ends {
            output.set_scroll_top(output.scroll_height());
        }
    }
}

/// Draws a line in which some words, given by their indices, are links.
fn parts(text: &str, names: impl Iterator<Item = (usize, Callback<MouseEvent>)>) -> Html {
    let (mut rest, mut all, mut gone) = (text, Vec::new(), 0);
    for (number, onclick) in names {
        let Some(word) = rest.split_whitespace().nth(number - gone) else {
            continue;
        };
        // The word is a slice of this text: its offset.
        let at = word.as_ptr().addr() - rest.as_ptr().addr();
        let (before, after) = rest.split_at(at);
        let name = word.trim_end_matches(',');
        all.push(html! { { before } });
        all.push(html! { <button type="button" class="wl" tabindex="-1" onclick={onclick}>{ name }</button> });
        all.push(html! { { &word[name.len()..] } });
        (rest, gone) = (&after[word.len()..], number + 1);
    }
    all.push(html! { { rest } });
    all.into_iter().collect()
}

/// Focuses the input.
pub fn focus() {
    if let Ok(Some(input)) = dom::document().query_selector("#console textarea")
        && let Ok(input) = input.dyn_into::<HtmlTextAreaElement>()
    {
        let _ = input.focus();
    }
}
