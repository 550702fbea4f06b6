//! Draws primitives as nodes of the page, and measures their texts.

use super::{dom, language};
use i18n::format::Px;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;
use views::draw::metrics::{BuiltIn, MONO_TIGHTENING, TextMetrics};
use views::draw::painter::TextSetting;
use views::draw::primitive::{
    Anchor, Baseline, Block, Disc, Drawing, Fill, Font, Group, Hatch, Path, Pill, Primitive,
    Stroke, TextLine, TextRun, Token,
};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

/// Number of texts whose widths are kept.
const MAX_KEPT: usize = 4_000;

/// Size, weight and family of a font: the parts that decide widths.
type Face = (u16, u16, bool);

/// Widths as the browser measures them.
struct Measured {
    context: Option<CanvasRenderingContext2d>,
    kept: RefCell<BTreeMap<Face, BTreeMap<String, f64>>>,
}

impl Measured {
    fn new() -> Measured {
        let canvas = dom::document().create_element("canvas").ok();
        let context = canvas
            .and_then(|canvas| canvas.dyn_into::<HtmlCanvasElement>().ok())
            .and_then(|canvas| canvas.get_context("2d").ok().flatten())
            .and_then(|context| context.dyn_into().ok());
        Measured {
            context,
            kept: RefCell::default(),
        }
    }

    fn measure(&self, font: Font, text: &str) -> f64 {
        let Some(context) = &self.context else {
            return BuiltIn.width(font, text);
        };
        let family = dom::token(if font.mono {
            "--font-mono"
        } else {
            "--font-ui"
        });
        context.set_font(&format!("{} {}px {family}", font.weight, Px(font.size)));
        let wide = context.measure_text(text).map_or(0.0, |text| text.width());
        if font.mono {
            wide - MONO_TIGHTENING * font.size * text.chars().count() as f64
        } else {
            wide
        }
    }

    fn kept_width(&self, font: Font, text: &str) -> f64 {
        let face = (font.size as u16, font.weight, font.mono);
        let mut kept = self.kept.borrow_mut();
        let kept = kept.entry(face).or_default();
        if let Some(wide) = kept.get(text) {
            return *wide;
        }
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        let wide = self.measure(font, text);
        kept.insert(text.to_owned(), wide);
        wide
    }
}

impl TextMetrics for Measured {
    fn width(&self, font: Font, text: &str) -> f64 {
        // Letters of one width are measured once.
        if font.mono && text.is_ascii() {
            self.kept_width(font, "0") * text.len() as f64
        } else {
            self.kept_width(font, text)
        }
    }
}

thread_local! {
    static METRICS: Rc<dyn TextMetrics> = Rc::new(Measured::new());
}

/// Language and fonts of the page.
pub fn setting() -> TextSetting {
    TextSetting {
        words: language::words(),
        metrics: METRICS.with(Rc::clone),
    }
}

/// Draws primitives in paint order.
pub fn nodes(parts: &[Primitive]) -> Html {
    parts.iter().map(node).collect()
}

fn node(part: &Primitive) -> Html {
    match part {
        Primitive::Block(of) => block(of),
        Primitive::Path(of) => {
            html! { <svg width="1" height="1">{ path("", of, Moves::No) }</svg> }
        }
        Primitive::Disc(of) => html! { <svg width="1" height="1">{ disc(of) }</svg> },
        Primitive::Line(of) => line(of),
        Primitive::Icon(icon) => {
            let size = Px(icon.size).to_string();
            let style = format!(
                "left:{}px;top:{}px;color:var(--{})",
                Px(icon.x),
                Px(icon.y),
                icon.colour
            );
            html! { <svg style={style} width={size.clone()} height={size}><use href={format!("#{}", icon.name)} /></svg> }
        }
        Primitive::Pill(of) => pill(of),
        Primitive::Drawing(of) => drawing(of),
        Primitive::Group(of) => group(of),
    }
}

fn group(of: &Group) -> Html {
    let mut style = format!("left:{}px;top:{}px", Px(of.x), Px(of.y));
    let (w, h) = of.size;
    if w > 0.0 {
        let _ = write!(style, ";width:{}px;height:{}px", Px(w), Px(h));
    }
    if of.opacity < 1.0 {
        let _ = write!(style, ";opacity:{}", Px(of.opacity));
    }
    let title = (!of.title.is_empty()).then(|| of.title.clone());
    html! { <div class={of.class} style={style} title={title}>{ nodes(&of.parts) }</div> }
}

