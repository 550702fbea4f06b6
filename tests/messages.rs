//! Messages keep names verbatim in every language, and every message is used.

use loopscope::api::Str;
use loopscope::i18n::{Arg, Catalogue, Message, Sort, msg::TABLE};
use std::fs;
use std::path::{Path, PathBuf};

/// Legal names: those that are hard to keep apart from the words around them.
const NAMES: [&str; 12] = [
    "ready",
    "replaced",
    "Running",
    "pod",
    "a",
    "kube-system/web-0",
    "0",
    "5000",
    "x{y}",
    "terminating.",
    "nginx:1.27",
    "web: 2 of 3 Pods are Ready",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn chinese() -> Catalogue {
    Catalogue::read(&fs::read_to_string(root().join("i18n/zh.txt")).unwrap())
}

/// An argument of a sort that says `word`, where it can.
fn argument(sort: Sort, word: &str) -> Arg {
    let word = Str::from(word);
    match sort {
        Sort::Name => Arg::Name(word),
        Sort::Kind => Arg::Kind(word),
        Sort::State => Arg::State(word),
        Sort::Quantity => Arg::Quantity(word),
        Sort::Command => Arg::Command(word),
        Sort::Change => Arg::Change(word),
        Sort::Count => Arg::Count(3),
        Sort::Number => Arg::Number(7),
        Sort::Clock => Arg::Clock(61_000),
        Sort::Duration => Arg::Duration(1_500),
        Sort::Span => Arg::Span(2_000),
        Sort::Text => Arg::Text(Message::name(word)),
        Sort::List => Arg::List(vec![Message::name(word)]),
    }
}

/// Whether what an argument says is never translated.
fn is_verbatim(sort: Sort) -> bool {
    !matches!(sort, Sort::Count | Sort::Number | Sort::Clock | Sort::Duration | Sort::Span)
}

#[test]
fn every_name_survives_verbatim_and_once_in_every_sentence_of_both_languages() {
    const MARK: &str = "\u{1}";
    assert!(TABLE.len() > 900, "{}", TABLE.len());
    for (language, words) in [("en", Catalogue::ENGLISH), ("zh", chinese())] {
        for (id, entry) in TABLE.iter().enumerate() {
            for (at, (name, _)) in entry.args.iter().enumerate().filter(|(_, (_, sort))| is_verbatim(*sort)) {
                let say = |word: &str| {
                    let args = entry.args.iter().enumerate().map(|(i, (_, sort))| argument(*sort, if i == at { word } else { "-" }));
                    Message::of(id, args.collect()).say(&words)
                };
                let marked = say(MARK);
                assert_eq!(marked.matches(MARK).count(), 1, "{language}: {}: {name} is not said once: {marked:?}", entry.id);
                assert!(!marked.contains(['{', '}']), "{language}: {}: an unrendered hole: {marked:?}", entry.id);
                for word in NAMES {
                    assert_eq!(say(word), marked.replace(MARK, word), "{language}: {}", entry.id);
                }
            }
        }
    }
}

#[test]
fn every_message_without_arguments_is_said_in_both_languages() {
    let chinese = chinese();
    for (id, entry) in TABLE.iter().enumerate().filter(|(_, entry)| entry.args.is_empty()) {
        let message = Message::of(id, Vec::new());
        for text in [message.english(), message.say(&chinese)] {
            assert!(!text.trim().is_empty() && !text.contains(['{', '}']), "{}: {text:?}", entry.id);
        }
    }
}

#[test]
fn plurals_belong_to_the_catalogue() {
    use loopscope::i18n::msg;
    let chinese = chinese();
    assert_eq!([1, 2, 12_500].map(|n| msg::summary_pods(n).english()), ["1 Pod", "2 Pods", "12,500 Pods"]);
    assert_eq!(msg::progress_some_ready(2, 3).say(&chinese), "3 个 Pod 中 2 个就绪");
}

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            *found += &fs::read_to_string(path).unwrap();
        }
    }
}

#[test]
fn every_message_is_used() {
    let mut all = String::new();
    sources(&root(), &mut all);
    let unused: Vec<&str> = TABLE.iter().map(|entry| entry.id).filter(|id| !all.contains(&format!("msg::{id}"))).collect();
    assert_eq!(unused, Vec::<&str>::new());
}
