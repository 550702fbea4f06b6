//! What is served, as clients find out: everything at once, or group by group.

use crate::http::{Reply, get, pass, post, send};
use crate::server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn whole(at: SocketAddr, target: &str) -> Reply {
    send(
        at,
        "GET",
        target,
        &[("accept", &format!("{AGGREGATED},application/json"))],
        b"",
    )
}

/// Two kinds of a client's own, one of them with a plural that Kubernetes has too.
fn define(at: SocketAddr) {
    let version = |name: &str, storage: bool| {
        let schema = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": { "size": { "type": "integer" } } } } });
        let scale =
            json!({ "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size" });
        json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": schema }, "subresources": { "status": {}, "scale": scale } })
    };
    let boats = json!({ "group": "example.com", "scope": "Cluster", "versions": [version("v2beta1", false), version("v1", true), version("v10", false)],
        "names": { "plural": "boats", "singular": "boat", "kind": "Boat", "shortNames": ["bt"], "categories": ["all", "fleet"] } });
    let own = json!({ "group": "acme.example", "scope": "Namespaced", "versions": [version("v1", true)],
        "names": { "plural": "deployments", "singular": "deployment", "kind": "Deployment" } });
    for (name, spec) in [
        ("boats.example.com", boats),
        ("deployments.acme.example", own),
    ] {
        let definition = json!({ "metadata": { "name": name }, "spec": spec });
        assert_eq!(
            post(
                at,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition
            )
            .code,
            201
        );
    }
    pass(at, 2);
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|one| {
            one.pointer(key)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        })
        .collect()
}

