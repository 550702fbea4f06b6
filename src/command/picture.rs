//! `loopscope picture`: a diagram as SVG, without a page.

use loopscope::api::Time;
use loopscope::api::time::duration;
use loopscope::i18n::Catalogue;
use loopscope::session::State;
use loopscope::session::permalink;
use loopscope::session::timeline::TimelineMsg;
use loopscope::views;
use loopscope::views::svg::{self, Style};
use std::io::{self, Write};
use std::rc::Rc;

const CHINESE: &str = include_str!("../i18n/zh.txt");
/// Tasks of the engine between two looks at the clock.
const SLICE: usize = 100_000;

/// What is asked for.
struct Options {
    file: String,
    view: Option<&'static views::view::View>,
    /// Virtual time of the picture; without one the cluster is settled.
    at: Option<Time>,
    /// Of the stage, in CSS pixels.
    size: (f64, f64),
    dark: bool,
    chinese: bool,
}

pub(super) fn picture(args: &[String]) -> Result<u8, String> {
    let options = read(args)?;
    let mut state = open(&options)?;
    play(&mut state, options.at);
    let picture = state.picture();
    let words = if options.chinese { Catalogue::read(CHINESE) } else { Catalogue::ENGLISH };
    let out = svg::picture(picture.scene.clone(), "", Style::built_in(options.dark), Rc::new(words));
    match io::stdout().write_all(out.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.to_string()),
        _ => Ok(0),
    }
}

fn read(args: &[String]) -> Result<Options, String> {
    let mut options = Options { file: String::new(), view: None, at: None, size: (960.0, 600.0), dark: false, chinese: false };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().map(String::as_str).ok_or_else(|| format!("{arg} needs a value; see loopscope --help"));
        match arg.as_str() {
            "--dark" => options.dark = true,
            "--view" => options.view = Some(view(value()?)?),
            "--at" => options.at = Some(Time(duration(value()?).ok_or("--at needs a time, such as 12s or 1m30s")?)),
            "--size" => options.size = size(value()?)?,
            "--lang" => {
                options.chinese = match value()? {
                    "zh" => true,
                    "en" => false,
                    other => return Err(format!("--lang {other}: en and zh are there")),
                }
            }
            flag if flag.starts_with("--") => return Err(format!("unknown flag {flag}; see loopscope --help")),
            file if options.file.is_empty() => options.file = file.to_string(),
            extra => return Err(format!("one file at a time: {extra:?} is too much")),
        }
    }
    if options.file.is_empty() { Err("loopscope picture needs a file; see loopscope --help".to_string()) } else { Ok(options) }
}

fn view(name: &str) -> Result<&'static views::view::View, String> {
    let all = || views::ALL.iter().map(|view| view.id).collect::<Vec<_>>().join(", ");
    views::by_id(name).ok_or_else(|| format!("--view {name}: there are {}", all()))
}

fn size(text: &str) -> Result<(f64, f64), String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let good = |side: &f64| (200.0..=8_000.0).contains(side);
    sides.filter(|(w, h)| good(w) && good(h)).ok_or_else(|| "--size needs width and height from 200 to 8000, such as 960x600".to_string())
}

/// The page with a manifest, or what a link holds.
fn open(options: &Options) -> Result<State, String> {
    let text = std::fs::read_to_string(&options.file).map_err(|e| format!("{}: {e}", options.file))?;
    let mut state = match text.trim().split_once("#pako:") {
        Some((_, packed)) if !text.trim().contains('\n') => {
            let link =
                permalink::decode(&format!("#pako:{packed}")).map_err(|problem| format!("{}: {}", options.file, problem.english()))?;
            let mut state = State::from_link(link.as_ref());
            link.iter().for_each(|link| state.recall(link));
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
    while state.timeline.run.recalls() {
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
