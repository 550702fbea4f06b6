//! Recorded refusals of a real API server, as far as they depend on one object alone.

use super::*;
use crate::defaults;
use k8s_model::schema;

/// Cases that depend on the state of a cluster.
const ELSEWHERE: [&str; 8] = [
    "missing-name",
    "namespace-missing",
    "create-already-exists",
    "pod-generated-name-only",
    "pod-serviceaccount-missing",
    "svc-nodeport-taken",
    "no-kind",
    "no-apiversion",
];
/// Cases with another diff: the lines of a whole Pod are counted here; the recorded Pod had eighteen more, which are not in the
/// recording.
const SHOWN_OTHERWISE: [&str; 1] = ["pod-immutable-field"];
/// Masks random uids.
fn masked(text: &str) -> String {
    let uid = |word: &str| {
        if word.len() == 36 && word.matches('-').count() == 4 || word == "u" {
            "UID".to_owned()
        } else {
            word.to_owned()
        }
    };
    text.split('"').map(uid).collect::<Vec<_>>().join("\"")
}

fn stored(value: &Value) -> Value {
    let mut value = value.clone();
    let uid = value["metadata"]["uid"].as_str().unwrap_or("").to_owned();
    defaults::apply_defaults(&mut value);
    if value["kind"] == "Job" {
        value["metadata"]["uid"] = Value::from(if uid.is_empty() { "u".to_owned() } else { uid });
        defaults::prepare_job(&mut value, "u");
    }
    if value["kind"] == "Service"
        && value["spec"]["type"] == "ClusterIP"
        && value["spec"]["clusterIP"].is_null()
    {
        value["spec"]["clusterIP"] = Value::from("10.96.0.7");
    }
    if value["kind"] == "Pod" {
        defaults::admit_pod(&mut value, "x", 300);
    }
    value
}

fn refusal(manifest: &str, setup: Option<&str>) -> String {
    let parsed = manifest::parse(manifest.as_bytes());
    if let Some(fault) = parsed.diagnostics.first() {
        return format!("error: {}", fault.fault);
    }
    let Some(document) = parsed.documents.first() else {
        return "error: no objects passed to apply".to_owned();
    };
    let (kind, name) = (
        text(&document.value, "kind"),
        text(&document.value["metadata"], "name"),
    );
    if let Some(problem) = schema::metadata_error(&document.value) {
        return format!("error: unable to decode \"STDIN\": {}", problem.message);
    }
    if let Some(detail) =
        schema::decode_error(text(&document.value, "apiVersion"), kind, &document.value)
    {
        return format!("Error from server (BadRequest): error when creating \"STDIN\": {detail}");
    }
    let new = stored(&document.value);
    let errors = match setup {
        Some(setup) => validate_update(
            &new,
            &stored(&manifest::parse(setup.as_bytes()).documents[0].value),
        ),
        None => validate_create(&new),
    };
    match &errors[..] {
        [] => String::new(),
        [one] => format!("The {kind} \"{name}\" is invalid: {one}"),
        many => {
            let lines: Vec<String> = many.iter().map(|error| format!("* {error}")).collect();
            format!("The {kind} \"{name}\" is invalid: \n{}", lines.join("\n"))
        }
    }
}

#[test]
fn recorded_refusals_are_met() {
    let cases: Value =
        serde_json::from_str(include_str!("../../../../tests/validation/recorded.json")).unwrap();
    let (mut exact, mut verdict, mut total, mut faults) = (0, 0, 0, Vec::new());
    for case in list(&cases, "manifests") {
        let name = text(case, "name");
        // Cases that begin with `x-` involve commands as well: `tests/validation` runs them.
        if name.starts_with("x-")
            || ELSEWHERE.contains(&name)
            || name.ends_with("-kind")
            || name == "wrong-group-v1"
        {
            continue;
        }
        total += 1;
        let found = masked(&refusal(text(case, "manifest"), case["setup"].as_str()));
        let wanted = text(&case["kubectl"], "stderr");
        let wanted = masked(wanted.strip_suffix('\n').unwrap_or(wanted));
        exact += usize::from(found == wanted);
        verdict += usize::from(found.is_empty() == wanted.is_empty());
        if found != wanted && !SHOWN_OTHERWISE.contains(&name) {
            faults.push(format!("{name}\n  wanted: {wanted}\n  found:  {found}"));
        }
    }
    println!("exact {exact}, verdict {verdict} of {total}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(verdict, total);
}

#[test]
fn several_errors_stand_in_brackets() {
    let error = |field: &str| FieldError {
        field: field.to_owned(),
        fault: ErrorType::Required,
        value: String::new(),
        detail: "x".to_owned(),
    };
    let one = invalid_message("Deployment.apps", "a", &[error("f"), error("f")]);
    assert_eq!(
        one,
        "Deployment.apps \"a\" is invalid: f: Required value: x"
    );
    let two = invalid_message("Pod", "a", &[error("f"), error("g")]);
    assert_eq!(
        two,
        "Pod \"a\" is invalid: [f: Required value: x, g: Required value: x]"
    );
}

#[test]
fn schedules_are_checked() {
    for good in [
        "* * * * *",
        "*/5 0-6 1,15 jan-mar mon",
        "@hourly",
        "0 0 * * 0",
    ] {
        assert_eq!(schedule_error(good), None, "{good}");
    }
    for bad in [
        "* * * *",
        "60 * * * *",
        "* * 0 * *",
        "a * * * *",
        "*/0 * * * *",
        "5-1 * * * *",
        "@never",
    ] {
        assert!(schedule_error(bad).is_some(), "{bad}");
    }
}

#[test]
fn strange_shapes_are_refused_without_harm() {
    for spec in [
        serde_json::json!(null),
        serde_json::json!([1]),
        serde_json::json!({"template": 5, "containers": {"a": 1}, "ports": "x"}),
    ] {
        for kind in [
            "Deployment",
            "Pod",
            "Service",
            "StatefulSet",
            "Job",
            "CronJob",
            "HorizontalPodAutoscaler",
            "PersistentVolume",
            "DaemonSet",
        ] {
            let value =
                serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": 7, "spec": spec});
            assert!(!validate_create(&value).is_empty());
            validate_update(&value, &value);
        }
    }
}

#[test]
fn oversized_objects_are_refused() {
    let large = "x".repeat(1024 * 1024 + 1);
    let of = |kind: &str, data: Value| {
        validate_create(
            &serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "data": data}),
        )
    };
    let told = |errors: Vec<FieldError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        told(of("ConfigMap", serde_json::json!({"a": large}))),
        ["[]: Too long: may not be more than 1048576 bytes"]
    );
    let encoded = "x".repeat((1024 * 1024 + 3) / 3 * 4);
    assert_eq!(
        told(of("Secret", serde_json::json!({"a": encoded}))),
        ["data: Too long: may not be more than 1048576 bytes"]
    );
    assert!(of("ConfigMap", serde_json::json!({"a": large[1..]})).is_empty());
}
