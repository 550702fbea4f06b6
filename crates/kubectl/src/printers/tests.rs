use super::*;
use serde_json::json;

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
