//! Message as data: an id with arguments. It is rendered where it is shown, once per language.

use super::format::{clock, duration, span};
use k8s_model::{InternedStr, Kind, Str};
use std::rc::Rc;

/// Typed argument of a message. Only numbers, times and nested messages depend on the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// Name or value given by a person or Kubernetes: never translated.
    Name(Str),
    /// Kind or resource, as the API writes it.
    Kind(Str),
    /// Phase, reason or condition, as the API writes it.
    State(Str),
    /// Amount with its unit: `500m`, `1Gi`.
    Quantity(Str),
    /// Command line.
    Command(Str),
    /// Value before and after, or a sum: `3 → 2`.
    Change(Str),
    /// Count, with thousands grouped.
    Count(i64),
    /// Number that is not a count: a port, an exit code, an ordinal.
    Number(i64),
    /// Point of virtual time, in milliseconds.
    Clock(i64),
    /// Duration, in milliseconds.
    Duration(i64),
    /// Configured duration, in milliseconds: `2 s` rather than `2.0 s`.
    Span(i64),
    /// Nested message.
    Text(Message),
    /// Enumeration of messages.
    List(Vec<Message>),
}

/// Untranslated text, as the argument of a message.
pub struct Word(pub Str);
/// Number, as the argument of a message.
pub struct Int(pub i64);
/// List of messages, as the argument of a message.
pub struct List(pub Vec<Message>);

impl From<Str> for Word {
    fn from(text: Str) -> Word {
        Word(text)
    }
}
impl From<&Str> for Word {
    fn from(text: &Str) -> Word {
        Word(text.clone())
    }
}
impl From<&InternedStr> for Word {
    fn from(text: &InternedStr) -> Word {
        Word(text.to_str())
    }
}
impl From<&str> for Word {
    fn from(text: &str) -> Word {
        Word(text.into())
    }
}
impl From<String> for Word {
    fn from(text: String) -> Word {
        Word(text.into())
    }
}
impl From<&String> for Word {
    fn from(text: &String) -> Word {
        Word(text.as_str().into())
    }
}
impl From<Kind> for Word {
    fn from(kind: Kind) -> Word {
        Word(kind.name().into())
    }
}

macro_rules! whole_numbers {
    ($($of:ty)*) => {$(
        impl From<$of> for Int {
            fn from(number: $of) -> Int {
                Int(number as i64)
            }
        }
        impl From<&$of> for Int {
            fn from(number: &$of) -> Int {
                Int(*number as i64)
            }
        }
    )*};
}
whole_numbers!(i64 i32 u64 u32 usize u8);

impl From<Vec<Message>> for List {
    fn from(all: Vec<Message>) -> List {
        List(all)
    }
}

/// Message id with arguments. Equality compares the content.
#[derive(Clone, PartialEq)]
pub struct Message {
    id: u16,
    args: Option<Rc<[Arg]>>,
}

/// Id of a message that consists of a single argument.
const ALONE: u16 = u16::MAX;

impl Default for Message {
    /// Returns the empty message.
    fn default() -> Message {
        Message {
            id: ALONE,
            args: None,
        }
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.english())
    }
}

impl From<&Message> for Message {
    fn from(of: &Message) -> Message {
        of.clone()
    }
}

/// Typographic role of a part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words of the language.
    Plain,
    /// Name or command.
    Name,
    /// Changed value.
    Change,
}

impl Message {
    pub(super) fn new(id: u16, args: Option<Rc<[Arg]>>) -> Message {
        Message { id, args }
    }

    /// Builds the message at an index of the catalogue, with arguments of the right types. Other code uses the constructors.
    pub fn of(index: usize, args: Vec<Arg>) -> Message {
        Message::new(index as u16, (!args.is_empty()).then(|| args.into()))
    }

    /// Builds a message of a single argument: a name, a state, a number.
    pub fn only(arg: Arg) -> Message {
        Message {
            id: ALONE,
            args: Some(Rc::new([arg])),
        }
    }

    /// Builds a message of a name or a value, independent of the language.
    pub fn name(text: impl Into<Word>) -> Message {
        Message::only(Arg::Name(text.into().0))
    }

