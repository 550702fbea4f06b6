//! Discovery: the groups, versions and resources that are served.
//!
//! Models `apiserver/pkg/endpoints/discovery` and its `aggregated` part.

use super::http_request::{Accepts, HttpRequest};
use super::metrics;
use super::status::Answer;
use apiserver::conversion::ALIASES;
use cluster::Sim;
use cluster_network::usage::Usage;
use k8s_model::Kind;
use k8s_model::base64;
use k8s_model::kind::{self, KindSpec, Subresource};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

type Verbs = &'static [&'static str];
/// Group, version and kind.
type Named = (&'static str, &'static str, &'static str);

const VERBS: Verbs = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
const WITHOUT_COLLECTION: Verbs = &[
    "create", "delete", "get", "list", "patch", "update", "watch",
];
const CREATE: Verbs = &["create"];
const READ: Verbs = &["get", "list"];
const CHANGED: Verbs = &["get", "patch", "update"];
/// Media type of aggregated discovery.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Kinds that are not stored: group, resource, kind, and true if namespaced.
pub const REVIEWS: &[(&str, &str, &str, bool)] = &[
    (
        "authentication.k8s.io",
        "selfsubjectreviews",
        "SelfSubjectReview",
        false,
    ),
    (
        "authentication.k8s.io",
        "tokenreviews",
        "TokenReview",
        false,
    ),
    (
        "authorization.k8s.io",
        "localsubjectaccessreviews",
        "LocalSubjectAccessReview",
        true,
    ),
    (
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "SelfSubjectAccessReview",
        false,
    ),
    (
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        "SelfSubjectRulesReview",
        false,
    ),
    (
        "authorization.k8s.io",
        "subjectaccessreviews",
        "SubjectAccessReview",
        false,
    ),
];

/// Subresources: kind, name, verbs, and the kind they are read as, with its group and version if these differ.
const PARTS: &[(&str, &str, Verbs, Named)] = &[
    (
        "CertificateSigningRequest",
        "approval",
        CHANGED,
        ("", "", "CertificateSigningRequest"),
    ),
    ("Namespace", "finalize", &["update"], ("", "", "Namespace")),
    (
        "Pod",
        "attach",
        &["create", "get"],
        ("", "", "PodAttachOptions"),
    ),
    ("Pod", "binding", CREATE, ("", "", "Binding")),
    ("Pod", "ephemeralcontainers", CHANGED, ("", "", "Pod")),
    ("Pod", "eviction", CREATE, ("policy", "v1", "Eviction")),
    (
        "Pod",
        "exec",
        &["create", "get"],
        ("", "", "PodExecOptions"),
    ),
    ("Pod", "log", &["get"], ("", "", "Pod")),
    ("Pod", "resize", CHANGED, ("", "", "Pod")),
    (
        "ServiceAccount",
        "token",
        CREATE,
        ("authentication.k8s.io", "v1", "TokenRequest"),
    ),
];

struct Resource {
    name: String,
    singular: String,
    kind: String,
    namespaced: bool,
    verbs: &'static [&'static str],
    short: Vec<String>,
    categories: Vec<String>,
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    kind: (&'static str, &'static str, String),
    verbs: &'static [&'static str],
}

/// Built-in groups, in their order: if two resources have the same name clients take the first. Groups of CustomResourceDefinitions and of
/// metrics follow, by name.
const ORDER: &[&str] = &[
    "",
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
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "resource.k8s.io",
];

/// Name of a group, and its versions.
type Group<'a> = (&'a String, &'a Vec<(String, Vec<Resource>)>);

/// Returns the groups in the order of their priorities.
fn ordered(groups: &Groups) -> Vec<Group<'_>> {
    let place = |name: &str| match ORDER.iter().position(|known| *known == name) {
        Some(at) => at,
        None if name == metrics::GROUP => usize::MAX,
        None => ORDER.len(),
    };
    let mut all: Vec<_> = groups.iter().collect();
    all.sort_by_key(|(name, _)| place(name));
    all
}

