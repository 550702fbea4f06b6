use super::*;
use serde_json::json;
use std::time::Duration;

fn one(text: &str) -> Value {
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.diagnostics, vec![], "{text}");
    parsed
        .documents
        .into_iter()
        .next()
        .map(|d| d.value)
        .unwrap_or(Value::Null)
}

fn fault(text: &[u8]) -> String {
    let parsed = parse(text);
    parsed
        .diagnostics
        .first()
        .unwrap_or_else(|| panic!("no diagnostic: {parsed:?}"))
        .fault
        .to_string()
}

#[test]
fn yaml_becomes_json_as_in_kubernetes() {
    for (text, value) in [
        ("a: yes", json!({"a": true})),
        ("a: \"yes\"", json!({"a": "yes"})),
        ("a: 'no'", json!({"a": "no"})),
        ("a: [on, \"off\", off]", json!({"a": [true, "off", false]})),
        ("a: 0644", json!({"a": 420})),
        ("a: '0644'", json!({"a": "0644"})),
        ("a: 1_000", json!({"a": 1000})),
        ("a: 1e3", json!({"a": 1000})),
        ("a: 2.5", json!({"a": 2.5})),
        ("a: 2.0", json!({"a": 2})),
        ("a: ~", json!({"a": null})),
        (
            "1: a\ntrue: b\n2.5: c",
            json!({"1": "a", "true": "b", "2.5": "c"}),
        ),
        ("a: 1\na: 2", json!({"a": 2})),
        (
            "b: &b {x: 1, z: 2}\nc: {<<: *b, z: 3}",
            json!({"b": {"x": 1, "z": 2}, "c": {"x": 1, "z": 3}}),
        ),
        // KYAML: braces, no quotes around keys, commas at the end, comments.
        (
            "---\n{\n  a: \"b\", # c\n  d: [{\n    e: 1,\n  }],\n}\n",
            json!({"a": "b", "d": [{"e": 1}]}),
        ),
        ("a: 2001-01-01", json!({"a": "2001-01-01"})),
        ("a: |\n  yes\n", json!({"a": "yes\n"})),
        ("a: !custom 5", json!({"a": 5})),
        ("\u{feff}a: 1\r\nb: 2\r\n", json!({"a": 1, "b": 2})),
        (
            "{\"a\": {\"b\": [1, 2.5, null]}}",
            json!({"a": {"b": [1, 2.5, null]}}),
        ),
        ("{\"a\":\t1}", json!({"a": 1})),
    ] {
        assert_eq!(one(text), value, "{text}");
    }
}

#[test]
fn documents_and_lists_are_flattened_and_keep_their_lines() {
    let text = "# first\na: 1\n---\n---\n# none\n---\nkind: List\nitems:\n- b: 1\n- kind: PodList\n  items:\n  - c: 1\n";
    let parsed = parse(text.as_bytes());
    let found: Vec<_> = parsed
        .documents
        .iter()
        .map(|d| (d.line, d.prefix.as_str(), d.value.clone()))
        .collect();
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], (1, "", json!({"a": 1})));
    assert_eq!(found[1], (7, "items[0].", json!({"b": 1})));
    assert_eq!(found[2], (7, "items[1].items[0].", json!({"c": 1})));
}

#[test]
fn faults_are_told_as_kubectl_tells_them() {
    let start = "error parsing STDIN: error converting YAML to JSON: yaml: ";
    for (text, detail) in [
        (
            &b"apiVersion: apps/v1\nspec:\n  replicas: 3\n selector: x\n"[..],
            "line 3: did not find expected key",
        ),
        (
            b"a: 1\nb:\n\tc: 2\n",
            "line 3: found character that cannot start any token",
        ),
        (b"a: \0", "control characters are not allowed"),
        (b"a: \xff\xfe", "invalid leading UTF-8 octet"),
        (b"a: *x", "unknown anchor"),
        (
            b"a: {{name}}",
            "yaml: invalid map key: map[interface {}]interface {}{\"name\":interface {}(nil)}",
        ),
        (
            b"? [1, x]\n: b",
            "yaml: invalid map key: []interface {}{1, \"x\"}",
        ),
    ] {
        let message = fault(text);
        assert!(
            message.starts_with(start) && message.contains(detail),
            "{message}"
        );
    }
    assert_eq!(parse(b"a: b: c").diagnostics.len(), 1);
    assert!(fault(b"just text").contains("invalid object to validate"));
    assert!(
        header_fault(&json!({"apiVersion": "v1"}))
            .is_some_and(|fault| fault.to_string().contains("kind not set"))
    );
    assert!(
        header_fault(&json!({"kind": "Pod"}))
            .is_some_and(|fault| fault.to_string().contains("apiVersion not set"))
    );
    assert_eq!(
        header_fault(&json!({"kind": "Pod", "apiVersion": "v1"})),
        None
    );
}

#[test]
fn the_other_documents_are_read_beside_a_broken_one() {
    let parsed = parse(b"a: 1\n---\nb: [\n---\nc: 3\n");
    assert_eq!(parsed.documents.len(), 2);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].document, 1);
}