    /// Builds a message of a word of the API: a phase, a reason.
    pub fn state(text: impl Into<Word>) -> Message {
        Message::only(Arg::State(text.into().0))
    }

    /// Builds a message of a count.
    pub fn count(number: impl Into<Int>) -> Message {
        Message::only(Arg::Count(number.into().0))
    }

    /// Builds an enumeration.
    pub fn list(all: Vec<Message>) -> Message {
        Message::only(Arg::List(all))
    }

    /// Returns true if the message is empty.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |args: &[Arg]| match args {
            [Arg::Name(text) | Arg::State(text)] => text.is_empty(),
            [Arg::List(all)] => all.is_empty(),
            _ => false,
        };
        self.id == ALONE && self.args.as_deref().is_none_or(says_nothing)
    }

    /// Replaces the names in the message and in nested messages.
    pub fn with_names(&self, change: &dyn Fn(&str) -> String) -> Message {
        let arg = |arg: &Arg| match arg {
            Arg::Name(name) => Arg::Name(change(name).into()),
            Arg::Text(of) => Arg::Text(of.with_names(change)),
            Arg::List(all) => Arg::List(all.iter().map(|one| one.with_names(change)).collect()),
            other => other.clone(),
        };
        Message {
            id: self.id,
            args: self
                .args
                .as_ref()
                .map(|args| args.iter().map(arg).collect()),
        }
    }

    /// Returns the number, if the message is a count alone.
    pub fn as_count(&self) -> Option<i64> {
        if let (ALONE, [Arg::Count(number)]) = (self.id, self.args()) {
            Some(*number)
        } else {
            None
        }
    }

    /// Returns the arguments, in the order of the English text.
    pub fn args(&self) -> &[Arg] {
        self.args.as_deref().unwrap_or_default()
    }

    /// Renders the message in a language.
    pub fn say(&self, words: &Catalogue) -> String {
        let mut out = String::new();
        self.parts(words, &mut |_, text| out.push_str(text));
        out
    }

    /// Renders the message in English.
    pub fn english(&self) -> String {
        self.say(&Catalogue::ENGLISH)
    }

    /// Returns the number of characters of the English text, for layouts that do not depend on the language.
    pub fn length(&self) -> usize {
        let mut length = 0;
        self.parts(&Catalogue::ENGLISH, &mut |_, text| {
            length += text.chars().count()
        });
        length
    }

    /// Renders the message in parts, each with its typographic role.
    pub fn parts(&self, words: &Catalogue, out: &mut dyn FnMut(Part, &str)) {
        let Some(english) = english(self.id) else {
            return self.args().iter().for_each(|arg| write(arg, words, out));
        };
        let value = |name: &str| {
            self.args()
                .get(holes(english).position(|(own, _)| own == name)?)
        };
        let mut rest = words.text(self.id).unwrap_or(english);
        while let Some((mut before, tail)) = rest.split_once('{') {
            let (hole, mut after) = tail.split_once('}').unwrap_or((tail, ""));
            let beside = before.ends_with(' ') || after.starts_with(' ');
            if let Some(Arg::Text(of)) = value(hole).filter(|_| beside) {
                let text = of.say(words);
                // Chinese has no spaces between its own characters, only next to other letters.
                before = before
                    .strip_suffix(' ')
                    .filter(|head| {
                        is_chinese(head.chars().last()) && is_chinese(text.chars().next())
                    })
                    .unwrap_or(before);
                after = after
                    .strip_prefix(' ')
                    .filter(|tail| {
                        is_chinese(text.chars().last()) && is_chinese(tail.chars().next())
                    })
                    .unwrap_or(after);
            }
            if !before.is_empty() {
                out(Part::Plain, before);
            }
            match hole.split_once('?') {
                Some((name, forms)) => {
                    let one = matches!(value(name), Some(Arg::Count(1) | Arg::Number(1)));
                    let (single, plural) = forms.split_once('|').unwrap_or((forms, forms));
                    out(Part::Plain, if one { single } else { plural });
                }
                None => {
                    let name = hole.split(':').next().unwrap_or(hole);
                    if let Some(arg) = value(name) {
                        write(arg, words, out);
                    }
                }
            }
            rest = after;
        }
        if !rest.is_empty() {
            out(Part::Plain, rest);
        }
    }
}

