//! `loopscope picture`: a diagram as SVG, without a page.

use super::{print, read};
use k8s_model::Time;
use k8s_model::time::duration;
use session::State;
use session::breakpoint::Breakpoints;
use session::editor::ApplyStatus;
use session::filming::Filming;
use session::permalink;
use session::timeline::TimelineMsg;
use std::path::PathBuf;
use std::rc::Rc;
use views::draw::painter::TextSetting;
use views::svg::film::Film;
use views::svg::{self, Style};

pub(super) const CHINESE: &str = include_str!("../../crates/i18n/src/zh.txt");
/// Tasks of the engine between two readings of the clock.
const SLICE: usize = 100_000;
/// Stage of a picture in a book, in CSS pixels: the default of `--size`.
const STAGE: (f64, f64) = (960.0, 600.0);

/// Draws a manifest, or a link copied with Share, as the page does, as SVG
#[derive(clap::Args)]
pub(super) struct PictureArgs {
    /// Manifest, or a file with a link
    file: String,
    /// ownership, nodes, network, storage, rollout or loops (default: the link's, or ownership)
    #[arg(long, value_parser = view)]
    view: Option<&'static views::view::View>,
    /// Virtual time of the picture, such as 12s (default: when the cluster has settled)
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Time>,
    /// Size of the stage in CSS pixels
    #[arg(long, value_name = "WxH", default_value = "960x600", value_parser = size)]
    size: (f64, f64),
    /// Dark colours
    #[arg(long)]
    dark: bool,
    /// Language
    #[arg(long, default_value = "en")]
    lang: super::Language,
    /// The picture moves: from this virtual time on
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Time>,
    /// Virtual time between two frames
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = time)]
    step: Time,
    /// Virtual seconds a second
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = film_speed)]
    speed: f64,
    /// Writes each frame as a file into this folder instead
    #[arg(long, value_name = "FOLDER")]
    stills: Option<PathBuf>,
}

pub(super) fn picture(options: &PictureArgs) -> Result<u8, String> {
    let mut state = open(options)?;
    let refusals = state.editor.diagnostics.iter().filter(|told| told.error);
    let refusals: Vec<String> = refusals
        .map(|told| format!("{}:{}: {}", options.file, told.line, told.message.english()))
        .collect();
    if state.editor.status == ApplyStatus::Rejected {
        return Err(refusals.join("\n"));
    }
    refusals.iter().for_each(|told| eprintln!("{told}"));
    play(&mut state, options.at);
    let (style, text) = setting(options.dark, options.lang);
    let out = match (options.from, &options.stills) {
        (None, None) => svg::picture(state.picture().scene.clone(), "", style, text),
        (from, stills) => {
            let mut filming = Filming::new(
                &state,
                from.unwrap_or(Time(0)).0 / 1_000,
                state.timeline.run.now(),
                options.step.0.max(1_000) / 1_000,
            );
            while filming.advance(SLICE) {}
            let frame_ms = (filming.step() as f64 / options.speed) as u64;
            let mut film = Film::new(filming.frames, frame_ms, style, text);
            match stills {
                None => film.finish(),
                Some(folder) => {
                    let mut count = 0;
                    while let Some(still) = film.next_still() {
                        count += 1;
                        let path = folder.join(format!("{count:04}.svg"));
                        std::fs::write(&path, still)
                            .map_err(|e| format!("{}: {e}", path.display()))?;
                    }
                    format!("{count} pictures\n")
                }
            }
        }
    };
    print(&out)?;
    Ok(0)
}

/// Draws a manifest once its cluster has settled; `None` if there is nothing to draw, or no such diagram.
pub(super) fn still(
    manifest: &str,
    view: Option<&str>,
    dark: bool,
    lang: super::Language,
) -> Option<String> {
    let mut state = State::new(manifest, 1);
    if let Some(name) = view {
        state.selection.view = views::by_id(name)?;
    }
    state.drawing.stage = STAGE;
    play(&mut state, None);
    let (style, text) = setting(dark, lang);
    let drawn = svg::picture(state.picture().scene.clone(), "", style, text);
    drawn.contains("<text").then_some(drawn)
}

fn setting(dark: bool, lang: super::Language) -> (Style, TextSetting) {
    (
        Style::built_in(dark),
        TextSetting::built_in(Rc::new(lang.catalogue())),
    )
}

fn film_speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|speed| (0.1..=1_000.0).contains(speed))
        .ok_or_else(|| "a number from 0.1 to 1000 is needed".to_string())
}

fn time(text: &str) -> Result<Time, String> {
    duration(text)
        .map(Time)
        .ok_or_else(|| "a time such as 12s or 1m30s is needed".to_string())
}

fn view(name: &str) -> Result<&'static views::view::View, String> {
    let all = || {
        views::ALL
            .iter()
            .map(|view| view.id)
            .collect::<Vec<_>>()
            .join(", ")
    };
    views::by_id(name).ok_or_else(|| format!("there are {}", all()))
}

fn size(text: &str) -> Result<(f64, f64), String> {
    let sides = text
        .split_once('x')
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let good = |side: &f64| (200.0..=8_000.0).contains(side);
    sides
        .filter(|(w, h)| good(w) && good(h))
        .ok_or_else(|| "width and height from 200 to 8000 are needed, such as 960x600".to_string())
}

/// The page with a manifest, or what a link holds.
fn open(options: &PictureArgs) -> Result<State, String> {
    let text = read(&options.file)?;
    let mut state = match text.trim().split_once("#pako:") {
        Some((_, packed)) if !text.trim().contains('\n') => {
            let link = permalink::decode(&format!("#pako:{packed}"))
                .map_err(|problem| format!("{}: {}", options.file, problem.english()))?;
            let mut state = State::from_link(link.as_ref());
            link.iter().for_each(|link| state.recall(link));
            // The requested instant is shown, wherever the link's breakpoints would stop.
            state.timeline.breakpoints = Breakpoints::default();
            state
        }
        _ => State::new(&text, 1),
    };
    if let Some(view) = options.view {
        state.selection.view = view;
    }
    state.drawing.stage = options.size;
    Ok(state)
}

fn play(state: &mut State, at: Option<Time>) {
    while state.timeline.run.is_replaying() {
        state.run_slice(SLICE);
    }
    match at {
        Some(at) => while !state.advance(at, SLICE) {},
        None => {
            state.update(TimelineMsg::Settle);
            while state.timeline.run_until.is_some() {
                state.run_slice(SLICE);
            }
        }
    }
}
