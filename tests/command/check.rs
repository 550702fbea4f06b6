//! `loopscope check` as a command: what it prints, writes and exits with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_loopscope"))
        .arg("check")
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn the_example_holds_with_and_without_faults() {
    for flags in [
        &["examples/check-drain.yaml"][..],
        &["examples/check-drain.yaml", "--faults", "--seeds", "100"],
    ] {
        let output = check(flags);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("no violation in "), "{text}");
    }
}

#[test]
fn a_violation_is_exit_code_one_and_a_failure_for_junit() {
    let example = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/check-drain.yaml"
    ))
    .unwrap();
    let path = file(
        "hasty.yaml",
        &example.replace("finishes: 5m", "finishes: 20s"),
    );
    assert_eq!(check(&[&path, "--seeds", "100"]).status.code(), Some(0));
    let xml = file("hasty.xml", "");
    let output = check(&[&path, "--seeds", "100", "--faults", "--junit", &xml]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("  seed ")
            && text.contains("with these faults")
            && text.contains("index.html#pako:"),
        "{text}"
    );
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("<failure message=\"violated in "), "{xml}");
    // One run tells the same of its seed.
    let seed = text
        .split("  seed ")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .unwrap();
    let one = String::from_utf8(check(&[&path, "--seed", seed, "--seeds", "1", "--faults"]).stdout)
        .unwrap();
    assert!(one.contains("VIOLATED in 1 of 1 runs"), "{one}");
}

#[test]
fn what_is_wrong_is_exit_code_two() {
    let bad = file("bad.yaml", "steps:\n- wait: 1s\n- always: nothing(web)\n");
    let web = "- kubectl: create deployment web --image=nginx\n- wait: settled\n- never: ready(web) > 1\n";
    let scenario = |name: &str, line: &str| file(name, &format!("steps:\n{web}- {line}\n"));
    let exploding = scenario("exploding.yaml", "fault: explode everything");
    let nonsense = scenario("nonsense.yaml", "kubectl: nonsense verb");
    let nowhere = scenario("nowhere.yaml", "fault: node-down node-77");
    let gone = scenario("gone.yaml", "fault: exit pod/wbe-0 1");
    for (flags, word) in [
        (&["nowhere.yaml"][..], "nowhere.yaml: "),
        (&[bad.as_str()][..], "steps[1]: always: "),
        (
            &[exploding.as_str()][..],
            "exploding.yaml: line 5: steps[3]: fault: unknown fault \"explode everything\"",
        ),
        (
            &[nonsense.as_str()][..],
            "nonsense.yaml: line 5: steps[3]: kubectl: error: unknown command \"nonsense\"",
        ),
        (
            &[nowhere.as_str()][..],
            "nowhere.yaml: line 5: steps[3]: fault: nodes \"node-77\" not found",
        ),
        (
            &[nowhere.as_str(), "--faults"][..],
            "nowhere.yaml: line 5: steps[3]: fault: nodes \"node-77\" not found",
        ),
        (
            &[gone.as_str()][..],
            "gone.yaml: line 5: steps[3]: fault: pods \"wbe-0\" not found",
        ),
        (&["examples/rolling-update.yaml"][..], "nothing is expected"),
        (
            &["examples/check-drain.yaml", "--seeds", "0"][..],
            "invalid value '0' for '--seeds <N>'",
        ),
        (
            &["examples/check-drain.yaml", "--sedes", "3"][..],
            "unexpected argument '--sedes' found",
        ),
        (&[][..], "<SCENARIO>"),
    ] {
        let output = check(flags);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && text.contains(word),
            "{flags:?}: {text}"
        );
    }
}

#[test]
fn expectations_of_what_never_exists_are_exit_code_two() {
    let vacuous = file(
        "vacuous.yaml",
        "steps:\n- never: ready(wbe) < 2\n- kubectl: create deployment web --image=nginx\n- wait: settled\n",
    );
    let xml = file("vacuous.xml", "");
    let output = check(&[&vacuous, "--seeds", "2", "--junit", &xml]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("CANNOT BE DECIDED") && text.contains("(line 2: steps[0])"),
        "{text}"
    );
    assert!(
        std::fs::read_to_string(xml)
            .unwrap()
            .contains("<error message=\"line 2: steps[0]: no object that it names existed")
    );
}

#[test]
fn run_rejects_faults_and_verbs_that_do_not_exist() {
    let run = |text: &str| {
        let path = file("run.yaml", text);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let output = Command::new(env!("CARGO_BIN_EXE_loopscope"))
            .args(["run", &path])
            .current_dir(root)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (line, word) in [
        (
            "fault: explode everything",
            "run.yaml: line 3: steps[1]: fault: unknown fault",
        ),
        (
            "kubectl: nonsense verb",
            "run.yaml: line 3: steps[1]: kubectl: error: unknown command \"nonsense\"",
        ),
        (
            "fault: node-down node-77",
            "run.yaml: line 3: steps[1]: fault: nodes \"node-77\" not found",
        ),
        (
            "fault: restart nobody",
            "run.yaml: line 3: steps[1]: fault: no component \"nobody\"",
        ),
    ] {
        let (code, text) = run(&format!("steps:\n- wait: 1s\n- {line}\n"));
        assert!(
            code == Some(2) && text.contains(word),
            "{line}: {code:?} {text}"
        );
    }
    assert_eq!(run("steps:\n- kubectl: get pod missing\n").0, Some(0));
}
