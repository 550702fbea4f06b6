//! Recorded refusals of a real API server, as far as they depend on one object alone.

use super::*;
use crate::defaults;
use k8s_model::schema;
use serde_json::json;

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

fn kind_of(value: &Value) -> Kind {
    Kind::from_api(text(value, "apiVersion"), text(value, "kind")).expect("a built-in kind")
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
        defaults::admit_pod(&mut value, Some("x"), 300);
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
            kind_of(&new),
            &new,
            &stored(&manifest::parse(setup.as_bytes()).documents[0].value),
        ),
        None => validate_create(kind_of(&new), &new),
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
            Kind::Deployment,
            Kind::Pod,
            Kind::Service,
            Kind::StatefulSet,
            Kind::Job,
            Kind::CronJob,
            Kind::HorizontalPodAutoscaler,
            Kind::PersistentVolume,
            Kind::DaemonSet,
        ] {
            let value = serde_json::json!({"apiVersion": kind.api_version(), "kind": kind.name(), "metadata": 7, "spec": spec});
            assert!(!validate_create(kind, &value).is_empty());
            validate_update(kind, &value, &value);
        }
    }
}

#[test]
fn oversized_objects_are_refused() {
    let large = "x".repeat(1024 * 1024 + 1);
    let of = |kind: Kind, data: Value| {
        validate_create(
            kind,
            &serde_json::json!({"apiVersion": "v1", "kind": kind.name(), "metadata": {"name": "x"}, "data": data}),
        )
    };
    let told = |errors: Vec<FieldError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        told(of(Kind::ConfigMap, serde_json::json!({"a": large}))),
        ["[]: Too long: may not be more than 1048576 bytes"]
    );
    let encoded = "x".repeat((1024 * 1024 + 3) / 3 * 4);
    assert_eq!(
        told(of(Kind::Secret, serde_json::json!({"a": encoded}))),
        ["data: Too long: may not be more than 1048576 bytes"]
    );
    assert!(of(Kind::ConfigMap, serde_json::json!({"a": large[1..]})).is_empty());
}

/// Returns the errors of a new object, defaulted and validated.
fn errors_of(value: Value) -> Vec<String> {
    let value = stored(&value);
    let errors = validate_create(kind_of(&value), &value);
    errors.iter().map(FieldError::to_string).collect()
}

#[test]
fn webhooks_name_a_reachable_client_and_rules_without_overlap() {
    let configuration = |hook: Value| {
        let mut hook = hook;
        let default = json!({"name": "a.b.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "s", "namespace": "n"}}});
        for (field, value) in default.as_object().into_iter().flatten() {
            if hook[field].is_null() {
                hook[field] = value.clone();
            }
        }
        errors_of(
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "w"}, "webhooks": [hook]}),
        )
    };
    assert_eq!(configuration(json!({})), [""; 0]);
    assert_eq!(
        configuration(
            json!({"name": "x", "clientConfig": {"url": "http://u@a.b/c#f"}, "timeoutSeconds": 31, "sideEffects": "Some"})
        ),
        [
            "webhooks[0].name: Invalid value: \"x\": should be a domain with at least three segments separated by dots",
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            "webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted in the URL",
            "webhooks[0].clientConfig.url: Invalid value: \"f\": fragments are not permitted in the URL",
        ]
    );
    assert_eq!(
        configuration(
            json!({"rules": [{"apiGroups": ["*", "a"], "apiVersions": ["v1"], "operations": ["FOO"], "resources": ["pods/*", "pods/status"]}]})
        ),
        [
            "webhooks[0].rules[0].operations[0]: Unsupported value: \"FOO\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
            "webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other API groups",
            "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status",
        ]
    );
}

#[test]
fn policies_compile_their_expressions_with_the_variables_declared_before() {
    let policy = |spec: Value| {
        let mut spec = spec;
        spec["matchConstraints"] = json!({"resourceRules": [
            {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]});
        errors_of(
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "p"}, "spec": spec}),
        )
    };
    let valid = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "variables": [{"name": "a", "expression": "object.spec.replicas"}],
        "validations": [{"expression": "variables.a > int(params.data.least)", "messageExpression": "'x' + string(variables.a)"}]});
    assert_eq!(policy(valid), [""; 0]);
    let errors = policy(json!({
        "variables": [{"name": "a", "expression": "variables.b"}, {"name": "a-b", "expression": "1"}],
        "validations": [{"expression": "params.x == 1", "message": "a\nb"}, {"expression": "1", "messageExpression": "authorizer.path('/') == null"}],
        "auditAnnotations": [{"key": "k", "valueExpression": "1"}],
    }));
    assert_eq!(
        errors,
        [
            "spec.variables[0].expression: Invalid value: \"variables.b\": compilation failed: ERROR: <input>:1:10: undefined field 'b'\n \
             | variables.b\n | .........^",
            "spec.variables[1].name: Invalid value: \"a-b\": must be a valid CEL identifier",
            "spec.validations[0].expression: Invalid value: \"params.x == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference \
             to 'params' (in container '')\n | params.x == 1\n | ^",
            "spec.validations[0].message: Invalid value: \"a\\nb\": must not contain line breaks",
            "spec.validations[1].expression: Invalid value: \"1\": must evaluate to bool but got int",
            "spec.validations[1].messageExpression: Invalid value: \"authorizer.path('/') == null\": compilation failed: ERROR: \
             <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/') == null\n | ^",
            "spec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one of [string null_type] but got int",
        ]
    );
    let status = json!({"status": {"conditions": [{"type": "Foo", "status": "Maybe"}]}});
    let errors = validate_status(Kind::ValidatingAdmissionPolicy, &status);
    assert_eq!(
        errors.iter().map(FieldError::to_string).collect::<Vec<_>>(),
        [
            "status.conditions[0].status: Unsupported value: \"Maybe\": supported values: \"False\", \"True\", \"Unknown\"",
            "status.conditions[0].lastTransitionTime: Required value",
            "status.conditions[0].reason: Required value",
        ]
    );
}

