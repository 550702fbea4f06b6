//! Functions of the expression language, one entry each. The format's document lists them.

use super::history::{ObservedHistory, Update, Value};
use super::survival::survives;
use apiserver::journal::Record;
use cluster::Sim;
use cluster::disk::{FilePlace, place};
use cluster_network::connectivity::{self, RequestOutcome};
use cluster_network::dns;
use k8s_model::pod::Pod;
use k8s_model::storage::PersistentVolumeClaim;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
use kubectl::printers::PodSummary;
use serde_json::Value as Json;
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Namespace of names without one.
const NAMESPACE: &str = "default";
/// Kinds that a name without a kind may refer to, in this order.
const NAMED: [Kind; 10] = [
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::CronJob,
    Kind::Job,
    Kind::ReplicaSet,
    Kind::Pod,
    Kind::Service,
    Kind::PersistentVolumeClaim,
    Kind::Node,
];

/// Function of the expression language.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Signature.
    pub usage: &'static str,
    /// Description of the result.
    pub about: &'static str,
    /// True if the function needs the present state rather than the journal: it cannot be aggregated over time.
    pub only_now: bool,
    /// True if the function tells of the learner's step: it has no meaning without one.
    pub of_step: bool,
    /// Implementation; the simulation is given when the present is evaluated.
    pub run: Run,
}

/// Evaluates a function on the history and its arguments; the simulation is given when the present is evaluated.
type Run = fn(&ObservedHistory, Option<&Sim>, &[Rc<str>]) -> Value;

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Returns the number of arguments: those in brackets are optional.
    pub fn arguments(&self) -> RangeInclusive<usize> {
        let inner = self
            .usage
            .split_once('(')
            .map_or("", |(_, inner)| inner.trim_end_matches(')'));
        let count = |text: &str| {
            text.split(',')
                .filter(|word| !word.trim().is_empty())
                .count()
        };
        let all = inner.replace(['[', ']'], "");
        count(inner.split('[').next().unwrap_or(""))..=count(&all)
    }
}

/// Returns the function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    ALL.iter().find(|function| function.name == name)
}

/// Returns the function whose name is nearest to a word, within two edits.
pub fn nearest(word: &str) -> Option<&'static str> {
    kubectl::nearest(word, ALL.iter().map(|function| function.name), 2)
}

const fn function(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: Run,
) -> Function {
    Function {
        name,
        usage,
        about,
        only_now: false,
        of_step: false,
        run,
    }
}

const fn of_step(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: Run,
) -> Function {
    Function {
        of_step: true,
        ..function(name, usage, about, run)
    }
}

const fn now(name: &'static str, usage: &'static str, about: &'static str, run: Run) -> Function {
    Function {
        only_now: true,
        ..function(name, usage, about, run)
    }
}