#[test]
fn aggregated_discovery_lists_groups_in_order() {
    let server = server();
    let at = server.address();
    define(at);
    assert_eq!(
        send(
            at,
            "POST",
            "/loopscope/fault",
            &[],
            b"cpu-load app=web 500m"
        )
        .code,
        200
    );
    let (core, reply) = (whole(at, "/api"), whole(at, "/apis"));
    for reply in [&core, &reply] {
        let list = reply.json();
        assert_eq!(
            (reply.code, reply.header("content-type")),
            (200, AGGREGATED)
        );
        assert_eq!(
            (&list["kind"], &list["apiVersion"]),
            (
                &json!("APIGroupDiscoveryList"),
                &json!("apidiscovery.k8s.io/v2")
            )
        );
    }
    let core = core.json();
    assert_eq!(
        (
            core["items"].as_array().map(Vec::len),
            core["items"][0]["metadata"].get("name")
        ),
        (Some(1), None)
    );
    let pods = core["items"][0]["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["resource"] == "pods")
        .unwrap();
    let kind = json!({ "group": "", "version": "v1", "kind": "Pod" });
    assert_eq!(
        (
            &pods["responseKind"],
            &pods["scope"],
            &pods["singularResource"],
            &pods["shortNames"],
            &pods["categories"]
        ),
        (
            &kind,
            &json!("Namespaced"),
            &json!("pod"),
            &json!(["po"]),
            &json!(["all"])
        )
    );
    assert_eq!(
        pods["verbs"],
        json!([
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch"
        ])
    );
    let part = |name: &str| {
        pods["subresources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|part| part["subresource"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(part("status")["responseKind"], kind);
    assert_eq!(
        part("eviction")["responseKind"],
        json!({ "group": "policy", "version": "v1", "kind": "Eviction" })
    );
    assert_eq!(part("log")["verbs"], json!(["get"]));
    let groups = reply.json()["items"].clone();
    let order = names(&groups, "/metadata/name");
    let place = |name: &str| {
        order
            .iter()
            .position(|group| group == name)
            .unwrap_or_else(|| panic!("{name}: {order:?}"))
    };
    let known = [
        "apps",
        "events.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
        "apiextensions.k8s.io",
        "scheduling.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "discovery.k8s.io",
        "acme.example",
        "example.com",
        "metrics.k8s.io",
    ];
    assert!(known.is_sorted_by_key(|name| place(name)), "{order:?}");
    assert_eq!(
        (place("apps"), place("metrics.k8s.io")),
        (0, order.len() - 1)
    );
    let versions = |name: &str| names(&groups[place(name)]["versions"], "/version");
    assert_eq!(
        (versions("autoscaling"), versions("example.com")),
        (
            vec!["v2".to_owned(), "v1".to_owned()],
            vec!["v10".to_owned(), "v1".to_owned(), "v2beta1".to_owned()]
        )
    );
    let boats = &groups[place("example.com")]["versions"][0]["resources"][0];
    assert_eq!(
        (
            &boats["resource"],
            &boats["scope"],
            &boats["shortNames"],
            &boats["categories"]
        ),
        (
            &json!("boats"),
            &json!("Cluster"),
            &json!(["bt"]),
            &json!(["all", "fleet"])
        )
    );
    assert_eq!(
        names(&boats["subresources"], "/subresource"),
        ["status", "scale"]
    );
    assert!(groups.as_array().unwrap().iter().all(|group| {
        group["versions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["freshness"] == "Current")
    }));
    // What is no longer defined is no longer told.
    assert_eq!(
        send(
            at,
            "DELETE",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.com",
            &[],
            b""
        )
        .code,
        200
    );
    pass(at, 5);
    assert!(
        !names(&whole(at, "/apis").json()["items"], "/metadata/name")
            .contains(&"example.com".to_owned())
    );
}

#[test]
fn unaggregated_discovery_is_served_to_older_clients() {
    let server = server();
    let older = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    for accept in [older, "application/json", "*/*"] {
        let reply = send(server.address(), "GET", "/apis", &[("accept", accept)], b"");
        assert_eq!(
            (reply.header("content-type"), &reply.json()["kind"]),
            ("application/json", &json!("APIGroupList")),
            "{accept}"
        );
    }
}

/// Everything that discovery tells of a resource or of a part of one, by group, version and name.
type Told = BTreeMap<String, Value>;

fn aggregated(at: SocketAddr) -> Told {
    let mut told = Told::new();
    let lists = [whole(at, "/api").json(), whole(at, "/apis").json()];
    for group in lists
        .iter()
        .flat_map(|list| list["items"].as_array().unwrap())
    {
        let name = group["metadata"]["name"].as_str().unwrap_or("");
        for (at, version) in group["versions"].as_array().unwrap().iter().enumerate() {
            told.insert(format!("{name} {at}"), version["version"].clone());
            for one in version["resources"].as_array().unwrap() {
                let key = format!(
                    "{name}/{}/{}",
                    version["version"].as_str().unwrap(),
                    one["resource"].as_str().unwrap()
                );
                let namespaced = one["scope"] == "Namespaced";
                let all = json!([
                    one["responseKind"]["kind"],
                    namespaced,
                    one["singularResource"],
                    one["verbs"],
                    one["shortNames"],
                    one["categories"]
                ]);
                for part in one["subresources"].as_array().unwrap() {
                    let kind = &part["responseKind"];
                    told.insert(
                        format!("{key}/{}", part["subresource"].as_str().unwrap()),
                        json!([kind, namespaced, part["verbs"]]),
                    );
                }
                told.insert(key, all);
            }
        }
    }
    told
}

fn plain(at: SocketAddr) -> Told {
    let mut told = Told::new();
    let mut groups = vec![(
        String::new(),
        json!([{ "version": get(at, "/api").json()["versions"][0] }]),
    )];
    for group in get(at, "/apis").json()["groups"].as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        assert_eq!(group["preferredVersion"], group["versions"][0]);
        let alone = get(at, &format!("/apis/{name}")).json();
        assert_eq!(
            (&alone["kind"], &alone["versions"]),
            (&json!("APIGroup"), &group["versions"])
        );
        groups.push((name.to_owned(), group["versions"].clone()));
    }
    for (name, versions) in groups {
        for (index, version) in versions.as_array().unwrap().iter().enumerate() {
            told.insert(format!("{name} {index}"), version["version"].clone());
            let version = version["version"].as_str().unwrap();
            let path = if name.is_empty() {
                format!("/api/{version}")
            } else {
                format!("/apis/{name}/{version}")
            };
            let list = get(at, &path).json();
            assert_eq!(
                (&list["kind"], list["groupVersion"].as_str()),
                (
                    &json!("APIResourceList"),
                    Some(
                        path.trim_start_matches("/apis/")
                            .trim_start_matches("/api/")
                    )
                )
            );
            for one in list["resources"].as_array().unwrap() {
                let resource = one["name"].as_str().unwrap();
                let own = |key: &str, other: &str| one[key].as_str().unwrap_or(other).to_owned();
                let list = |key: &str| {
                    if one[key].is_null() {
                        json!([])
                    } else {
                        one[key].clone()
                    }
                };
                let fact = if resource.contains('/') {
                    let kind = if one["version"].is_null() {
                        (name.clone(), version.to_owned())
                    } else {
                        (own("group", ""), own("version", ""))
                    };
                    json!([{ "group": kind.0, "version": kind.1, "kind": one["kind"] }, one["namespaced"], one["verbs"]])
                } else {
                    json!([
                        one["kind"],
                        one["namespaced"],
                        one["singularName"],
                        one["verbs"],
                        list("shortNames"),
                        list("categories")
                    ])
                };
                told.insert(format!("{name}/{version}/{resource}"), fact);
            }
        }
    }
    told
}

#[test]
fn both_forms_of_discovery_agree() {
    let server = server();
    let at = server.address();
    define(at);
    let (one, other) = (aggregated(at), plain(at));
    let different = one.iter().zip(&other).find(|(one, other)| one != other);
    assert_eq!((different, one.len()), (None, other.len()));
    assert!(one.len() > 100, "{}", one.len());
}

#[test]
fn discovered_resources_are_served_and_no_others() {
    let server = server();
    let at = server.address();
    define(at);
    let told = aggregated(at);
    let parts = [
        "status",
        "scale",
        "approval",
        "finalize",
        "attach",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "exec",
        "log",
        "resize",
        "token",
    ];
    let (mut there, mut missing) = (0, 0);
    for (key, fact) in told.iter().filter(|(key, _)| key.matches('/').count() == 2) {
        let (group_version, resource) = key.rsplit_once('/').unwrap();
        let root = if let Some(version) = group_version.strip_prefix('/') {
            format!("/api/{version}")
        } else {
            format!("/apis/{group_version}")
        };
        if !fact[3].as_array().unwrap().contains(&json!("list"))
            || resource == "componentstatuses"
            || group_version.starts_with("metrics")
            // The handler of custom resources has no object of the name below a part that is not there either.
            || group_version.starts_with("acme.example")
            || group_version.starts_with("example.com")
            || group_version.starts_with(k8s_model::kind::LOOP_GROUP)
        {
            continue;
        }
        assert_eq!(get(at, &format!("{root}/{resource}")).code, 200, "{key}");
        let place = if fact[1] == true {
            format!("{root}/namespaces/default/{resource}/nope")
        } else {
            format!("{root}/{resource}/nope")
        };
        for part in parts {
            let reply = get(at, &format!("{place}/{part}"));
            let unknown = reply.code == 404
                && reply.json()["message"]
                    .as_str()
                    .unwrap()
                    .starts_with("the server could not find the requested resource");
            let expected = !told.contains_key(&format!("{key}/{part}"));
            assert_eq!(unknown, expected, "{place}/{part}: {}", reply.json());
            if expected { missing += 1 } else { there += 1 }
        }
    }
    assert!(there > 40 && missing > 400, "{there} {missing}");
}

/// What kubectl validates a List with: it takes the properties that it finds for all there are.
#[test]
fn a_schema_that_keeps_unknown_fields_lists_none_in_v2() {
    let server = server();
    let at = server.address();
    let keeps = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": { "known": { "type": "string" } } });
    let either = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "oneOf": [{ "required": ["a"] }] });
    let inner = json!({ "type": "object", "required": ["maybe"], "properties": {
        "free": keeps, "either": either, "maybe": { "type": "object", "nullable": true, "properties": { "x": { "type": "string" } } },
        "pod": { "type": "object", "x-kubernetes-embedded-resource": true, "properties": { "spec": { "type": "object" } } },
        "port": { "x-kubernetes-int-or-string": true },
        "oneOf": { "type": "string", "default": "nullable" },
    } });
    for (kind, plural, schema) in [
        ("Foo", "foos", keeps.clone()),
        (
            "Bar",
            "bars",
            json!({ "type": "object", "properties": { "spec": inner } }),
        ),
    ] {
        let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
        let spec = json!({ "group": "example.com", "scope": "Namespaced", "versions": [version],
            "names": { "plural": plural, "singular": plural, "kind": kind } });
        let definition =
            json!({ "metadata": { "name": format!("{plural}.example.com") }, "spec": spec });
        assert_eq!(
            post(
                at,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition
            )
            .code,
            201
        );
    }
    pass(at, 2);
    let v2 = get(at, "/openapi/v2").json();
    let (foo, spec) = (
        &v2["definitions"]["com.example.v1.Foo"],
        &v2["definitions"]["com.example.v1.Bar"]["properties"]["spec"],
    );
    let names = json!([{ "group": "example.com", "version": "v1", "kind": "Foo" }]);
    assert_eq!(
        *foo,
        json!({ "type": "object", "x-kubernetes-group-version-kind": names })
    );
    assert_eq!(
        spec["properties"]["free"],
        json!({ "x-kubernetes-preserve-unknown-fields": true })
    );
    assert_eq!(
        spec["properties"]["either"],
        json!({ "type": "object", "properties": { "a": { "type": "string" } } })
    );
    assert_eq!(
        (&spec["properties"]["maybe"], spec.get("required")),
        (&json!({}), None)
    );
    assert_eq!(spec["properties"]["port"]["format"], "int-or-string");
    assert_eq!(
        spec["properties"]["oneOf"],
        json!({ "type": "string", "default": "nullable" })
    );
    let pod = &spec["properties"]["pod"]["properties"];
    assert_eq!(
        (
            &pod["apiVersion"]["type"],
            &pod["metadata"]["$ref"],
            &pod["spec"]["type"]
        ),
        (
            &json!("string"),
            &json!("#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            &json!("object")
        )
    );
    let own = &v2["definitions"]["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"]
        ["properties"];
    assert_eq!(
        (&own["oneOf"]["type"], &own["allOf"]["type"]),
        (&json!("array"), &json!("array"))
    );
    // v3 tells all of it.
    let v3 = get(at, "/openapi/v3/apis/example.com/v1").json();
    let foo = &v3["components"]["schemas"]["com.example.v1.Foo"];
    assert_eq!(
        (
            &foo["x-kubernetes-preserve-unknown-fields"],
            &foo["properties"]["known"]["type"]
        ),
        (&json!(true), &json!("string"))
    );
}
