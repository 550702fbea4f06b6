//! `loopscope lesson print`: a lesson as one page for paper, with the diagrams of its steps, its answers and a solution of each task.

use super::print;
use check::escaped;
use i18n::{Catalogue, Message, msg};
use k8s_model::Time;
use lesson::format::Tongue;
use session::State;
use session::lesson::{LessonCard, LessonFile, LessonMsg, Phase, QuestionCard, TaskCard};
use session::replace::{ReplaceMsg, Replacement};
use std::fmt::Write as _;
use std::rc::Rc;
use views::draw::painter::TextSetting;
use views::svg::{self, Style};

/// Tasks of the engine between two readings of the clock.
const SLICE: usize = 100_000;
/// Size of a diagram, in CSS pixels.
const STAGE: (f64, f64) = (960.0, 480.0);
/// Style sheet for white paper.
const STYLE: &str = "\
:root{color-scheme:light}body{margin:2rem auto;max-width:46rem;padding:0 1rem;font:11pt/1.55 system-ui,sans-serif;color:#171b24}\
h1{font-size:20pt;line-height:1.25}h2{margin:2.2em 0 .6em;font-size:12pt;color:#465065}h1,h2,h3{break-after:avoid}\
figure,.ask,.task{margin:1em 0;break-inside:avoid}figure svg{max-width:100%;height:auto;border:1px solid #cdd3dd;border-radius:8px}\
.ask,.task{padding:.4em 1em;border:1px solid #cdd3dd;border-radius:8px}.ask>p:first-child,.task>p:first-child{font-weight:600}\
li.right{font-weight:600}code,pre{font:.92em ui-monospace,Menlo,Consolas,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere}\
@page{margin:18mm}@media print{body{margin:0;padding:0;max-width:none}}";

/// Prints the page of a lesson in a language.
pub(super) fn handout(file: LessonFile, tongue: Tongue, words: Catalogue) -> Result<u8, String> {
    print(&page(file, tongue, &Rc::new(words)))?;
    Ok(0)
}

fn page(file: LessonFile, tongue: Tongue, words: &Rc<Catalogue>) -> String {
    let (title, summary) = (
        file.lesson().title.plain(tongue),
        file.lesson().summary.plain(tongue),
    );
    let lang = if tongue == Tongue::Chinese {
        "zh-CN"
    } else {
        "en"
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"{lang}\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
    );
    let _ = write!(
        out,
        "<title>{0}</title>\n<style>{STYLE}</style>\n<h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(&title),
        prose(&summary)
    );
    let mut state = State::from_link(None);
    state.drawing.stage = STAGE;
    state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
    loop {
        // Any answer reveals the correct one.
        if card(&state, tongue).phase == Phase::Asking {
            state.update(LessonMsg::Answer(0));
        }
        play(&mut state);
        // Take every hint.
        while card(&state, tongue)
            .task
            .is_some_and(|task| task.more_hints)
        {
            state.update(LessonMsg::Hint);
        }
        let told = card(&state, tongue);
        step(&mut out, &mut state, &told, words);
        if told.phase == Phase::Task {
            state.update(LessonMsg::Show);
            play(&mut state);
        }
        if told.step.0 == told.step.1 {
            return out;
        }
        state.update(LessonMsg::Next);
    }
}

fn card(state: &State, tongue: Tongue) -> LessonCard {
    let player = state.player.as_ref().expect("a lesson is open");
    player.card(&state.timeline.run, state.timeline.playing, tongue)
}

/// Plays the current step to its end.
fn play(state: &mut State) {
    while state
        .player
        .as_ref()
        .is_some_and(|player| player.progress().1 == Phase::Playing)
    {
        let to = Time(state.timeline.run.sim().now().0 + 1_000_000);
        while !state.advance(to, SLICE) {}
    }
}

fn step(out: &mut String, state: &mut State, card: &LessonCard, words: &Rc<Catalogue>) {
    let say = |message: Message| escaped(&message.say(words));
    let _ = writeln!(
        out,
        "<section>\n<h2>{}</h2>",
        say(msg::lesson_step(card.step.0, card.step.1))
    );
    if let Some(asked) = &card.question {
        question(out, asked, words);
    }
    let scene = state.picture().scene.clone();
    if !scene.items.is_empty() {
        let text = TextSetting::built_in(words.clone());
        let _ = writeln!(
            out,
            "<figure>{}</figure>",
            svg::picture(scene, "", Style::built_in(false), text)
        );
    }
    if !card.say.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", prose(&card.say));
    }
    if let Some(task) = &card.task {
        self::task(out, task, &card.notes.solution, words);
    }
    out.push_str("</section>\n");
}

fn question(out: &mut String, asked: &QuestionCard, words: &Catalogue) {
    let _ = writeln!(out, "<div class=\"ask\"><p>{}</p>", prose(&asked.ask));
    let right = asked.right.and_then(|right| usize::try_from(right).ok());
    if !asked.choices.is_empty() {
        out.push_str("<ul>\n");
        for (at, choice) in asked.choices.iter().enumerate() {
            let (class, mark) = if right == Some(at) {
                (" class=\"right\"", " ✓")
            } else {
                ("", "")
            };
            let _ = writeln!(out, "<li{class}>{}{mark}</li>", prose(choice));
        }
        out.push_str("</ul>\n");
    } else if let Some(right) = asked.right {
        let _ = writeln!(
            out,
            "<p>{}</p>",
            escaped(&msg::lesson_it_was(Message::name(right.to_string())).say(words))
        );
    }
    if !asked.because.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", prose(&asked.because));
    }
    out.push_str("</div>\n");
}

fn task(out: &mut String, task: &TaskCard, solution: &[String], words: &Catalogue) {
    let say = |message: Message| escaped(&message.say(words));
    let _ = writeln!(
        out,
        "<div class=\"task\"><p>{} {}</p>",
        say(msg::lesson_task()),
        prose(&task.goal)
    );
    if !task.hints.is_empty() {
        let _ = writeln!(out, "<p>{}</p>\n<ol>", say(msg::lesson_hint()));
        task.hints.iter().for_each(|hint| {
            let _ = writeln!(out, "<li>{}</li>", prose(hint));
        });
        out.push_str("</ol>\n");
    }
    let _ = writeln!(
        out,
        "<p>{}</p>\n<pre>{}</pre></div>",
        say(msg::lesson_notes_solution()),
        escaped(solution.join("\n").trim_end())
    );
}

/// Formats a text with `code` in it as HTML.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    });
    parts.collect()
}
