//! The lessons of the page: each is played to its end, with its solutions, alternatives and wrong answers, and its captions are true.

use i18n::Catalogue;
use lesson::format::{Answers, LessonStep, Predict, Tongue};
use lesson::history::ObservedHistory;
use lesson::{check, functions, library, parse};
use scenario::{ScenarioStep, Wait};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn lessons() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/lessons");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
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
            Err(faults) => {
                wrong.extend(faults.iter().map(|fault| {
                    format!("{name}.yaml:{}: {}", fault.line, fault.message().english())
                }))
            }
            Ok(lesson) => wrong.extend(
                check::check(&lesson)
                    .iter()
                    .map(|finding| format!("{name}: {finding}")),
            ),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page for paper, made by the command.
fn printed(file: &Path, lang: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_loopscope"))
        .args(["lesson", "print", "--lang", lang])
        .arg(file)
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}: {}",
        file.display(),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn each_lesson_is_printed_with_its_steps_diagrams_and_answers_in_both_languages() {
    for (name, text) in lessons() {
        let lesson = parse(&text).unwrap();
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("static/lessons/{name}.yaml"));
        for (lang, tongue) in [("en", Tongue::English), ("zh", Tongue::Chinese)] {
            let page = printed(&file, lang);
            let count = |part: &str| page.matches(part).count();
            assert!(
                page.contains(&format!("<h1>{}</h1>", lesson.title.plain(tongue))),
                "{name} {lang}"
            );
            assert_eq!(count("<section>"), lesson.steps.len(), "{name} {lang}");
            assert!(
                count("<svg ") + 1 >= lesson.steps.len(),
                "{name} {lang}: diagrams"
            );
            assert_eq!(
                count("<div class=\"task\">"),
                lesson
                    .steps
                    .iter()
                    .filter(|step| step.task.is_some())
                    .count(),
                "{name} {lang}"
            );
            let choices = |step: &&LessonStep| {
                matches!(
                    &step.predict,
                    Some(Predict {
                        answer: Answers::Choices(_),
                        ..
                    })
                )
            };
            assert_eq!(
                count("<li class=\"right\">"),
                lesson.steps.iter().filter(choices).count(),
                "{name} {lang}: answers"
            );
            assert!(
                !page.contains("{{ ") && !page.contains("–</"),
                "{name} {lang}: a value is missing"
            );
        }
    }
}

#[test]
fn a_printed_lesson_is_text_whatever_it_says() {
    let file = std::env::temp_dir().join(format!("loopscope-hostile-{}.yaml", std::process::id()));
    let script = "<script>alert(1)</script>";
    fs::write(
        &file,
        format!("lesson: 1\ntitle: {script}\nsummary: \"`{script}`\"\nsteps:\n- say: {script}\n"),
    )
    .unwrap();
    let page = printed(&file, "en");
    fs::remove_file(&file).unwrap();
    assert!(!page.contains("<script"), "{page}");
    assert_eq!(page.matches("&lt;script&gt;alert(1)").count(), 4);
}

#[test]
fn the_documents_list_every_function() {
    let read =
        |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (text, chinese) = (
        read("docs/lesson-format.md"),
        read("docs/zh/lesson-format.md"),
    );
    for function in functions::ALL {
        let line = format!("| `{}` | {} |", function.usage, function.about);
        assert!(text.contains(&line), "docs/lesson-format.md lacks: {line}");
        let usage = format!("| `{}` |", function.usage);
        assert!(
            chinese.contains(&usage),
            "docs/zh/lesson-format.md lacks: {usage}"
        );
    }
}

#[test]
fn the_library_lists_every_lesson_by_its_title() {
    let mut listed: Vec<&str> = library::ALL.iter().map(|entry| entry.name).collect();
    listed.sort_unstable();
    let files = lessons();
    assert_eq!(
        listed,
        files
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
    );
    let zh = Catalogue::read(
        &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/i18n/src/zh.txt"))
            .unwrap(),
    );
    for (name, text) in files {
        let (lesson, entry) = (parse(&text).unwrap(), library::named(&name).unwrap());
        assert_eq!(
            lesson.title.plain(Tongue::English),
            (entry.title)().english(),
            "{name}"
        );
        assert_eq!(
            lesson.title.plain(Tongue::Chinese),
            (entry.title)().say(&zh),
            "{name}"
        );
        assert!(
            !lesson.summary.is_empty()
                && lesson
                    .steps
                    .iter()
                    .any(|step| step.predict.is_some() || step.task.is_some()),
            "{name}"
        );
    }
}

