//! `kubectl drain`: cordons a node and evicts its Pods, respecting disruption budgets.
//!
//! Models `kubectl/pkg/drain`.

use super::client::Client;
use super::nodes::{named, set_cordon};
use super::output::DryRun;
use super::parse::Args;
use super::targets::{key_of, name_of};
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{ApiError, ListOptions, ObjectSelector};
use apiserver::{DeleteOptions, StatusReason};
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
    /// `--timeout`, of each node.
    timeout: Option<Timeout>,
    /// `--grace-period`; `None` for the Pods' own.
    grace: Option<i64>,
    /// `--disable-eviction`: Pods are deleted regardless of their budgets.
    plain: bool,
    /// `--pod-selector`.
    /// Permanent refusals.
    errors: Vec<String>,
    started: bool,
    /// Nodes that could not be drained.
    pending: Vec<PendingNode>,
}

/// Time for which a node's Pods are waited for.
#[derive(Clone, Debug)]
struct Timeout {
    /// Microseconds.
    span: u64,
    /// As entered.
    text: String,
    /// End for the node that is being drained.
    end: Time,
}

/// Node that could not be drained.
#[derive(Clone, Debug)]
struct PendingNode {
    name: String,
    errors: Vec<String>,
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
    ObjectSelector::parse(args.get("pod-selector"), None).map_err(Failure::error)?;
    let nodes = named(client, &args)?;
    for name in &nodes {
        client.get(Kind::Node, name)?;
    }
    for name in &nodes {
        set_cordon(client, name, true)?;
    }
    let span = args.duration("timeout")?.filter(|span| *span > 0);
    let timeout = span.map(|span| Timeout {
        span,
        text: args.get("timeout").unwrap_or("").to_owned(),
        end: client.sim().now().after(span),
    });
    let grace = args.number("grace-period")?.filter(|seconds| *seconds >= 0);
    let plain = args.on("disable-eviction");
    let (evict, leaving, errors) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Outcome::pending(Drain {
        nodes,
        evict,
        leaving,
        args,
        timeout,
        grace,
        plain,
        errors,
        started: false,
        pending: Vec::new(),
    }))
}

impl Drain {
    /// Returns the selected Pods of a node.
    fn pods_of(&self, client: &Client<'_>, node: &str) -> Result<Vec<Value>, ApiError> {
        let options = ListOptions {
            label_selector: self.args.get("pod-selector").unwrap_or("").to_owned(),
            field_selector: format!("spec.nodeName={node}"),
            ..ListOptions::default()
        };
        let pods = client.listing(Kind::Pod, "", options)?;
        Ok(pods.map(|pod| pod.to_value()).collect())
    }

    /// Chooses the Pods to evict from a node; returns false if it cannot be drained.
    fn begin(&mut self, client: &mut Client<'_>, node: &str) -> bool {
        if let Some(timeout) = &mut self.timeout {
            timeout.end = client.sim().now().after(timeout.span);
        }
        let pods = match self.pods_of(client, node) {
            Ok(pods) => pods,
            Err(error) => {
                self.fail(client, node, vec![error.message]);
                return false;
            }
        };
        let (chosen, errors, warnings) = self.choose(&pods);
        if !errors.is_empty() {
            self.fail(client, node, errors);
            return false;
        }
        if !warnings.is_empty() {
            client
                .streams
                .warn(format!("Warning: {}", warnings.join("; ")));
        }
        for pod in chosen {
            let uid = Uid::parse(pod["metadata"]["uid"].as_str().unwrap_or(""));
            self.evict
                .extend(uid.map(|uid| (key_of(Kind::Pod, pod), uid, client.sim().now())));
        }
        true
    }

    /// Notes that a node cannot be drained: the command continues with the others.
    fn fail(&mut self, client: &mut Client<'_>, node: &str, errors: Vec<String>) {
        let all = aggregate(&errors);
        client.streams.write_err(&format!(
            "error: unable to drain node \"{node}\" due to error: {all}, continuing command...\n"
        ));
        self.pending.push(PendingNode {
            name: node.to_owned(),
            errors,
        });
    }

