//! Every word of the page is in the table of the other language: the literals of the sources are looked up in
//! `src/i18n/zh.txt`.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is written the same in both: kinds, programs, fields, units.
const TERMS: [&str; 19] = [
    "Loopscope",
    "YAML",
    "Pod",
    "Node",
    "StorageClass",
    "API server",
    "etcd",
    "resourceVersion",
    "NotReady",
    "Gi",
    "Mi",
    "cpu",
    "kubectl get pods",
    "pod/web-0 condition=Ready",
    "Ctrl ⏎",
    "Home  End",
    "EN",
    "W",
    "Esc",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A source without its comments and tests.
fn source(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or("").to_string();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The two sides of every line of the table.
fn table() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("i18n/zh.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split(" = ").collect();
            assert!(parts.len().is_multiple_of(2), "not English = 中文: {line}");
            let middle = parts.len() / 2;
            (parts[..middle].join(" = "), parts[middle..].join(" = "))
        })
        .collect()
}

fn holes(text: &str) -> String {
    Regex::new(r"\{[^{}]*\}").unwrap().replace_all(text, "{}").replace("\\\"", "\"")
}

/// The sentences of a source: literals, formats, and lists of pieces that are put together.
fn sentences(text: &str) -> BTreeSet<String> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let (mut out, mut rest) = (BTreeSet::new(), text.to_string());
    while let Some(end) = rest.find("].concat()") {
        let bytes = rest.as_bytes();
        let (mut at, mut depth) = (end, 1);
        while depth > 0 {
            at -= 1;
            depth += match bytes[at] {
                b']' => 1,
                b'[' => -1,
                _ => 0,
            };
        }
        let list = rest[at + 1..end].to_string();
        out.insert(joined(&list));
        rest.replace_range(at..end + 10, "\"\"");
    }
    out.extend(literal.captures_iter(&rest).map(|found| holes(&found[1])));
    out
}

/// The pieces of a list as one sentence: `["a ", x, " b"]` is `a {} b`.
fn joined(list: &str) -> String {
    let (mut out, mut depth, mut quoted, mut piece) = (String::new(), 0, false, String::new());
    let mut close = |piece: &mut String| {
        let text = piece.trim();
        match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(words) => out.push_str(words),
            None if !text.is_empty() && !out.ends_with("{}") => out.push_str("{}"),
            None => {}
        }
        piece.clear();
    };
    for c in list.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 && !quoted { close(&mut piece) } else { piece.push(c) }
    }
    close(&mut piece);
    out
}

/// Looks every sentence up, as the page does: whole, or without its last full stop.
fn missing<'a>(all: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let known: BTreeSet<String> = table().into_iter().map(|(english, _)| english).collect();
    let letters = Regex::new("[A-Za-z]{2}").unwrap();
    all.into_iter()
        .map(|text| text.trim().to_string())
        .filter(|text| letters.is_match(&text.replace("{}", "")) && !TERMS.contains(&text.as_str()))
        .filter(|text| !known.contains(text) && !text.strip_suffix('.').is_some_and(|text| known.contains(text)))
        .collect()
}

#[test]
fn every_line_has_both_sides_and_the_same_holes() {
    let mut seen = BTreeSet::new();
    let numbered = Regex::new(r"\{\d\}").unwrap();
    for (english, chinese) in table() {
        let count = |text: &str| text.matches("{}").count() + numbered.find_iter(text).count();
        // A name may be left out, never invented.
        assert!(count(&chinese) <= count(&english), "{english} = {chinese}");
        assert!(seen.insert(english.clone()), "twice: {english}");
        assert!(!chinese.contains('`') && !chinese.contains("${"), "{chinese}");
    }
    assert!(seen.len() > 500, "{}", seen.len());
}