#[test]
fn each_lesson_ends_with_two_questions_in_both_languages() {
    for (name, text) in lessons() {
        let lesson = parse(&text).unwrap();
        assert_eq!(lesson.review.len(), 2, "{name}");
        for question in &lesson.review {
            let texts = [&question.ask, &question.because];
            for text in texts.into_iter().chain(&question.choices) {
                let english = text.plain(Tongue::English);
                assert!(
                    !text.is_empty() && text.is_translated(),
                    "{name}: {english}"
                );
            }
        }
    }
}

/// The steps of a lesson as they are written, each with its number from 1.
fn written(text: &str) -> Vec<(usize, Value)> {
    let lesson = manifest::parse(text.as_bytes()).documents.remove(0).value;
    lesson["steps"]
        .as_array()
        .unwrap()
        .iter()
        .cloned()
        .enumerate()
        .map(|(at, step)| (at + 1, step))
        .collect()
}

#[test]
fn each_task_has_a_solution_an_alternative_and_a_wrong_way() {
    for (name, text) in lessons() {
        for (at, step) in written(&text) {
            let Some(task) = step.get("task") else {
                continue;
            };
            let ways: Vec<String> = ["solution", "alternative", "wrong"]
                .iter()
                .map(|way| task[way].to_string())
                .collect();
            assert!(
                ways.iter().all(|way| way.len() > "null".len()),
                "{name}, step {at}: {ways:?}"
            );
            assert!(
                ways[0] != ways[1] && ways[1] != ways[2] && ways[0] != ways[2],
                "{name}, step {at}: two ways are the same"
            );
        }
    }
}

#[test]
fn each_answer_is_explained_in_both_languages() {
    for (name, text) in lessons() {
        for (at, step) in written(&text) {
            let Some(predict) = step.get("predict") else {
                continue;
            };
            let because = |tongue: &str| {
                predict["because"][tongue]
                    .as_str()
                    .is_some_and(|text| !text.trim().is_empty())
            };
            assert!(
                because("en") && because("zh"),
                "{name}, step {at}: no `because`"
            );
        }
    }
}

/// Words for numbers, with the numbers. `one`, `first` and `second` are left out: they mostly count nothing.
const NUMBER_WORDS: [(&str, &str); 15] = [
    ("zero", "0"),
    ("twice", "2"),
    ("both", "2"),
    ("two", "2"),
    ("three", "3"),
    ("third", "3"),
    ("four", "4"),
    ("fourth", "4"),
    ("five", "5"),
    ("fifth", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
];

/// What captions say in numbers and no condition of the step has: lesson, step, word, and why that is right.
const UNCHECKED: [(&str, usize, &str, &str); 10] = [
    (
        "control-loop",
        1,
        "two",
        "the manifest that the next step applies; there `replicas(web) == 2` is checked",
    ),
    ("control-loop", 1, "2", "the same manifest"),
    (
        "control-loop",
        4,
        "two",
        "the desired and the actual number, which the same caption names",
    ),
    (
        "rolling-update",
        3,
        "both",
        "each of the two limits is checked to be '25%'",
    ),
    (
        "rolling-update",
        3,
        "0.75",
        "25% of three: arithmetic, of numbers that are checked",
    ),
    ("scaling", 4, "zero", "a question: the task is to do it"),
    (
        "scaling",
        5,
        "zero",
        "what was done in the task, whose check has `ever pods(web) == 0`",
    ),
    (
        "service",
        4,
        "web-0.nginx",
        "an example from the lesson statefulset, where `addresses(web-0.nginx) == 1` is checked",
    ),
    (
        "service",
        4,
        "both",
        "hostname and subdomain, checked in the lesson statefulset, step 1",
    ),
    (
        "service",
        5,
        "both",
        "`endpoints` of `web` and of `web-pods` are checked, one condition each",
    ),
];

/// The words of a text without the values that are filled in: names, images, percentages and fractions are one word each.
fn words(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        plain.push_str(before);
        rest = after.split_once("}}").unwrap().1;
    }
    plain.push_str(rest);
    let words = plain.split(|c: char| !(c.is_alphanumeric() || "-.:%".contains(c)));
    words
        .map(|word| word.trim_matches(['.', ':', '-']).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The number that a word stands for, or the word itself if it has a digit.
fn number(word: &str) -> Option<&str> {
    let known = NUMBER_WORDS
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, number)| *number);
    known.or_else(|| word.contains(|c: char| c.is_ascii_digit()).then_some(word))
}