/// All functions.
pub const ALL: &[Function] = &[
    function(
        "replicas",
        "replicas(workload)",
        "the desired number of Pods, `spec.replicas`",
        |history, _, words| history.field(&words[0], "spec.replicas"),
    ),
    function(
        "pods",
        "pods(workload or Node)",
        "its Pods that are neither being deleted nor finished",
        |history, _, words| {
            history.count_pods(&words[0], |pod, object| {
                !object.meta.is_deleting() && !pod.is_terminal()
            })
        },
    ),
    function(
        "terminating",
        "terminating(workload or Node)",
        "its Pods that are being deleted",
        |history, _, words| history.count_pods(&words[0], |_, object| object.meta.is_deleting()),
    ),
    function(
        "ready",
        "ready(workload or Pod or Node)",
        "its Pods that are ready and not being deleted",
        |history, _, words| {
            history.count_pods(&words[0], |pod, object| {
                pod.is_ready() && !object.meta.is_deleting()
            })
        },
    ),
    function(
        "available",
        "available(workload)",
        "`status.availableReplicas`",
        |history, _, words| {
            let field = history.field(&words[0], "status.availableReplicas");
            if field == Value::Nothing && history.find(&words[0]).is_some() {
                Value::Number(0)
            } else {
                field
            }
        },
    ),
    function(
        "updated",
        "updated(workload)",
        "its Pods of the newest revision",
        |history, _, words| history.updated(&words[0]),
    ),
    function(
        "revision",
        "revision(Deployment)",
        "the revision that `kubectl rollout history` shows",
        |history, _, words| {
            let revision = history
                .find(&words[0])
                .and_then(|object| object.meta.annotation("deployment.kubernetes.io/revision"));
            revision
                .and_then(|text| text.parse().ok())
                .map_or(Value::Nothing, Value::Number)
        },
    ),
    function(
        "image",
        "image(workload or Pod)",
        "the image of the first container",
        |history, _, words| {
            history
                .find(&words[0])
                .and_then(|object| object.first_image().cloned())
                .map_or(Value::Nothing, Value::Text)
        },
    ),
    function(
        "restarts",
        "restarts(workload or Pod)",
        "how often its containers were restarted",
        |history, _, words| {
            if history.find(&words[0]).is_none() {
                return Value::Nothing;
            }
            let counts = history.pods(&words[0]).map(|object| object.body::<Pod>());
            let counts = counts
                .flat_map(|pod| &pod.status.container_statuses)
                .map(|status| i64::from(status.restart_count));
            Value::Number(counts.sum())
        },
    ),
    function(
        "state",
        "state(Pod)",
        "what `kubectl get pods` shows as STATUS: 'Running', 'Pending', 'ImagePullBackOff'",
        |history, _, words| {
            let pod = history.named(Kind::Pod, &words[0]);
            let status = |object: &Object| Some(PodSummary::of(object, object.pod()?).reason);
            pod.and_then(|pod| status(pod))
                .map_or(Value::Nothing, |reason| Value::Text(reason.into()))
        },
    ),
    function(
        "node",
        "node(Pod)",
        "the node that it is bound to",
        |history, _, words| {
            let pod = history
                .named(Kind::Pod, &words[0])
                .and_then(|object| object.pod())
                .filter(|pod| !pod.node_name.is_empty());
            pod.map_or(Value::Nothing, |pod| Value::Text(pod.node_name.clone()))
        },
    ),
    function(
        "uid",
        "uid(object)",
        "its uid: a different object with the same name has a different one",
        |history, _, words| {
            history.find(&words[0]).map_or(Value::Nothing, |object| {
                Value::Text(object.meta.uid.to_string().into())
            })
        },
    ),
    function(
        "exists",
        "exists(object)",
        "whether there is such an object",
        |history, _, words| Value::Truth(history.find(&words[0]).is_some()),
    ),
    function(
        "count",
        "count(kind[, labels])",
        "how many objects of a kind there are, optionally only those with the given labels: count(pods, 'app=web')",
        |history, _, words| {
            let Some(kind) = Kind::from_word(&words[0]) else {
                return Value::Nothing;
            };
            let labels = words.get(1).map_or("", |labels| labels);
            let has = |object: &Object| {
                let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
                pairs.into_iter().all(|(key, value)| {
                    object
                        .meta
                        .label(key.trim())
                        .is_some_and(|label| label == value.trim())
                })
            };
            Value::Number(
                history
                    .objects
                    .iter()
                    .filter(|(key, object)| key.kind == kind && has(object))
                    .count() as i64,
            )
        },
    ),
    function(
        "field",
        "field(object, path)",
        "the value of a field: field(web, 'spec.strategy.type')",
        |history, _, words| history.field(&words[0], &words[1]),
    ),
    function(
        "endpoints",
        "endpoints(Service)",
        "its ready endpoints",
        |history, _, words| {
            let service = history.named(Kind::Service, &words[0]);
            service.map_or(Value::Nothing, |service| {
                Value::Number(history.endpoints(service))
            })
        },
    ),
    function(
        "bound",
        "bound(claim)",
        "whether it is bound to a volume",
        |history, _, words| {
            Value::Truth(
                history
                    .claim(&words[0])
                    .is_some_and(|claim| claim.status.phase == "Bound"),
            )
        },
    ),
    function(
        "volume",
        "volume(claim)",
        "the volume that it is bound to",
        |history, _, words| {
            let claim = history
                .claim(&words[0])
                .filter(|claim| !claim.spec.volume_name.is_empty());
            claim.map_or(Value::Nothing, |claim| {
                Value::Text(claim.spec.volume_name.clone())
            })
        },
    ),
    function(
        "created",
        "created(kind or object)",
        "how many were created since the step began; of a workload: its Pods",
        |history, _, words| history.count_objects(&history.created, &words[0]),
    ),
    function(
        "deleted",
        "deleted(kind or object)",
        "how many are gone since the step began; of a workload: its Pods",
        |history, _, words| history.count_objects(&history.deleted, &words[0]),
    ),
    function(
        "changed",
        "changed(kind or object)",
        "how often they were changed since the step began; of a workload: its Pods",
        |history, _, words| history.count_updates(&words[0], |_| true),
    ),
    function(
        "unready",
        "unready(kind or object)",
        "how often one that was ready stopped being ready since the step began; of a workload: its Pods",
        |history, _, words| {
            history.count_updates(&words[0], |update| {
                has_condition(&update.before, "Ready", "True")
                    && !has_condition(&update.object, "Ready", "True")
            })
        },
    ),
    function(
        "became",
        "became(kind or object, condition[, status])",
        "how often a condition of theirs turned to a status, True if none is given, since the step began: became(deployment/web, Available, False)",
        |history, _, words| {
            let status = words.get(2).map_or("True", |status| status);
            // Of a workload the condition is its own, and not that of its Pods.
            let subject = match (history.subject(&words[0]), history.find(&words[0])) {
                (Some(Subject::PodsOf(_)), Some(object)) => Subject::Object(object.key()),
                (Some(subject), _) => subject,
                (None, _) => return Value::Nothing,
            };
            let created = history.created.iter().filter(|object| {
                subject.includes(object) && has_condition(object, &words[1], status)
            });
            let updated = history.updated.iter().filter(|update| {
                subject.includes(&update.object)
                    && has_condition(&update.object, &words[1], status)
                    && !has_condition(&update.before, &words[1], status)
            });
            Value::Number((created.count() + updated.count()) as i64)
        },
    ),
    function(
        "events",
        "events(reason)",
        "how many Events with this reason there were since the step began: events(FailedScheduling)",
        |history, _, words| {
            let has_reason = |event: &&Rc<Object>| matches!(&event.body, Body::Event(event) if event.reason.eq_ignore_ascii_case(&words[0]));
            Value::Number(history.events.iter().filter(has_reason).count() as i64)
        },
    ),
    now(
        "refused",
        "refused(kind or object)",
        "how many requests for it were refused since the step began, for example by a PodDisruptionBudget",
        |history, sim, words| {
            let Some(sim) = sim else {
                return Value::Nothing;
            };
            let (kind, name) = match words[0].split_once('/') {
                Some((kind, name)) => (Kind::from_word(kind), Some(name)),
                None => (
                    Kind::from_word(&words[0]),
                    Kind::from_word(&words[0]).is_none().then_some(&*words[0]),
                ),
            };
            if kind.is_none() && words[0].contains('/') {
                return Value::Nothing;
            }
            let of = |key: &ObjectRef| {
                kind.is_none_or(|kind| key.kind == kind) && name.is_none_or(|name| key.name == name)
            };
            let since = sim.journal().from(history.first().min(sim.journal().len()));
            Value::Number(since.iter().filter(|entry| matches!(&entry.record, Record::Refused(refused) if of(&refused.key))).count() as i64)
        },
    ),
    of_step(
        "ran",
        "ran(words)",
        "whether a command with these words was entered: ran('rollout undo')",
        |history, _, words| {
            let wanted: Vec<&str> = words_of(&words[0]).collect();
            let has = |line: &Str| {
                let line: Vec<&str> = words_of(line).collect();
                !wanted.is_empty() && line.windows(wanted.len()).any(|part| part == wanted)
            };
            Value::Truth(history.lines().any(has))
        },
    ),
    of_step(
        "looked",
        "looked(object)",
        "whether an object was selected, or described with kubectl",
        |history, _, words| {
            let Some(object) = history.find(&words[0]) else {
                return Value::Truth(false);
            };
            let selected = history.looked.contains(&object.key());
            Value::Truth(selected || history.lines().any(|line| describes(line, object)))
        },
    ),
    of_step(
        "seconds",
        "seconds()",
        "seconds since the step began",
        |history, _, _| Value::Number(((history.now.0 - history.began.0) / 1_000_000) as i64),
    ),
    now(
        "file",
        "file(Pod, path)",
        "the content of a file in its first container",
        |history, sim, words| {
            let (Some(sim), Some(pod)) = (sim, history.named(Kind::Pod, &words[0])) else {
                return Value::Nothing;
            };
            match place(sim.store(), pod, 0, &words[1]) {
                FilePlace::Disk { disk, path } => sim
                    .disks
                    .read(&disk, &path)
                    .map_or(Value::Nothing, |text| Value::Text(text.trim_end().into())),
                FilePlace::Projected { .. } => Value::Nothing,
            }
        },
    ),
    now(
        "addresses",
        "addresses(name)",
        "how many addresses DNS has for a name: addresses(web-0.nginx)",
        |_, sim, words| {
            let Some(sim) = sim else {
                return Value::Nothing;
            };
            Value::Number(dns::lookup(sim.store(), NAMESPACE, &words[0]).len() as i64)
        },
    ),
    now(
        "answers",
        "answers(Pod, host[, port])",
        "whether a request from a Pod is answered; the port is 80",
        |history, sim, words| {
            let (Some(sim), Some(pod)) = (sim, history.named(Kind::Pod, &words[0])) else {
                return Value::Nothing;
            };
            let port = words
                .get(2)
                .map_or(Some(80), |port| port.parse().ok())
                .unwrap_or(0);
            let attempt =
                connectivity::connect(sim.store(), pod, &words[1], port, sim.journal().len());
            Value::Truth(attempt.outcome == RequestOutcome::Answered)
        },
    ),
    now(
        "survives",
        "survives(ControlLoop)",
        "whether what a loop has made comes back on copies of the cluster when it is deleted, while events are lost and the loop restarts",
        |_, sim, words| {
            let result = sim.and_then(|sim| survives(sim, &words[0]));
            result.map_or(Value::Nothing, Value::Truth)
        },
    ),
];