#[test]
fn every_reason_and_every_wait_is_said_in_both_languages() {
    let mut all = sentences(&source(&root().join("i18n/en.rs")));
    let waits = source(&root().join("i18n/waits.rs"));
    let (facts, cures) = waits.split_once("pub fn cure").unwrap();
    all.extend(sentences(facts));
    // Three pieces around a name and a value.
    let pieces = Regex::new(r#"=> \("([^"]*)", "([^"]*)", "([^"]*)"\)"#).unwrap();
    for found in pieces.captures_iter(cures) {
        let (before, middle, after) = (&found[1], &found[2], &found[3]);
        let valued = middle.ends_with(": ") || middle.ends_with("uses ");
        all.insert(if valued { format!("{before}{{}}{middle}{{}}{after}") } else { format!("{before}{{}}{middle}{after}") });
        if valued {
            all.insert(format!("{before}{{}}"));
        }
    }
    assert!(all.iter().any(|text| text == "Uncordon {}: {} is free there"), "{all:?}");
    // Pieces of the sentences above, and the plural of one.
    let parts = [
        "has ",
        "class ",
        "access ",
        "mode ",
        " failure, ",
        " failures, ",
        "It waits before it tries again: {} allowed",
        "{}, asked for {}",
    ];
    let all: Vec<String> = all.into_iter().filter(|text| !parts.contains(&text.as_str())).collect();
    assert_eq!(missing(&all), Vec::<String>::new());
}

#[test]
fn every_word_of_the_page_is_in_the_table() {
    let word = Regex::new(r#"(?:\{ |(?:aria-label|title|placeholder)=)"((?:[^"\\]|\\.)*)"(?: \}|[ />])"#).unwrap();
    let button = Regex::new(r#"button\(\s*"([^"]*)",\s*"([^"]*)""#).unwrap();
    let choice = Regex::new(r#"\{ ?if [^{}"]+ \{ "([^"]+)"(?:\.to_string\(\))? \} else \{ "([^"]+)""#).unwrap();
    let mut all = BTreeSet::new();
    let files = ["web", "web/page"].into_iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    for path in files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let text = source(&path);
        for found in word.captures_iter(&text) {
            all.insert(holes(&found[1]));
        }
        for found in choice.captures_iter(&text) {
            all.extend([holes(&found[1]), holes(&found[2])]);
        }
        for found in button.captures_iter(&text) {
            all.extend([found[1].to_string(), found[2].to_string()]);
        }
    }
    let page = source(&root().join("web/page/dialogs.rs")) + &source(&root().join("web/embed.rs"));
    let keys = Regex::new(r#"\("[^"]*", "([A-Z][^"]+)"\)"#).unwrap();
    all.extend(keys.captures_iter(&page).map(|found| found[1].to_string()));
    assert!(all.contains("Branch from here") && all.contains("Walk the objects"), "{all:?}");
    let name = Regex::new("^(i-|pod-|c-|ln-|--)|^[a-z]+$|^English$|^tab").unwrap();
    let all: Vec<String> = all.into_iter().filter(|text| !name.is_match(text)).collect();
    assert_eq!(missing(&all), Vec::<String>::new());
}

#[test]
fn what_happened_and_what_is_drawn_is_said_in_both_languages() {
    let mut all = BTreeSet::new();
    for file in [
        "explain/words.rs",
        "explain/evidence.rs",
        "session/state.rs",
        "projection/budget.rs",
        "views/network/mod.rs",
        "views/storage/mod.rs",
        "views/nodes/mod.rs",
        "views/references.rs",
    ] {
        all.extend(sentences(&source(&root().join(file))));
    }
    // Words of two and more; a single one is often a name or a style.
    let two = Regex::new(r"^[A-Za-z—✓]+,? [a-zA-Z]").unwrap();
    let not_said =
        Regex::new(r"^(Pods? (is|are)$|M\{|layer |limit |onedge|kubectl |error:|selector: |Server:|Name:|Address:|\*\*)").unwrap();
    let all: Vec<String> =
        all.into_iter().map(|text| text.trim().to_string()).filter(|text| two.is_match(text) && !not_said.is_match(text)).collect();
    assert_eq!(missing(&all), Vec::<String>::new());
}
