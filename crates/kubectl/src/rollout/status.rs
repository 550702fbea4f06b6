//! `kubectl rollout status`: prints a line for every change until the rollout is complete.
//!
//! Models `kubectl/pkg/polymorphichelpers/rollout_status.go`.

use crate::client::Client;
use crate::failure::server_error;
use crate::parse::Args;
use crate::targets::{key_of, name_of};
use crate::{Failure, Outcome, PendingCommand};
use apiserver::{ApiError, ListOptions, Op, Watch};
use k8s_model::{Kind, ObjectRef, Time};
use serde_json::Value;

/// Rollout being followed.
#[derive(Clone, Debug)]
pub struct FollowRollout {
    /// Current object, followed by the remaining ones.
    keys: Vec<ObjectRef>,
    /// Watch of the current object, once it has been read.
    events: Option<Watch>,
    watch: bool,
    /// Time of the timeout.
    pub deadline: Option<Time>,
}

pub fn start(
    client: &mut Client<'_>,
    args: &Args,
    targets: Vec<(Kind, Value)>,
) -> Result<Outcome, Failure> {
    if targets.is_empty() {
        return Ok(Outcome::Done);
    }
    let mut keys = Vec::new();
    for (kind, object) in &targets {
        if !matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
            return Err(Failure::error(format!(
                "no status viewer has been implemented for {}",
                kind.name()
            )));
        }
        keys.push(key_of(*kind, object));
    }
    let span = args.duration("timeout")?.filter(|span| *span > 0);
    let deadline = span.map(|span| client.sim().now().after(span));
    Ok(Outcome::pending(FollowRollout {
        keys,
        events: None,
        watch: args.get("watch").is_none_or(|watch| watch != "false"),
        deadline,
    }))
}

