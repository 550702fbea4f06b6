//! The lessons of the page: each is played to its end, with its solutions, alternatives and wrong answers, and its captions are true.

use loopscope::lesson::{check, functions, parse};
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