#[test]
fn drivers_attachments_and_api_services_are_validated() {
    let object = |api_version: &str, kind: &str, spec: Value| {
        errors_of(
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}, "spec": spec}),
        )
    };
    let storage = "storage.k8s.io/v1";
    assert_eq!(object(storage, "CSIDriver", json!({})), [""; 0]);
    assert_eq!(
        object(
            storage,
            "CSINode",
            json!({"drivers": [{"name": "", "nodeID": ""}]})
        ),
        [
            "spec.drivers[0].name: Required value",
            "spec.drivers[0].nodeID: Required value"
        ]
    );
    assert_eq!(
        object(
            storage,
            "VolumeAttachment",
            json!({"attacher": "a.io", "nodeName": "n", "source": {}})
        ),
        [
            "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        ]
    );
    let service =
        json!({"group": "a.b", "version": "v1", "groupPriorityMinimum": 0, "versionPriority": 1});
    assert_eq!(
        object("apiregistration.k8s.io/v1", "APIService", service),
        [
            "metadata.name: Invalid value: \"n\": must be `spec.version+\".\"+spec.group`: \"v1.a.b\"",
            "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        ]
    );
    let schema = json!({"matchingPrecedence": 1, "priorityLevelConfiguration": {"name": ""}});
    assert_eq!(
        object("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", schema),
        [
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
        ]
    );
    let mut driver = stored(
        &json!({"apiVersion": storage, "kind": "CSIDriver", "metadata": {"name": "n"}, "spec": {}}),
    );
    let old = driver.clone();
    driver["spec"]["attachRequired"] = Value::from(false);
    let errors = validate_update(Kind::CSIDriver, &driver, &old);
    assert_eq!(
        errors.iter().map(FieldError::to_string).collect::<Vec<_>>(),
        ["spec.attachedRequired: Invalid value: false: field is immutable"]
    );
}

/// Returns the errors of an object that is to be created.
fn creation_errors(object: Value) -> Vec<String> {
    let object = stored(&object);
    let errors = validate_create(kind_of(&object), &object);
    errors.iter().map(FieldError::to_string).collect()
}

#[test]
fn rules_of_quotas_and_limit_ranges_concern_each_resource() {
    let range = |limit: Value| {
        creation_errors(
            json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "n"},
            "spec": {"limits": [limit]}}),
        )
    };
    assert_eq!(
        range(json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "500m"}})),
        [
            "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less than 1"
        ]
    );
    assert_eq!(
        range(json!({"type": "Pod", "max": {"foo": "1"}})),
        [
            "spec.limits[0].max[foo]: Invalid value: \"foo\": must be a standard resource type or fully qualified",
            "spec.limits[0].max[foo]: Invalid value: \"foo\": must be a standard resource for containers",
        ]
    );
    let terms = json!([
        {"scopeName": "PriorityClass", "operator": "Zed"}, {"scopeName": "Foo", "operator": "Exists"},
    ]);
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "n"},
        "spec": {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": terms}}});
    assert_eq!(
        creation_errors(quota),
        [
            "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Zed\": not a valid selector operator",
            "spec.scopeSelector.matchExpressions.scopeName: Invalid value: \"Foo\": unsupported scope",
        ]
    );
}

