//! `kubectl wait`: waits until a condition holds, a field has a value, or an object is gone.

use super::client::Client;
use super::failure::server_error;
use super::parse::Args;
use super::printers::jsonpath;
use super::targets::{Targets, key_of, label};
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef, Time, Uid};
use serde_json::Value;

const FLAGS: &str = "for= timeout= selector/l= field-selector= all all-namespaces/A @filename/f= recursive/R ~output/o=";
/// Default timeout.
const TIMEOUT_US: u64 = 30 * SECOND;

/// `kubectl wait`.
pub const VERB: Verb = Verb {
    name: "wait",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Wait for a specific condition on one or many resources",
};

#[derive(Clone, Debug)]
enum WaitGoal {
    Delete,
    Create,
    Condition(String, String),
    Path(String, Option<String>),
}

/// Wait for objects.
#[derive(Clone, Debug)]
pub struct WaitCommand {
    left: Vec<(Kind, ObjectRef)>,
    /// Objects that existed at the start, with their uids.
    seen: Vec<(ObjectRef, Uid)>,
    goal: WaitGoal,
    /// Time of the timeout.
    pub deadline: Time,
    /// True for `--timeout=0`, which checks once and does not wait.
    once: bool,
}

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("wait", FLAGS, words)?;
    client.use_flags(&args)?;
    let goal = goal(args.get("for").unwrap_or(""))?;
    let targets = Targets::parse(client, &args, &args.words)?;
    let mut left = Vec::new();
    if let WaitGoal::Create | WaitGoal::Delete = goal {
        left.extend(
            targets
                .list
                .iter()
                .filter_map(|(kind, name)| Some((*kind, client.key(*kind, name.as_ref()?)))),
        );
    }
    if left.is_empty() {
        for (kind, object) in targets.fetch(client) {
            left.push((kind, key_of(kind, &object)));
        }
    }
    if left.is_empty() && client.streams.failure.is_none() {
        return Err(Failure::error("no matching resources found"));
    }
    let span = args.duration("timeout")?.unwrap_or(TIMEOUT_US);
    let mut seen = Vec::new();
    for (_, key) in &left {
        let found = client
            .find_object(key)
            .map_err(|error| server_error(&error))?;
        seen.extend(found.map(|object| (key.clone(), object.meta.uid)));
    }
    Ok(Outcome::pending(WaitCommand {
        left,
        seen,
        goal,
        deadline: client.sim().now().after(span),
        once: span == 0,
    }))
}

fn goal(text: &str) -> Result<WaitGoal, Failure> {
    let wrong = || {
        Failure::error(format!(
            "unrecognized condition: {}",
            if text.is_empty() {
                "[]".to_owned()
            } else {
                format!("{text:?}")
            }
        ))
    };
    match text {
        "delete" => return Ok(WaitGoal::Delete),
        "create" => return Ok(WaitGoal::Create),
        _ => {}
    }
    if let Some(condition) = text.strip_prefix("condition=") {
        let (name, status) = condition.split_once('=').unwrap_or((condition, "true"));
        return Ok(WaitGoal::Condition(name.to_owned(), status.to_owned()));
    }
    let path = text.strip_prefix("jsonpath=").ok_or_else(wrong)?;
    Ok(match path.rsplit_once("}=") {
        Some((path, value)) => WaitGoal::Path(
            format!("{path}}}"),
            Some(value.trim_matches(['\'', '"']).to_owned()),
        ),
        None => WaitGoal::Path(path.trim_matches(['\'', '"']).to_owned(), None),
    })
}

impl WaitCommand {
    fn met(&self, key: &ObjectRef, object: Option<&Value>) -> Result<bool, Failure> {
        Ok(match (&self.goal, object) {
            (WaitGoal::Delete, None) => true,
            // Another object of the same name shows that the awaited one is gone.
            (WaitGoal::Delete, Some(object)) => {
                let is_awaited = |(seen, uid): &(ObjectRef, Uid)| {
                    seen == key && object["metadata"]["uid"] == uid.to_string()
                };
                !self.seen.iter().any(is_awaited)
            }
            (WaitGoal::Create, object) => object.is_some(),
            (_, None) => false,
            (WaitGoal::Condition(name, status), Some(object)) => {
                let stale = object["status"]["observedGeneration"]
                    .as_i64()
                    .is_some_and(|seen| {
                        seen < object["metadata"]["generation"].as_i64().unwrap_or(0)
                    });
                let conditions = object["status"]["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let met = |c: &Value| {
                    c["type"]
                        .as_str()
                        .is_some_and(|kind| kind.eq_ignore_ascii_case(name))
                        && c["status"]
                            .as_str()
                            .is_some_and(|found| found.eq_ignore_ascii_case(status))
                };
                !stale && conditions.into_iter().any(met)
            }
            (WaitGoal::Path(path, value), Some(object)) => {
                let found = match jsonpath::values(path, object) {
                    // A missing field may appear later.
                    Err(jsonpath::JsonPathError::Execute(_)) => Vec::new(),
                    found => found.map_err(|fault| Failure::error(fault.told(path, object)))?,
                };
                match value {
                    Some(value) => found.iter().any(|v| jsonpath::show(v) == *value),
                    None => !found.is_empty(),
                }
            }
        })
    }
}

impl PendingCommand for WaitCommand {
    /// Returns true when the condition is met by every object.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        for (kind, key) in std::mem::take(&mut self.left) {
            if self.met(&key, client.find(&key)?.as_ref())? {
                if let WaitGoal::Delete = self.goal
                    && !self.seen.iter().any(|(seen, _)| *seen == key)
                {
                    // An object that never existed gets no message.
                    continue;
                }
                client
                    .streams
                    .say(format!("{} condition met", label(kind, &key.name)));
            } else {
                self.left.push((kind, key));
            }
        }
        if self.left.is_empty() {
            return Ok(true);
        }
        if client.sim().now() < self.deadline {
            return Ok(false);
        }
        if let (true, Some((_, key))) = (self.once, self.left.first()) {
            return Err(Failure::error(format!(
                "condition not met for {}/{}",
                key.kind.info().plural,
                key.name
            )));
        }
        if let WaitGoal::Create = self.goal {
            return Err(Failure::error("timed out waiting for the condition"));
        }
        let lines = self.left.iter().map(|(_, key)| {
            format!(
                "error: timed out waiting for the condition on {}/{}\n",
                key.kind.info().plural,
                key.name
            )
        });
        Err(Failure::exit(lines.collect::<String>(), 1))
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.deadline)
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
