//! `loopscope picture`: a diagram as SVG, without a page.

use super::{print, read};
use i18n::Catalogue;
use k8s_model::Time;
use k8s_model::time::duration;
use session::State;
use session::filming::Filming;
use session::permalink;
use session::timeline::TimelineMsg;
use std::path::PathBuf;
use std::rc::Rc;
use views::svg::film::Film;
use views::svg::{self, Style};

pub(super) const CHINESE: &str = include_str!("../../crates/i18n/src/zh.txt");
/// Tasks of the engine between two readings of the clock.
const SLICE: usize = 100_000;

/// Options of the command line.
struct Options {
    file: String,
    view: Option<&'static views::view::View>,
    /// Virtual time of the picture; `None` once the cluster has settled.
    at: Option<Time>,
    /// Size of the stage, in CSS pixels.
    size: (f64, f64),
    dark: bool,
    chinese: bool,
    /// Start of an animation; `None` for a single picture.
    from: Option<Time>,
    /// Virtual time between two frames, in microseconds.
    step: u64,
    /// Virtual seconds per second.
    speed: f64,
    /// Folder for the frames, each in a file of its own.
    stills: Option<PathBuf>,
}

pub(super) fn picture(args: &[String]) -> Result<u8, String> {
    let options = parse(args)?;
    let mut state = open(&options)?;
    play(&mut state, options.at);
    let words = Rc::new(if options.chinese {
        Catalogue::read(CHINESE)
    } else {
        Catalogue::ENGLISH
    });
    let style = Style::built_in(options.dark);
    let out = match (options.from, &options.stills) {
        (None, None) => svg::picture(state.picture().scene.clone(), "", style, words),
        (from, stills) => {
            let mut filming = Filming::new(
                &state,
                from.unwrap_or(Time(0)).0 / 1_000,
                state.timeline.run.now(),
                options.step / 1_000,
            );
            while filming.advance(SLICE) {}
            let frame_ms = (filming.step() as f64 / options.speed) as u64;
            let mut film = Film::new(filming.frames, frame_ms, style, words);
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

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        file: String::new(),
        view: None,
        at: None,
        size: (960.0, 600.0),
        dark: false,
        chinese: false,
        from: None,
        step: 250_000,
        speed: 1.0,
        stills: None,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || {
            rest.next()
                .map(String::as_str)
                .ok_or_else(|| format!("{arg} needs a value; see loopscope --help"))
        };
        match arg.as_str() {
            "--dark" => options.dark = true,
            "--view" => options.view = Some(view(value()?)?),
            "--at" => options.at = Some(time(arg, value()?)?),
            "--from" => options.from = Some(time(arg, value()?)?),
            "--step" => options.step = time(arg, value()?)?.0.max(1_000),
            "--speed" => {
                let speed = value()?
                    .parse()
                    .ok()
                    .filter(|speed| (0.1..=1_000.0).contains(speed));
                options.speed = speed.ok_or("--speed needs a number from 0.1 to 1000")?;
            }
            "--stills" => options.stills = Some(value()?.into()),
            "--size" => options.size = size(value()?)?,
            "--lang" => {
                options.chinese = match value()? {
                    "zh" => true,
                    "en" => false,
                    other => return Err(format!("--lang {other}: en and zh are there")),
                }
            }
            flag if flag.starts_with("--") => {
                return Err(format!("unknown flag {flag}; see loopscope --help"));
            }
            file if options.file.is_empty() => options.file = file.to_string(),
            extra => return Err(format!("one file at a time: {extra:?} is too much")),
        }
    }
    if options.file.is_empty() {
        Err("loopscope picture needs a file; see loopscope --help".to_string())
    } else {
        Ok(options)
    }
}

fn time(flag: &str, text: &str) -> Result<Time, String> {
    duration(text)
        .map(Time)
        .ok_or_else(|| format!("{flag} needs a time, such as 12s or 1m30s"))
}

fn view(name: &str) -> Result<&'static views::view::View, String> {
    let all = || {
        views::ALL
            .iter()
            .map(|view| view.id)
            .collect::<Vec<_>>()
            .join(", ")
    };
    views::by_id(name).ok_or_else(|| format!("--view {name}: there are {}", all()))
}

fn size(text: &str) -> Result<(f64, f64), String> {
    let sides = text
        .split_once('x')
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let good = |side: &f64| (200.0..=8_000.0).contains(side);
    sides.filter(|(w, h)| good(w) && good(h)).ok_or_else(|| {
        "--size needs width and height from 200 to 8000, such as 960x600".to_string()
    })
}

/// Opens the page with a manifest, or with the contents of a link.
fn open(options: &Options) -> Result<State, String> {
    let text = read(&options.file)?;
    let mut state = match text.trim().split_once("#pako:") {
        Some((_, packed)) if !text.trim().contains('\n') => {
            let link = permalink::decode(&format!("#pako:{packed}"))
                .map_err(|problem| format!("{}: {}", options.file, problem.english()))?;
            let mut state = State::from_link(link.as_ref());
            link.iter().for_each(|link| state.recall(link));
            // The requested instant is shown, wherever the link's breakpoints would stop.
            state.timeline.breakpoints.clear();
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