#[test]
fn rare_fields_of_pods_are_validated() {
    let pod = |spec: Value, container: Value| {
        let mut spec = spec;
        let mut one = json!({"name": "c", "image": "c"});
        one.as_object_mut()
            .unwrap()
            .extend(container.as_object().unwrap().clone());
        spec["containers"] = json!([one]);
        creation_errors(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n"}, "spec": spec}),
        )
    };
    let none = json!({});
    let gated = json!({"nodeName": "x", "schedulingGates": [{"name": "a.io/g"}]});
    assert_eq!(
        pod(gated, none.clone()),
        ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"]
    );
    let shared = json!({"hostPID": true, "shareProcessNamespace": true});
    assert_eq!(
        pod(shared, none.clone()),
        [
            "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
        ]
    );
    let policy = json!({"resizePolicy": [{"resourceName": "foo", "restartPolicy": "X"}]});
    assert_eq!(
        pod(none.clone(), policy),
        [
            "spec.containers[0].resizePolicy: Unsupported value: \"foo\": supported values: \"cpu\", \"memory\"",
            "spec.containers[0].resizePolicy: Unsupported value: \"X\": supported values: \"NotRequired\", \"RestartContainer\"",
        ]
    );
    let huge = json!({"resources": {"limits": {"hugepages-2Mi": "3Mi"}}});
    let part = "spec.containers[0].resources";
    assert_eq!(
        pod(none.clone(), huge),
        [
            format!(
                "{part}.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi"
            ),
            format!(
                "{part}.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi"
            ),
            format!("{part}: Forbidden: HugePages require cpu or memory"),
        ]
    );
    let file = json!({"path": "../x", "fieldRef": {"fieldPath": "spec.foo"}});
    let volumes = json!({"volumes": [{"name": "v", "downwardAPI": {"items": [file]}}]});
    assert_eq!(
        pod(volumes, none.clone()),
        [
            "spec.volumes[0].downwardAPI.path: Invalid value: \"../x\": must not contain '..'",
            "spec.volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: \"spec.foo\": error converting fieldPath: field label not supported: spec.foo",
        ]
    );
    let context =
        json!({"securityContext": {"fsGroup": -2, "sysctls": [{"name": "A.b", "value": "1"}]}});
    assert_eq!(
        pod(context, none),
        [
            "spec.securityContext.fsGroup: Invalid value: -2: must be between 0 and 2147483647, inclusive",
            "spec.securityContext.sysctls[0].name: Invalid value: \"A.b\": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
        ]
    );
}

#[test]
fn addresses_of_services_are_no_special_ones() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "n"},
        "spec": {"ports": [{"port": 80}], "externalIPs": ["1.2.3.4", "127.0.0.1"]}});
    assert_eq!(
        creation_errors(service),
        [
            "spec.externalIPs[1]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)"
        ]
    );
    let ingress =
        json!([{"ip": "zz", "ipMode": "VIP"}, {"ip": "1.2.3.4", "hostname": "a.example.com"}]);
    let balanced =
        json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": ingress}}});
    let errors = validate_status(Kind::Service, &balanced);
    assert_eq!(
        errors.iter().map(FieldError::to_string).collect::<Vec<_>>(),
        [
            "status.loadBalancer.ingress[0].ip: Invalid value: \"zz\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            "status.loadBalancer.ingress[1].ipMode: Required value: must be specified when `ip` is set",
        ]
    );
}

#[test]
fn finalizers_without_a_domain_are_kubernetes_own() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "n", "generation": -1, "finalizers": ["orphan", "x"]}});
    assert_eq!(
        creation_errors(object),
        [
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            "metadata.finalizers[1]: Invalid value: \"x\": name is neither a standard finalizer name nor is it fully qualified",
        ]
    );
    assert_eq!(finalizers(&json!(["kubernetes", "a.io/b"])), []);
    assert_eq!(finalizers(&json!(["nodomain"])).len(), 1);
}

#[test]
fn definitions_are_validated_in_their_internal_form() {
    let definition = |versions: Value| {
        creation_errors(
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "foos.y.io"},
            "spec": {"group": "y.io", "names": {"kind": "Foo", "plural": "foos"}, "scope": "Namespaced", "versions": versions}}),
        )
    };
    let version = |name: &str, storage: bool, properties: Value| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}})
    };
    let untyped = json!({"a": {"properties": {}}});
    assert_eq!(
        definition(json!([version("v1", false, untyped.clone())])),
        [
            "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must have exactly one version marked as storage version",
            "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ]
    );
    let versions = json!([
        version("v1", true, untyped),
        version("v2", false, json!({}))
    ]);
    assert_eq!(
        definition(versions),
        [
            "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields"
        ]
    );
    let rule = json!({"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self <"}]}});
    let errors = definition(json!([version("v1", true, rule)]));
    let start = "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self \\u003c\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR";
    assert!(errors[0].starts_with(start), "{errors:?}");
    // Scalars are checked with their type.
    let rule = |kind: &str| json!({"a": {"type": kind, "x-kubernetes-validations": [{"rule": "self > 1"}]}});
    assert_eq!(
        definition(json!([version("v1", true, rule("integer"))])),
        [""; 0]
    );
    let errors = definition(json!([version("v1", true, rule("string"))]));
    let problem = "found no matching overload for '_>_' applied to '(string, int)'";
    assert!(errors[0].contains(problem), "{errors:?}");
}
