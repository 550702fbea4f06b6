//! Learn: the paths through the lessons, each lesson with a picture, its length, what it builds on, and how far the reader is.

use super::dom::{self, icon};
use super::language::{Lang, say};
use super::lesson::{is_over, kept_as};
use i18n::{Message, msg};
use lesson::library::{self, BY_SECTION, FROM_ZERO, LibraryEntry, LibrarySection};
use serde_json::Value;
use yew::prelude::*;

/// Properties of the dialog's body.
#[derive(Properties, PartialEq)]
pub struct LearnProps {
    /// Language of the page.
    pub lang: Lang,
    /// A lesson was chosen.
    pub on_lesson: Callback<&'static str>,
}

/// Progress of the reader in a lesson.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    /// Step reached, from 1, and number of steps.
    Begun(u32, u32),
    Over,
}

impl Progress {
    fn of(name: &str) -> Progress {
        let kept = dom::kept(&kept_as(name)).unwrap_or_default();
        let begun = || {
            let (at, all) = kept.split_once('/')?;
            Some(Progress::Begun(at.parse().ok()?, all.parse().ok()?))
        };
        match kept.as_str() {
            "over" => Progress::Over,
            _ => begun().unwrap_or(Progress::New),
        }
    }
}

/// Facts about the lessons that the page has before it loads one, by name (`scripts/lessons.mjs`).
fn summaries() -> Value {
    let text = dom::element("summaries").and_then(|element| element.text_content());
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Draws the body of the dialog.
#[component]
pub fn Learn(props: &LearnProps) -> Html {
    let all = use_state(takes_all);
    let summaries = use_memo((), |()| summaries());
    let path = if *all { BY_SECTION } else { FROM_ZERO };
    let entries = path.iter().flat_map(|section| section.lessons);
    let next = entries.copied().find(|name| !is_over(name));
    let choice = |words: Message, which: bool| {
        let all = all.clone();
        let pressed = (*all == which).to_string();
        let onclick = Callback::from(move |_: MouseEvent| {
            dom::keep(PATH, if which { "all" } else { "zero" });
            all.set(which);
        });
        html! { <button type="button" aria-pressed={pressed} {onclick}>{ say(words) }</button> }
    };
    let section = |section: &LibrarySection| {
        let lessons = section.lessons.iter().filter_map(|name| {
            let entry = library::named(name)?;
            Some(row(
                entry,
                &summaries[*name],
                next == Some(entry.name),
                props,
            ))
        });
        html! { <section><h3>{ say((section.title)()) }</h3><ol>{ for lessons }</ol></section> }
    };
    html! {
        <div class="paths">
            <div class="row"><div class="seg" role="group" aria-label={say(msg::learn_paths())}>{ choice(msg::learn_from_zero(), false) }{ choice(msg::learn_all(), true) }</div></div>
            <p>{ say(if *all { msg::learn_all_means() } else { msg::learn_from_zero_means() }) }</p>
            { for path.iter().map(section) }
        </div>
    }
}

/// Preference that holds the path chosen.
const PATH: &str = "loopscope.path";

/// Returns true if the reader takes all lessons, section by section.
fn takes_all() -> bool {
    dom::kept(PATH).as_deref() == Some("all")
}

/// Path that the reader has chosen.
pub fn path() -> &'static [LibrarySection] {
    if takes_all() { BY_SECTION } else { FROM_ZERO }
}

