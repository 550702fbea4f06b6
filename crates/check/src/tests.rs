use super::{CheckOptions, Report, check, json, junit, text};
use k8s_model::Kind;
use session::State;
use session::permalink;

const WEB: &str = "steps:
- apply: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: 'nginx:1'}]}}
- wait: settled
";

fn run(steps: &str, seeds: u64, faults: bool) -> Result<Report, String> {
    run_late(steps, seeds, faults, 0)
}

fn run_late(steps: &str, seeds: u64, faults: bool, jitter: u64) -> Result<Report, String> {
    check(
        &scenario::parse(&format!("name: t\n{WEB}{steps}")).unwrap(),
        CheckOptions {
            seed: 1,
            seeds,
            faults,
            jitter,
        },
    )
}

#[test]
fn what_holds_is_not_found() {
    let report = run(
        "- always: ready(web) == 3\n- wait: 1m\n- eventually: exists(web)\n",
        3,
        false,
    )
    .unwrap();
    assert!(report.is_clean() && report.failed.is_empty());
    let told = text(&report);
    assert!(
        told.contains("t: 3 runs, seeds 1 to 3: all with the same writes in the same order (--jitter 20ms varies it)\nno violation in 3 runs "),
        "{told}"
    );
    assert!(
        !told.contains("VIOLATED") && !told.contains("impossible"),
        "{told}"
    );
}

#[test]
fn runs_that_write_the_same_count_as_one_history() {
    let steps = "- always: exists(web)\n- kubectl: scale deployment web --replicas=5\n- wait: 1m\n";
    let same = run(steps, 5, false).unwrap();
    assert_eq!((same.histories.distinct(), same.histories.last_new), (1, 1));
    let late = run_late(steps, 5, false, 20_000).unwrap();
    assert_eq!(late.histories.distinct(), 5);
    assert!(late.is_clean(), "{}", text(&late));
    assert!(
        text(&late)
            .starts_with("t: 5 runs with a jitter of 20 ms, seeds 1 to 5: 5 distinct histories, ")
    );
    let disturbed = run(steps, 5, true).unwrap();
    assert!(disturbed.histories.distinct() > 1);
    assert!(text(&disturbed).contains(" distinct histories, "));
}

#[test]
fn an_instant_between_two_steps_counts_and_is_told_with_its_reason() {
    // A Pod that is deleted and replaced before the next step begins.
    let report = run(
        "- never: ready(web) < 3\n- kubectl: delete pod {{pod:web:0}}\n- wait: settled\n",
        2,
        false,
    )
    .unwrap();
    let [one] = &report.checked[..] else { panic!() };
    assert_eq!(one.violated, 2);
    let found = one.first.as_ref().unwrap();
    assert_eq!(
        (found.seed, &found.values[..]),
        (1, &[("ready(web)".to_owned(), "2".to_owned())][..])
    );
    assert!(
        found.reasons.last().is_some_and(|reason| reason.user),
        "{:?}",
        found.reasons
    );
    let told = text(&report);
    assert!(
        told.contains("VIOLATED in 2 of 2 runs")
            && told.contains("Command: kubectl delete pod web-"),
        "{told}"
    );
    assert!(told.contains("index.html#pako:"), "{told}");
}

#[test]
fn the_link_opens_the_run_at_that_instant() {
    let steps = "- never: ready(web) < 3\n- fault: delay pod 2s kube-controller-manager\n- kubectl: rollout status deployment/web --watch\n  \
        background: true\n- kubectl: delete pod {{pod:web:0}}\n- kubectl: drain node-1 --ignore-daemonsets\n- wait: 20s\n";
    for faults in [false, true] {
        let text =
            format!("name: t\ncluster: {{nodes: 4, timing: {{podStart: 3s}}}}\n{WEB}{steps}");
        let report = check(
            &scenario::parse(&text).unwrap(),
            CheckOptions {
                seed: 4,
                seeds: 1,
                faults,
                jitter: 0,
            },
        )
        .unwrap();
        let found = report.checked[0].first.clone().unwrap();
        let link = permalink::decode(&found.link).unwrap().unwrap();
        let mut state = State::from_link(Some(&link));
        state.recall(&link);
        while state.timeline.run_until.is_some() {
            state.run_slice(50);
        }
        let sim = state.timeline.run.sim();
        assert_eq!(sim.now().0 / 1000, found.at.0.div_ceil(1000));
        assert_eq!(
            (sim.store().count(Kind::Node), state.timeline.run.seed()),
            (4, 4)
        );
        let ready = sim
            .store()
            .list(Kind::Pod)
            .filter(|pod| pod.pod().is_some_and(|pod| pod.is_ready()) && !pod.meta.is_deleting())
            .count();
        assert!(ready < 3, "{ready}");
    }
}