/// Returns the words of a command line, without punctuation.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && !"-_./:=".contains(c))
        .filter(|word| !word.is_empty())
}

/// Splits `a.b.0` and `a[b.c/d]` into keys and indexes.
fn field_steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    for (at, part) in path.split('[').enumerate() {
        let (within, dotted) = if at == 0 {
            ("", part)
        } else {
            part.split_once(']').unwrap_or((part, ""))
        };
        steps.extend(Some(within).filter(|key| !key.is_empty()));
        steps.extend(dotted.split('.').filter(|key| !key.is_empty()));
    }
    steps
}

/// Returns true if a line describes an object: `describe pod web-0`, `describe pod/web-0`.
fn describes(line: &str, object: &Object) -> bool {
    let mut words = words_of(line)
        .skip_while(|word| *word != "describe")
        .skip(1);
    let mut of_kind = false;
    words.any(|word| {
        let (kind, name) = word.split_once('/').unwrap_or(("", word));
        if kind.is_empty() && Kind::from_word(word) == Some(object.kind) && !of_kind {
            of_kind = true;
            return false;
        }
        (of_kind || Kind::from_word(kind) == Some(object.kind)) && object.meta.name == name
    })
}

impl ObservedHistory {
    /// Returns the person's command lines, from the console and elsewhere.
    fn lines(&self) -> impl Iterator<Item = &Str> {
        self.commands.iter().chain(&self.entered)
    }

