//! `kubectl drain`: cordons a node and evicts its Pods, respecting disruption budgets.
//!
//! Models `kubectl/pkg/drain`.

use super::client::Client;
use super::nodes::{named, set_cordon};
use super::output::DryRun;
use super::parse::Args;
use super::select::ObjectSelector;
use super::targets::{key_of, name_of};
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{Delete, StatusReason};
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef, Time, Uid};
use serde_json::Value;

const FLAGS: &str = "ignore-daemonsets delete-emptydir-data delete-local-data force grace-period= timeout= pod-selector= selector/l= \
    disable-eviction dry-run?unchanged ~skip-wait-for-delete-timeout= ~chunk-size=";
/// Delay before a refused eviction is retried, in microseconds.
pub const RETRY_US: u64 = 5 * SECOND;

/// `kubectl drain`.
pub const VERB: Verb = Verb {
    name: "drain",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Drain node in preparation for maintenance",
};

/// Drain of nodes in progress.
#[derive(Clone, Debug)]
pub struct Drain {
    nodes: Vec<String>,
    /// Pods still to be evicted, with the time of the next attempt.
    evict: Vec<(ObjectRef, Uid, Time)>,
    /// Evicted Pods that are terminating.
    leaving: Vec<(ObjectRef, Uid)>,
    args: Args,
    timeout: Option<(Time, String)>,
    /// `--grace-period`; `None` for the Pods' own.
    grace: Option<i64>,
    /// `--disable-eviction`: Pods are deleted regardless of their budgets.
    plain: bool,
    /// `--pod-selector`.
    pod_selector: ObjectSelector,
    /// Permanent refusals.
    errors: Vec<String>,
    started: bool,
}

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("drain", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.words.is_empty() && args.get("selector").is_none() {
        return Err(Failure::error(
            "USAGE: drain NODE [flags]\nSee 'kubectl drain -h' for help and examples",
        ));
    }
    if !args.words.is_empty() && args.get("selector").is_some() {
        return Err(Failure::usage(
            "drain",
            "cannot specify both a node name and a --selector option",
        ));
    }
    let pod_selector =
        ObjectSelector::parse(args.get("pod-selector"), None).map_err(Failure::error)?;
    let nodes = named(client, &args)?;
    for name in &nodes {
        client.get(Kind::Node, name)?;
    }
    for name in &nodes {
        set_cordon(client, name, true)?;
    }
    let span = args.duration("timeout")?.filter(|span| *span > 0);
    let timeout = span.map(|span| {
        (
            client.sim().now().after(span),
            args.get("timeout").unwrap_or("").to_owned(),
        )
    });
    let grace = args.number("grace-period")?.filter(|seconds| *seconds >= 0);
    let plain = args.on("disable-eviction");
    let (evict, leaving, errors) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Outcome::pending(Drain {
        nodes,
        pod_selector,
        evict,
        leaving,
        args,
        timeout,
        grace,
        plain,
        errors,
        started: false,
    }))
}

impl Drain {
    fn begin(&mut self, client: &mut Client<'_>, node: &str) -> Result<(), Failure> {
        let pods: Vec<Value> = client
            .list(Kind::Pod, "")
            .into_iter()
            .filter(|pod| pod["spec"]["nodeName"] == node)
            .collect();
        let pods: Vec<Value> = pods
            .into_iter()
            .filter(|pod| self.pod_selector.matches(pod))
            .collect();
        let (chosen, errors, warnings) = self.choose(&pods);
        if !errors.is_empty() {
            let all = if errors.len() == 1 {
                errors[0].clone()
            } else {
                format!("[{}]", errors.join(", "))
            };
            client.complain(&format!("error: unable to drain node \"{node}\" due to error: {all}, continuing command...\n"));
            client.complain(&format!(
                "There are pending nodes to be drained:\n{}",
                self.nodes
                    .iter()
                    .map(|n| format!(" {n}\n"))
                    .collect::<String>()
            ));
            let message: String = errors.iter().map(|error| format!("{error}\n")).collect();
            return Err(Failure::exit(message, 1));
        }
        if !warnings.is_empty() {
            client.warn(format!("Warning: {}", warnings.join("; ")));
        }
        for pod in chosen {
            let key = key_of(Kind::Pod, pod);
            if let Some(uid) = client.sim().get(&key).map(|object| object.meta.uid) {
                self.evict.push((key, uid, client.sim().now()));
            }
        }
        Ok(())
    }