impl FollowRollout {
    fn follow(&mut self, client: &mut Client<'_>, key: &ObjectRef) -> Result<bool, Failure> {
        let refused = |error: ApiError| server_error(&error);
        let mut states = Vec::new();
        let mut events = match self.events.take() {
            Some(events) => events,
            None => {
                let options = ListOptions {
                    field_selector: format!("metadata.name={}", key.name),
                    resource_version: client.sim().store().version().to_string(),
                    ..ListOptions::default()
                };
                states.extend(client.find(key)?);
                client
                    .watch(key.kind, &key.namespace, options)
                    .map_err(refused)?
            }
        };
        while let Some(event) = events.next_event(client.sim().store()) {
            if event.op == Op::Deleted {
                return Err(Failure::error("object has been deleted"));
            }
            states.push(event.object.to_value());
        }
        self.events = Some(events);
        for state in states {
            let (line, done) = view(key.kind, &state)?;
            client.streams.say(line);
            if done || !self.watch {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl PendingCommand for FollowRollout {
    /// Prints changes; returns true when every rollout is complete.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        while let Some(key) = self.keys.first().cloned() {
            if !self.follow(client, &key)? {
                return match self.deadline {
                    Some(deadline) if client.sim().now() >= deadline => {
                        Err(Failure::error("timed out waiting for the condition"))
                    }
                    _ => Ok(false),
                };
            }
            self.keys.remove(0);
            self.events = None;
        }
        Ok(true)
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}

fn view(kind: Kind, object: &Value) -> Result<(String, bool), Failure> {
    match kind {
        Kind::Deployment => deployment(object),
        Kind::StatefulSet => stateful_set(object),
        _ => daemon_set(object),
    }
}

fn number(object: &Value, path: &str) -> i64 {
    object.pointer(path).and_then(Value::as_i64).unwrap_or(0)
}

fn observed(object: &Value) -> bool {
    number(object, "/metadata/generation") <= number(object, "/status/observedGeneration")
}

fn deployment(object: &Value) -> Result<(String, bool), Failure> {
    let name = name_of(object);
    if !observed(object) {
        return Ok((
            "Waiting for deployment spec update to be observed...".to_owned(),
            false,
        ));
    }
    let conditions = object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    if conditions
        .into_iter()
        .any(|c| c["type"] == "Progressing" && c["reason"] == "ProgressDeadlineExceeded")
    {
        return Err(Failure::error(format!(
            "deployment \"{name}\" exceeded its progress deadline"
        )));
    }
    let wanted = number(object, "/spec/replicas");
    let [updated, all, available] = ["updatedReplicas", "replicas", "availableReplicas"]
        .map(|field| number(object, &format!("/status/{field}")));
    let wait = format!("Waiting for deployment \"{name}\" rollout to finish:");
    Ok(if updated < wanted {
        (
            format!("{wait} {updated} out of {wanted} new replicas have been updated..."),
            false,
        )
    } else if all > updated {
        (
            format!(
                "{wait} {} old replicas are pending termination...",
                all - updated
            ),
            false,
        )
    } else if available < updated {
        (
            format!("{wait} {available} of {updated} updated replicas are available..."),
            false,
        )
    } else {
        (
            format!("deployment \"{name}\" successfully rolled out"),
            true,
        )
    })
}

const ONLY_ROLLING: &str = "rollout status is only available for RollingUpdate strategy type";

fn daemon_set(object: &Value) -> Result<(String, bool), Failure> {
    let name = name_of(object);
    if object["spec"]["updateStrategy"]["type"] != "RollingUpdate" {
        return Err(Failure::error(ONLY_ROLLING));
    }
    if !observed(object) {
        return Ok((
            "Waiting for daemon set spec update to be observed...".to_owned(),
            false,
        ));
    }
    let [updated, wanted, available] = [
        "updatedNumberScheduled",
        "desiredNumberScheduled",
        "numberAvailable",
    ]
    .map(|field| number(object, &format!("/status/{field}")));
    let wait = format!("Waiting for daemon set \"{name}\" rollout to finish:");
    Ok(if updated < wanted {
        (
            format!("{wait} {updated} out of {wanted} new pods have been updated..."),
            false,
        )
    } else if available < wanted {
        (
            format!("{wait} {available} of {wanted} updated pods are available..."),
            false,
        )
    } else {
        (
            format!("daemon set \"{name}\" successfully rolled out"),
            true,
        )
    })
}

fn stateful_set(object: &Value) -> Result<(String, bool), Failure> {
    if object["spec"]["updateStrategy"]["type"] != "RollingUpdate" {
        return Err(Failure::error(ONLY_ROLLING));
    }
    if !observed(object) || number(object, "/status/observedGeneration") == 0 {
        return Ok((
            "Waiting for statefulset spec update to be observed...".to_owned(),
            false,
        ));
    }
    let wanted = number(object, "/spec/replicas");
    let [ready, updated, current] = ["readyReplicas", "updatedReplicas", "currentReplicas"]
        .map(|field| number(object, &format!("/status/{field}")));
    let revision = |name: &str| object["status"][name].as_str().unwrap_or("").to_owned();
    if ready < wanted {
        return Ok((
            format!("Waiting for {} pods to be ready...", wanted - ready),
            false,
        ));
    }
    if let Some(partition) = object
        .pointer("/spec/updateStrategy/rollingUpdate/partition")
        .and_then(Value::as_i64)
    {
        let goal = wanted - partition;
        return Ok(if updated < goal {
            (
                format!(
                    "Waiting for partitioned roll out to finish: {updated} out of {goal} new pods have been updated..."
                ),
                false,
            )
        } else {
            (
                format!("partitioned roll out complete: {updated} new pods have been updated..."),
                true,
            )
        });
    }
    let (update, now) = (revision("updateRevision"), revision("currentRevision"));
    Ok(if update == now {
        (
            format!("statefulset rolling update complete {current} pods at revision {now}..."),
            true,
        )
    } else {
        (
            format!(
                "waiting for statefulset rolling update to complete {updated} pods at revision {update}..."
            ),
            false,
        )
    })
}
