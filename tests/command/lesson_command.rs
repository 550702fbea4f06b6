//! `loopscope lesson check`, `validate` and `picture` as commands: what they print, write and exit with.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_loopscope"))
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_lines(output: &Output) -> Vec<Value> {
    printed(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The lesson of the document.
fn example() -> String {
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lessons.md")).unwrap();
    document
        .split_once("```yaml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .unwrap()
        .0
        .to_owned()
}

#[test]
fn a_lesson_that_can_be_done_is_ok() {
    let own = file("own.yaml", &example());
    let output = run(&["lesson", "check", "static/lessons/control-loop.yaml", &own]);
    assert_eq!(
        (output.status.code(), printed(&output)),
        (
            Some(0),
            format!("static/lessons/control-loop.yaml: ok\n{own}: ok\n")
        )
    );
}

#[test]
fn what_is_wrong_with_the_text_of_a_lesson_is_told_with_its_line() {
    let text = example()
        .replace("  look: web\n", "  lok: web\n")
        .replace("never ready(web) < 2", "never redy(web) < 2");
    let line = |word: &str| text.lines().position(|line| line.contains(word)).unwrap() + 1;
    let broken = file("broken.yaml", &text);
    let output = run(&["lesson", "check", &broken]);
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for (line, words) in [(line("lok:"), "look"), (line("redy"), "ready")] {
        let told = printed
            .lines()
            .any(|told| told.starts_with(&format!("{broken}:{line}: ")) && told.contains(words));
        assert!(told, "line {line}, {words}: {printed}");
    }
    assert_eq!(printed.lines().count(), 2, "{printed}");
    // One that is no YAML at all.
    let torn = file("torn.yaml", "lesson: 1\ntitle: {en: a\nsteps: []\n");
    let output = run(&["lesson", "check", &torn]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).starts_with(&format!("{torn}:")),
        "{output:?}"
    );
}

#[test]
fn what_is_wrong_with_the_play_of_a_lesson_is_told_with_its_step() {
    let false_claim = "  look: web\n  expect: [replicas(web) == 3]\n";
    let text = example().replacen("  look: web\n", false_claim, 1).replace(
        "solution: [{kubectl: scale deployment web --replicas=4}",
        "solution: [{kubectl: scale deployment web --replicas=3}",
    );
    let wrong = file("wrong.yaml", &text);
    let output = run(&["lesson", "check", &wrong]);
    let lines: Vec<String> = printed(&output).lines().map(str::to_owned).collect();
    assert_eq!(output.status.code(), Some(1), "{lines:?}");
    let expected = [
        "step 1: expect[0] does not hold after the step",
        "step 3: the solution does not do the task",
    ];
    let line = |word: &str| text.lines().position(|line| line.contains(word)).unwrap() + 1;
    let at = [line("- say: {en: \"This"), line("- say: {en: Your turn.")];
    let located = [0, 1].map(|step| format!("{wrong}:{}: {}", at[step], expected[step]));
    assert_eq!(lines, located);
    let output = run(&["lesson", "check", "--json", &wrong]);
    let problems = json_lines(&output);
    assert_eq!(output.status.code(), Some(1));
    for (step, problem) in problems.iter().enumerate() {
        let expected = json!({ "file": wrong, "line": at[step], "severity": "error", "message": expected[step] });
        assert_eq!(*problem, expected);
    }
    assert_eq!(problems.len(), 2);
}

#[test]
fn validate_prints_each_refusal_as_an_object_of_json() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {tier: 1}\n---\n\
                apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: B\n";
    let broken = file("broken-manifest.yaml", text);
    let plain = run(&["validate", &broken]);
    let output = run(&["validate", "--json", &broken]);
    assert_eq!(output.status.code(), plain.status.code());
    let problems = json_lines(&output);
    let lines: Vec<_> = problems.iter().map(|problem| &problem["line"]).collect();
    assert_eq!(lines, [5, 10], "{problems:?}");
    let mut expected = String::new();
    for problem in &problems {
        assert_eq!(problem["severity"], "error");
        for line in problem["message"].as_str().unwrap().lines() {
            expected += &format!("{broken}:{}: error: {line}\n", problem["line"]);
        }
    }
    assert_eq!(printed(&plain), expected);
    let fine = run(&[
        "validate",
        "--json",
        "crates/session/src/examples/deployment.yaml",
    ]);
    assert_eq!(
        (fine.status.code(), printed(&fine)),
        (Some(0), String::new())
    );
}

#[test]
fn without_a_file_lesson_check_is_refused() {
    for (arguments, words) in [
        (&["lesson", "check"][..], "<FILES>..."),
        (&["lesson", "check", "nowhere.yaml"][..], "nowhere.yaml: "),
    ] {
        let output = run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && output.stdout.is_empty() && told.contains(words),
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn a_picture_is_drawn_and_each_still_is_a_file() {
    let manifest = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/session/src/examples/deployment.yaml"
    );
    let output = run(&["picture", manifest, "--view", "nodes", "--size", "720x420"]);
    let picture = printed(&output);
    assert!(
        output.status.success()
            && picture.starts_with("<svg ")
            && picture.trim_end().ends_with("</svg>"),
        "{output:?}"
    );
    assert_eq!(
        ["node-1", "node-2", "node-3"]
            .iter()
            .filter(|node| picture.contains(**node))
            .count(),
        3
    );

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stills");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let path = folder.to_string_lossy();
    let output = run(&[
        "picture", manifest, "--from", "0s", "--at", "4s", "--step", "500ms", "--stills", &path,
    ]);
    assert!(output.status.success(), "{output:?}");
    let mut stills: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    stills.sort();
    assert_eq!(printed(&output), format!("{} pictures\n", stills.len()));
    let names: Vec<String> = stills
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        names,
        (1..=stills.len())
            .map(|count| format!("{count:04}.svg"))
            .collect::<Vec<_>>()
    );
    assert!((3..=9).contains(&stills.len()), "{names:?}");
    let texts: Vec<String> = stills
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(texts.iter().all(|text| text.starts_with("<svg ")
        && text.trim_end().ends_with("</svg>")
        && !text.contains("<script")));
    assert_ne!(
        texts.first(),
        texts.last(),
        "something has happened meanwhile"
    );
    assert!(texts.last().unwrap().contains("Ready"));
}