/// Resources of each group and version; groups sorted by name, versions with the preferred one first.
type Groups = BTreeMap<String, Vec<(String, Vec<Resource>)>>;

fn groups(sim: &Sim) -> Groups {
    let mut groups = Groups::new();
    for kind in kind::ALL {
        let info = kind.info();
        let mut parts = own_status(info);
        if info.has(Subresource::Scale) {
            parts.push(scale());
        }
        for (_, name, verbs, (group, version, shown)) in
            PARTS.iter().filter(|part| part.0 == info.name)
        {
            parts.push(Part {
                name,
                kind: (group, version, (*shown).to_owned()),
                verbs,
            });
        }
        add(&mut groups, info.group, info.version, resource(info, parts));
    }
    let usage = Usage::new(sim.store(), &sim.kubelets.loads);
    only_asked(&mut groups, usage.is_available());
    for alias in ALIASES {
        let info = alias.kind.info();
        add(
            &mut groups,
            alias.group,
            alias.version,
            resource(info, own_status(info)),
        );
    }
    for definition in sim.server.definitions().served() {
        let info = definition.kind.info();
        for version in &definition.versions {
            let mut parts = Vec::new();
            if version.status {
                parts.push(status(info));
            }
            if version.scale.is_some() {
                parts.push(scale());
            }
            let resource = Resource {
                name: info.plural.to_owned(),
                singular: definition.singular.clone(),
                kind: info.name.to_owned(),
                namespaced: info.namespaced,
                verbs: VERBS,
                short: definition.short.clone(),
                categories: definition.categories.clone(),
                parts,
            };
            add(&mut groups, info.group, &version.name, resource);
        }
    }
    // Sorted as by the API server; clients read categories such as `all` in this order.
    for (_, resources) in groups.values_mut().flatten() {
        resources.sort_by(|one, other| one.name.cmp(&other.name));
    }
    groups
}

/// Returns true for the groups that the API server itself serves, which excludes the core group and those of custom kinds.
pub fn is_built_in(group: &str) -> bool {
    let of_kinds = kind::ALL.iter().map(|kind| kind.info().group);
    let of_aliases = ALIASES.iter().map(|alias| alias.group);
    let of_reviews = REVIEWS.iter().map(|review| review.0);
    let mut groups = of_kinds.chain(of_aliases).chain(of_reviews);
    !group.is_empty() && groups.any(|known| known == group)
}

/// Builds the resource of a built-in kind.
fn resource(info: &KindSpec, parts: Vec<Part>) -> Resource {
    Resource {
        name: info.plural.to_owned(),
        singular: info.name.to_lowercase(),
        kind: info.name.to_owned(),
        namespaced: info.namespaced,
        verbs: match info.name {
            "ComponentStatus" => READ,
            "Namespace" => WITHOUT_COLLECTION,
            _ => VERBS,
        },
        short: info
            .short
            .split(',')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
        categories: info
            .categories
            .iter()
            .map(|category| (*category).to_owned())
            .collect(),
        parts,
    }
}

/// Adds the resources that are not stored: reviews, bindings and metrics.
fn only_asked(groups: &mut Groups, measures: bool) {
    let mut put =
        |group: &str,
         version: &str,
         (name, kind, namespaced, verbs): (&str, &str, bool, &'static [&'static str])| {
            let (short, categories, parts) = (Vec::new(), Vec::new(), Vec::new());
            let singular = if verbs == CREATE {
                kind.to_lowercase()
            } else {
                String::new()
            };
            let (name, kind) = (name.to_owned(), kind.to_owned());
            add(
                groups,
                group,
                version,
                Resource {
                    name,
                    singular,
                    kind,
                    namespaced,
                    verbs,
                    short,
                    categories,
                    parts,
                },
            );
        };
    for (group, name, kind, namespaced) in REVIEWS {
        put(group, "v1", (name, kind, *namespaced, CREATE));
    }
    put("", "v1", ("bindings", "Binding", true, CREATE));
    for (name, kind, namespaced) in metrics::RESOURCES.into_iter().filter(|_| measures) {
        put(
            metrics::GROUP,
            metrics::VERSION,
            (name, kind, namespaced, &["get", "list"]),
        );
    }
}

