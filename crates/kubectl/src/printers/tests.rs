use super::*;
use serde_json::json;

#[test]
fn ages_have_two_units_at_most() {
    for (seconds, text) in [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (163, "2m43s"),
        (600, "10m"),
        (10800, "3h"),
        (11000, "3h3m"),
        (90000, "25h"),
        (200_000, "2d7h"),
        (-5, "<invalid>"),
    ] {
        assert_eq!(age::human(seconds), text);
    }
    assert_eq!(
        age::long("2026-11-21T06:23:33Z"),
        "Sat, 21 Nov 2026 06:23:33 +0000"
    );
}

#[test]
fn a_pod_that_has_ended_is_completed_and_one_on_its_way_out_terminating() {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 0, "state": {"running": {}}}]}});
    let cells = |pod: &Value| {
        columns("Pod").1(TableRow {
            object: pod,
            now: 0,
        })
    };
    assert_eq!(cells(&pod)[1..4], ["1/1", "Running", "0"]);
    pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T06:23:33Z");
    assert_eq!(cells(&pod)[2], "Terminating");
    pod["status"] = json!({"phase": "Succeeded", "containerStatuses": [{"ready": false, "restartCount": 0, "state": {"terminated": {"reason": "Completed", "exitCode": 0}}}]});
    assert_eq!(cells(&pod)[1..3], ["0/1", "Completed"]);
}

#[test]
fn columns_are_aligned_and_remembered() {
    let mut widths = table::Widths::default();
    let row = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
    assert_eq!(
        widths.print(&[row("NAME", "STATUS", "AGE"), row("a", "Pending", "0s")]),
        "NAME   STATUS    AGE\na      Pending   0s\n"
    );
    assert_eq!(
        widths.print(&[row("a", "ContainerCreating", "0s")]),
        "a      ContainerCreating   0s\n"
    );
    assert_eq!(
        widths.print(&[row("a", "Running", "1s")]),
        "a      Running             1s\n"
    );
}

#[test]
fn tabs_stop_where_the_neighbours_need_them() {
    assert_eq!(
        tabs::align("Name:\ta\nLabels:\tx\n\ty\nEvents:\n  A\tB\n  long\tC\n"),
        "Name:    a\nLabels:  x\n         y\nEvents:\n  A     B\n  long  C\n"
    );
}

#[test]
fn yaml_is_quoted_only_where_it_must_be() {
    let value = json!({"a": "1", "b": "x: y", "c": [{"d": 1, "e": {"f": null}}, "g"], "h": {}, "i": [], "j": "l1\nl2\n", "k": "True",
        "l": "*", "m": "2026-11-21T06:23:33Z", "quote": "it's", "o": "", "p": [["q"]], "r": "10.244.1.2"});
    let text = "a: \"1\"\nb: 'x: y'\nc:\n- d: 1\n  e:\n    f: null\n- g\nh: {}\ni: []\nj: |\n  l1\n  l2\nk: \"True\"\nl: '*'\nm: \"2026-11-21T06:23:33Z\"\no: \"\"\np:\n- - q\nquote: it's\nr: 10.244.1.2\n";
    assert_eq!(yaml::print(&value), text);
}

#[test]
fn jsonpath_selects() {
    let value = json!({"items": [{"metadata": {"name": "a", "labels": {"x.y": "1"}}, "n": 1}, {"metadata": {"name": "b"}, "n": 2}]});
    for (template, text) in [
        ("{.items[*].metadata.name}", "a b"),
        ("{.items[0].metadata.name}", "a"),
        ("{.items[-1:].metadata.name}", "b"),
        (
            "{range .items[*]}{.metadata.name}={.n}{\"\\n\"}{end}",
            "a=1\nb=2\n",
        ),
        ("{.items[?(@.n==2)].metadata.name}", "b"),
        ("{.items[?(@.metadata.name==\"a\")].n}", "1"),
        ("{.items[0].metadata.labels.x\\.y}", "1"),
        ("{..name}", "a b"),
        ("x{.items[0].n}y", "x1y"),
        ("{.items[0].metadata.labels}", "{\"x.y\":\"1\"}"),
        ("{.nothing}", ""),
    ] {
        assert_eq!(
            jsonpath::print(template, &value).as_deref(),
            Ok(text),
            "{template}"
        );
    }
    for bad in ["{.a", "{range .items[*]}", "{end}", "{.a[}"] {
        assert!(jsonpath::print(bad, &value).is_err(), "{bad}");
    }
}
