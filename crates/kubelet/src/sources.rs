//! ConfigMaps and Secrets that a Pod references, whole or by key: the Pod does not start while a required one is missing.
//!
//! Guarantees: a volume blocks the whole Pod, a variable only its own container; the kubelet retries by itself, so an object
//! created later is found. Models `pkg/volume/{configmap,secret,projected}`, `makeEnvironmentVariables` in
//! `pkg/kubelet/kubelet_pods.go` and the retries of both.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::{PodSync, status};
use apiserver::Store;
use apiserver::why::Why;
use k8s_model::environment::{self, EnvironmentSources};
use k8s_model::pod::{Container, Pod};
use k8s_model::sources::{self, DataSource, mounted, volumes};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use serde_json::Value;
use smol_str::format_smolstr;
use std::borrow::Cow;

/// Delay between attempts to mount: doubled each time, up to about two minutes.
const FIRST_MOUNT_RETRY_US: u64 = 500 * MS;
const MAX_MOUNT_RETRY_US: u64 = 122 * SECOND;
/// Delay between attempts to start a container.
const CONTAINER_RETRY_US: u64 = 12 * SECOND;
const MISCONFIGURED: &str = "CreateContainerConfigError";

/// Returns true for an optional source and for one that exists.
fn is_available(source: &DataSource, store: &Store, namespace: &str) -> bool {
    if source.optional {
        return true;
    }
    let Some(object) = store.get(&ObjectRef::new(source.kind, namespace, &source.name)) else {
        return false;
    };
    let (Some(key), Body::Other(body)) = (&source.key, &object.body) else {
        return true;
    };
    ["data", "binaryData"].into_iter().any(|part| {
        body.get(part)
            .is_some_and(|data| data.get(key.as_str()).is_some())
    })
}

/// Returns the kubelet's message for a missing source of a volume or of a variable.
fn missing_message(source: &DataSource, store: &Store, namespace: &str, mounted: bool) -> String {
    let (kind, name) = (source.kind.name(), &source.name);
    match &source.key {
        Some(key)
            if store
                .get(&ObjectRef::new(source.kind, namespace, name))
                .is_some() =>
        {
            match (mounted, source.kind) {
                (false, _) => format!("couldn't find key {key} in {kind} {namespace}/{name}"),
                (true, Kind::Secret) => format!("references non-existent secret key: {key}"),
                (true, _) => format!("references non-existent config key: {key}"),
            }
        }
        _ => format!("{} {name:?} not found", kind.to_ascii_lowercase()),
    }
}

/// Returns the raw JSON of a container with environment sources; `None` for most.
fn with_environment(pod: &Pod, id: ContainerId) -> Option<&Value> {
    let container = id.raw(&pod.spec);
    (container.get("env").is_some() || container.get("envFrom").is_some()).then_some(container)
}

/// Returns the messages of a volume that cannot be mounted, for all missing sources.
fn unmounted(volume: &Value, store: &Store, namespace: &str) -> Option<String> {
    let lack = |sources: Vec<DataSource>| {
        sources
            .into_iter()
            .find(|source| !is_available(source, store, namespace))
    };
    let mut words: Vec<String> = mounted(volume)
        .into_iter()
        .filter_map(lack)
        .map(|source| missing_message(&source, store, namespace, true))
        .collect();
    words.dedup();
    if words.len() < 2 {
        words.pop()
    } else {
        Some(format!("[{}]", words.join(", ")))
    }
}

/// Missing dependency of a Pod: the first missing source, the container or the volume that needs it, and all missing
/// keys that the Pod needs from that ConfigMap or Secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lack {
    /// Missing source.
    pub source: DataSource,
    /// True if the ConfigMap or Secret exists and only the key is missing.
    pub only_key: bool,
    /// Container whose variable needs the source, if any.
    pub container: Option<Str>,
    /// Volume that needs the source, otherwise.
    pub volume: Option<Str>,
    /// Missing keys.
    pub missing: Vec<Str>,
    /// Message of the kubelet.
    pub words: String,
}

/// Returns the missing dependency of a Pod on a node, as its kubelet sees it.
pub fn lack(object: &Object, store: &Store) -> Option<Lack> {
    let (pod, namespace) = (object.pod()?, object.meta.namespace.as_str());
    let missing = |source: &DataSource| !is_available(source, store, namespace);
    let waits = |id: ContainerId| id.status(pod).and_then(|s| s.state.waiting.as_ref());
    let all = || ContainerId::all(&pod.spec);
    let of_container = all()
        .filter(|id| waits(*id).is_some_and(|w| w.reason == MISCONFIGURED))
        .find_map(|id| {
            let source = sources::environment(with_environment(pod, id)?)
                .into_iter()
                .find(missing)?;
            Some((source, Some(id.container(&pod.spec)?.name.clone()), None))
        });
    // Before any container has started, only volumes can be missing.
    let of_volume = || {
        let starts = all().all(|id| {
            waits(id)
                .is_some_and(|w| w.reason == "ContainerCreating" || w.reason == "PodInitializing")
        });
        let mut held = volumes(&pod.spec.raw).filter(|_| starts && pod.status.pod_ip.is_empty());
        held.find_map(|volume| {
            Some((
                mounted(volume).into_iter().flatten().find(missing)?,
                None,
                volume["name"].as_str().map(Str::from),
            ))
        })
    };
    let (source, container, volume) = of_container.or_else(of_volume)?;
    let every = volumes(&pod.spec.raw).flat_map(mounted).flatten().chain(
        all()
            .filter_map(|id| with_environment(pod, id))
            .flat_map(sources::environment),
    );
    let of_it = every
        .filter(|other| other.kind == source.kind && other.name == source.name && missing(other));
    let mut keys: Vec<Str> = of_it.filter_map(|source| source.key).collect();
    keys.sort();
    keys.dedup();
    let only_key = store
        .get(&ObjectRef::new(source.kind, namespace, &source.name))
        .is_some();
    let words = missing_message(&source, store, namespace, volume.is_some());
    Some(Lack {
        source,
        only_key,
        container,
        volume,
        missing: keys,
        words,
    })
}