    /// Returns the Pods to evict, the errors and the warnings.
    fn choose<'p>(&self, pods: &'p [Value]) -> (Vec<&'p Value>, Vec<String>, Vec<String>) {
        let (mut chosen, mut daemons, mut bare, mut local) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for pod in pods {
            let label = format!(
                "{}/{}",
                pod["metadata"]["namespace"].as_str().unwrap_or(""),
                name_of(pod)
            );
            let owner = pod["metadata"]["ownerReferences"]
                .as_array()
                .and_then(|o| o.iter().find(|o| o["controller"] == true));
            let ended = matches!(
                pod["status"]["phase"].as_str(),
                Some("Succeeded" | "Failed")
            );
            if owner.is_some_and(|owner| owner["kind"] == "DaemonSet") && !ended {
                daemons.push(label);
                continue;
            }
            if owner.is_none() && !ended {
                bare.push(label.clone());
            }
            let empty = pod["spec"]["volumes"]
                .as_array()
                .is_some_and(|v| v.iter().any(|v| v["emptyDir"].is_object()));
            if empty && !ended {
                local.push(label);
            }
            chosen.push(pod);
        }
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let mut rule = |list: Vec<String>, allowed: bool, error: &str, warning: &str| {
            if !list.is_empty() {
                let (target, text) = if allowed {
                    (&mut warnings, warning)
                } else {
                    (&mut errors, error)
                };
                target.push(format!("{text}: {}", list.join(", ")));
            }
        };
        let keep_local = self.args.on("delete-emptydir-data") || self.args.on("delete-local-data");
        rule(
            daemons,
            self.args.on("ignore-daemonsets"),
            "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)",
            "ignoring DaemonSet-managed Pods",
        );
        rule(
            local,
            keep_local,
            "cannot delete Pods with local storage (use --delete-emptydir-data to override)",
            "deleting Pods with local storage",
        );
        rule(
            bare,
            self.args.on("force"),
            "cannot delete Pods that declare no controller (use --force to override)",
            "deleting Pods that declare no controller",
        );
        warnings.retain(|warning| !warning.starts_with("deleting Pods with local storage"));
        (chosen, errors, warnings)
    }

    fn evict_due(&mut self, client: &mut Client<'_>) {
        let now = client.sim().now();
        let note = client.mode.dry.note();
        for (key, uid, at) in std::mem::take(&mut self.evict) {
            if at > now {
                self.evict.push((key, uid, at));
                continue;
            }
            // A Pod that is gone before its eviction is skipped.
            if client
                .sim()
                .get(&key)
                .is_none_or(|object| object.meta.uid != uid)
            {
                continue;
            }
            let text = format!(
                "error when evicting pods/\"{}\" -n \"{}\"",
                key.name, key.namespace
            );
            if !self.plain {
                client.say(format!("evicting pod {}/{}{note}", key.namespace, key.name));
            }
            if let Some(timeout) = self.over(now) {
                self.errors.push(format!("{text}: {timeout}"));
                continue;
            }
            let how = Delete {
                grace_seconds: self.grace,
                ..Default::default()
            };
            let result = if self.plain {
                client.delete(&key, how)
            } else {
                client.evict(&key, how)
            };
            let Err(error) = result else {
                if client.mode.dry == DryRun::No {
                    self.leaving.push((key, uid));
                }
                continue;
            };
            if error.reason == StatusReason::TooManyRequests {
                client.complain(&format!("{text} (will retry after 5s): {error}\n"));
                self.evict.push((key, uid, now.after(RETRY_US)));
            } else {
                self.errors.push(format!("{text}: {error}"));
            }
        }
    }

    /// Returns the past participle for a removed Pod.
    fn done(&self) -> &'static str {
        if self.plain { "deleted" } else { "evicted" }
    }

    fn await_gone(&mut self, client: &mut Client<'_>) {
        for (key, uid) in std::mem::take(&mut self.leaving) {
            if client
                .sim()
                .get(&key)
                .is_some_and(|object| object.meta.uid == uid)
            {
                match self.over(client.sim().now()) {
                    Some(timeout) => {
                        let waited = format!(
                            "error when waiting for pod \"{}\" in namespace \"{}\" to terminate",
                            key.name, key.namespace
                        );
                        self.errors.push(format!("{waited}: {timeout}"));
                    }
                    None => self.leaving.push((key, uid)),
                }
            } else {
                client.say(format!("pod/{} {}", key.name, self.done()));
            }
        }
    }

    /// Returns the message of the timeout, if it has passed.
    fn over(&self, now: Time) -> Option<String> {
        let (_, text) = self.timeout.as_ref().filter(|(at, _)| now >= *at)?;
        Some(format!("global timeout reached: {text}"))
    }

    /// Returns the reason why the drain stopped: the timeout, or permanent refusals.
    fn stopped(&self, client: &mut Client<'_>, node: &str) -> Option<Failure> {
        let errors = &self.errors;
        if errors.is_empty() || !self.evict.is_empty() || !self.leaving.is_empty() {
            return None;
        }
        let all = if errors.len() == 1 {
            errors[0].clone()
        } else {
            format!("[{}]", errors.join(", "))
        };
        let pods: Vec<Value> = client
            .list(Kind::Pod, "")
            .into_iter()
            .filter(|pod| pod["spec"]["nodeName"] == node)
            .collect();
        let (pending, ..) = self.choose(&pods);
        if !pending.is_empty() {
            client.warn(format!(
                "There are pending pods in node \"{node}\" when an error occurred: {all}"
            ));
            for pod in pending {
                client.warn(format!("pod/{}", name_of(pod)));
            }
        }
        client.complain(&format!(
            "error: unable to drain node \"{node}\" due to error: {all}, continuing command...\n"
        ));
        client.complain("There are pending nodes to be drained:\n");
        for name in &self.nodes {
            client.complain(&format!(" {name}\n"));
        }
        Some(Failure::exit(
            errors
                .iter()
                .map(|error| format!("{error}\n"))
                .collect::<String>(),
            1,
        ))
    }
}

impl PendingCommand for Drain {
    /// Returns the time of the next eviction attempt, or of the timeout.
    fn deadline(&self) -> Option<Time> {
        let end = self
            .timeout
            .iter()
            .map(|(at, _)| *at)
            .filter(|_| !self.leaving.is_empty());
        self.evict.iter().map(|(_, _, at)| *at).chain(end).min()
    }

    /// Returns true when every node is drained.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        loop {
            let Some(node) = self.nodes.first().cloned() else {
                return Ok(true);
            };
            if !self.started {
                self.started = true;
                self.begin(client, &node)?;
            }
            self.evict_due(client);
            self.await_gone(client);
            if let Some(failure) = self.stopped(client, &node) {
                return Err(failure);
            }
            if !self.evict.is_empty() || !self.leaving.is_empty() {
                return Ok(false);
            }
            client.say(format!("node/{node} drained{}", client.mode.dry.note()));
            self.nodes.remove(0);
            self.started = false;
        }
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
