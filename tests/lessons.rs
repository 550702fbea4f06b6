//! The lessons of the page: each is played to its end, with its solutions, alternatives and wrong answers, and its captions are true.

use loopscope::i18n::Catalogue;
use loopscope::lesson::format::{Answers, LessonStep, Predict, Tongue};
use loopscope::lesson::{check, functions, library, parse};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// A page for paper, made by the command.
fn printed(file: &Path, lang: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_loopscope")).args(["lesson", "print", "--lang", lang]).arg(file).output().unwrap();
    assert!(out.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn each_lesson_is_printed_with_its_steps_diagrams_and_answers_in_both_languages() {
    for (name, text) in lessons() {
        let lesson = parse(&text).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("static/lessons/{name}.yaml"));
        for (lang, tongue) in [("en", Tongue::English), ("zh", Tongue::Chinese)] {
            let page = printed(&file, lang);
            let count = |part: &str| page.matches(part).count();
            assert!(page.contains(&format!("<h1>{}</h1>", lesson.title.plain(tongue))), "{name} {lang}");
            assert_eq!(count("<section>"), lesson.steps.len(), "{name} {lang}");
            assert!(count("<svg ") + 1 >= lesson.steps.len(), "{name} {lang}: diagrams");
            assert_eq!(count("<div class=\"task\">"), lesson.steps.iter().filter(|step| step.task.is_some()).count(), "{name} {lang}");
            let choices = |step: &&LessonStep| matches!(&step.predict, Some(Predict { answer: Answers::Choices(_), .. }));
            assert_eq!(count("<li class=\"right\">"), lesson.steps.iter().filter(choices).count(), "{name} {lang}: answers");
            assert!(!page.contains("{{ ") && !page.contains("–</"), "{name} {lang}: a value is missing");
        }
    }
}

#[test]
fn a_printed_lesson_is_text_whatever_it_says() {
    let file = std::env::temp_dir().join(format!("loopscope-hostile-{}.yaml", std::process::id()));
    let script = "<script>alert(1)</script>";
    fs::write(&file, format!("lesson: 1\ntitle: {script}\nsummary: \"`{script}`\"\nsteps:\n- say: {script}\n")).unwrap();
    let page = printed(&file, "en");
    fs::remove_file(&file).unwrap();
    assert!(!page.contains("<script"), "{page}");
    assert_eq!(page.matches("&lt;script&gt;alert(1)").count(), 4);
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
