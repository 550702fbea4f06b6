//! `loopscope check` as a command: what it prints, writes and exits with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_loopscope")).arg("check").args(arguments).current_dir(root).output().unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn the_example_holds_with_and_without_faults() {
    for flags in [&["examples/check-drain.yaml"][..], &["examples/check-drain.yaml", "--faults", "--seeds", "100"]] {
        let output = check(flags);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("not found in "), "{text}");
    }
}

#[test]
fn a_violation_is_exit_code_one_and_a_failure_for_junit() {
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/check-drain.yaml")).unwrap();
    let path = file("hasty.yaml", &example.replace("finishes: 5m", "finishes: 20s"));
    assert_eq!(check(&[&path, "--seeds", "100"]).status.code(), Some(0));
    let xml = file("hasty.xml", "");
    let output = check(&[&path, "--seeds", "100", "--faults", "--junit", &xml]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("  seed ") && text.contains("with these faults") && text.contains("index.html#pako:"), "{text}");
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("<failure message=\"violated in "), "{xml}");
    // One run tells the same of its seed.
    let seed = text.split("  seed ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let one = String::from_utf8(check(&[&path, "--seed", seed, "--seeds", "1", "--faults"]).stdout).unwrap();
    assert!(one.contains("VIOLATED in 1 of 1 runs"), "{one}");
}

#[test]
fn what_is_wrong_is_exit_code_two() {
    let bad = file("bad.yaml", "steps:\n- wait: 1s\n- always: nothing(web)\n");
    for (flags, word) in [
        (&["nowhere.yaml"][..], "nowhere.yaml: "),
        (&[bad.as_str()][..], "steps[1]: always: "),
        (&["examples/rolling-update.yaml"][..], "nothing is expected"),
        (&["examples/check-drain.yaml", "--seeds", "0"][..], "--seeds needs a number"),
        (&["examples/check-drain.yaml", "--sedes", "3"][..], "unknown flag --sedes"),
        (&[][..], "a scenario file is required"),
    ] {
        let output = check(flags);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(word), "{flags:?}: {text}");
    }
}