fn row(entry: &LibraryEntry, summary: &Value, is_next: bool, props: &LearnProps) -> Html {
    let (name, progress) = (entry.name, Progress::of(entry.name));
    let onclick = props.on_lesson.reform(move |_: MouseEvent| name);
    let title = (entry.title)();
    let words = match progress {
        Progress::New => msg::learn_start(),
        Progress::Begun(..) => msg::learn_continue(),
        Progress::Over => msg::learn_again(),
    };
    let state = match progress {
        Progress::New => Html::default(),
        Progress::Begun(at, steps) => {
            html! { <span>{ say(msg::learn_reached(at, steps)) }</span> }
        }
        Progress::Over => {
            html! { <span class="over">{ icon("i-check", 12) }{ say(msg::learn_done()) }</span> }
        }
    };
    let count = |field: &str| summary[field].as_u64();
    let length = count("minutes")
        .zip(count("steps"))
        .map(|(minutes, steps)| html! { <span>{ say(msg::learn_length(minutes, steps)) }</span> });
    let needs = entry
        .needs
        .iter()
        .filter(|name| !is_over(name))
        .filter_map(|name| Some((library::named(name)?.title)()))
        .next()
        .map(|title| html! { <span>{ say(msg::learn_after(title)) }</span> });
    let about = summary[if props.lang == Lang::Chinese {
        "zh"
    } else {
        "en"
    }]["summary"]
        .as_str()
        .map(|about| html! { <p>{ about }</p> });
    html! {
        <li key={name} class={classes!((progress == Progress::Over).then_some("over"), is_next.then_some("next"))} data-lesson={name}>
            { picture(name) }
            <div><h4>{ say(&title) }</h4>{ about }<p class="meta">{ state }{ length }{ needs }</p></div>
            <button type="button" class={classes!("btn", "sm", is_next.then_some("primary"))} aria-label={say(msg::learn_open(&words, &title))} {onclick}>{ say(words) }</button>
        </li>
    }
}

/// Role of a shape in a picture.
#[derive(Clone, Copy)]
enum Tone {
    /// Part that stays as it is.
    Plain,
    /// Part that changes.
    Active,
    /// Part that is in order.
    Good,
    /// Part that is gone, or not there yet.
    Gone,
    /// Part that fails.
    Bad,
}

use Tone::{Active, Bad, Gone, Good, Plain};

/// Shape of a picture, on a grid of 72 × 48 units.
#[derive(Clone, Copy)]
enum Shape {
    /// Pod at its centre.
    Pod(i32, i32, Tone),
    /// Frame: left, top, width, height.
    Frame(i32, i32, i32, i32, Tone),
    /// Volume at its centre.
    Disk(i32, i32, Tone),
    /// Line between two points.
    Line(i32, i32, i32, i32),
    /// Arrow to the second point.
    Arrow(i32, i32, i32, i32),
    /// Loop around a centre, with a radius.
    Ring(i32, i32, i32),
}

use Shape::{Arrow, Disk, Frame, Line, Pod, Ring};

fn shapes(name: &str) -> &'static [Shape] {
    match name {
        "pods" => &[Frame(14, 6, 44, 36, Plain), Pod(36, 24, Good)],
        "control-loop" => &[
            Ring(36, 24, 16),
            Pod(20, 24, Good),
            Pod(52, 24, Good),
            Pod(36, 8, Active),
        ],
        "events-and-state" => &[
            Pod(18, 10, Good),
            Pod(18, 24, Good),
            Pod(18, 38, Good),
            Line(36, 4, 36, 44),
            Pod(54, 10, Good),
            Pod(54, 24, Good),
            Pod(54, 38, Gone),
        ],
        "deployment" => &[
            Line(18, 24, 30, 24),
            Line(44, 24, 58, 12),
            Line(44, 24, 58, 36),
            Frame(4, 17, 14, 14, Active),
            Frame(30, 17, 14, 14, Plain),
            Pod(60, 12, Good),
            Pod(60, 36, Good),
        ],
        "scaling" => &[
            Pod(10, 16, Good),
            Pod(10, 32, Good),
            Arrow(20, 24, 38, 24),
            Pod(48, 16, Good),
            Pod(48, 32, Good),
            Pod(63, 16, Active),
            Pod(63, 32, Active),
        ],
        "rolling-update" => &[
            Pod(16, 14, Plain),
            Pod(32, 14, Plain),
            Pod(48, 14, Gone),
            Arrow(32, 21, 32, 28),
            Pod(16, 35, Active),
            Pod(32, 35, Active),
            Pod(48, 35, Gone),
        ],
        "undo" => &[
            Frame(6, 16, 16, 16, Plain),
            Frame(50, 16, 16, 16, Active),
            Arrow(48, 24, 25, 24),
        ],
        "releases" => &[
            Frame(4, 17, 14, 14, Plain),
            Line(18, 24, 46, 12),
            Line(18, 24, 46, 36),
            Pod(46, 12, Plain),
            Pod(61, 12, Plain),
            Pod(46, 36, Active),
        ],
        "service" => &[
            Line(20, 24, 54, 10),
            Line(20, 24, 54, 24),
            Line(20, 24, 54, 38),
            Frame(4, 17, 16, 14, Active),
            Pod(56, 10, Good),
            Pod(56, 24, Good),
            Pod(56, 38, Good),
        ],
        "statefulset" => &[
            Arrow(19, 24, 27, 24),
            Arrow(43, 24, 51, 24),
            Pod(12, 24, Good),
            Pod(35, 24, Good),
            Pod(60, 24, Gone),
        ],
        "claims" => &[
            Line(18, 24, 52, 24),
            Pod(12, 24, Good),
            Frame(28, 17, 14, 14, Active),
            Disk(60, 24, Plain),
        ],
        "data" => &[
            Line(14, 12, 52, 24),
            Line(14, 36, 52, 24),
            Pod(14, 12, Gone),
            Pod(14, 36, Good),
            Disk(58, 24, Active),
        ],
        "own-volume" => &[
            Line(20, 12, 50, 12),
            Line(20, 36, 50, 36),
            Pod(16, 12, Good),
            Pod(16, 36, Good),
            Disk(56, 12, Active),
            Disk(56, 36, Active),
        ],
        "pending" => &[
            Frame(34, 8, 34, 32, Plain),
            Pod(44, 18, Good),
            Pod(58, 18, Good),
            Pod(44, 31, Good),
            Pod(58, 31, Good),
            Pod(14, 24, Gone),
        ],
        "stuck-rollout" => &[
            Pod(16, 14, Good),
            Pod(36, 14, Good),
            Pod(56, 14, Good),
            Pod(36, 35, Bad),
        ],
        "no-endpoints" => &[
            Frame(4, 17, 16, 14, Active),
            Pod(56, 14, Good),
            Pod(56, 34, Good),
            Line(24, 24, 34, 24),
            Line(29, 19, 29, 29),
        ],
        "drain" => &[
            Frame(4, 8, 26, 32, Gone),
            Frame(42, 8, 26, 32, Plain),
            Arrow(17, 24, 46, 24),
            Pod(55, 16, Good),
            Pod(55, 32, Good),
        ],
        _ => &[],
    }
}

