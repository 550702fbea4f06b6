//! Environment of a shell: the terminal, with its files, or a container of a Pod, with its files, variables and network.

use crate::client::Client;
use cluster::disk::{CONSOLE, FilePlace, Projection, absolute, place};
use cluster::mounted;
use cluster_network::dns;
use k8s_model::environment;
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Root folders of every Linux image.
const ROOT: [&str; 11] = [
    "bin", "dev", "etc", "home", "lib", "proc", "root", "sys", "tmp", "usr", "var",
];

/// Maximum number of bytes expanded into the words of one command, added by a command to its input, or printed by a captured script.
pub const MOST_BYTES: usize = 64 * 1024;

/// Variables of a shell.
pub type Variables = BTreeMap<String, String>;

/// Location of a shell.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Terminal.
    Console,
    /// Container, by its index among all containers of the Pod.
    Pod(ObjectRef, Uid, usize),
}

impl Place {
    /// Returns the Pod, if it still exists.
    pub fn pod(&self, client: &Client<'_>) -> Option<Rc<Object>> {
        let Place::Pod(key, uid, _) = self else {
            return None;
        };
        client
            .sim()
            .store()
            .get(key)
            .filter(|pod| pod.meta.uid == *uid)
            .cloned()
    }
}

/// Output of a command, and its exit code.
#[derive(Clone, Debug, Default)]
pub struct Done {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Done {
    pub fn stdout(out: impl Into<String>) -> Done {
        Done {
            out: out.into(),
            ..Done::default()
        }
    }

    pub fn failed(err: impl Into<String>, code: i32) -> Done {
        Done {
            err: err.into(),
            code,
            ..Done::default()
        }
    }
}

/// State of a replay: files that its script wrote, and whether its outcome depends on what is not modelled.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Files by absolute path; `None` for a removed one.
    pub files: BTreeMap<String, Option<String>>,
    /// Writes with their time in seconds since 1970, in order.
    pub writes: Vec<(i64, String, Option<String>)>,
    /// True if a command, a file of the image, or the network was needed.
    pub is_unknown: bool,
}

impl Replayed {
    fn write(&mut self, time: i64, path: String, text: Option<String>) {
        self.files.insert(path.clone(), text.clone());
        self.writes.push((time, path, text));
    }
}

/// Environment of a running command.
pub struct CommandRoom<'r, 'c> {
    pub client: &'r mut Client<'c>,
    /// Pod and index of its container; `None` at the terminal.
    pub pod: Option<(Rc<Object>, usize)>,
    pub vars: &'r Variables,
    /// Current time of a replay, whose writes go to `replayed`.
    pub replay: Option<i64>,
    pub replayed: &'r RefCell<Replayed>,
}

impl CommandRoom<'_, '_> {
    fn home(&self) -> Option<(&Rc<Object>, &Pod, usize)> {
        self.pod
            .as_ref()
            .map(|(pod, container)| (pod, pod.body(), *container))
    }

    /// Returns the first component of the Pod's DNS name.
    pub fn hostname(&self) -> String {
        match self.home() {
            None => "loopscope".to_owned(),
            Some((_, body, _)) if body.spec.host_network => body.node_name.to_string(),
            Some((pod, body, _)) if body.spec.hostname.is_empty() => pod.meta.name.to_string(),
            Some((_, body, _)) => body.spec.hostname.to_string(),
        }
    }

    /// Returns the name under a headless Service, if the Pod has one.
    pub fn full_name(&self) -> String {
        match self
            .home()
            .filter(|(_, body, _)| !body.spec.subdomain.is_empty())
        {
            Some((pod, body, _)) => format!(
                "{}.{}.{}.{}",
                self.hostname(),
                body.spec.subdomain,
                pod.meta.namespace,
                dns::ZONE
            ),
            None => self.hostname(),
        }
    }

    /// Returns the environment variables, in the order of the spec.
    pub fn env(&self) -> Vec<(String, String)> {
        let text = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env = vec![text(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )];
        env.push(("HOSTNAME".to_owned(), self.hostname()));
        let Some((pod, container)) = &self.pod else {
            env.push(text("HOME", "/root"));
            return env;
        };
        for (name, value) in
            mounted::container_variables(self.client.sim().store(), pod, *container)
        {
            environment::set(&mut env, name, value);
        }
        env
    }

