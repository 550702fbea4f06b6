//! Messages keep names verbatim in every language, and every message is used.

use i18n::{Arg, Catalogue, Message, holes};
use k8s_model::Str;
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
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn chinese() -> Catalogue {
    Catalogue::read(&fs::read_to_string(root().join("crates/i18n/src/zh.txt")).unwrap())
}

/// The messages of a catalogue in their order: id and text.
fn messages() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("crates/i18n/src/en.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(" = "))
        .map(|(id, text)| (id.into(), text.into()))
        .collect()
}

/// An argument of a type that says `word`, where it can.
fn argument(kind: &str, word: &str) -> Arg {
    let text = Str::from(word);
    match kind {
        "name" => Arg::Name(text),
        "kind" => Arg::Kind(text),
        "state" => Arg::State(text),
        "quantity" => Arg::Quantity(text),
        "command" => Arg::Command(text),
        "change" => Arg::Change(text),
        "count" => Arg::Count(3),
        "number" => Arg::Number(7),
        "clock" => Arg::Clock(61_000),
        "duration" => Arg::Duration(1_500),
        "span" => Arg::Span(2_000),
        "text" => Arg::Text(Message::name(word)),
        "list" => Arg::List(vec![Message::name(word)]),
        other => panic!("no type {other}"),
    }
}

/// Whether what an argument says is never translated.
fn is_verbatim(kind: &str) -> bool {
    !["count", "number", "clock", "duration", "span"].contains(&kind)
}

#[test]
fn every_name_survives_verbatim_and_once_in_every_sentence_of_both_languages() {
    const MARK: &str = "\u{1}";
    let all = messages();
    assert!(all.len() > 900, "{}", all.len());
    for (language, words) in [("en", Catalogue::ENGLISH), ("zh", chinese())] {
        for (n, (id, text)) in all.iter().enumerate() {
            let args: Vec<(&str, &str)> = holes(text).collect();
            for (at, (name, _)) in args
                .iter()
                .enumerate()
                .filter(|(_, (_, kind))| is_verbatim(kind))
            {
                let say = |word: &str| {
                    let args = args
                        .iter()
                        .enumerate()
                        .map(|(i, (_, kind))| argument(kind, if i == at { word } else { "-" }));
                    Message::of(n, args.collect()).say(&words)
                };
                let marked = say(MARK);
                assert_eq!(
                    marked.matches(MARK).count(),
                    1,
                    "{language}: {id}: {name} is not said once: {marked:?}"
                );
                assert!(
                    !marked.contains(['{', '}']),
                    "{language}: {id}: an unrendered hole: {marked:?}"
                );
                for word in NAMES {
                    assert_eq!(say(word), marked.replace(MARK, word), "{language}: {id}");
                }
            }
        }
    }
}

#[test]
fn every_message_without_arguments_is_said_in_both_languages() {
    let chinese = chinese();
    for (n, (id, _)) in messages()
        .iter()
        .enumerate()
        .filter(|(_, (_, text))| holes(text).next().is_none())
    {
        let message = Message::of(n, Vec::new());
        for text in [message.english(), message.say(&chinese)] {
            assert!(
                !text.trim().is_empty() && !text.contains(['{', '}']),
                "{id}: {text:?}"
            );
        }
    }
}

#[test]
fn a_catalogue_of_another_version_is_not_used() {
    let text = fs::read_to_string(root().join("crates/i18n/src/zh.txt")).unwrap();
    assert_ne!(Catalogue::read(&text), Catalogue::ENGLISH);
    let line = text
        .lines()
        .find(|line| line.starts_with("net_none"))
        .unwrap();
    assert_eq!(
        Catalogue::read(&text.replace(&format!("{line}\n"), "")),
        Catalogue::ENGLISH
    );
}

#[test]
fn plurals_belong_to_the_catalogue() {
    use i18n::msg;
    let chinese = chinese();
    assert_eq!(
        [1, 2, 12_500].map(|n| msg::summary_pods(n).english()),
        ["1 Pod", "2 Pods", "12,500 Pods"]
    );
    assert_eq!(
        msg::progress_some_ready(2, 3).say(&chinese),
        "3 个 Pod 中 2 个就绪"
    );
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
    for folder in ["src", "crates"] {
        sources(&root().join(folder), &mut all);
    }
    let unused: Vec<String> = messages()
        .into_iter()
        .map(|(id, _)| id)
        .filter(|id| !all.contains(&format!("msg::{id}")))
        .collect();
    assert_eq!(unused, Vec::<String>::new());
}

/// Chinese has spaces beside Latin letters alone.
#[test]
fn a_text_within_a_chinese_text_has_no_spaces_around_it() {
    let zh = chinese();
    assert_eq!(
        i18n::msg::chart_deleted("web-0", i18n::msg::actor_you()).say(&zh),
        "web-0 被用户删除"
    );
    let latin = Message::name("job-controller");
    assert_eq!(
        i18n::msg::chart_deleted("web-0", latin).say(&zh),
        "web-0 被 job-controller 删除"
    );
}

/// What a first visit reads before the module is there is what the catalogues say.
#[test]
fn the_document_says_what_the_page_is_as_the_catalogues_do() {
    let file =
        |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let what = |path: &str| {
        let text = file(path);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("help_what = "))
            .unwrap();
        line.to_string()
    };
    assert!(file("index.html").contains(&format!(
        r#"<p id="boot-what" elementtiming="what">{}</p>"#,
        what("crates/i18n/src/en.txt")
    )));
    assert!(
        file("static/start.js").contains(&format!("what: '{}'", what("crates/i18n/src/zh.txt")))
    );
}
