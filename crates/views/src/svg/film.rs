//! Interval of a history as one animated SVG: parts shared by frames are written once, and shown while they exist.
//!
//! With reduced motion the last frame is shown.

use super::writer::Writer;
use super::{Style, TAIL, draw_item, head};
use crate::draw;
use crate::draw::painter::TextSetting;
use crate::draw::primitive::{Anchor, TextLine, TextRun, ui};
use crate::shape::Scene;
use i18n::Message;
use i18n::format::{Px, clock};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;

/// Frame of a film.
#[derive(Clone, Debug)]
pub struct FilmFrame {
    /// Instant in milliseconds.
    pub at: u64,
    /// Latest event.
    pub caption: Message,
    /// Picture.
    pub scene: Rc<Scene>,
}

/// Height of the line under the picture.
const FOOT: f64 = 36.0;
/// Milliseconds for which the last frame stays before the film restarts.
const HOLD_MS: u64 = 2_000;

/// Size that holds every frame.
fn size(frames: &[FilmFrame]) -> (f64, f64) {
    let most = |side: fn(&Scene) -> f64| {
        frames
            .iter()
            .map(|frame| side(&frame.scene))
            .fold(0.0, f64::max)
    };
    (most(|scene| scene.width), most(|scene| scene.height) + FOOT)
}

/// Returns the parts of a frame, in paint order: layer and markup.
fn parts(writer: &mut Writer, frame: &FilmFrame, (width, height): (f64, f64)) -> Vec<(u8, String)> {
    let (scene, mut out) = (&frame.scene, Vec::new());
    let mut put = |writer: &mut Writer, layer: u8| out.push((layer, writer.take()));
    for band in &scene.bands {
        writer.block(&draw::scene::band(*band));
        put(writer, 0);
    }
    for edge in &scene.edges {
        writer.path(&draw::scene::edge(edge));
        put(writer, 1);
    }
    for item in &scene.items {
        draw_item(writer, item, false);
        put(writer, 2);
    }
    for words in &scene.labels {
        let line = draw::scene::label(words, &writer.text);
        writer.line(&line);
        put(writer, 3);
    }
    for end in &scene.ports {
        writer.disc(&draw::scene::port(end));
        put(writer, 4);
    }
    let middle = height - FOOT / 2.0;
    let caption = writer.say(&frame.caption);
    let runs = [
        (clock(frame.at), ui(12.0, "text").semi()),
        ("  ".to_owned(), ui(12.0, "text")),
        (caption, ui(12.0, "text-2")),
    ];
    let runs = runs.map(|(text, font)| TextRun {
        text,
        font,
        class: "",
    });
    writer.line(&TextLine::new(
        16.0,
        middle,
        width - 32.0,
        Anchor::Start,
        runs.into(),
    ));
    put(writer, 5);
    out
}

/// Ranges of frames that have a part.
type Shown = Vec<Range<usize>>;

/// Animated SVG being written, frame by frame, so that a long one does not block.
pub struct Film {
    frames: Vec<FilmFrame>,
    times: Times,
    size: (f64, f64),
    writer: Writer,
    /// Next frame to read.
    next: usize,
    /// Parts by layer and markup: their order, and the frames in which they are shown.
    known: BTreeMap<(u8, String), (usize, Shown)>,
}

impl Film {
    /// Starts a film with frames of `frame_ms` milliseconds; `text` has the language and the fonts.
    pub fn new(frames: Vec<FilmFrame>, frame_ms: u64, style: Style, text: TextSetting) -> Film {
        let times = Times {
            count: frames.len(),
            frame_ms,
        };
        Film {
            size: size(&frames),
            times,
            frames,
            writer: Writer::new(style, text),
            next: 0,
            known: BTreeMap::new(),
        }
    }

    /// Reads the next frame. Returns false when there is none left.
    pub fn advance(&mut self) -> bool {
        let Some(frame) = self.frames.get(self.next) else {
            return false;
        };
        for (layer, markup) in parts(&mut self.writer, frame, self.size) {
            let before = self.known.len();
            let (_, shown) = self
                .known
                .entry((layer, markup))
                .or_insert_with(|| (before, Vec::new()));
            match shown.last_mut() {
                Some(last) if last.end >= self.next => last.end = self.next + 1,
                _ => shown.push(self.next..self.next + 1),
            }
        }
        self.next += 1;
        true
    }

