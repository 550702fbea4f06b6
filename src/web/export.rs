//! Saves the diagram shown, or an animation of its history. Pictures are written from their scenes, in parts that yield to the browser;
//! `static/export.js` makes files of them.

use super::dom::{document, window};
use super::language::say;
use crate::web::dom;
use crate::web::primitives::setting;
use gloo_timers::callback::Timeout;
use i18n::msg;
use session::filming::Filming;
use std::cell::RefCell;
use std::rc::Rc;
use views::shape::Scene;
use views::svg::film::Film;
use views::svg::{Pieces, Style, TAIL};
use wasm_bindgen::{JsCast, JsValue};

/// Milliseconds of one part of the work.
const PART_MS: f64 = 12.0;
/// Budget of a part in tasks of the engine.
const TASKS: usize = 200;
/// Number of items of a scene above which it is not animated.
const MAX_MOVING_ITEMS: usize = 150;
/// Length of the animated history if no interval is marked, in milliseconds.
pub const FILM_MS: u64 = 20_000;

/// Format of a saved picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// SVG.
    Svg,
    /// PNG.
    Png,
    /// Last seconds as an animated SVG.
    Film,
    /// Last seconds as a video.
    Video,
    /// The last seconds as a document with a picture per page.
    Stills,
}

impl ImageFormat {
    /// All formats, in the order of the menu.
    const ALL: [ImageFormat; 5] = [
        ImageFormat::Svg,
        ImageFormat::Png,
        ImageFormat::Film,
        ImageFormat::Video,
        ImageFormat::Stills,
    ];

    /// Returns the formats available for a scene: large ones are not animated, since each frame would take as long as a picture, and not
    /// every browser can make videos.
    pub fn of(scene: &Scene) -> impl Iterator<Item = ImageFormat> {
        let small = scene.items.len() <= MAX_MOVING_ITEMS && !scene.dense();
        ImageFormat::ALL.into_iter().filter(move |form| {
            !form.moves() || small && (*form != ImageFormat::Video || makes_videos())
        })
    }

    /// Title in the menu, for a marked interval of the history.
    pub fn title(self, stretch: Option<(u64, u64)>) -> String {
        let stretch = stretch.map_or_else(
            || msg::export_last(FILM_MS),
            |(from, to)| msg::export_marked(from, to),
        );
        match self {
            ImageFormat::Svg => "SVG".to_string(),
            ImageFormat::Png => "PNG".to_string(),
            ImageFormat::Film => say(msg::export_film(stretch)),
            ImageFormat::Video => say(msg::export_video(stretch)),
            ImageFormat::Stills => say(msg::export_stills(stretch)),
        }
    }

    /// Returns true if it shows an interval of the history.
    pub fn moves(self) -> bool {
        self.frame_ms().is_some()
    }

    /// Interval of the frames, in milliseconds.
    pub fn frame_ms(self) -> Option<u64> {
        match self {
            ImageFormat::Svg | ImageFormat::Png => None,
            ImageFormat::Film | ImageFormat::Video => Some(250),
            ImageFormat::Stills => Some(1_000),
        }
    }

    fn file(self) -> &'static str {
        match self {
            ImageFormat::Svg | ImageFormat::Film => "SVG",
            ImageFormat::Png => "PNG",
            ImageFormat::Video => "WebM",
            ImageFormat::Stills => "HTML",
        }
    }
}

fn makes_videos() -> bool {
    let recorder = js_sys::Reflect::get(&window(), &"MediaRecorder".into()).unwrap_or_default();
    let asks = js_sys::Reflect::get(&recorder, &"isTypeSupported".into())
        .ok()
        .and_then(|asks| asks.dyn_into::<js_sys::Function>().ok());
    asks.and_then(|asks| asks.call1(&recorder, &"video/webm".into()).ok())
        .is_some_and(|able| able.is_truthy())
}

/// Saves a scene under a name; `selected` is the uid of the selected object.
pub fn save(scene: Rc<Scene>, selected: &str, form: ImageFormat, name: String) {
    let mut pieces = Pieces::new(scene, selected, style(), setting());
    let mut parts = Vec::new();
    in_parts(move || {
        if let Some(piece) = pieces.next() {
            parts.push(piece);
            return true;
        }
        hand_over(
            form,
            name.clone(),
            pieces.head(),
            std::mem::take(&mut parts),
            TAIL,
        );
        false
    });
}

/// Saves an animation of the history, under a name.
pub fn save_film(mut filming: Filming, form: ImageFormat, name: String) {
    in_parts(move || {
        if filming.advance(TASKS) {
            return true;
        }
        let (frames, step, name) = (
            std::mem::take(&mut filming.frames),
            filming.step(),
            name.clone(),
        );
        let film = Film::new(frames, step, style(), setting());
        match form {
            ImageFormat::Video | ImageFormat::Stills => save_stills(film, form, step, name),
            _ => save_moving(film, name),
        }
        false
    });
}

/// Saves the frames as one animated picture.
fn save_moving(film: Film, name: String) {
    let mut film = Some(film);
    in_parts(move || {
        if film.as_mut().is_some_and(Film::advance) {
            return true;
        }
        let parts = film.take().map(Film::finish).into_iter().collect();
        hand_over(ImageFormat::Film, name.clone(), String::new(), parts, "");
        false
    });
}

/// Saves the frames as a video, each lasting `step` milliseconds, or as pages.
fn save_stills(mut film: Film, form: ImageFormat, step: u64, name: String) {
    let mut stills = Vec::new();
    in_parts(move || {
        if let Some(still) = film.next_still() {
            stills.push(still);
            return true;
        }
        hand_over(
            form,
            name.clone(),
            step.to_string(),
            std::mem::take(&mut stills),
            "",
        );
        false
    });
}

/// Runs work in parts as long as it returns true, yielding to the browser after each.
fn in_parts(mut work: impl FnMut() -> bool + 'static) {
    let until = dom::now() + PART_MS;
    while dom::now() < until {
        if !work() {
            return;
        }
    }
    Timeout::new(0, move || in_parts(work)).forget();
}

/// Colours and icons of the page.
fn style() -> Style {
    let sprite = document()
        .query_selector("symbol#logo")
        .ok()
        .flatten()
        .and_then(|symbol| symbol.parent_element());
    Style::new(
        |name| dom::token(&format!("--{name}")),
        sprite.map(|sprite| sprite.inner_html()).unwrap_or_default(),
    )
}

/// Data handed to the script once: a closure that is kept must not hold a copy.
type Made = Rc<RefCell<Option<(String, Vec<String>)>>>;

/// Makes a file of what was written, once the script for it is loaded.
fn hand_over(
    form: ImageFormat,
    name: String,
    head: String,
    parts: Vec<String>,
    tail: &'static str,
) {
    let made: Made = Rc::new(RefCell::new(Some((head, parts))));
    dom::with_script("export.js", "loopscopeExport", move |save| {
        let Some((head, parts)) = made.take() else {
            return;
        };
        let parts: js_sys::Array = parts
            .into_iter()
            .map(|part| JsValue::from_str(&part))
            .collect();
        let arguments = [
            form.file().into(),
            name.as_str().into(),
            head.into(),
            parts.into(),
            tail.into(),
        ];
        let _ = save.apply(
            &JsValue::NULL,
            &js_sys::Array::from_iter::<[JsValue; 5]>(arguments),
        );
    });
}
