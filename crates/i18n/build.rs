//! Generates the constructors of messages from the English catalogue, and fails when a message lacks a text in a language.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Types of arguments: the word in a catalogue, the variant of `Arg`, the type that the constructor takes.
const TYPES: [(&str, &str, &str); 13] = [
    ("name", "Name", "Word"),
    ("kind", "Kind", "Word"),
    ("state", "State", "Word"),
    ("quantity", "Quantity", "Word"),
    ("command", "Command", "Word"),
    ("change", "Change", "Word"),
    ("count", "Count", "Int"),
    ("number", "Number", "Int"),
    ("clock", "Clock", "Int"),
    ("duration", "Duration", "Int"),
    ("span", "Span", "Int"),
    ("text", "Text", "Message"),
    ("list", "List", "List"),
];

include!("src/ids.rs");

struct Entry {
    id: String,
    text: String,
    line: usize,
}

fn read(path: &str) -> Vec<Entry> {
    println!("cargo:rerun-if-changed={path}");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            let (id, text) = line
                .split_once(" = ")
                .unwrap_or_else(|| panic!("{path}:{}: not `id = text`: {line}", at + 1));
            Entry {
                id: id.into(),
                text: text.into(),
                line: at + 1,
            }
        })
        .collect()
}

/// Returns the placeholders of a text in order: name, and type or forms of a plural.
fn holes(text: &str) -> Vec<(&str, Option<&str>, bool)> {
    text.split('{')
        .skip(1)
        .map(|part| {
            let inner = part.split('}').next().unwrap_or("");
            if let Some((name, _)) = inner.split_once('?') {
                (name, None, true)
            } else if let Some((name, kind)) = inner.split_once(':') {
                (name, Some(kind), false)
            } else {
                (inner, None, false)
            }
        })
        .collect()
}

/// Writes `messages.rs`.
///
/// # Panics
///
/// If a catalogue is wrong, with the place of the mistake.
fn main() {
    let english = read("src/en.txt");
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut all, mut out) = (Vec::new(), String::new());
    for (index, entry) in english.iter().enumerate() {
        let Entry { id, text, line } = entry;
        let place = format!("src/en.txt:{line}: {id}");
        let (mut names, mut arguments) = (Vec::new(), Vec::new());
        for (name, kind, plural) in holes(text) {
            let declared = names.contains(&name);
            match kind {
                Some(_) if declared => panic!("{place}: the type of {name} is said twice"),
                Some(kind) => {
                    let of = TYPES
                        .iter()
                        .find(|(word, ..)| *word == kind)
                        .unwrap_or_else(|| panic!("{place}: no type {kind}"));
                    names.push(name);
                    arguments.push((name, of.1, of.2));
                }
                // A plural may come before the number.
                None => assert!(
                    declared || plural && text.contains(&format!("{{{name}:")),
                    "{place}: {name} has no type"
                ),
            }
        }
        let parameters: String = arguments
            .iter()
            .map(|(name, _, kind)| format!("{name}: impl Into<{kind}>, "))
            .collect();
        let values: String = arguments
            .iter()
            .map(|(name, of, _)| {
                if *of == "Text" {
                    format!("Arg::Text({name}.into()), ")
                } else {
                    format!("Arg::{of}({name}.into().0), ")
                }
            })
            .collect();
        all.push(text.as_str());
        let values = if arguments.is_empty() {
            "None".to_string()
        } else {
            format!("Some(std::rc::Rc::new([{values}]))")
        };
        let _ = writeln!(
            out,
            "#[doc = {text:?}]\n#[inline]\npub fn {id}({parameters}) -> Message {{\n    Message::new({index}, {values})\n}}"
        );
        assert!(known.insert(id, names).is_none(), "{place}: defined twice");
    }
    // A single text: a table of them would double its cost to the page.
    let ids = english
        .iter()
        .fold(IDS_SEED, |hash, entry| hashed(hash, &entry.id));
    let generated = format!(
        "/// The English texts in the order of the catalogue, a line each.\npub static ENGLISH: &str = {:?};\n\
         /// A hash of their ids: a catalogue of another version has other ids.\npub const IDS: u32 = {ids};\n{out}",
        all.join("\n")
    );
    for language in ["zh"] {
        let path = format!("src/{language}.txt");
        let texts = read(&path);
        let mut said = std::collections::BTreeSet::new();
        for Entry { id, text, line } in &texts {
            let names = known
                .get(id.as_str())
                .unwrap_or_else(|| panic!("{path}:{line}: there is no message {id}"));
            assert!(
                said.insert(id.as_str()),
                "{path}:{line}: {id} is said twice"
            );
            for (name, kind, _) in holes(text) {
                assert!(
                    names.contains(&name) && kind.is_none(),
                    "{path}:{line}: {id} has no argument {name}"
                );
            }
        }
        let missing: Vec<&str> = english
            .iter()
            .map(|entry| entry.id.as_str())
            .filter(|id| !said.contains(id))
            .collect();
        assert!(missing.is_empty(), "{path} lacks: {}", missing.join(", "));
        // The page looks a text up by its index.
        if let Some((one, other)) = texts
            .iter()
            .zip(&english)
            .find(|(one, other)| one.id != other.id)
        {
            panic!(
                "{path}:{}: {} stands where the English catalogue has {}",
                one.line, one.id, other.id
            );
        }
    }
    let to = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&to).join("messages.rs"), generated).expect("OUT_DIR can be written");
}
