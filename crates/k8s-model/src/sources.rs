//! References of a Pod's spec besides claims: ConfigMaps and Secrets, whole or by key, and a service account.
//!
//! Follows `VisitPodSecretNames` and `VisitPodConfigmapNames` in `pkg/api/v1/pod/util.go`.

use super::{Body, Kind, Object, Str, pod};
use serde_json::Value;

/// ConfigMap or Secret, or one key of it, that a part of a Pod uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataSource {
    /// Kind, ConfigMap or Secret.
    pub kind: Kind,
    /// Name of the object.
    pub name: Str,
    /// Key; `None` for all keys.
    pub key: Option<Str>,
    /// True if the Pod starts without the source too.
    pub optional: bool,
}

impl DataSource {
    fn read(kind: Kind, part: &Value, field: &str, key: Option<&str>) -> Option<DataSource> {
        let name = part[field].as_str()?;
        Some(DataSource {
            kind,
            name: name.into(),
            key: key.map(Str::from),
            optional: part["optional"] == true,
        })
    }
}

fn items<'v>(value: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    value[list].as_array().into_iter().flatten()
}

/// Returns the volumes specified by the user: every Pod has one more, for the API server's token, whose sources always exist.
pub fn volumes(spec: &Value) -> impl Iterator<Item = &Value> {
    items(spec, "volumes").filter(|volume| {
        !volume["name"]
            .as_str()
            .is_some_and(|name| name.starts_with(pod::TOKEN_PREFIX))
    })
}

/// Returns the data sources of each source of a volume, by key if it lists items.
pub fn mounted(volume: &Value) -> Vec<Vec<DataSource>> {
    let read = |kind: Kind, part: &Value, field: &str| -> Vec<DataSource> {
        let mut keys = items(part, "items")
            .filter_map(|item| item["key"].as_str())
            .peekable();
        if keys.peek().is_none() {
            return DataSource::read(kind, part, field, None)
                .into_iter()
                .collect();
        }
        keys.filter_map(|key| DataSource::read(kind, part, field, Some(key)))
            .collect()
    };
    let mut sources = vec![
        read(Kind::ConfigMap, &volume["configMap"], "name"),
        read(Kind::Secret, &volume["secret"], "secretName"),
    ];
    for part in items(&volume["projected"], "sources") {
        sources.push(read(Kind::ConfigMap, &part["configMap"], "name"));
        sources.push(read(Kind::Secret, &part["secret"], "name"));
    }
    sources
}

/// Returns the data sources of a container's environment: whole ConfigMaps and Secrets first.
pub fn environment(container: &Value) -> Vec<DataSource> {
    let whole = |from: &Value| {
        DataSource::read(Kind::ConfigMap, &from["configMapRef"], "name", None)
            .or_else(|| DataSource::read(Kind::Secret, &from["secretRef"], "name", None))
    };
    let one = |variable: &Value| {
        let from = &variable["valueFrom"];
        let read = |kind: Kind, part: &Value| {
            DataSource::read(kind, part, "name", Some(part["key"].as_str().unwrap_or("")))
        };
        read(Kind::ConfigMap, &from["configMapKeyRef"])
            .or_else(|| read(Kind::Secret, &from["secretKeyRef"]))
    };
    items(container, "envFrom")
        .filter_map(whole)
        .chain(items(container, "env").filter_map(one))
        .collect()
}

/// Purpose of a reference to a ConfigMap or a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Variables of a container's environment.
    Env,
    /// Volume.
    Volume,
    /// Image pull.
    ImagePull,
}

/// Object named by a Pod's spec, with its purposes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Kind: ConfigMap, Secret or ServiceAccount.
    pub kind: Kind,
    /// Name of the object.
    pub name: Str,
    /// True if the reference is marked as optional.
    pub optional: bool,
    /// Purposes: `env`, `volume`, `image pull`; empty for a service account.
    pub of: Vec<Purpose>,
}

/// Volume types whose drivers authenticate with a Secret, and the field with its name.
const DRIVERS: [(&str, &str); 8] = [
    ("azureFile", "secretName"),
    ("cephfs", "secretRef/name"),
    ("csi", "nodePublishSecretRef/name"),
    ("flexVolume", "secretRef/name"),
    ("iscsi", "secretRef/name"),
    ("rbd", "secretRef/name"),
    ("scaleIO", "secretRef/name"),
    ("storageos", "secretRef/name"),
];