/// Returns true for a Chinese character or punctuation mark.
fn is_chinese(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter >= '\u{2e80}')
}

fn write(arg: &Arg, words: &Catalogue, out: &mut dyn FnMut(Part, &str)) {
    match arg {
        Arg::Name(text) | Arg::Command(text) => out(Part::Name, text),
        Arg::Kind(text) | Arg::State(text) | Arg::Quantity(text) => out(Part::Plain, text),
        Arg::Change(text) => out(Part::Change, text),
        Arg::Count(number) => out(Part::Plain, &super::count(*number)),
        Arg::Number(number) => out(Part::Plain, &number.to_string()),
        Arg::Clock(ms) => out(Part::Plain, &clock(ms.unsigned_abs())),
        Arg::Duration(ms) => out(Part::Plain, &duration(ms.unsigned_abs())),
        Arg::Span(ms) => out(Part::Plain, &span(ms.unsigned_abs())),
        Arg::Text(of) => of.parts(words, out),
        Arg::List(all) => {
            for (at, of) in all.iter().enumerate() {
                if at > 0 {
                    out(Part::Plain, words.between());
                }
                of.parts(words, out);
            }
        }
    }
}

/// Returns the arguments of an English text in order: name and type.
pub fn holes(english: &str) -> impl Iterator<Item = (&str, &str)> {
    let inner = english
        .split('{')
        .skip(1)
        .map(|part| part.split('}').next().unwrap_or(part));
    // A plural refers to an argument that is declared elsewhere.
    inner
        .filter(|inner| !inner.contains('?'))
        .filter_map(|inner| inner.split_once(':'))
}

include!("ids.rs");

thread_local! {
    static ENGLISH: Vec<&'static str> = super::msg::ENGLISH.split('\n').collect();
}

/// Returns the English text of a message.
fn english(id: u16) -> Option<&'static str> {
    ENGLISH.with(|all| all.get(usize::from(id)).copied())
}

/// Texts of a language. English is compiled in; another language is a file of lines `id = text`, loaded on demand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    texts: Vec<Box<str>>,
}

impl Catalogue {
    /// English catalogue.
    pub const ENGLISH: Catalogue = Catalogue { texts: Vec::new() };

    /// Parses a catalogue, whose texts are in the order of the English one. A catalogue of another version is ignored in favour of
    /// English.
    pub fn read(file: &str) -> Catalogue {
        let (mut texts, mut ids) = (Vec::new(), IDS_SEED);
        for (id, text) in file
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(" = "))
        {
            ids = hashed(ids, id);
            texts.push(text.into());
        }
        if ids == super::msg::IDS {
            Catalogue { texts }
        } else {
            Catalogue::ENGLISH
        }
    }

    fn text(&self, id: u16) -> Option<&str> {
        self.texts.get(usize::from(id)).map(|text| &**text)
    }

    /// Returns the separator between the members of an enumeration.
    fn between(&self) -> &str {
        // The catalogue contains it as the text of a message.
        let of = super::msg::list_separator();
        self.text(of.id).map_or(", ", |text| text.trim_matches('"'))
    }
}

/// Rendering of messages as English text, for tests.
#[cfg(any(test, feature = "test-util"))]
mod in_tests {
    use super::Message;

    impl Message {
        pub fn as_str(&self) -> &str {
            self
        }
    }

    impl std::ops::Deref for Message {
        type Target = str;

        fn deref(&self) -> &str {
            self.english().leak()
        }
    }

    impl std::fmt::Display for Message {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self)
        }
    }

    impl From<&str> for Message {
        fn from(text: &str) -> Message {
            Message::name(text)
        }
    }

    impl PartialEq<str> for Message {
        fn eq(&self, english: &str) -> bool {
            **self == *english
        }
    }

    impl PartialEq<&str> for Message {
        fn eq(&self, english: &&str) -> bool {
            **self == **english
        }
    }

    impl PartialEq<String> for Message {
        fn eq(&self, english: &String) -> bool {
            **self == **english
        }
    }

    impl PartialEq<Message> for String {
        fn eq(&self, english: &Message) -> bool {
            **self == **english
        }
    }
}
