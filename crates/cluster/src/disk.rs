//! Files written by Pods: on volumes, where they outlive a Pod, and in containers, where they do not.
//!
//! Containers do not run here; files come from commands that a user runs in them.

use super::mounted::container_variables;
use apiserver::Store;
use k8s_model::environment;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::storage::PersistentVolumeClaim;
use k8s_model::{Kind, Object, ObjectRef, Str};
use serde_json::Value;
use std::collections::BTreeMap;

/// Disk of the terminal, which belongs to no Pod.
pub const CONSOLE: &str = "console";

/// Maximum total size of all files, in bytes.
const MAX_TOTAL_BYTES: usize = 1 << 20;

/// Files by disk and path below its mount point.
#[derive(Clone, Debug, Default)]
pub struct Disks {
    files: BTreeMap<(Str, Str), Str>,
    /// File access of a command beyond the terminal's disk: files of the host, where the engine may read them.
    pub machine: Option<MachineFiles>,
}

/// Files of the host on which the engine runs. Unavailable in a browser, and for network clients.
#[derive(Clone, Copy, Debug)]
pub struct MachineFiles {
    /// Returns the text of a file.
    pub read: fn(&str) -> Option<String>,
    /// Returns the files in a folder and its subfolders, by relative path; `None` if the folder does not exist.
    pub list: fn(&str) -> Option<Vec<String>>,
}

/// Joins a folder and a path, without `..`: nothing is above the root. Models Go's `path.Join`.
pub fn joined(folder: &str, path: &str) -> String {
    let folder = if path.starts_with('/') { "" } else { folder };
    let root = if path.starts_with('/') || folder.starts_with('/') {
        "/"
    } else {
        ""
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    [root, &parts.join("/")].concat()
}

/// Returns an absolute path, resolved against a folder.
pub fn absolute(folder: &str, path: &str) -> String {
    joined(&["/", folder].concat(), path)
}

impl Disks {
    /// Returns a file's text.
    pub fn read(&self, disk: &str, path: &str) -> Option<&Str> {
        self.files.get(&(disk.into(), path.into()))
    }

    /// Returns the paths and texts of a disk.
    pub fn list(&self, disk: &str) -> impl Iterator<Item = (&Str, &Str)> {
        let of = Str::from(disk);
        self.files
            .range((of.clone(), Str::default())..)
            .take_while(move |((d, _), _)| *d == of)
            .map(|((_, path), text)| (path, text))
    }

    /// Writes a file; returns false if the limit is reached.
    pub fn write(&mut self, disk: &str, path: &str, text: &str) -> bool {
        let others: usize = self
            .files
            .iter()
            .filter(|((d, p), _)| d != disk || p != path)
            .map(|((_, p), text)| p.len() + text.len())
            .sum();
        if others + path.len() + text.len() > MAX_TOTAL_BYTES {
            return false;
        }
        self.files.insert((disk.into(), path.into()), text.into());
        true
    }

    /// Removes a file; returns true if it existed.
    pub fn remove(&mut self, disk: &str, path: &str) -> bool {
        self.files.remove(&(disk.into(), path.into())).is_some()
    }

    /// Removes files on volumes and in Pods that no longer exist.
    pub fn sweep(&mut self, store: &Store) {
        let mut there: Vec<String> = store
            .list(Kind::Pod)
            .map(|pod| pod.meta.uid.to_string())
            .collect();
        there.extend(
            store
                .list(Kind::PersistentVolume)
                .map(|volume| volume.meta.name.to_string()),
        );
        self.files.retain(|(disk, _), _| {
            let mut parts = disk.split('/');
            match (parts.next(), parts.next()) {
                (Some("host" | CONSOLE), _) => true,
                (_, Some(of)) => there.iter().any(|name| name == of),
                _ => false,
            }
        });
    }
}

/// Storage location of a path in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// File on a disk.
    Disk { disk: String, path: String },
    /// File of a projected volume, read-only; `fixed` for a `subPath`, which keeps its content from the container's start.
    Projected {
        sources: Vec<Projection>,
        path: String,
        fixed: bool,
    },
}

/// Source of a projected volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// Keys of a ConfigMap or Secret, each with its path; all of them under their own names if none is given.
    Keys {
        kind: Kind,
        name: String,
        items: Vec<(String, String)>,
    },
    /// File of the downward API.
    File { path: String, text: String },
}

/// Returns the node of a Pod.
pub fn node_of<'s>(store: &'s Store, pod: &Object) -> Option<&'s Node> {
    let name = &pod.body::<Pod>().node_name;
    store.get(&ObjectRef::new(Kind::Node, "", name))?.get()
}