#[test]
fn a_command_that_does_not_finish_says_why() {
    let steps = "- kubectl: set image deployment/web c=broken\n- kubectl: rollout status deployment/web\n  finishes: 30s\n";
    let report = run(steps, 1, false).unwrap();
    let found = report.checked[0].first.clone().unwrap();
    assert!(
        found
            .output
            .last()
            .is_some_and(|line| line.contains("1 out of 3 new replicas have been updated")),
        "{:?}",
        found.output
    );
    assert!(
        found
            .standing
            .iter()
            .any(|line| line.contains("Image broken cannot be pulled")),
        "{:?}",
        found.standing
    );
    assert!(!found.reasons.is_empty());
    assert!(
        run(
            "- kubectl: rollout status deployment/web\n  finishes: 1s\n",
            1,
            false
        )
        .unwrap()
        .is_clean()
    );
    let failed = run("- kubectl: get pods nope\n  finishes: 1s\n", 2, false).unwrap();
    assert_eq!((failed.checked[0].violated, failed.failed[&2].1), (2, 2));
}

#[test]
fn what_never_comes_is_missed_at_the_end() {
    let report = run("- eventually: ready(web) == 4\n- wait: 10s\n", 1, false).unwrap();
    let found = report.checked[0].first.clone().unwrap();
    assert_eq!(found.values, [("ready(web)".to_owned(), "3".to_owned())]);
    assert!(
        found.standing[0].starts_with("Deployment web: "),
        "{:?}",
        found.standing
    );
    assert!(
        run("- eventually: ready(web) == 4\n- kubectl: scale deployment web --replicas=4\n- wait: 10s\n", 1, false).unwrap().is_clean()
    );
}

#[test]
fn expectation_about_a_misspelled_name_cannot_be_decided() {
    let report = run("- never: ready(wbe) < 3\n- wait: 1s\n", 2, false).unwrap();
    assert_eq!(
        (report.is_vacuous(), &report.checked[0].unknown[..]),
        (true, &["ready(wbe)".to_owned()][..])
    );
    assert!(text(&report).contains("CANNOT BE DECIDED"));
    assert!(text(&report).contains("note: ready(wbe) had no value at any instant of any run"));
    assert!(junit(&report).contains("errors=\"1\"") && junit(&report).contains("<error message="));
    // Neither can one about what happened to it; that it is never created can.
    for (expectation, vacuous) in [
        ("unready(wbe) > 0", true),
        ("deleted(pod/wbe) > 0", true),
        ("changed(wbe) > 9", true),
        ("created(wbe) > 0", false),
        ("deleted(pod) > 9", false),
    ] {
        let steps = format!("- never: {expectation}\n- wait: 1s\n");
        let report = run(&steps, 1, false).unwrap();
        assert_eq!(report.is_vacuous(), vacuous, "{expectation}");
    }
    // Objects without the field, and missing objects beside existing ones, can be queried.
    let field = run(
        "- never: field(web, 'spec.paused') == 1\n- wait: 1s\n",
        1,
        false,
    )
    .unwrap();
    let either = run(
        "- always: ready(web) <= 3 or ready(old) > 3\n- wait: 1s\n",
        1,
        false,
    )
    .unwrap();
    assert_eq!((field.is_vacuous(), either.is_vacuous()), (false, false));
    // A missed expectation reports what it waited for.
    let missed = run("- eventually: ready(wbe) == 3\n- wait: 1s\n", 2, false).unwrap();
    assert_eq!((missed.is_vacuous(), missed.is_clean()), (false, false));
}

