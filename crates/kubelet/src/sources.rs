//! ConfigMaps and Secrets that a Pod references, whole or by key: the Pod does not start while a required one is missing.
//!
//! Guarantees: a volume blocks the whole Pod, a variable only its own container; the kubelet retries by itself, so an object
//! created later is found. Models `pkg/volume/{configmap,secret,projected}`, `makeEnvironmentVariables` in
//! `pkg/kubelet/kubelet_pods.go` and the retries of both.

use super::{Jobs, PodPass, PodStep, containers, status};
use apiserver::ApiServer;
use apiserver::why::Why;
use k8s_model::pod::Pod;
use k8s_model::sources::{DataSource, environment, mounted, volumes};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use serde_json::Value;
use smol_str::format_smolstr;

/// Delay between attempts to mount: doubled each time, up to about two minutes.
const FIRST_MOUNT_RETRY_US: u64 = 500 * MS;
const MAX_MOUNT_RETRY_US: u64 = 122 * SECOND;
/// Delay between attempts to start a container.
const CONTAINER_RETRY_US: u64 = 12 * SECOND;
/// Key of the mount attempts, in place of a container number.
const MOUNT_TRIES: u32 = u32::MAX;
const MISCONFIGURED: &str = "CreateContainerConfigError";

/// Returns true for an optional source and for one that exists.
fn is_available(source: &DataSource, server: &ApiServer, namespace: &str) -> bool {
    if source.optional {
        return true;
    }
    let Some(object) = server.get(&ObjectRef::new(source.kind, namespace, &source.name)) else {
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
fn missing_message(
    source: &DataSource,
    server: &ApiServer,
    namespace: &str,
    mounted: bool,
) -> String {
    let (kind, name) = (source.kind.name(), &source.name);
    match &source.key {
        Some(key)
            if server
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
fn written(pod: &Pod, i: u32) -> Option<&Value> {
    let (list, at) = containers::place(&pod.spec, i);
    let container = pod.spec.raw.get(list)?.get(at)?;
    (container.get("env").is_some() || container.get("envFrom").is_some()).then_some(container)
}

/// Returns the messages of a volume that cannot be mounted, for all missing sources.
fn unmounted(volume: &Value, server: &ApiServer, namespace: &str) -> Option<String> {
    let lack = |sources: Vec<DataSource>| {
        sources
            .into_iter()
            .find(|source| !is_available(source, server, namespace))
    };
    let mut words: Vec<String> = mounted(volume)
        .into_iter()
        .filter_map(lack)
        .map(|source| missing_message(&source, server, namespace, true))
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
pub fn lack(object: &Object, server: &ApiServer) -> Option<Lack> {
    let (pod, namespace) = (object.pod()?, object.meta.namespace.as_str());
    let missing = |source: &DataSource| !is_available(source, server, namespace);
    let waits = |i: u32| containers::seen(pod, i).and_then(|s| s.state.waiting.as_ref());
    let all = || {
        (0..pod.spec.init_containers.len() as u32)
            .map(|n| n | containers::FLAG)
            .chain(0..pod.spec.containers.len() as u32)
    };
    let of_container = all()
        .filter(|i| waits(*i).is_some_and(|w| w.reason == MISCONFIGURED))
        .find_map(|i| {
            let source = environment(written(pod, i)?).into_iter().find(missing)?;
            Some((
                source,
                Some(containers::container(pod, i)?.1.name.clone()),
                None,
            ))
        });
    // Before any container has started, only volumes can be missing.
    let of_volume = || {
        let starts = all().all(|i| {
            waits(i)
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
    let every = volumes(&pod.spec.raw)
        .flat_map(mounted)
        .flatten()
        .chain(all().filter_map(|i| written(pod, i)).flat_map(environment));
    let of_it = every
        .filter(|other| other.kind == source.kind && other.name == source.name && missing(other));
    let mut keys: Vec<Str> = of_it.filter_map(|source| source.key).collect();
    k8s_model::sort::sort(&mut keys);
    keys.dedup();
    let only_key = server
        .get(&ObjectRef::new(source.kind, namespace, &source.name))
        .is_some();
    let words = missing_message(&source, server, namespace, volume.is_some());
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

impl PodPass<'_, '_> {
    /// Returns the retry jobs while a volume cannot be mounted.
    pub(super) fn wait_for_volumes(&mut self) -> Option<Jobs> {
        let object = self.object.clone();
        let mut held = false;
        for volume in volumes(&object.body::<Pod>().spec.raw) {
            let Some(words) = unmounted(volume, self.out.server, &object.meta.namespace) else {
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
        let tries = self.kubelets.course_mut(self.job.uid).map_or(0, |course| {
            let tries = course.held_back.entry(MOUNT_TRIES).or_default();
            *tries += 1;
            *tries - 1
        });
        Some(vec![self.then(
            (FIRST_MOUNT_RETRY_US << tries.clamp(0, 9)).min(MAX_MOUNT_RETRY_US),
            PodStep::Start,
        )])
    }

    /// Returns the message for a missing source of a container's environment. Called for every container as it starts.
    #[inline(always)]
    pub(super) fn lacks(&self, i: u32) -> Option<String> {
        written(self.pod(), i).and_then(|container| self.lacks_of(container))
    }

    fn lacks_of(&self, container: &Value) -> Option<String> {
        let (server, namespace) = (&*self.out.server, self.object.meta.namespace.as_str());
        let source = environment(container)
            .into_iter()
            .find(|source| !is_available(source, server, namespace))?;
        Some(missing_message(&source, server, namespace, false))
    }

    /// Reports a container that cannot be created although its image is present, and schedules a retry.
    pub(super) fn say_lacks(&mut self, i: u32, words: &str) -> Jobs {
        let object = self.object.clone();
        let Some((list, container)) = containers::container(object.body(), i) else {
            return Vec::new();
        };
        let field = format_smolstr!("spec.{list}{{{}}}", container.name);
        self.say_present(&object, &field, &container.image);
        self.out.event_at(
            &object,
            &field,
            "Warning",
            "Failed",
            format_smolstr!("Error: {words}"),
        );
        vec![self.then(CONTAINER_RETRY_US, PodStep::Restart(i, self.run_number(i)))]
    }

    /// Returns the retry jobs of a single container while a source of its environment is missing.
    pub(super) fn wait_for_environment(&mut self, i: u32) -> Option<Jobs> {
        let words = self.lacks(i)?;
        Some(self.misconfigured(i, &words))
    }

    fn misconfigured(&mut self, i: u32, words: &str) -> Jobs {
        let jobs = self.say_lacks(i, words);
        let told = containers::seen(self.pod(), i)
            .and_then(|s| s.state.waiting.as_ref())
            .is_some_and(|w| w.message == words);
        if !told {
            let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
            self.write(Why::SourceMissing, |pod| {
                let Some(status) = containers::status(pod, i) else {
                    return;
                };
                status::keep_end(status, None, wall);
                status.state = waiting(words);
                status::set_conditions(pod, true, wall, generation);
            });
        }
        jobs
    }
}

/// Returns the waiting state of a container whose environment is incomplete.
pub(super) fn waiting(words: &str) -> k8s_model::pod::ContainerState {
    status::waiting_for(MISCONFIGURED, words)
}
