//! The lessons of the page: each is played to its end, with its solutions, alternatives and wrong answers, and its captions are true.

use loopscope::i18n::Catalogue;
use loopscope::lesson::format::Tongue;
use loopscope::lesson::{check, functions, library, parse};
use std::fs;
use std::path::{Path, PathBuf};

fn lessons() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/lessons");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn each_lesson_can_be_done_and_tells_the_truth() {
    let mut wrong = Vec::new();
    let all = lessons();
    assert!(!all.is_empty());
    for (name, text) in all {
        match parse(&text) {
            Err(faults) => wrong.extend(faults.iter().map(|fault| format!("{name}.yaml:{}: {}", fault.line, fault.message().english()))),
            Ok(lesson) => wrong.extend(check::check(&lesson).iter().map(|finding| format!("{name}: {finding}"))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_document_lists_every_function() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lessons.md")).unwrap();
    for function in functions::ALL {
        let line = format!("| `{}` | {} |", function.usage, function.about);
        assert!(text.contains(&line), "docs/lessons.md lacks: {line}");
    }
}

#[test]
fn the_library_lists_every_lesson_by_its_title() {
    let mut listed: Vec<&str> = library::ALL.iter().map(|entry| entry.name).collect();
    listed.sort_unstable();
    let files = lessons();
    assert_eq!(listed, files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    let zh = Catalogue::read(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/i18n/zh.txt")).unwrap());
    for (name, text) in files {
        let (lesson, entry) = (parse(&text).unwrap(), library::named(&name).unwrap());
        assert_eq!(lesson.title.plain(Tongue::English), (entry.title)().english(), "{name}");
        assert_eq!(lesson.title.plain(Tongue::Chinese), (entry.title)().say(&zh), "{name}");
        assert!(!lesson.summary.is_empty() && lesson.steps.iter().any(|step| step.predict.is_some() || step.task.is_some()), "{name}");
    }
}