#[test]
fn faults_that_name_nothing_are_mistakes_with_and_without_disturbance() {
    for faults in [false, true] {
        let error = run(
            "- never: ready(web) > 3\n- fault: node-down node-77\n",
            2,
            faults,
        )
        .unwrap_err();
        assert!(
            error.ends_with("fault: nodes \"node-77\" not found") && error.starts_with("line "),
            "{error}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_scenario_is_told() {
    assert!(
        run("", 1, false)
            .unwrap_err()
            .starts_with("nothing is expected")
    );
    assert_eq!(
        run("- always: redy(web) == 1\n", 1, false)
            .unwrap_err()
            .split(": ")
            .nth(1),
        Some("steps[2]")
    );
    assert!(run("- always: max(ready(web)) == 1\n", 1, false).is_err());
    assert!(run("- always: ready(web) == 1) or (1 == 1\n", 1, false).is_err());
    let refused = run(
        "- always: ready(web) < 4\n- apply: |\n    kind: Nothing\n",
        1,
        false,
    )
    .unwrap_err();
    assert!(
        refused.starts_with("seed 1: the manifest of step 3 was refused: "),
        "{refused}"
    );
}

/// A scaled workload is not ready in time if a loop's watch is delayed or the loop is slow: only with the faults, and only in some runs.
const SCALED: &str = "- kubectl: scale deployment web --replicas=6
- kubectl: rollout status deployment/web
  finishes: 4s
";

#[test]
fn what_only_faults_violate_is_told_with_those_that_it_needs() {
    assert!(run(SCALED, 40, false).unwrap().is_clean());
    let report = run(SCALED, 40, true).unwrap();
    let violated = report.checked[0].violated;
    assert!((1..40).contains(&violated), "{violated}");
    let found = report.checked[0].first.clone().unwrap();
    assert!((1..=4).contains(&found.faults.len()), "{:?}", found.faults);
    assert!(text(&report).contains("with these faults, newest first:"));
    // A repeated check gives the same report, byte for byte.
    assert_eq!(text(&report), text(&run(SCALED, 40, true).unwrap()));
}

#[test]
fn a_program_reads_the_result() {
    let report = run(
        "- never: ready(web) < 4\n- wait: 1s\n- always: exists(web)\n",
        2,
        false,
    )
    .unwrap();
    let xml = junit(&report);
    assert!(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"t\" tests=\"2\" failures=\"1\" errors=\"0\">\n")
    );
    assert!(
        xml.contains("name=\"never: ready(web) &lt; 4\">")
            && xml.contains("<failure message=\"violated in 2 of 2 runs\">"),
        "{xml}"
    );
    assert!(
        xml.contains("name=\"always: exists(web)\"/>") && xml.ends_with("</testsuite>\n"),
        "{xml}"
    );
    assert_eq!(
        (xml.matches('<').count(), xml.matches('>').count()),
        (8, 8),
        "{xml}"
    );
}

#[test]
fn a_script_reads_the_verdicts() {
    let steps = "- never: ready(web) < 3\n- always: exists(web)\n- never: ready(wbe) < 2\n- kubectl: delete pod {{pod:web:0}}\n- wait: settled\n";
    let value = json(&run(steps, 2, false).unwrap());
    let verdicts: Vec<&str> = (0..3)
        .filter_map(|at| value["checked"][at]["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["violated", "holds", "undecided"]);
    let found = &value["checked"][0]["counterexample"];
    assert_eq!(
        (&found["values"]["ready(web)"], &found["seed"]),
        (&"2".into(), &1.into())
    );
    assert!(found["link"].as_str().unwrap().starts_with("#pako:"));
    assert_eq!(value["histories"]["distinct"], 1);
}

#[test]
fn jitter_that_a_violation_does_not_need_is_left_out() {
    let steps =
        "- never: ready(web) == 5\n- kubectl: scale deployment web --replicas=5\n- wait: settled\n";
    let report = run_late(steps, 3, false, 50_000).unwrap();
    let [one] = &report.checked[..] else { panic!() };
    assert_eq!(one.violated, 3);
    let found = one.first.as_ref().unwrap();
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    assert_eq!(found.values, [("ready(web)".to_owned(), "5".to_owned())]);
}

/// Checks an example of a loop that is a program.
fn check_loop(name: &str, faults: bool) -> Report {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/loops");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let options = CheckOptions {
        seed: 1,
        seeds: 4,
        faults,
        jitter: 0,
    };
    check(&scenario::parse(&text).unwrap(), options).unwrap()
}

#[test]
fn program_that_only_reacts_is_found_and_one_that_compares_holds() {
    let edge = check_loop("replicaset-edge.yaml", false);
    let told = text(&edge);
    assert!(
        !edge.is_clean() && told.contains("seed 1") && told.contains("count(pods, app=web) = 3"),
        "{told}"
    );
    let level = check_loop("replicaset-level.yaml", true);
    assert!(level.is_clean(), "{}", text(&level));
}

#[test]
fn what_the_examples_of_loops_expect_holds_in_their_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/loops");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let report = check(
            &scenario::parse(&text).unwrap(),
            CheckOptions {
                seed: 1,
                seeds: 2,
                faults: true,
                jitter: 0,
            },
        );
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // The edge-triggered loop is there to fail.
        let holds = report.unwrap().is_clean();
        assert_eq!(holds, name != "replicaset-edge", "{name}");
        checked += 1;
    }
    assert!(checked >= 13);
}
