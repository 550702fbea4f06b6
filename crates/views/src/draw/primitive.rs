//! Primitives of a picture: what an SVG writer and the page's component draw. Lengths are CSS pixels; positions are relative to the group.

use crate::shape::Rect;

/// Name of a colour token of the style sheet, without dashes; empty for none.
pub type Token = &'static str;

/// Part of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Primitive {
    /// Rectangle.
    Block(Block),
    /// Path.
    Path(Path),
    /// Disc.
    Disc(Disc),
    /// Line of text.
    Line(TextLine),
    /// Icon of the sprite.
    Icon(Icon),
    /// Words on a rounded ground.
    Pill(Pill),
    /// Paths and words that stand in one drawing, such as the plot of a chart.
    Drawing(Drawing),
    /// Translated primitives.
    Group(Group),
}

/// Outline of a rectangle, path or disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub colour: Token,
    /// Width.
    pub width: f64,
    /// Lengths of dashes and gaps, as in SVG; empty for a solid line.
    pub dashes: &'static str,
    /// Opacity.
    pub opacity: f64,
    /// True if ends of dashes are round.
    pub round_caps: bool,
    /// True if corners are round.
    pub round_joins: bool,
}

impl Stroke {
    /// Creates a solid outline.
    pub const fn solid(colour: Token, width: f64) -> Stroke {
        Stroke::dashed(colour, width, "")
    }

    /// Creates a dashed outline.
    pub const fn dashed(colour: Token, width: f64, dashes: &'static str) -> Stroke {
        Stroke {
            colour,
            width,
            dashes,
            opacity: 1.0,
            round_caps: false,
            round_joins: false,
        }
    }

    /// Returns the outline with an opacity.
    pub const fn faint(self, opacity: f64) -> Stroke {
        Stroke { opacity, ..self }
    }

    /// Returns the outline with round ends.
    pub const fn round_caps(self) -> Stroke {
        Stroke {
            round_caps: true,
            ..self
        }
    }

    /// Returns the outline with round corners.
    pub const fn round_joins(self) -> Stroke {
        Stroke {
            round_joins: true,
            ..self
        }
    }
}

/// Fill of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fill {
    /// No fill.
    #[default]
    None,
    /// Colour and opacity.
    Colour(Token, f64),
    /// Parallel lines.
    Hatch(Hatch),
}

impl Fill {
    /// Creates an opaque fill; none for an empty token.
    pub const fn solid(colour: Token) -> Fill {
        if colour.is_empty() {
            Fill::None
        } else {
            Fill::Colour(colour, 1.0)
        }
    }
}

/// Parallel diagonal lines, six pixels apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hatch {
    /// Pods that are not ready.
    Unready,
    /// Pods that fail.
    Failing,
}

impl Hatch {
    /// All hatches.
    pub const ALL: [Hatch; 2] = [Hatch::Unready, Hatch::Failing];
    /// Distance between two lines.
    pub const PITCH: f64 = 6.0;
    /// Line of a tile, as a path.
    pub const LINE: &'static str = "M1 0V6";

    /// Id of the pattern's element.
    pub const fn id(self) -> &'static str {
        match self {
            Hatch::Unready => "unready",
            Hatch::Failing => "failing",
        }
    }

    /// Classes of the lines in the page, which are restyled with forced colours.
    pub const fn class(self) -> &'static str {
        match self {
            Hatch::Unready => "line",
            Hatch::Failing => "line fls",
        }
    }

    /// Angle in degrees.
    pub const fn angle(self) -> i32 {
        match self {
            Hatch::Unready => 45,
            Hatch::Failing => -45,
        }
    }

    /// Outline of the lines.
    pub const fn stroke(self) -> Stroke {
        match self {
            Hatch::Unready => Stroke::solid("st-ready", 1.0).faint(0.55),
            Hatch::Failing => Stroke::solid("st-failed", 1.0).faint(0.75),
        }
    }
}

/// Rectangle; its outline lies within its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Bounds.
    pub rect: Rect,
    /// Radius of the corners.
    pub radius: f64,
    /// Fill.
    pub fill: Token,
    /// Outline.
    pub stroke: Option<Stroke>,
    /// Class in the page: what moves there, or reacts to the pointer.
    pub class: &'static str,
}

/// Path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Commands, as in SVG.
    pub d: String,
    /// Fill.
    pub fill: Fill,
    /// Outline.
    pub stroke: Option<Stroke>,
    /// Classes in the page: what moves there, or is restyled with forced colours.
    pub class: String,
}

/// Disc.
#[derive(Clone, Debug, PartialEq)]
pub struct Disc {
    /// Horizontal centre.
    pub x: f64,
    /// Vertical centre.
    pub y: f64,
    /// Radius.
    pub radius: f64,
    /// Fill.
    pub fill: Token,
    /// Outline, half of which lies outside.
    pub stroke: Stroke,
}

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Size.
    pub size: f64,
    /// Weight, as in CSS.
    pub weight: u16,
    /// True for letters of one width.
    pub mono: bool,
    /// True if it is struck through.
    pub struck: bool,
    /// True if the page enlarges it as the picture shrinks.
    pub far: bool,
    /// Colour.
    pub colour: Token,
}