    /// Ends the command, with the errors of the nodes that could not be drained.
    fn finish(&self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if self.pending.is_empty() {
            return Ok(true);
        }
        client
            .streams
            .write_err("There are pending nodes to be drained:\n");
        for node in &self.pending {
            client.streams.write_err(&format!(" {}\n", node.name));
        }
        let errors = self.pending.iter().flat_map(|node| &node.errors);
        let lines: String = errors.map(|error| format!("{error}\n")).collect();
        Err(Failure::exit(lines, 1))
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
            let text = format!(
                "error when evicting pods/\"{}\" -n \"{}\"",
                key.name, key.namespace
            );
            match is_there(client, &key, uid) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    self.errors.push(format!("{text}: {}", error.message));
                    continue;
                }
            }
            if !self.plain {
                client
                    .streams
                    .say(format!("evicting pod {}/{}{note}", key.namespace, key.name));
            }
            if let Some(timeout) = self.over(now) {
                self.errors.push(format!("{text}: {timeout}"));
                continue;
            }
            let how = DeleteOptions {
                grace_period_seconds: self.grace,
                ..Default::default()
            };
            let result = if self.plain {
                client.delete(&key, how).map(drop)
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
                client
                    .streams
                    .write_err(&format!("{text} (will retry after 5s): {error}\n"));
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
            let there = is_there(client, &key, uid);
            let failure = match &there {
                Ok(true) => self.over(client.sim().now()),
                Ok(false) => {
                    let pod = format!("pod/{} {}", key.name, self.done());
                    client.streams.say(pod);
                    continue;
                }
                Err(error) => Some(error.message.to_string()),
            };
            match failure {
                Some(failure) => self.errors.push(format!(
                    "error when waiting for pod \"{}\" in namespace \"{}\" to terminate: {failure}",
                    key.name, key.namespace
                )),
                None => self.leaving.push((key, uid)),
            }
        }
    }

    /// Returns the message of the timeout, if it has passed.
    fn over(&self, now: Time) -> Option<String> {
        let timeout = self.timeout.as_ref().filter(|timeout| now >= timeout.end)?;
        Some(format!("global timeout reached: {}", timeout.text))
    }

    /// Gives up a node whose evictions were refused for good, once its other Pods are gone. Returns false while it is not to be given up.
    fn give_up(&mut self, client: &mut Client<'_>, node: &str) -> bool {
        if self.errors.is_empty() || !self.evict.is_empty() || !self.leaving.is_empty() {
            return false;
        }
        let errors = std::mem::take(&mut self.errors);
        let all = aggregate(&errors);
        let pods = self.pods_of(client, node).unwrap_or_default();
        let (pending, ..) = self.choose(&pods);
        if !pending.is_empty() {
            client.streams.warn(format!(
                "There are pending pods in node \"{node}\" when an error occurred: {all}"
            ));
            for pod in pending {
                client.streams.warn(format!("pod/{}", name_of(pod)));
            }
        }
        self.fail(client, node, errors);
        true
    }
}

/// Returns true if the Pod with this uid exists, not only a later one of its name.
fn is_there(client: &Client<'_>, key: &ObjectRef, uid: Uid) -> Result<bool, ApiError> {
    let found = client.find_object(key)?;
    Ok(found.is_some_and(|pod| pod.meta.uid == uid))
}

/// Returns the text of Go's aggregate of errors: one error as it is, several as `[a, b]`.
fn aggregate(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

impl PendingCommand for Drain {
    /// Returns the time of the next eviction attempt, or of the timeout.
    fn deadline(&self) -> Option<Time> {
        let end = self
            .timeout
            .iter()
            .map(|timeout| timeout.end)
            .filter(|_| !self.leaving.is_empty());
        self.evict.iter().map(|(_, _, at)| *at).chain(end).min()
    }

    /// Returns true when every node is drained.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        loop {
            let Some(node) = self.nodes.first().cloned() else {
                return self.finish(client);
            };
            let begins = !std::mem::replace(&mut self.started, true);
            let mut failed = begins && !self.begin(client, &node);
            if !failed {
                self.evict_due(client);
                self.await_gone(client);
                failed = self.give_up(client, &node);
            }
            if failed {
                self.nodes.remove(0);
                self.started = false;
                continue;
            }
            if !self.evict.is_empty() || !self.leaving.is_empty() {
                return Ok(false);
            }
            client
                .streams
                .say(format!("node/{node} drained{}", client.mode.dry.note()));
            self.nodes.remove(0);
            self.started = false;
        }
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