/// Draws a rectangle.
pub fn block(of: &Block) -> Html {
    let mut style = format!(
        "left:{}px;top:{}px;width:{}px;height:{}px",
        Px(of.rect.x),
        Px(of.rect.y),
        Px(of.rect.w.max(0.0)),
        Px(of.rect.h.max(0.0))
    );
    if of.radius > 0.0 {
        let _ = write!(style, ";border-radius:{}px", Px(of.radius));
    }
    if !of.fill.is_empty() {
        let _ = write!(style, ";background:var(--{})", of.fill);
    }
    if let Some(Stroke {
        colour,
        width,
        dashes,
        ..
    }) = of.stroke
    {
        let kind = if dashes.is_empty() { "solid" } else { "dashed" };
        let _ = write!(style, ";border:{}px {kind} var(--{colour})", Px(width));
    }
    html! { <i class={of.class} style={style} /> }
}

/// Animation of a path whose commands change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// The new path replaces the old one at once.
    No,
    /// The style sheet has a transition.
    Yes,
}

/// Value of a colour attribute.
fn colour(token: Token) -> String {
    if token.is_empty() {
        "none".to_owned()
    } else {
        format!("var(--{token})")
    }
}

/// Draws a path within a drawing. Its colours are attributes: a rule of the style sheet may replace them.
pub fn path(key: &str, of: &Path, moves: Moves) -> Html {
    let (fill, fill_opacity) = match of.fill {
        Fill::None => ("none".to_owned(), 1.0),
        Fill::Colour(token, opacity) => (colour(token), opacity),
        Fill::Hatch(hatch) => (format!("url(#{})", hatch.id()), 1.0),
    };
    let stroke = of.stroke.as_ref();
    let class = (!of.class.is_empty()).then(|| of.class.clone());
    let style = (moves == Moves::Yes).then(|| format!("d:path('{}')", of.d));
    html! {
        <path key={key.to_owned()} class={class} d={of.d.clone()} style={style} fill={fill} fill-opacity={faint(fill_opacity)}
            stroke={stroke.map(|stroke| colour(stroke.colour))} stroke-width={stroke.map(|stroke| Px(stroke.width).to_string())}
            stroke-dasharray={stroke.map(|stroke| stroke.dashes).filter(|dashes| !dashes.is_empty())} stroke-opacity={stroke.and_then(|stroke| faint(stroke.opacity))}
            stroke-linecap={stroke.filter(|stroke| stroke.round_caps).map(|_| "round")} stroke-linejoin={stroke.filter(|stroke| stroke.round_joins).map(|_| "round")} />
    }
}

/// Returns an opacity, if it is not full.
fn faint(opacity: f64) -> Option<String> {
    (opacity < 1.0).then(|| Px(opacity).to_string())
}

/// Draws a disc within a drawing.
pub fn disc(of: &Disc) -> Html {
    html! { <circle cx={Px(of.x).to_string()} cy={Px(of.y).to_string()} r={Px(of.radius).to_string()} fill={colour(of.fill)} stroke={colour(of.stroke.colour)} stroke-width={Px(of.stroke.width).to_string()} /> }
}

/// Draws a drawing, with the hatches that it may need.
pub fn drawing(of: &Drawing) -> Html {
    let pitch = Px(Hatch::PITCH).to_string();
    let hatches = Hatch::ALL.into_iter().map(|hatch| {
        let line = Path { d: Hatch::LINE.to_owned(), fill: Fill::None, stroke: Some(hatch.stroke()), class: hatch.class().to_owned() };
        html! { <pattern id={hatch.id()} width={pitch.clone()} height={pitch.clone()} patternUnits="userSpaceOnUse" patternTransform={format!("rotate({})", hatch.angle())}>{ path("", &line, Moves::No) }</pattern> }
    });
    let parts = of.parts.iter().enumerate().map(|(at, part)| match part {
        Primitive::Path(of) => path(&at.to_string(), of, Moves::No),
        Primitive::Disc(of) => disc(of),
        Primitive::Line(of) => words(of),
        _ => Html::default(),
    });
    html! {
        <svg width={Px(of.size.0).to_string()} height={Px(of.size.1).to_string()} aria-hidden="true">
            { for hatches }
            // With forced colours an older revision is striped.
            <pattern id="older" width="4" height="4" patternUnits="userSpaceOnUse"><path class="line" d="M0 1H4" /></pattern>
            { for parts }
        </svg>
    }
}