/// Font of ordinary text.
pub const fn ui(size: f64, colour: Token) -> Font {
    Font {
        size,
        weight: 400,
        mono: false,
        struck: false,
        far: false,
        colour,
    }
}

/// Font of names, times and code.
pub const fn mono(size: f64, colour: Token) -> Font {
    Font {
        mono: true,
        ..ui(size, colour)
    }
}

impl Font {
    /// Returns the font with weight 500.
    pub const fn medium(self) -> Font {
        Font {
            weight: 500,
            ..self
        }
    }

    /// Returns the font with weight 600.
    pub const fn semi(self) -> Font {
        Font {
            weight: 600,
            ..self
        }
    }

    /// Returns the font struck through.
    pub const fn struck(self) -> Font {
        Font {
            struck: true,
            ..self
        }
    }

    /// Returns the font enlarged as the picture shrinks.
    pub const fn far(self) -> Font {
        Font { far: true, ..self }
    }

    /// Returns the font in another colour.
    pub const fn coloured(self, colour: Token) -> Font {
        Font { colour, ..self }
    }
}

/// Name of a card: monospaced, semibold.
pub const NAME: Font = mono(12.0, "text").semi();
/// Lines over or under the name.
pub const SMALL: Font = ui(11.0, "text-3");

/// Text in one font.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRun {
    /// Text.
    pub text: String,
    /// Font.
    pub font: Font,
    /// Class in the page, which restyles the run; empty for none.
    pub class: &'static str,
}

/// Point of a line of text to which its position refers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Left end.
    #[default]
    Start,
    /// Middle.
    Middle,
    /// Right end.
    End,
}

/// Part of a line of text that stands at its vertical position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Baseline {
    /// Middle.
    #[default]
    Middle,
    /// Foot of the letters.
    Alphabetic,
}

/// Margin around letters that hides what is under them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Halo {
    /// Colour.
    pub colour: Token,
    /// Width of the outline; half of it lies outside the letters.
    pub width: f64,
}

/// Consecutive texts on one line, cut at the end of their room.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLine {
    /// Position of the anchor.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Maximum width; infinite if it is not cut.
    pub room: f64,
    /// Anchor.
    pub anchor: Anchor,
    /// Meaning of the vertical position.
    pub baseline: Baseline,
    /// Texts.
    pub runs: Vec<TextRun>,
    /// Margin that hides what is under the text.
    pub halo: Option<Halo>,
    /// Class in the page: a frame around the text, or what is restyled with forced colours.
    pub class: &'static str,
    /// True if the page animates a change of the text.
    pub pops: bool,
}

impl TextLine {
    /// Creates a vertically centred line without a halo.
    pub fn new(x: f64, y: f64, room: f64, anchor: Anchor, runs: Vec<TextRun>) -> TextLine {
        TextLine {
            x,
            y,
            room,
            anchor,
            baseline: Baseline::Middle,
            runs,
            halo: None,
            class: "",
            pops: false,
        }
    }
}

/// Primitives in one vector drawing, at the origin of their group.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width and height.
    pub size: (f64, f64),
    /// Class.
    pub class: &'static str,
    /// Contents.
    pub parts: Vec<Primitive>,
}

/// Icon of the sprite.
#[derive(Clone, Debug, PartialEq)]
pub struct Icon {
    /// Name.
    pub name: &'static str,
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Side.
    pub size: f64,
    /// Colour.
    pub colour: Token,
}

/// Words on a rounded ground, 20 pixels high.
#[derive(Clone, Debug, PartialEq)]
pub struct Pill {
    /// Right edge.
    pub right: f64,
    /// Vertical centre.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Class that gives the colours: a state of Pods or a family of kinds.
    pub class: &'static str,
    /// Icon before the words.
    pub icon: Option<&'static str>,
    /// Words.
    pub text: String,
}

/// Translated primitives.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Horizontal offset.
    pub x: f64,
    /// Vertical offset.
    pub y: f64,
    /// Width and height of its element in the page, for what is measured or scrolled there.
    pub size: (f64, f64),
    /// Opacity.
    pub opacity: f64,
    /// Class in the page.
    pub class: &'static str,
    /// Words shown when the pointer rests on it.
    pub title: String,
    /// Contents.
    pub parts: Vec<Primitive>,
}

impl Default for Group {
    fn default() -> Self {
        Group {
            x: 0.0,
            y: 0.0,
            size: (0.0, 0.0),
            opacity: 1.0,
            class: "",
            title: String::new(),
            parts: Vec::new(),
        }
    }
}