/// Returns true if a Pod has volumes with sources. Called for every Pod as it starts.
#[inline(always)]
pub(super) fn has_volumes(pod: &Pod) -> bool {
    volumes(&pod.spec.raw).next().is_some()
}

impl PodSync<'_, '_> {
    /// Returns the retry jobs while a volume cannot be mounted.
    pub(super) fn wait_for_volumes(&mut self) -> Option<Jobs> {
        let object = self.object.clone();
        let mut held = false;
        for volume in volumes(&object.body::<Pod>().spec.raw) {
            let Some(words) = unmounted(volume, self.out.store(), &object.meta.namespace) else {
                continue;
            };
            held = true;
            let message = format_smolstr!(
                "MountVolume.SetUp failed for volume {} : {words}",
                volume["name"]
            );
            self.out.event(&object, "Warning", "FailedMount", message);
        }
        if !held {
            return None;
        }
        let failures = &mut self.worker_mut().mount_failures;
        let delay = (FIRST_MOUNT_RETRY_US << (*failures).min(9)).min(MAX_MOUNT_RETRY_US);
        *failures += 1;
        Some(vec![self.then(delay, PodStep::Start)])
    }

    /// Returns a container with the references to variables in its command and arguments expanded (`ExpandContainerCommandStatic` and
    /// `ExpandContainerCommandAndArgs` of `pkg/kubelet/container/helpers.go`).
    pub(super) fn expanded<'c>(&self, container: &'c Container) -> Cow<'c, Container> {
        let mut words = container.command.iter().chain(&container.args);
        if words.all(|word| !word.contains("$(") && !word.contains("$$")) {
            return Cow::Borrowed(container);
        }
        let variables = self.variables(container);
        let expand = |word: &Str| {
            let value = |name: &str| environment::find(&variables, name);
            Str::from(environment::expand(word, value))
        };
        let mut own = container.clone();
        own.command = own.command.iter().map(expand).collect();
        own.args = own.args.iter().map(expand).collect();
        Cow::Owned(own)
    }

    /// Returns the environment of a container: its own variables come before those of Services.
    pub(super) fn variables(&self, container: &Container) -> Vec<(String, String)> {
        let (object, store) = (&self.object, self.out.store());
        let services = store.list(Kind::Service).map(|service| &**service);
        let services = environment::service_variables(object, services);
        let raw = self.pod().spec.every_container();
        let place = raw
            .map(|(_, one)| &one.name)
            .position(|name| *name == container.name);
        let declared = environment::variables(
            self.pod().spec.raw_container(place.unwrap_or_default()),
            EnvironmentSources {
                pod: object,
                node: self.node().map(|(_, node)| node),
                services: &services,
                data: &|kind, name| {
                    let key = ObjectRef::new(kind, &object.meta.namespace, name);
                    store
                        .get(&key)
                        .map_or_else(Vec::new, |object| environment::data(object))
                },
            },
        );
        declared.into_iter().chain(services).collect()
    }

    /// Returns the message for a missing source of a container's environment. Called for every container as it starts.
    #[inline(always)]
    pub(super) fn config_error(&self, id: ContainerId) -> Option<String> {
        with_environment(self.pod(), id).and_then(|container| self.missing_source(container))
    }

    fn missing_source(&self, container: &Value) -> Option<String> {
        let (store, namespace) = (self.out.store(), self.object.meta.namespace.as_str());
        let source = sources::environment(container)
            .into_iter()
            .find(|source| !is_available(source, store, namespace))?;
        Some(missing_message(&source, store, namespace, false))
    }

    /// Reports a container that cannot be created although its image is present, and schedules a retry.
    pub(super) fn retry_after_config_error(&mut self, id: ContainerId, message: &str) -> Jobs {
        self.record_image_present(id);
        let error = format_smolstr!("Error: {message}");
        self.record_container_event(id, "Warning", "Failed", error);
        let run = self.worker.restart_count(id);
        vec![self.then(CONTAINER_RETRY_US, PodStep::Restart(id, run))]
    }

    /// Returns the retry jobs of a single container while a source of its environment is missing.
    pub(super) fn wait_for_environment(&mut self, id: ContainerId) -> Option<Jobs> {
        let message = self.config_error(id)?;
        let jobs = self.retry_after_config_error(id, &message);
        let is_reported = id
            .status(self.pod())
            .and_then(|s| s.state.waiting.as_ref())
            .is_some_and(|waiting| waiting.message == message);
        if !is_reported {
            let wall = self.out.store().wall();
            self.write_status(Why::SourceMissing, |pod| {
                if let Some(status) = id.status_mut(pod) {
                    status::keep_end(status, None, wall);
                    status.state = waiting(&message);
                }
            });
        }
        Some(jobs)
    }
}

/// Returns the waiting state of a container whose environment is incomplete.
pub(super) fn waiting(message: &str) -> k8s_model::pod::ContainerState {
    status::waiting_for(MISCONFIGURED, message)
}