/// Returns true if a kind has a subresource of this name: those in discovery, and port forwarding, which is refused with a reason.
pub fn has_part(sim: &Sim, kind: Kind, version: &str, part: &str) -> bool {
    let name = kind.info().name;
    if let Some(definition) = sim.server.definitions().of(kind) {
        let version = definition.version(version);
        return part == "status" && version.status || part == "scale" && version.scale.is_some();
    }
    match part {
        "status" => kind.info().has(Subresource::Status),
        "scale" => kind.info().has(Subresource::Scale),
        "portforward" => kind == Kind::Pod,
        _ => PARTS.iter().any(|known| (known.0, known.1) == (name, part)),
    }
}

fn own_status(info: &KindSpec) -> Vec<Part> {
    if info.has(Subresource::Status) {
        vec![status(info)]
    } else {
        Vec::new()
    }
}

fn status(info: &KindSpec) -> Part {
    Part {
        name: "status",
        kind: ("", "", info.name.to_owned()),
        verbs: CHANGED,
    }
}

fn scale() -> Part {
    Part {
        name: "scale",
        kind: ("autoscaling", "v1", "Scale".to_owned()),
        verbs: CHANGED,
    }
}

fn add(groups: &mut Groups, group: &str, version: &str, resource: Resource) {
    let versions = groups.entry(group.to_owned()).or_default();
    match versions.iter_mut().find(|(name, _)| name == version) {
        Some((_, resources)) => resources.push(resource),
        None => versions.push((version.to_owned(), vec![resource])),
    }
}

fn joined(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// Handles a discovery request.
pub fn answer(sim: &Sim, request: &HttpRequest) -> Option<Answer> {
    let words: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    let groups = groups(sim);
    let whole = request.accepts() == Accepts::Aggregated;
    Some(match words.as_slice() {
        ["api"] if whole => aggregated(&groups, true),
        ["apis"] if whole => aggregated(&groups, false),
        ["api"] => Answer::json(
            200,
            &json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }),
        ),
        ["apis"] => {
            let named = ordered(&groups)
                .into_iter()
                .filter(|(name, _)| !name.is_empty());
            let list: Vec<Value> = named
                .map(|(name, versions)| group(name, versions))
                .collect();
            Answer::json(
                200,
                &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": list }),
            )
        }
        ["apis", name] => {
            let mut found = group(name, groups.get(*name)?);
            found["kind"] = "APIGroup".into();
            found["apiVersion"] = "v1".into();
            Answer::json(200, &found)
        }
        ["api", version] => resources("", version, &groups)?,
        ["apis", name, version] => resources(name, version, &groups)?,
        _ => return None,
    })
}

fn group(name: &str, versions: &[(String, Vec<Resource>)]) -> Value {
    let entry =
        |version: &str| json!({ "groupVersion": joined(name, version), "version": version });
    let list: Vec<Value> = versions.iter().map(|(version, _)| entry(version)).collect();
    json!({ "name": name, "preferredVersion": list.first(), "versions": list })
}

/// `APIResource` with its fields in upstream's order: scripts search its text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource<'a> {
    name: String,
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    kind: &'a str,
    verbs: Verbs,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [String],
    #[serde(skip_serializing_if = "String::is_empty")]
    storage_version_hash: String,
}

/// Hash that tells a client whether objects are stored in another version than before. Models `StorageVersionHash` of
/// `apiserver/pkg/endpoints/discovery/storageversionhash.go`.
fn storage_version_hash(group: &str, version: &str, kind: &str) -> String {
    base64::encoded(&Sha256::digest(format!("{group}/{version}/{kind}"))[..8])
}