/// Returns the references of a Pod, or of the template of a workload.
pub fn of(object: &Object) -> Vec<Reference> {
    let spec = match &object.body {
        Body::Pod(pod) => &pod.spec.raw,
        Body::Deployment(body) => &body.spec.template.spec.raw,
        Body::ReplicaSet(body) => &body.spec.template.spec.raw,
        Body::StatefulSet(body) => &body.spec.template.spec.raw,
        Body::DaemonSet(body) => &body.template.spec.raw,
        Body::Job(body) => &body.spec.raw["template"]["spec"],
        Body::Other(body) => {
            let spec = body.get("spec").unwrap_or(&Value::Null);
            if object.kind == Kind::CronJob {
                &spec["jobTemplate"]["spec"]["template"]["spec"]
            } else {
                &spec["template"]["spec"]
            }
        }
        Body::ControllerRevision(_)
        | Body::Service(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::PersistentVolumeClaim(_)
        | Body::PersistentVolume(_)
        | Body::StorageClass(_)
        | Body::Node(_)
        | Body::Event(_) => return Vec::new(),
    };
    if names_something(spec) {
        references(spec)
    } else {
        Vec::new()
    }
}

/// Lists of containers in a Pod's spec, in the order in which they start.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Returns true if a spec has any reference; a fast path, since most have none.
fn names_something(spec: &Value) -> bool {
    let has = |part: &Value, field: &str| part.get(field).is_some();
    let account = spec
        .get("serviceAccountName")
        .and_then(Value::as_str)
        .is_some_and(|name| name != "default");
    let lists = CONTAINERS
        .into_iter()
        .filter_map(|list| spec.get(list)?.as_array());
    account
        || volumes(spec).next().is_some()
        || has(spec, "imagePullSecrets")
        || lists
            .flatten()
            .any(|container| has(container, "env") || has(container, "envFrom"))
}

/// Returns all references of a Pod's spec, each object once. The service account `default` is left out.
fn references(spec: &Value) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    let mut add = |kind: Kind, name: &str, optional: bool, of: Option<Purpose>| {
        let known = found
            .iter()
            .position(|one| one.kind == kind && one.name == name);
        let at = known.unwrap_or_else(|| {
            found.push(Reference {
                kind,
                name: name.into(),
                optional,
                of: Vec::new(),
            });
            found.len() - 1
        });
        let one = &mut found[at];
        one.optional &= optional;
        one.of.extend(of.filter(|of| !one.of.contains(of)));
    };
    for container in CONTAINERS.into_iter().flat_map(|list| items(spec, list)) {
        environment(container).iter().for_each(|source| {
            add(
                source.kind,
                &source.name,
                source.optional,
                Some(Purpose::Env),
            )
        });
    }
    for source in volumes(spec).flat_map(mounted).flatten() {
        add(
            source.kind,
            &source.name,
            source.optional,
            Some(Purpose::Volume),
        );
    }
    for (kind, field) in DRIVERS {
        for secret in volumes(spec)
            .filter_map(|volume| volume.pointer(&["/", kind, "/", field].concat())?.as_str())
        {
            add(Kind::Secret, secret, false, Some(Purpose::Volume));
        }
    }
    items(spec, "imagePullSecrets")
        .filter_map(|secret| secret["name"].as_str())
        .for_each(|name| add(Kind::Secret, name, false, Some(Purpose::ImagePull)));
    if let Some(account) = spec["serviceAccountName"]
        .as_str()
        .filter(|name| !matches!(*name, "" | "default"))
    {
        add(Kind::ServiceAccount, account, false, None);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_spec_names_is_told_once_with_all_that_it_is_for() {
        let spec = json!({
            "serviceAccountName": "robot",
            "imagePullSecrets": [{ "name": "registry" }],
            "initContainers": [{ "envFrom": [{ "secretRef": { "name": "keys", "optional": true } }] }],
            "containers": [{ "env": [
                { "name": "A", "valueFrom": { "configMapKeyRef": { "name": "settings", "key": "a" } } },
                { "name": "B", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
            ] }],
            "volumes": [
                { "name": "kube-api-access-x", "projected": { "sources": [{ "configMap": { "name": "kube-root-ca.crt" } }] } },
                { "name": "v", "projected": { "sources": [{ "configMap": { "name": "settings" } }, { "secret": { "name": "keys" } }] } },
                { "name": "x", "csi": { "driver": "d", "nodePublishSecretRef": { "name": "signs-in" } } },
                { "name": "w", "configMap": { "name": "settings", "items": [{ "key": "a" }, { "key": "b" }], "optional": true } },
            ],
        });
        let told: Vec<String> = references(&spec)
            .iter()
            .map(|one| format!("{:?} {} {:?} {}", one.kind, one.name, one.of, one.optional))
            .collect();
        assert_eq!(
            told,
            [
                "Secret keys [Env, Volume] false",
                "ConfigMap settings [Env, Volume] false",
                "Secret signs-in [Volume] false",
                "Secret registry [ImagePull] false",
                "ServiceAccount robot [] false",
            ]
        );
        assert_eq!(
            references(&json!({ "serviceAccountName": "default", "containers": [{}] })),
            []
        );
    }
}