    /// Returns the document.
    pub fn finish(mut self) -> String {
        while self.advance() {}
        let Film {
            frames,
            times,
            size,
            mut writer,
            known,
            ..
        } = self;
        let mut all: Vec<_> = known.into_iter().collect();
        all.sort_by_key(|((layer, _), (before, _))| (*layer, *before));
        let title = frames
            .last()
            .map(|frame| writer.say(&frame.scene.summary))
            .unwrap_or_default();
        super::ground(&mut writer, size);
        let (ground, mut sheet, mut body) = (
            writer.take(),
            String::from(".f{visibility:hidden}"),
            String::new(),
        );
        let mut names = BTreeMap::<String, usize>::new();
        for ((_, markup), (_, shown)) in all {
            if matches!(&shown[..], [all] if *all == (0..frames.len())) {
                body.push_str(&markup);
                continue;
            }
            let stays = shown.last().is_some_and(|last| last.end == frames.len());
            let next = names.len();
            let name = *names.entry(times.keyframes(&shown)).or_insert_with_key(|keyframes| {
                let _ =
                    write!(sheet, "@keyframes k{next}{{{keyframes}}}.f{next}{{animation:k{next} {}ms step-end infinite}}", times.length());
                next
            });
            let _ = write!(
                body,
                "<g class=\"f f{name}{}\">{markup}</g>",
                if stays { " last" } else { "" }
            );
        }
        sheet.push_str(
            "@media(prefers-reduced-motion:reduce){.f{animation:none}.last{visibility:visible}}",
        );
        head(&writer, size, &title, &sheet) + &ground + &body + TAIL
    }

    /// Returns the next frame as a picture of the common size; `None` when there is none left.
    pub fn next_still(&mut self) -> Option<String> {
        let (frame, size, writer) = (self.frames.get(self.next)?, self.size, &mut self.writer);
        writer.icons.clear();
        super::ground(writer, size);
        let ground = writer.take();
        let body: String = parts(writer, frame, size)
            .into_iter()
            .map(|(_, markup)| markup)
            .collect();
        let title = writer.say(&frame.scene.summary);
        self.next += 1;
        Some(head(writer, size, &title, "") + &ground + &body + TAIL)
    }
}

/// Number and duration of the frames.
struct Times {
    count: usize,
    frame_ms: u64,
}

impl Times {
    fn length(&self) -> u64 {
        (self.count.saturating_sub(1) as u64) * self.frame_ms + HOLD_MS
    }

    /// Keyframes that show a part during some frames.
    fn keyframes(&self, shown: &[Range<usize>]) -> String {
        let share =
            |frame: usize| Px(frame as f64 * self.frame_ms as f64 * 100.0 / self.length() as f64);
        let mut out = String::new();
        if shown.first().is_none_or(|first| first.start > 0) {
            out.push_str("0%{visibility:hidden}");
        }
        for range in shown {
            let _ = write!(out, "{}%{{visibility:visible}}", share(range.start));
            if range.end < self.count {
                let _ = write!(out, "{}%{{visibility:hidden}}", share(range.end));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{CardBody, Rect};
    use i18n::Catalogue;
    use projection::model::Id;

    fn frame(at: u64, names: &[&str]) -> FilmFrame {
        let mut scene = Scene {
            width: 300.0,
            height: 100.0,
            ..Scene::default()
        };
        for name in names {
            let rect = Rect::new(0.0, 0.0, 100.0, 20.0);
            scene.put(
                &Id::default(),
                rect,
                CardBody::Note(Message::name(*name)),
                None,
                "",
                "",
            );
        }
        FilmFrame {
            at,
            caption: Message::name("caption"),
            scene: Rc::new(scene),
        }
    }

    #[test]
    fn what_stays_is_written_once_and_what_comes_and_goes_is_shown_meanwhile() {
        let frames = [
            frame(0, &["a"]),
            frame(500, &["a", "b"]),
            frame(1_000, &["a", "b"]),
            frame(1_500, &["a", "c"]),
        ];
        let text = Film::new(
            frames.to_vec(),
            500,
            Style::built_in(false),
            TextSetting::built_in(Rc::new(Catalogue::ENGLISH)),
        )
        .finish();
        assert_eq!(
            [">a<", ">b<", ">c<"].map(|name| text.matches(name).count()),
            [1, 1, 1]
        );
        // Four frames and two seconds at the end are 3.5 s: b from the second frame to the fourth, c from the fourth on.
        assert!(
            text.contains(
                "{0%{visibility:hidden}14.286%{visibility:visible}42.857%{visibility:hidden}}"
            ),
            "{text}"
        );
        assert!(
            text.contains("{0%{visibility:hidden}42.857%{visibility:visible}}"),
            "{text}"
        );
        assert!(text.contains("3500ms step-end infinite"));
        // With reduced motion the final state is shown: c and the last clock.
        assert_eq!(text.matches(" last\"").count(), 2);
    }

    #[test]
    fn a_still_has_the_size_of_all() {
        let mut large = frame(500, &["b"]);
        large.scene = Rc::new(Scene {
            width: 900.0,
            height: 400.0,
            ..(*large.scene).clone()
        });
        let frames = vec![frame(0, &["a"]), large];
        let text = Film::new(
            frames,
            500,
            Style::built_in(true),
            TextSetting::built_in(Rc::new(Catalogue::ENGLISH)),
        )
        .next_still()
        .unwrap();
        assert!(
            text.starts_with(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"436\""
            ),
            "{text}"
        );
        assert!(
            text.contains(">a<") && text.contains("00:00.000") && !text.contains("animation"),
            "{text}"
        );
    }
}