    /// Returns keys and values of a ConfigMap or Secret as the container sees it; `fixed` for the version at the container's start.
    fn projected(&self, kind: Kind, name: &str, fixed: bool) -> Vec<(String, String)> {
        let Some((pod, _, container)) = self.home() else {
            return Vec::new();
        };
        let (store, key) = (
            self.client.sim().store(),
            ObjectRef::new(kind, &pod.meta.namespace, name),
        );
        let object = if fixed {
            mounted::at_start(store, pod, container, &key)
        } else {
            mounted::at_sync(store, pod, &key)
        };
        object.map_or_else(Vec::new, |object| environment::data(&object))
    }

    /// Returns the files of a projected volume: paths and texts.
    fn files(&self, sources: &[Projection], fixed: bool) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for source in sources {
            match source {
                Projection::File { path, text } => files.push((path.clone(), text.clone())),
                Projection::Keys { kind, name, items } => {
                    let all = self.projected(*kind, name, fixed);
                    let at = |key: &str| {
                        items
                            .iter()
                            .filter(|(of, _)| of == key)
                            .map(|(_, path)| path.clone())
                            .collect::<Vec<_>>()
                    };
                    for (key, text) in all {
                        let paths = if items.is_empty() {
                            vec![key]
                        } else {
                            at(&key)
                        };
                        files.extend(paths.into_iter().map(|path| (path, text.clone())));
                    }
                }
            }
        }
        files
    }

    /// Returns an absolute path, resolved against the current folder.
    pub fn absolute(&self, path: &str) -> String {
        absolute(self.vars.get("PWD").map_or("/", String::as_str), path)
    }

    /// Returns the storage location of a file; the terminal's paths are relative.
    pub fn place(&self, path: &str) -> FilePlace {
        let path = self.absolute(path);
        match &self.pod {
            Some((pod, container)) => place(self.client.sim().store(), pod, *container, &path),
            None => FilePlace::Disk {
                disk: CONSOLE.to_owned(),
                path: path.trim_start_matches('/').to_owned(),
            },
        }
    }

    /// Returns the text of a file.
    pub fn read(&self, path: &str) -> Option<String> {
        if self.replay.is_some() {
            if let Some(text) = self.replayed.borrow().files.get(&self.absolute(path)) {
                return text.clone();
            }
            let text = self.stored(path);
            self.needs_image(path, text.is_none());
            return text;
        }
        self.stored(path)
    }

    /// Notes that a replay depends on a file of the image, unless the path is on a volume.
    fn needs_image(&self, path: &str, is_missing: bool) {
        let path = self.absolute(path);
        let mounts = self.spec()["volumeMounts"].as_array().into_iter().flatten();
        let mut mounts = mounts.filter_map(|mount| mount["mountPath"].as_str());
        if is_missing && !mounts.any(|mount| path.starts_with(mount)) {
            self.replayed.borrow_mut().is_unknown = true;
        }
    }

    fn stored(&self, path: &str) -> Option<String> {
        match self.place(path) {
            FilePlace::Disk { disk, path } => self.client.sim().disks.read(&disk, &path).map(|text| text.to_string()),
            FilePlace::Projected { sources, path, fixed } => {
                self.files(&sources, fixed).into_iter().find(|(file, _)| *file == path).map(|(_, text)| text)
            }
        }
        .or_else(|| match (self.absolute(path).as_str(), self.home()) {
            ("/etc/hostname", Some(_)) => Some(format!("{}\n", self.hostname())),
            ("/etc/hosts", Some((_, body, _))) if !body.spec.host_network => {
                let (own, names) = (&body.status.pod_ip, self.full_name());
                let host = self.hostname();
                let named = if names == host { host } else { format!("{names}\t{host}") };
                Some(format!(
                    "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n\
                     fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n{own}\t{named}\n"
                ))
            }
            ("/etc/resolv.conf", Some((pod, ..))) => {
                let ns = &pod.meta.namespace;
                Some(format!("search {ns}.{z} {z} cluster.local\nnameserver {}\noptions ndots:5\n", dns::SERVER, z = dns::ZONE))
            }
            _ => None,
        })
    }

    /// Writes a file.
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), String> {
        if let (Some(now), FilePlace::Disk { .. }) = (self.replay, self.place(path)) {
            let path = self.absolute(path);
            self.replayed
                .borrow_mut()
                .write(now, path, Some(text.to_owned()));
            return Ok(());
        }
        match self.place(path) {
            FilePlace::Disk { disk, path: at } => {
                let written = self.client.disks().write(&disk, &at, text);
                if written {
                    Ok(())
                } else {
                    Err(format!(
                        "sh: write error: {path}: No space left on device\n"
                    ))
                }
            }
            FilePlace::Projected { .. } => {
                Err(format!("sh: can't create {path}: Read-only file system\n"))
            }
        }
    }

    /// Removes a file; returns false if it does not exist.
    pub fn remove(&mut self, path: &str) -> bool {
        if let Some(now) = self.replay {
            let was = self.read(path).is_some();
            let path = self.absolute(path);
            self.replayed.borrow_mut().write(now, path, None);
            return was;
        }
        match self.place(path) {
            FilePlace::Disk { disk, path } => self.client.disks().remove(&disk, &path),
            FilePlace::Projected { .. } => false,
        }
    }

    /// Returns the wall clock, in seconds since 1970.
    pub fn now(&self) -> i64 {
        self.replay.unwrap_or_else(|| self.client.wall())
    }

    /// Returns the names in a folder.
    pub fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = match self.place(path) {
            FilePlace::Projected {
                sources,
                path,
                fixed,
            } => {
                let under = |file: &str| {
                    let rest = if path.is_empty() {
                        file
                    } else {
                        file.strip_prefix(&path)?.strip_prefix('/')?
                    };
                    rest.split('/')
                        .next()
                        .filter(|name| !name.is_empty())
                        .map(str::to_owned)
                };
                self.files(&sources, fixed)
                    .iter()
                    .filter_map(|(file, _)| under(file))
                    .collect()
            }
            FilePlace::Disk { disk, path } => {
                let under = |file: &str| {
                    let of = path.trim_end_matches('/');
                    let rest = file
                        .strip_prefix(of)
                        .filter(|rest| of.is_empty() || rest.starts_with('/'))?;
                    rest.trim_start_matches('/')
                        .split('/')
                        .next()
                        .filter(|name| !name.is_empty() && !name.starts_with('.'))
                        .map(str::to_string)
                };
                self.client
                    .sim()
                    .disks
                    .list(&disk)
                    .filter_map(|(file, _)| under(file))
                    .collect()
            }
        };
        let folder = self.absolute(path);
        names.extend(self.given(&folder));
        if self.replay.is_some() {
            self.needs_image(path, true);
            let folder = [folder.trim_end_matches('/'), "/"].concat();
            for (file, text) in &self.replayed.borrow().files {
                let Some(name) = file
                    .strip_prefix(&folder)
                    .filter(|name| !name.contains('/'))
                else {
                    continue;
                };
                names.retain(|known| known != name);
                names.extend(text.as_ref().map(|_| name.to_owned()));
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// Returns the predefined names in a folder of a container: folders of its image, mounts, and files of the kubelet.
    fn given(&self, folder: &str) -> Vec<String> {
        if self.home().is_none() {
            return Vec::new();
        }
        let own: &[&str] = match folder {
            "/" => &ROOT,
            "/etc" => &["hostname", "hosts", "resolv.conf"],
            _ => &[],
        };
        let mounts = self.spec()["volumeMounts"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|mount| mount["mountPath"].as_str());
        let next = mounts.filter_map(|path| {
            path.strip_prefix(folder.trim_end_matches('/'))?
                .strip_prefix('/')?
                .split('/')
                .next()
        });
        own.iter()
            .copied()
            .chain(next)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the container's spec.
    pub fn spec(&self) -> &Value {
        self.home().map_or(&Value::Null, |(_, body, container)| {
            body.spec.raw_container(container)
        })
    }
}