#[test]
fn hostile_text_ends_soon_with_a_diagnostic() {
    let mut bomb = String::from("a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (name, from) in "bcdefghi".chars().zip("abcdefgh".chars()) {
        bomb.push_str(&format!("{name}: &{name} [*{from},*{from},*{from},*{from},*{from},*{from},*{from},*{from},*{from}]\n"));
    }
    let long = format!(
        "a: &a {}\nb: [{}]",
        "x".repeat(100_000),
        "*a,".repeat(20_000)
    );
    let cases = [
        bomb,
        long,
        "a: &a [*a]".to_owned(),
        "[".repeat(10_000),
        "{\"a\":".repeat(10_000),
        "- ".repeat(10_000),
        (0..10_000)
            .map(|i| format!("{}a:\n", " ".repeat(i.min(1000))))
            .collect(),
        "x".repeat(10 << 20),
        "a: 1\n".repeat(2 << 20),
        "a: [\n---\n".repeat(100_000),
        "? ".repeat(50_000),
        "\"".repeat(100_001),
    ];
    for text in cases {
        let shown: String = text.chars().take(40).collect();
        let started = crate::tests::clock();
        let parsed = parse(text.as_bytes());
        assert!(!parsed.diagnostics.is_empty(), "{shown}");
        assert!(
            crate::tests::clock() - started < Duration::from_secs(20),
            "{shown}"
        );
    }
}

/// Returns the time since 1970, by the one clock that is allowed in tests.
#[allow(clippy::disallowed_methods)]
fn clock() -> Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

#[test]
fn a_field_is_found_in_the_text() {
    let text = b"# c\nkind: A\n---\nkind: B\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: a\n        image: x\n      - {name: b, image: y}\n";
    assert_eq!(locate(text, 1, "spec.replicas"), Some((6, 3, 8)));
    assert_eq!(
        locate(text, 1, "spec.template.spec.containers[0].image"),
        Some((11, 9, 5))
    );
    assert_eq!(
        locate(text, 1, "spec.template.spec.containers[1].image"),
        Some((12, 19, 5))
    );
    assert_eq!(
        locate(text, 1, "spec.template.spec.containers[1]"),
        Some((12, 9, 1))
    );
    // A missing field resolves to the innermost enclosing key.
    assert_eq!(
        locate(text, 1, "spec.template.metadata.labels"),
        Some((7, 3, 8))
    );
    assert_eq!(
        locate(text, 1, "spec.template.labels"),
        locate(text, 1, "spec.template.metadata.labels")
    );
    assert_eq!(locate(text, 0, "kind"), Some((2, 1, 4)));
    assert_eq!(locate(text, 0, "nothing"), None);
    assert_eq!(locate(text, 7, "kind"), None);
}

#[test]
fn an_older_version_is_read_as_the_one_that_is_stored() {
    let text = b"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50}}";
    let value = &parse(text).documents[0].value;
    assert_eq!(value["apiVersion"], "autoscaling/v2");
    assert_eq!(
        value["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        50
    );
    assert_eq!(value["spec"].get("targetCPUUtilizationPercentage"), None);
}

#[test]
fn the_flow_form_that_kubectl_calls_kyaml_is_read() {
    let text = b"---\n{\n  apiVersion: \"v1\",\n  kind: \"Pod\", # said twice\n  spec: { containers: [{ name: \"c\", command: [\"a\",], },], },\n}\n";
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, vec![]);
    assert_eq!(
        parsed.documents[0].value["spec"]["containers"][0]["command"][0],
        "a"
    );
}

#[test]
fn a_line_of_a_text_is_found_where_it_stands() {
    let text = "a: 1\n---\n# loop\nspec:\n  for: {kind: Pod}\n  program: |  # the program\n\n    def f(x):\n        return 变 + y\n  more: \"x\"\n";
    let line = |n| locate_line(text.as_bytes(), 1, "spec.program", n);
    assert_eq!(line(1), Some((7, 1, 1)));
    assert_eq!(line(2), Some((8, 5, 9)));
    assert_eq!(line(3), Some((9, 9, 12)));
    let nested = "items:\n- spec:\n    program: |2-\n        def f():\n    x: 1\n";
    assert_eq!(
        locate_line(nested.as_bytes(), 0, "items[0].spec.program", 1).map(|at| at.0),
        Some(4)
    );
    let json = r#"{"spec": {"program": "def f():\n    x"}}"#;
    assert_eq!(
        locate_line(json.as_bytes(), 0, "spec.program", 2).map(|at| at.0),
        Some(1)
    );
    assert_eq!(locate_line(text.as_bytes(), 1, "spec.other", 1), None);
    assert_eq!(locate_line(text.as_bytes(), 5, "spec.program", 1), None);
    assert_eq!(
        locate_line(text.as_bytes(), 1, "spec.program", usize::MAX / 2).map(|at| at.2),
        Some(1)
    );
}