    /// Returns the object that a word refers to: `web`, `pod/web-0`, `prod/web`, `deploy/prod/web`.
    pub fn find(&self, word: &str) -> Option<&Rc<Object>> {
        let name = ObjectName::parse(word);
        let get = |kind| self.objects.get(&name.of_kind(kind));
        match name.kind {
            Some(kind) => get(kind),
            None => NAMED.iter().find_map(|kind| get(*kind)),
        }
    }

    /// Returns the object of a fixed kind that a word refers to.
    fn named(&self, kind: Kind, word: &str) -> Option<&Rc<Object>> {
        let name = ObjectName::parse(word);
        let is_kind = name.kind.is_none_or(|named| named == kind);
        self.objects.get(&name.of_kind(kind)).filter(|_| is_kind)
    }

    fn claim(&self, word: &str) -> Option<&PersistentVolumeClaim> {
        self.named(Kind::PersistentVolumeClaim, word)?.get()
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.objects
            .range(ObjectRef::new(kind, "", "")..)
            .take_while(move |(key, _)| key.kind == kind)
            .map(|(_, object)| object)
    }

    /// Returns the uids that own the Pods of an object: its own, and those of its ReplicaSets and Jobs.
    fn owners(&self, object: &Object) -> Vec<Uid> {
        let sets = self
            .of_kind(Kind::ReplicaSet)
            .chain(self.of_kind(Kind::Job));
        let sets = sets.chain(self.created.iter()).chain(self.deleted.iter());
        let own = sets
            .filter(|set| set.meta.is_controlled_by(object.meta.uid))
            .map(|set| set.meta.uid);
        std::iter::once(object.meta.uid).chain(own).collect()
    }

