//! ConfigMaps and Secrets that a Pod names: it does not start while one is missing that is not optional.
//!
//! Guarantees: volumes come first, then what containers take into their environment; the kubelet tries again by itself, so what is
//! created later is found. Models `pkg/volume/{configmap,secret,projected}`, `makeEnvironmentVariables` in
//! `pkg/kubelet/kubelet_pods.go` and the retries of both.

use super::{Jobs, Pass, Step, status};
use crate::api::pod::Pod;
use crate::api::time::{MS, SECOND};
use crate::api::{Kind, ObjectRef};
use crate::engine::store::ApiServer;
use crate::engine::why::Why;
use serde_json::Value;
use smol_str::format_smolstr;

/// Between two tries to mount: twice as long each time, up to two minutes.
const FIRST_MOUNT: u64 = 500 * MS;
const MOST_MOUNT: u64 = 122 * SECOND;
/// Between two tries to start a container.
const AGAIN: u64 = 12 * SECOND;
/// How the volume begins that admission adds.
const TOKEN: &str = "kube-api-access-";
/// Where the tries are counted.
const TRIES: u32 = u32::MAX;

/// Whether a Pod names anything that could be missing. Every Pod asks this as it starts.
#[inline(always)]
pub(super) fn any(pod: &Pod) -> bool {
    let names = |container: &Value| container.get("env").is_some() || container.get("envFrom").is_some();
    // Every Pod has the one for the API server's token; what that holds is always there.
    let asked = |volume: &Value| !volume["name"].as_str().is_some_and(|name| name.starts_with(TOKEN));
    pod.spec.raw["volumes"].as_array().is_some_and(|all| all.iter().any(asked))
        || pod.spec.raw["containers"].as_array().is_some_and(|all| all.iter().any(names))
}

/// The words for a ConfigMap or Secret that is named and not there.
fn missing(server: &ApiServer, namespace: &str, kind: Kind, source: &Value, field: &str) -> Option<String> {
    let name = source[field].as_str().filter(|_| source["optional"] != true)?;
    let there = server.get(&ObjectRef::new(kind, namespace, name)).is_some();
    (!there).then(|| format!("{} {name:?} not found", kind.name().to_ascii_lowercase()))
}

/// The first of both that a part of the Pod's JSON names in vain.
fn of_both(server: &ApiServer, namespace: &str, part: &Value, (map, secret, secret_name): (&str, &str, &str)) -> Option<String> {
    missing(server, namespace, Kind::ConfigMap, &part[map], "name")
        .or_else(|| missing(server, namespace, Kind::Secret, &part[secret], secret_name))
}

fn items<'v>(value: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    value[list].as_array().into_iter().flatten()
}

/// A volume that cannot be mounted, and why.
fn volume(pod: &Pod, server: &ApiServer, namespace: &str) -> Option<(String, String)> {
    items(&pod.spec.raw, "volumes").filter(|volume| !volume["name"].as_str().is_some_and(|name| name.starts_with(TOKEN))).find_map(
        |volume| {
            let own = of_both(server, namespace, volume, ("configMap", "secret", "secretName"));
            let projected =
                || items(&volume["projected"], "sources").find_map(|one| of_both(server, namespace, one, ("configMap", "secret", "name")));
            Some((volume["name"].as_str()?.to_owned(), own.or_else(projected)?))
        },
    )
}

/// What a container's environment lacks.
fn environment(container: &Value, server: &ApiServer, namespace: &str) -> Option<String> {
    let whole = items(container, "envFrom").find_map(|from| of_both(server, namespace, from, ("configMapRef", "secretRef", "name")));
    let one = |variable: &Value| of_both(server, namespace, &variable["valueFrom"], ("configMapKeyRef", "secretKeyRef", "name"));
    whole.or_else(|| items(container, "env").find_map(one))
}

impl Pass<'_, '_> {
    /// What is done instead of starting, while something is missing.
    #[inline(never)]
    pub(super) fn wait_for_sources(&mut self) -> Option<Jobs> {
        let object = self.object.clone();
        let (pod, namespace) = (object.body::<Pod>(), object.meta.namespace.as_str());
        if let Some((name, words)) = volume(pod, self.out.server, namespace) {
            let message = format_smolstr!("MountVolume.SetUp failed for volume {name:?} : {words}");
            self.out.event(&object, "Warning", "FailedMount", message);
            let tries = self.kubelets.pods.get_mut(&self.job.uid).map_or(0, |running| {
                let tries = running.held_back.entry(TRIES).or_default();
                *tries += 1;
                *tries - 1
            });
            return Some(vec![self.then((FIRST_MOUNT << tries.clamp(0, 9)).min(MOST_MOUNT), Step::Start)]);
        }
        // Init containers run first; they are not kept waiting for what comes after them.
        if !pod.spec.init_containers.is_empty() {
            return None;
        }
        let lacks: Vec<Option<String>> = {
            let server = &*self.out.server;
            items(&pod.spec.raw, "containers").map(|container| environment(container, server, namespace)).collect()
        };
        if lacks.iter().all(Option::is_none) {
            return None;
        }
        for (container, words) in pod.spec.containers.iter().zip(&lacks) {
            if let Some(words) = words {
                let field = format_smolstr!("spec.containers{{{}}}", container.name);
                self.out.event_at(&object, &field, "Warning", "Failed", format_smolstr!("Error: {words}"));
            }
        }
        let waits =
            |status: &crate::api::pod::ContainerStatus, words: &str| status.state.waiting.as_ref().is_some_and(|w| w.message == words);
        let told = pod
            .status
            .container_statuses
            .iter()
            .zip(&lacks)
            .all(|(status, words)| words.as_deref().is_none_or(|words| waits(status, words)));
        if !told {
            self.write(Why::Observed, |pod| {
                for (status, words) in pod.status.container_statuses.iter_mut().zip(&lacks) {
                    if let Some(words) = words {
                        status.state = status::waiting_for("CreateContainerConfigError", words);
                    }
                }
            });
        }
        Some(vec![self.then(AGAIN, Step::Start)])
    }
}
