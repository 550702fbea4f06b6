//! `loopscope export`: one HTML file with a manifest, a lesson or a scenario in it.

use k8s_model::Kind;
use session::State;
use session::permalink::{Link, decode};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANIFEST: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web} # </script>
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: \"nginx:1.27\"}]}
";

/// Stands in for the file that a build of the page leaves; the place that is filled is the same (`scripts/single.mjs`).
const PAGE: &str = "<!doctype html><html><head><title>Loopscope</title></head><body>\
<script>window.loopscopeFile={\"hash\":\"\",\"query\":\"\"}</script>\n<script>the code</script></body></html>";

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn export(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_loopscope"))
        .arg("export")
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap()
}

/// What a file opens with: its title and its link.
fn opens_with(output: Output) -> (String, Link) {
    let html = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let between = |before: &str, after: &str| {
        html.split_once(before)
            .and_then(|(_, rest)| rest.split_once(after))
            .unwrap()
            .0
            .to_owned()
    };
    assert!(html.contains("<script>the code</script>"), "{html}");
    (
        between("<title>", "</title>"),
        decode(&between("\"hash\":\"", "\"")).unwrap().unwrap(),
    )
}

#[test]
fn a_manifest_is_within_the_file_with_and_without_the_name_of_the_form() {
    let (page, manifest) = (
        file("single-manifest.html", PAGE),
        file("shop.yaml", MANIFEST),
    );
    let forms: [&[&str]; 4] = [
        &[&manifest, "--html", "--page", &page],
        &["--html", &manifest, "--page", &page],
        &["--page", &page, "--html", &manifest],
        &[&manifest, "--page", &page],
    ];
    for arguments in forms {
        let (title, link) = opens_with(export(arguments));
        assert_eq!(
            (title.as_str(), link.manifest.as_deref(), link.history),
            ("shop", Some(MANIFEST), None),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_lesson_is_within_the_file_by_its_title() {
    let page = file("single-lesson.html", PAGE);
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/static/lessons/undo.yaml"
    ))
    .unwrap();
    let (title, link) = opens_with(export(&[
        "static/lessons/undo.yaml",
        "--html",
        "--page",
        &page,
    ]));
    assert_eq!(
        (title.as_str(), link.manifest.as_deref()),
        ("Undo and history", Some(text.as_str()))
    );
    let broken = file(
        "broken-export.yaml",
        "lesson: 1\ntitle: a\nsteps:\n- say: a\n  lok: web\n",
    );
    let output = export(&[&broken, "--html", "--page", &page]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("broken-export.yaml:5: "),
        "{output:?}"
    );
}

#[test]
fn a_scenario_is_within_the_file_with_all_that_it_does() {
    let page = file("single-scenario.html", PAGE);
    let (title, link) = opens_with(export(&[
        "examples/rolling-update.yaml",
        "--html",
        "--page",
        &page,
    ]));
    assert_eq!(title, "rolling-update");
    assert!(
        link.manifest.as_ref().is_some_and(
            |text| text.starts_with("apiVersion: apps/v1") && text.contains("nginx:1.25")
        )
    );
    let history = link.history().unwrap();
    let mut state = State::from_link(Some(&link));
    state.recall(&link);
    while state.timeline.run_until.is_some() {
        state.run_slice(100_000);
    }
    let run = &state.timeline.run;
    assert_eq!(Some(&*state.editor.text), link.manifest.as_deref());
    assert_eq!(state.editor.text, state.editor.applied);
    // It stands where the Deployment has just been applied, and goes on to the end of the update.
    assert!(
        run.in_past() && run.end() == history.end.1 / 1000,
        "{} of {}",
        run.now(),
        run.end()
    );
    assert_eq!(
        (
            run.sim().store().count(Kind::Deployment),
            run.sim().store().count(Kind::Pod)
        ),
        (1, 0)
    );
    let pods: Vec<_> = run
        .newest()
        .store()
        .list(Kind::Pod)
        .map(|pod| pod.to_value())
        .collect();
    assert_eq!(pods.len(), 3);
    assert!(
        pods.iter()
            .all(|pod| pod["spec"]["containers"][0]["image"] == "nginx:1.27")
    );
    // Another cluster than the usual one is the one of the scenario.
    let small = file(
        "small.yaml",
        "cluster: {nodes: [{name: only}]}\nsteps:\n- kubectl: run a --image=nginx\n- wait: settled\n",
    );
    let (title, link) = opens_with(export(&[&small, "--html", "--page", &page]));
    let mut state = State::from_link(Some(&link));
    state.recall(&link);
    while state.timeline.run_until.is_some() {
        state.run_slice(100_000);
    }
    let nodes: Vec<String> = state
        .timeline
        .run
        .newest()
        .store()
        .list(Kind::Node)
        .map(|node| node.meta.name.to_string())
        .collect();
    assert_eq!((title.as_str(), nodes), ("small", vec!["only".to_owned()]));
}

#[test]
fn what_cannot_be_exported_is_told() {
    let (page, manifest) = (
        file("single-wrong.html", PAGE),
        file("wrong-export.yaml", MANIFEST),
    );
    let other = file("other.html", "<html></html>");
    let bad = file("bad-scenario.yaml", "steps:\n- sing: loud\n");
    for (arguments, words) in [
        (&[][..], "<FILE>"),
        (&["--html"][..], "<FILE>"),
        (
            &[&manifest, "--pdf"][..],
            "unexpected argument '--pdf' found",
        ),
        (
            &[&manifest, "--page"][..],
            "a value is required for '--page <FILE>'",
        ),
        (&[&manifest, manifest.as_str()][..], "unexpected argument"),
        (
            &[&manifest, "--html", "--page", &other][..],
            "not the single file of a build",
        ),
        (
            &[&bad, "--html", "--page", &page][..],
            "bad-scenario.yaml: line 2: steps[0]: ",
        ),
    ] {
        let output = export(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && output.stdout.is_empty() && text.contains(words),
            "{arguments:?}: {text}"
        );
    }
}

/// The stand-in is filled where the page is.
#[test]
fn the_page_has_the_place_that_is_filled() {
    let script =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/single.mjs"))
            .unwrap();
    assert!(script.contains("window.loopscopeFile={\"hash\":\"\",\"query\":\"\"}"));
}