    fn pods(&self, word: &str) -> impl Iterator<Item = &Rc<Object>> {
        let object = self.find(word);
        let uid = object.map(|object| object.meta.uid);
        let owners = object.map(|object| self.owners(object)).unwrap_or_default();
        let node = object
            .filter(|object| object.kind == Kind::Node)
            .map(|object| object.meta.name.clone());
        self.of_kind(Kind::Pod).filter(move |pod| {
            let on_node = node
                .as_ref()
                .is_some_and(|node| pod.pod().is_some_and(|spec| spec.node_name == *node));
            on_node
                || Some(pod.meta.uid) == uid
                || pod
                    .meta
                    .controller()
                    .is_some_and(|owner| owners.contains(&owner.uid))
        })
    }

    fn count_pods(&self, word: &str, counts: fn(&Pod, &Object) -> bool) -> Value {
        if self.find(word).is_none() {
            return Value::Nothing;
        }
        Value::Number(
            self.pods(word)
                .filter(|object| counts(object.body(), object))
                .count() as i64,
        )
    }

    fn updated(&self, word: &str) -> Value {
        let Some(object) = self.find(word) else {
            return Value::Nothing;
        };
        let newest = match object.kind {
            Kind::Deployment => {
                let revision = |set: &Rc<Object>| -> i64 {
                    set.meta
                        .annotation("deployment.kubernetes.io/revision")
                        .and_then(|text| text.parse().ok())
                        .unwrap_or(0)
                };
                let own = self
                    .of_kind(Kind::ReplicaSet)
                    .filter(|set| set.meta.is_controlled_by(object.meta.uid));
                own.max_by_key(|set| revision(set)).map(|set| set.meta.uid)
            }
            _ => None,
        };
        let value = object.to_value();
        // A DaemonSet's status does not tell its newest revision.
        let revision = |object: &Object| match &object.body {
            Body::ControllerRevision(revision) => revision.revision,
            _ => 0,
        };
        let daemons = (object.kind == Kind::DaemonSet).then(|| {
            self.of_kind(Kind::ControllerRevision)
                .filter(|one| one.meta.is_controlled_by(object.meta.uid))
                .max_by_key(|one| revision(one))
                .and_then(|one| one.meta.label("controller-revision-hash").cloned())
        });
        // The controller has not observed the change yet, so no Pod is updated.
        let observed = value
            .pointer("/status/observedGeneration")
            .and_then(Json::as_i64);
        if observed.is_some_and(|observed| observed < object.meta.generation) {
            return Value::Number(0);
        }
        let of_status = value
            .pointer("/status/updateRevision")
            .and_then(Json::as_str)
            .map(Str::from)
            .or(daemons.flatten());
        let is_new = |pod: &Object| match (&newest, &of_status) {
            (Some(uid), _) => pod.meta.is_controlled_by(*uid),
            (None, Some(revision)) => pod
                .meta
                .label("controller-revision-hash")
                .is_some_and(|hash| hash == revision.as_str()),
            _ => false,
        };
        Value::Number(
            self.pods(word)
                .filter(|pod| !pod.meta.is_deleting() && is_new(pod))
                .count() as i64,
        )
    }

    fn field(&self, word: &str, path: &str) -> Value {
        let Some(object) = self.find(word) else {
            return Value::Nothing;
        };
        let value = object.to_value();
        let found = match path.starts_with('/') {
            true => value.pointer(path),
            false => field_steps(path)
                .into_iter()
                .try_fold(&value, |value, step| match value {
                    Json::Array(list) => list.get(step.parse::<usize>().ok()?),
                    value => value.get(step),
                }),
        };
        match found {
            Some(Json::Number(number)) => number.as_i64().map_or(Value::Nothing, Value::Number),
            Some(Json::Bool(truth)) => Value::Truth(*truth),
            Some(Json::String(text)) => Value::Text(text.as_str().into()),
            _ => Value::Nothing,
        }
    }

    fn endpoints(&self, service: &Object) -> i64 {
        let slices = self.of_kind(Kind::EndpointSlice).filter(|slice| {
            slice.meta.namespace == service.meta.namespace
                && slice
                    .meta
                    .label("kubernetes.io/service-name")
                    .is_some_and(|name| *name == service.meta.name)
        });
        let ready = |slice: &Rc<Object>| {
            let slice = slice.get::<k8s_model::network::EndpointSlice>();
            slice.map_or(0, |slice| {
                slice
                    .endpoints
                    .iter()
                    .filter(|endpoint| endpoint.is_ready())
                    .count()
            })
        };
        slices.map(ready).sum::<usize>() as i64
    }