#[test]
fn each_number_and_numbered_name_of_a_caption_is_computed_or_checked() {
    let (mut wrong, mut excused) = (Vec::new(), BTreeSet::new());
    for (name, text) in lessons() {
        for (at, step) in written(&text) {
            let expect = step["expect"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let checked: BTreeSet<String> = expect.flat_map(words).collect();
            for caption in [&step["say"]["en"], &step["predict"]["because"]["en"]] {
                for word in words(caption.as_str().unwrap_or_default()) {
                    let Some(number) = number(&word).filter(|number| !checked.contains(*number))
                    else {
                        continue;
                    };
                    match UNCHECKED.iter().position(|(lesson, step, said, _)| (*lesson, *step, *said) == (&*name, at, &*word)) {
                        Some(place) => drop(excused.insert(place)),
                        None => wrong.push(format!("{name}, step {at}: {word:?} ({number}) is in no condition of `expect`: {caption}")),
                    }
                }
            }
        }
    }
    wrong.extend(
        (0..UNCHECKED.len())
            .filter(|place| !excused.contains(place))
            .map(|place| format!("no longer needed: {:?}", UNCHECKED[place])),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_words_of_a_caption_are_read_whole() {
    let all = words("`web-0` runs {{ image(web) }}: 25% of three is 0.75, not `nginx:1.27`.");
    assert_eq!(
        all,
        [
            "web-0",
            "runs",
            "25%",
            "of",
            "three",
            "is",
            "0.75",
            "not",
            "nginx:1.27"
        ]
    );
    let numbers: Vec<&str> = all.iter().filter_map(|word| number(word)).collect();
    assert_eq!(numbers, ["web-0", "25%", "3", "0.75", "nginx:1.27"]);
}

/// Commands that a hint tells: those in code, one after the other, or each by itself if it offers a choice. Empty if it also asks for something
/// else, such as a change of the manifest, or leaves a name open.
fn told(hint: &str) -> Vec<Vec<ScenarioStep>> {
    let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let step = |code: &&str| match code.split_once(' ')? {
        ("kubectl", line) => Some(ScenarioStep::Kubectl {
            line: line.into(),
            background: false,
        }),
        ("fault", line) => Some(ScenarioStep::Fault(line.into())),
        _ => None,
    };
    let open = |code: &str| {
        code.contains('…')
            || code
                .split(' ')
                .any(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase()))
    };
    let Some(steps) = code.iter().map(step).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    if code.iter().any(|code| open(code)) || hint.contains("manifest") {
        return Vec::new();
    }
    let waits = |steps: &[ScenarioStep]| {
        let wait = || ScenarioStep::Wait(Wait::For(60_000_000));
        steps
            .iter()
            .flat_map(|step| [step.clone(), wait()])
            .collect()
    };
    if hint.contains(" or ") {
        steps.chunks(1).map(waits).collect()
    } else if steps.is_empty() {
        Vec::new()
    } else {
        vec![waits(&steps)]
    }
}

#[test]
fn the_commands_of_a_hint_do_the_task() {
    let mut done = 0;
    for (name, text) in lessons() {
        let lesson = parse(&text).unwrap();
        let sim = kubectl::new_cluster(lesson.cluster.clone(), lesson.seed);
        for at in 0..lesson.steps.len() {
            let Some(task) = &lesson.steps[at].task else {
                continue;
            };
            // The last hint is to lead to the goal.
            let Some(hint) = task.hints.last() else {
                continue;
            };
            let hint = hint.say(Tongue::English, &ObservedHistory::default(), &sim);
            for steps in told(&hint) {
                let mut followed = parse(&text).unwrap();
                followed.steps[at].task.as_mut().unwrap().alternative = steps.into();
                let found = check::check(&followed);
                assert!(
                    found.is_empty(),
                    "{name}, step {}: {hint}: {found:?}",
                    at + 1
                );
                done += 1;
            }
        }
    }
    assert!(done >= 8, "{done} hints were followed");
}