/// Draws the picture of a lesson.
fn picture(name: &str) -> Html {
    let tone = |tone: Tone| match tone {
        Plain => "plain",
        Active => "active",
        Good => "good",
        Gone => "gone",
        Bad => "bad",
    };
    let draw = |shape: &Shape| match *shape {
        Pod(x, y, of) => {
            let mark = match of {
                Good => Some("m-2.3 .2 1.7 1.7 3-3.6"),
                Bad => Some("m-2-2 4 4m0-4-4 4"),
                _ => None,
            };
            let at = format!("translate({x} {y})");
            html! { <g class={tone(of)} transform={at}><circle r="5.5" />if let Some(mark) = mark { <path d={["M0 0", mark].concat()} /> }</g> }
        }
        Frame(x, y, width, height, of) => {
            html! { <rect class={tone(of)} x={x.to_string()} y={y.to_string()} width={width.to_string()} height={height.to_string()} rx="3" /> }
        }
        Disk(x, y, of) => {
            let d = format!(
                "M{} {}v9a7 2.500 0 0 0 14 0v-9a7 2.500 0 0 0-14 0a7 2.500 0 0 0 14 0",
                x - 7,
                y - 4
            );
            html! { <path class={tone(of)} {d} /> }
        }
        Line(x, y, to_x, to_y) => {
            html! { <path class="line" d={format!("M{x} {y}L{to_x} {to_y}")} /> }
        }
        Arrow(x, y, to_x, to_y) => {
            let (dx, dy) = ((to_x - x).signum() * 4, (to_y - y).signum() * 4);
            let d = format!(
                "M{x} {y}L{to_x} {to_y}m{} {}L{to_x} {to_y}l{} {}",
                -dx - dy,
                -dy - dx,
                -dx + dy,
                -dy + dx
            );
            html! { <path class="line" {d} /> }
        }
        Ring(x, y, r) => {
            let d = format!("M{} {y}a{r} {r} 0 1 1 0 .1", x - r);
            html! { <path class="line" {d} /> }
        }
    };
    html! { <svg class="pic" viewBox="0 0 72 48" width="72" height="48" aria-hidden="true">{ for shapes(name).iter().map(draw) }</svg> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_has_a_picture() {
        assert!(
            library::ALL
                .iter()
                .all(|entry| !shapes(entry.name).is_empty())
        );
    }
}
