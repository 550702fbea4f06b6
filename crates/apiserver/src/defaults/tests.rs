use super::*;

fn defaulted(mut value: Value) -> Value {
    apply_defaults(&mut value);
    value
}

fn container() -> Value {
    json!({"image": "nginx:1.14.2", "imagePullPolicy": "IfNotPresent", "name": "nginx", "resources": {},
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"})
}

fn pod_spec() -> Value {
    json!({"containers": [container()], "dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30})
}

fn plain_template() -> Value {
    json!({"metadata": {"labels": {"app": "nginx"}},
        "spec": {"containers": [{"name": "nginx", "image": "nginx:1.14.2", "ports": [{"containerPort": 80}]}]}})
}

fn full_template() -> Value {
    json!({"metadata": {"labels": {"app": "nginx"}}, "spec": pod_spec()})
}

#[test]
fn a_deployment_is_defaulted() {
    let spec = json!({"selector": {"matchLabels": {"app": "nginx"}}, "template": plain_template()});
    let found = defaulted(
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec}),
    );
    assert_eq!(
        found["spec"],
        json!({"progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10,
        "selector": {"matchLabels": {"app": "nginx"}},
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}, "type": "RollingUpdate"},
        "template": full_template()})
    );
    assert_eq!(defaulted(found.clone()), found);
}

#[test]
fn a_stateful_set_is_defaulted_with_its_claims() {
    let found = defaulted(
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": {
        "serviceName": "nginx", "replicas": 2, "selector": {"matchLabels": {"app": "nginx"}}, "template": plain_template(),
        "volumeClaimTemplates": [{"metadata": {"name": "www"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}]}}),
    );
    assert_eq!(
        found["spec"],
        json!({
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        "podManagementPolicy": "OrderedReady", "replicas": 2, "revisionHistoryLimit": 10, "serviceName": "nginx",
        "selector": {"matchLabels": {"app": "nginx"}}, "template": full_template(),
        "updateStrategy": {"rollingUpdate": {"partition": 0}, "type": "RollingUpdate"},
        "volumeClaimTemplates": [{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "www"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"},
            "status": {"phase": "Pending"}}]})
    );
}

#[test]
fn a_pod_gets_more_than_its_template_had() {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": plain_template()["spec"].clone()});
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "1"}});
    apply_defaults(&mut pod);
    admit_pod(&mut pod, Some("abcde"), 300);
    let spec = &pod["spec"];
    assert_eq!(spec["enableServiceLinks"], true);
    assert_eq!(spec["containers"][0]["resources"]["requests"]["cpu"], "1");
    assert_eq!(
        spec["containers"][0]["volumeMounts"][0]["name"],
        "kube-api-access-abcde"
    );
    assert_eq!(
        spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"],
        3607
    );
    assert_eq!(spec["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&spec["priority"], &spec["serviceAccount"]),
        (&json!(0), &json!("default"))
    );
    assert_eq!(pod["status"], json!({"phase": "Pending"}));
}

#[test]
fn other_kinds_are_defaulted() {
    let service = defaulted(
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}),
    );
    assert_eq!(
        service["spec"],
        json!({"selector": {"a": "b"}, "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "sessionAffinity": "None", "type": "ClusterIP", "internalTrafficPolicy": "Cluster"})
    );
    let external = defaulted(
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "ExternalName", "externalName": "x.y"}}),
    );
    assert_eq!(
        external["spec"],
        json!({"type": "ExternalName", "externalName": "x.y", "sessionAffinity": "None"})
    );
    let job = defaulted(
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": {"template": plain_template()}}),
    );
    assert_eq!(job["spec"]["backoffLimit"], 6);
    assert_eq!(job["spec"]["completions"], 1);
    assert_eq!(job["metadata"]["labels"]["app"], "nginx");
    let secret = defaulted(
        json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "hello", "b": "hi", "c": "h"}}),
    );
    assert_eq!(
        secret["data"],
        json!({"a": "aGVsbG8=", "b": "aGk=", "c": "aA=="})
    );
    let space =
        defaulted(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}));
    assert_eq!(
        space["metadata"]["labels"]["kubernetes.io/metadata.name"],
        "x"
    );
    let range = defaulted(
        json!({"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
    );
    assert_eq!(range["spec"]["limits"][0]["defaultRequest"]["cpu"], "1");
}

#[test]
fn images_are_pulled_by_their_tag() {
    for (image, policy) in [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.2", "IfNotPresent"),
        ("reg:5000/nginx", "Always"),
        ("reg:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
        ("", "Always"),
    ] {
        assert_eq!(pod::pull_policy(image), policy, "{image}");
    }
}

#[test]
fn strange_shapes_do_no_harm() {
    for spec in [
        json!(null),
        json!([]),
        json!("x"),
        json!({"template": 5, "containers": {"a": 1}, "ports": "x"}),
    ] {
        for kind in [
            "Deployment",
            "Pod",
            "Service",
            "StatefulSet",
            "Job",
            "CronJob",
            "HorizontalPodAutoscaler",
            "ReplicationController",
            "LimitRange",
        ] {
            for api in ["v1", "apps/v1", "batch/v1", "autoscaling/v2"] {
                let mut value =
                    json!({"apiVersion": api, "kind": kind, "metadata": 7, "spec": spec.clone()});
                apply_defaults(&mut value);
                admit_pod(&mut value, Some("x"), 300);
                prepare_job(&mut value, "u");
            }
        }
    }
}