fn resources(group: &str, version: &str, groups: &Groups) -> Option<Answer> {
    let (_, found) = groups
        .get(group)?
        .iter()
        .find(|(name, _)| name == version)?;
    let mut list = Vec::new();
    for one in found {
        let stored = one.verbs.contains(&"list");
        list.push(ApiResource {
            name: one.name.clone(),
            singular_name: &one.singular,
            namespaced: one.namespaced,
            group: "",
            version: "",
            kind: &one.kind,
            verbs: one.verbs,
            short_names: &one.short,
            categories: &one.categories,
            storage_version_hash: if stored {
                storage_version_hash(group, version, &one.kind)
            } else {
                String::new()
            },
        });
        list.extend(one.parts.iter().map(|part| ApiResource {
            name: format!("{}/{}", one.name, part.name),
            singular_name: "",
            namespaced: one.namespaced,
            group: part.kind.0,
            version: part.kind.1,
            kind: &part.kind.2,
            verbs: part.verbs,
            short_names: &[],
            categories: &[],
            storage_version_hash: String::new(),
        }));
    }
    let group_version = joined(group, version);
    let list = serde_json::to_string(&list).unwrap_or_default();
    let body = format!(
        "{{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"{group_version}\",\"resources\":{list}}}"
    );
    Some(Answer {
        content_type: "application/json",
        ..Answer::text(body)
    })
}

fn aggregated(groups: &Groups, core: bool) -> Answer {
    let items = ordered(groups).into_iter().filter(|(name, _)| name.is_empty() == core).map(|(name, versions)| {
        let versions = versions.iter().map(|(version, resources)| {
            let resources = resources.iter().map(|one| whole(name, version, one));
            json!({ "version": version, "freshness": "Current", "resources": resources.collect::<Vec<_>>() })
        });
        let meta = if core { json!({ "creationTimestamp": null }) } else { json!({ "name": name, "creationTimestamp": null }) };
        json!({ "metadata": meta, "versions": versions.collect::<Vec<_>>() })
    });
    let items: Vec<Value> = items.collect();
    let list = json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items });
    Answer {
        content_type: AGGREGATED,
        ..Answer::json(200, &list)
    }
}

fn whole(group: &str, version: &str, one: &Resource) -> Value {
    let parts = one.parts.iter().map(|part| {
        let (own, own_version, kind) = &part.kind;
        let (own, own_version) = if own_version.is_empty() {
            (group, version)
        } else {
            (*own, *own_version)
        };
        let kind = json!({ "group": own, "version": own_version, "kind": kind });
        json!({ "subresource": part.name, "responseKind": kind, "verbs": part.verbs })
    });
    json!({
        "resource": one.name, "responseKind": { "group": group, "version": version, "kind": one.kind },
        "scope": if one.namespaced { "Namespaced" } else { "Cluster" }, "singularResource": one.singular, "verbs": one.verbs,
        "shortNames": one.short, "categories": one.categories, "subresources": parts.collect::<Vec<_>>(),
    })
}

/// Answer to `/version`.
pub fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": "v1.36.2", "gitCommit": "", "gitTreeState": "clean", "buildDate": "", "goVersion": "",
        "compiler": "", "platform": "linux/amd64",
    })
}

/// Returns the served paths.
pub fn paths(sim: &Sim) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (name, versions) in groups(sim).iter().filter(|(name, _)| !name.is_empty()) {
        paths.push(format!("/apis/{name}"));
        paths.extend(
            versions
                .iter()
                .map(|(version, _)| format!("/apis/{name}/{version}")),
        );
    }
    paths.extend(
        [
            "/healthz",
            "/livez",
            "/metrics",
            "/openapi/v2",
            "/openapi/v3",
            "/readyz",
            "/version",
        ]
        .map(str::to_owned),
    );
    paths
}

/// Returns the groups and versions that have stored kinds.
pub fn group_versions(sim: &Sim) -> Vec<(String, String)> {
    let all = groups(sim);
    all.iter()
        .flat_map(|(group, versions)| {
            versions
                .iter()
                .map(|(version, _)| (group.clone(), version.clone()))
        })
        .collect()
}