/// Returns the sources of a volume; empty if it is not a projection of other objects.
fn projections(store: &Store, object: &Object, volume: &Value) -> Vec<Projection> {
    let mut found = Vec::new();
    let node = node_of(store, object);
    let mut read = |source: &Value, secret: &str| {
        for (field, kind, name) in [
            ("configMap", Kind::ConfigMap, "name"),
            ("secret", Kind::Secret, secret),
        ] {
            if let Some(name) = source[field][name].as_str() {
                let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
                let items = source[field]["items"].as_array().into_iter().flatten();
                let items = items
                    .map(|item| (text(&item["key"]), text(&item["path"])))
                    .collect();
                found.push(Projection::Keys {
                    kind,
                    name: name.to_owned(),
                    items,
                });
            }
        }
        for item in source["downwardAPI"]["items"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let path = item["path"].as_str().unwrap_or("").to_owned();
            let text = match item["fieldRef"]["fieldPath"].as_str() {
                Some(field) => environment::field_value(object, field),
                None => {
                    let pod = object.body();
                    environment::resource_value(pod, "", &item["resourceFieldRef"], node)
                        .unwrap_or_default()
                }
            };
            found.push(Projection::File { path, text });
        }
        if source["serviceAccountToken"].is_object() {
            let path = source["serviceAccountToken"]["path"]
                .as_str()
                .unwrap_or("token")
                .to_owned();
            found.push(Projection::File {
                path,
                text: format!("token-of-{}", object.meta.uid),
            });
        }
    };
    read(volume, "secretName");
    for source in volume["projected"]["sources"]
        .as_array()
        .into_iter()
        .flatten()
    {
        read(source, "name");
    }
    found
}

/// Returns the path below its volume that is mounted, with references to the container's variables expanded.
fn sub_path(store: &Store, pod: &Object, container: usize, mount: &Value) -> Option<String> {
    let expression = mount["subPathExpr"]
        .as_str()
        .filter(|text| !text.is_empty());
    let Some(expression) = expression else {
        return mount["subPath"].as_str().map(str::to_owned);
    };
    let variables = container_variables(store, pod, container);
    Some(environment::expand(expression, |name| {
        environment::find(&variables, name)
    }))
}

/// Resolves a path in a Pod's container through its volume mounts; unmounted paths are on the container's own disk.
pub fn place(store: &Store, object: &Object, container: usize, path: &str) -> FilePlace {
    let pod: &Pod = object.body();
    let raw = &pod.spec.raw;
    let mounts = pod.spec.raw_container(container)["volumeMounts"].as_array();
    let under = |mount: &Value| {
        let at = mount["mountPath"].as_str()?.trim_end_matches('/');
        let rest = path.strip_prefix(at)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| {
            (
                at.len(),
                rest.trim_start_matches('/').to_string(),
                mount.clone(),
            )
        })
    };
    // The longest mount point is the nearest.
    let mut nearest: Option<(usize, String, Value)> = None;
    for found in mounts.into_iter().flatten().filter_map(under) {
        if nearest
            .as_ref()
            .is_none_or(|(length, _, _)| *length < found.0)
        {
            nearest = Some(found);
        }
    }
    let own = || FilePlace::Disk {
        disk: format!("container/{}/{container}", object.meta.uid),
        path: path.to_string(),
    };
    let Some((_, rest, mount)) = nearest else {
        return own();
    };
    let fixed = mount["subPath"].is_string() || mount["subPathExpr"].is_string();
    let rest = match sub_path(store, object, container, &mount) {
        Some(sub) => joined(&sub, &rest),
        None => rest,
    };
    let name = mount["name"].as_str().unwrap_or("");
    let Some(volume) = raw["volumes"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|volume| volume["name"] == name)
    else {
        return own();
    };
    let text = |pointer: &str| {
        volume
            .pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_string)
    };
    if let Some(claim) = text("/persistentVolumeClaim/claimName") {
        let key = ObjectRef::new(Kind::PersistentVolumeClaim, &object.meta.namespace, &claim);
        let bound = store
            .get(&key)
            .and_then(|claim| claim.get::<PersistentVolumeClaim>())
            .map(|claim| claim.spec.volume_name.clone());
        return FilePlace::Disk {
            disk: format!("volume/{}", bound.unwrap_or_default()),
            path: rest,
        };
    }
    let sources = projections(store, object, volume);
    if !sources.is_empty() {
        return FilePlace::Projected {
            sources,
            path: rest,
            fixed,
        };
    }
    if let Some(host) = text("/hostPath/path") {
        return FilePlace::Disk {
            disk: format!("host/{}", pod.node_name),
            path: joined(&host, &rest),
        };
    }
    FilePlace::Disk {
        disk: format!("pod/{}/{name}", object.meta.uid),
        path: rest,
    }
}