    /// Returns what a word refers to: `pod`, `pod/web-0`, or the name of a workload, whose Pods are meant, or of another object.
    fn subject(&self, word: &str) -> Option<Subject> {
        let name = ObjectName::parse(word);
        if let Some(kind) = name.kind {
            return Some(Subject::Object(name.of_kind(kind)));
        }
        if let Some(kind) = Kind::from_word(word) {
            return Some(Subject::Kind(kind));
        }
        Some(match self.find(word) {
            Some(object)
                if object
                    .kind
                    .info()
                    .pod_template
                    .is_some_and(|it| !it.is_empty()) =>
            {
                Subject::PodsOf(self.owners(object))
            }
            Some(object) => Subject::Object(object.key()),
            None => Subject::Object(name.of_kind(Kind::Pod)),
        })
    }

    /// Counts the objects that a word refers to.
    fn count_objects(&self, objects: &[Rc<Object>], word: &str) -> Value {
        let Some(subject) = self.subject(word) else {
            return Value::Nothing;
        };
        let count = objects.iter().filter(|object| subject.includes(object));
        Value::Number(count.count() as i64)
    }

    /// Counts the updates that a condition holds for, of objects that a word refers to.
    fn count_updates(&self, word: &str, counts: fn(&Update) -> bool) -> Value {
        let Some(subject) = self.subject(word) else {
            return Value::Nothing;
        };
        let updates = self.updated.iter();
        let count = updates.filter(|update| subject.includes(&update.object) && counts(update));
        Value::Number(count.count() as i64)
    }
}

/// Name of an object in an expression: `web`, `pod/web-0`, `prod/web`, `deploy/prod/web`.
struct ObjectName<'w> {
    kind: Option<Kind>,
    namespace: &'w str,
    name: &'w str,
}

impl ObjectName<'_> {
    /// Parses a name. What stands before a single slash is a kind if there is one of that name, and else a namespace.
    fn parse(word: &str) -> ObjectName<'_> {
        let (before, name) = word.rsplit_once('/').unwrap_or(("", word));
        let (kind, namespace) = match before.split_once('/') {
            // No object has a name with a slash: of an unknown kind there is none.
            Some((kind, namespace)) => match Kind::from_word(kind) {
                None => return ObjectName::nothing(word),
                kind => (kind, Some(namespace)),
            },
            None => match Kind::from_word(before) {
                None => (None, Some(before).filter(|before| !before.is_empty())),
                kind => (kind, None),
            },
        };
        ObjectName {
            kind,
            namespace: namespace.unwrap_or(NAMESPACE),
            name,
        }
    }

    /// Name that no object has.
    fn nothing(word: &str) -> ObjectName<'_> {
        ObjectName {
            kind: None,
            namespace: NAMESPACE,
            name: word,
        }
    }

    /// Key of the object of this name and a kind.
    fn of_kind(&self, kind: Kind) -> ObjectRef {
        let namespace = match kind.info().namespaced {
            true => self.namespace,
            false => "",
        };
        ObjectRef::new(kind, namespace, self.name)
    }
}

/// Objects that a word of an expression refers to.
enum Subject {
    /// Objects of a kind.
    Kind(Kind),
    /// Object of this key.
    Object(ObjectRef),
    /// Pods that one of these owns.
    PodsOf(Vec<Uid>),
}

impl Subject {
    fn includes(&self, object: &Object) -> bool {
        match self {
            Subject::Kind(kind) => object.kind == *kind,
            Subject::Object(key) => object.key() == *key,
            Subject::PodsOf(owners) => {
                let owner = object.meta.controller();
                object.kind == Kind::Pod && owner.is_some_and(|it| owners.contains(&it.uid))
            }
        }
    }
}

/// Returns true if a condition of an object's status has this value; letter case is ignored.
fn has_condition(object: &Object, condition: &str, status: &str) -> bool {
    // Pods are asked for each of their updates.
    if let Some(pod) = object.pod() {
        let mut conditions = pod.status.conditions.iter();
        return conditions
            .find(|one| one.kind.eq_ignore_ascii_case(condition))
            .is_some_and(|one| one.status.eq_ignore_ascii_case(status));
    }
    let value = object.to_value();
    let conditions = value.pointer("/status/conditions").and_then(Json::as_array);
    let is = |one: &Json, field: &str, text: &str| {
        one[field]
            .as_str()
            .is_some_and(|it| it.eq_ignore_ascii_case(text))
    };
    conditions
        .into_iter()
        .flatten()
        .find(|one| is(one, "type", condition))
        .is_some_and(|one| is(one, "status", status))
}