/// Draws a line of text within a drawing.
fn words(of: &TextLine) -> Html {
    let anchor = match of.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let baseline = (of.baseline == Baseline::Middle).then_some("central");
    let (stroke, width) = match of.halo {
        Some(halo) => (Some(colour(halo.colour)), Some(Px(halo.width).to_string())),
        None => (None, None),
    };
    let run = |run: &TextRun| {
        let font = run.font;
        let family = if font.mono { "mono" } else { "ui" };
        // Sizes of the style sheet grow as the picture shrinks.
        let size = match font.size as u16 {
            size @ 11..=20 => format!("var(--t-{size})"),
            size => format!("{size}px"),
        };
        let style = format!("font:{} {size}/1 var(--font-{family})", font.weight);
        html! { <tspan style={style} fill={colour(font.colour)}>{ &run.text }</tspan> }
    };
    let halo = of.halo.map(|_| "paint-order:stroke;stroke-linejoin:round");
    html! { <text x={Px(of.x).to_string()} y={Px(of.y).to_string()} text-anchor={anchor} dominant-baseline={baseline} class={of.class} style={halo} stroke={stroke} stroke-width={width}>{ for of.runs.iter().map(run) }</text> }
}

/// Classes of a font.
fn font_class(font: Font) -> String {
    let mut class = format!("s{}", font.size as u16);
    for (is, name) in [
        (font.mono, " mono"),
        (font.weight == 500, " w5"),
        (font.weight >= 600, " w6"),
        (font.far, " far"),
        (font.struck, " gone"),
    ] {
        if is {
            class.push_str(name);
        }
    }
    class
}

/// Draws a line of text.
pub fn line(of: &TextLine) -> Html {
    // The line is as high as the font needs, and centred.
    let high = of.runs.iter().map(|run| run.font.size).fold(0.0, f64::max);
    let high = if high > 13.0 { 24.0 } else { 16.0 };
    let mut style = format!("left:{}px;top:{}px", Px(of.x), Px(of.y - high / 2.0));
    if of.room.is_finite() {
        // As in a saved picture, a text that is too long by less than a pixel is not cut.
        let _ = write!(style, ";max-width:{}px", Px(of.room.max(0.0) + 1.0));
    }
    let anchor = match of.anchor {
        Anchor::Start => "",
        Anchor::Middle => " mid",
        Anchor::End => " end",
    };
    let tall = if high > 16.0 { " tall" } else { "" };
    if let Some(halo) = of.halo {
        let _ = write!(style, ";--ground:var(--{})", halo.colour);
    }
    let own = [if of.class.is_empty() { "" } else { " " }, of.class].concat();
    match &of.runs[..] {
        [
            TextRun {
                text,
                font,
                class: "",
            },
        ] if !of.pops => {
            let _ = write!(style, ";color:var(--{})", font.colour);
            let class = ["txt", &own, anchor, tall, " ", &font_class(*font)].concat();
            html! { <span class={class} style={style}>{ text }</span> }
        }
        runs => {
            let class = ["txt", &own, anchor, tall].concat();
            html! { <span class={class} style={style}>{ for runs.iter().map(|run| text_run(run, of.pops)) }</span> }
        }
    }
}

/// Draws a run. A text that pops has its own element, so that a new one is animated.
fn text_run(of: &TextRun, pops: bool) -> Html {
    let style = format!("color:var(--{})", of.font.colour);
    let class = font_class(of.font);
    if !of.class.is_empty() {
        return html! { <span class={of.class}>{ &of.text }</span> };
    }
    if pops {
        html! { <b key={of.text.clone()} class={class} style={style}>{ &of.text }</b> }
    } else {
        html! { <span class={class} style={style}>{ &of.text }</span> }
    }
}

fn pill(of: &Pill) -> Html {
    let style = format!("left:{}px;top:{}px", Px(of.right), Px(of.y - 10.0));
    html! { <span class={classes!("pill", "end", of.class)} style={style}>if let Some(name) = of.icon { { dom::icon(name, 12) } }{ &of.text }</span> }
}
