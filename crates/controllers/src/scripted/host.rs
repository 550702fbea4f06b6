//! Functions of a program that read the cache and write to the API server.

use super::{CachedObject, ScriptedLoop};
use apiserver::why::ProgramCall;
use apiserver::{
    ApiError, Authorizer, Content, DeleteOptions, Patch, Preconditions, Propagation, Request,
    RequestBody, ResourceName, StatusReason, Subresource, Unknown, UserInfo, Verb,
};
use controller_runtime::client::{LoopClient, PassView};
use k8s_model::time::SECOND;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Timestamp, Uid};
use script::{Failure, Host, HostCall, Reply, Site};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Longest time that `requeue_after` accepts, in seconds.
const MAX_REQUEUE_S: f64 = 1e9;
/// Longest message of an Event.
const MAX_MESSAGE: usize = 1024;
/// Maximum number of lines that a pass may log.
const MAX_LINES: usize = 50;

/// Cluster as a pass of a program sees it.
pub(super) struct LoopHost<'h, 'v, 'c> {
    of: &'h ScriptedLoop,
    key: &'h ObjectRef,
    view: &'h PassView<'v>,
    out: &'h mut LoopClient<'c>,
    user: Option<UserInfo>,
    requeue: Option<Duration>,
    logged: Vec<Str>,
}

type Answer = Result<Reply, String>;

impl<'h, 'v, 'c> LoopHost<'h, 'v, 'c> {
    pub fn new(
        of: &'h ScriptedLoop,
        key: &'h ObjectRef,
        view: &'h PassView<'v>,
        out: &'h mut LoopClient<'c>,
    ) -> LoopHost<'h, 'v, 'c> {
        let user = of.spec.service_account.as_ref().map(|(namespace, name)| {
            UserInfo::new(
                &format!("system:serviceaccount:{namespace}:{name}"),
                Vec::new(),
            )
        });
        LoopHost {
            of,
            key,
            view,
            out,
            user,
            requeue: None,
            logged: Vec::new(),
        }
    }

    /// Returns the time after which the program asked for a further pass, and the lines that it logged.
    pub fn finish(self) -> (Option<Duration>, Vec<Str>) {
        (self.requeue, self.logged)
    }

    /// Finds a kind by its name, such as `Pod` or `Website.example.com`.
    fn kind(&self, name: &str) -> Result<Kind, String> {
        let named = Kind::from_label(name).filter(|kind| self.out.definitions().serves(*kind));
        let custom = || {
            let mut served = self.out.definitions().served();
            served
                .find(|definition| definition.kind.name() == name)
                .map(|definition| definition.kind)
        };
        named
            .or_else(custom)
            .ok_or_else(|| format!("there is no kind {name:?}"))
    }

    /// Finds a kind that the cache of the loop holds.
    fn cached_kind(&self, name: &str) -> Result<Kind, String> {
        match self.kind(name)? {
            Kind::Event => Err("a loop does not watch Events".to_owned()),
            kind => Ok(kind),
        }
    }

    /// Returns the namespace of an object of a kind: the one given, or that of the pass.
    fn namespace(&self, kind: Kind, given: Option<&str>) -> Str {
        match given {
            _ if !kind.info().namespaced => Str::default(),
            Some(namespace) if !namespace.is_empty() => namespace.into(),
            _ if self.key.kind == Kind::Namespace => self.key.name.clone(),
            _ if self.key.namespace.is_empty() => "default".into(),
            _ => self.key.namespace.clone(),
        }
    }

    /// Refuses a read for which the loop's service account has no role.
    fn may_read(&self, verb: Verb, key: &ObjectRef) -> Option<Reply> {
        let authorizer = Authorizer::new(self.out.store());
        let error = authorizer.forbids(self.user.as_ref(), verb.word(), key, "")?;
        Some(failure(&error))
    }

    fn get(&self, call: &HostCall<'_>) -> Answer {
        let kind = self.cached_kind(text(call, "kind")?)?;
        let (namespace, name) = match &call.arguments["name"] {
            Value::String(name) => (
                call.arguments.get("namespace").and_then(Value::as_str),
                name.as_str(),
            ),
            // A key, or an object.
            value => {
                let value = value.get("metadata").unwrap_or(value);
                let part = |name: &str| value.get(name).and_then(Value::as_str);
                let name = part("name").ok_or("the name must be a string, a key or an object")?;
                (part("namespace"), name)
            }
        };
        let key = ObjectRef::new(kind, &self.namespace(kind, namespace), name);
        if let Some(refused) = self.may_read(Verb::Get, &key) {
            return Ok(refused);
        }
        Ok(match self.view.cache.object(&key) {
            Some(object) => Reply::Object(Rc::new(CachedObject(object.clone()))),
            None => Reply::Json(Value::Null),
        })
    }

    fn list(&self, call: &HostCall<'_>) -> Answer {
        let kind = self.cached_kind(text(call, "kind")?)?;
        let given = match call.arguments.get("namespace") {
            None | Some(Value::Null) => None,
            Some(Value::String(namespace)) => Some(namespace.as_str()),
            Some(_) => return Err("the namespace must be a string".to_owned()),
        };
        let labels: Vec<(&str, &str)> = match call.arguments.get("labels") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(labels)) => {
                let pairs = labels
                    .iter()
                    .map(|(key, value)| Some((key.as_str(), value.as_str()?)));
                pairs
                    .collect::<Option<_>>()
                    .ok_or("the labels must be strings")?
            }
            Some(_) => return Err("the labels must be a dict".to_owned()),
        };
        let owner = match call.arguments.get("owner") {
            None | Some(Value::Null) => None,
            Some(owner) => {
                let uid = owner["metadata"]["uid"].as_str().or(owner.as_str());
                Some(
                    uid.and_then(Uid::parse)
                        .ok_or("the owner must be an object of the cluster")?,
                )
            }
        };
        let all = given == Some("*") || !kind.info().namespaced;
        let namespace = match all {
            true => Str::default(),
            false => self.namespace(kind, given),
        };
        if let Some(refused) = self.may_read(Verb::List, &ObjectRef::new(kind, &namespace, "")) {
            return Ok(refused);
        }
        let cache = self.view.cache;
        let found: Vec<&Rc<Object>> = match owner {
            Some(uid) => {
                let mut owned: Vec<_> = cache.owned_of_kind(uid, kind).collect();
                owned.retain(|object| {
                    object
                        .meta
                        .controller()
                        .is_some_and(|owner| owner.uid == uid)
                });
                owned.sort_by_cached_key(|object| object.key());
                owned
            }
            None if all => cache.list(kind).collect(),
            None => cache.list_in(kind, &namespace).collect(),
        };
        let has = |object: &&Rc<Object>| {
            labels.iter().all(|(key, value)| {
                let mut own = object.meta.labels.iter();
                own.any(|(known, found)| **known == **key && **found == **value)
            })
        };
        let object = |object: &Rc<Object>| -> Rc<dyn script::ToJson> {
            Rc::new(CachedObject(object.clone()))
        };
        Ok(Reply::Objects(
            found.into_iter().filter(has).map(object).collect(),
        ))
    }

    /// Returns the object of an argument, with the namespace of the pass if it has none, and its key.
    fn object(&self, call: &HostCall<'_>) -> Result<(ObjectRef, Value), String> {
        let mut value = call.arguments["object"].clone();
        if !value.is_object() {
            return Err("takes an object".to_owned());
        }
        let resource = ResourceName::of_manifest(&value);
        let kind = match resource.api_version.as_str() {
            // The kind alone says which version.
            "" => self.kind(&resource.kind)?,
            version => {
                let found = self.out.definitions().named(version, &resource.kind);
                found
                    .ok_or_else(|| format!("there is no kind {:?} in {version:?}", resource.kind))?
            }
        };
        if resource.api_version.is_empty() {
            value["apiVersion"] = kind.api_version().into();
        }
        let namespace = self.namespace(kind, Some(&resource.namespace));
        if !value["metadata"].is_object() {
            return Err("the object has no metadata".to_owned());
        }
        if !namespace.is_empty() {
            value["metadata"]["namespace"] = namespace.as_str().into();
        }
        Ok((ObjectRef::new(kind, &namespace, &resource.name), value))
    }

    fn send(&mut self, site: &Site, mut request: Request) -> Reply {
        request.user = self.user.clone();
        request.options.field_manager = self.of.id.name.to_owned();
        request.options.field_validation = Unknown::Refuse;
        let values = site
            .values
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let call = ProgramCall {
            line: site.line,
            text: site.text.as_str().into(),
            values: values.collect(),
        };
        match self.out.request(&request, Rc::new(call)).result {
            Ok(content) => match content {
                Content::Object(object) | Content::Created(object) | Content::Deleted(object) => {
                    Reply::Object(Rc::new(CachedObject(object)))
                }
                Content::List(_) | Content::Watch(_) | Content::Scale(_) | Content::Success => {
                    Reply::Json(Value::Bool(true))
                }
            },
            Err(error) => failure(&error),
        }
    }

    fn write(&mut self, call: &HostCall<'_>) -> Answer {
        let (key, mut value) = self.object(call)?;
        let with = |verb: Verb, body: RequestBody| Request {
            body,
            ..Request::new(verb, &key)
        };
        let request = match call.function.name {
            "create" => with(Verb::Create, RequestBody::Object(value)),
            "update" => with(Verb::Update, RequestBody::Object(value)),
            "update_status" => {
                if let Some(status) = call.arguments.get("status") {
                    value["status"] = status.clone();
                }
                Request {
                    subresource: Subresource::Status,
                    ..with(Verb::Update, RequestBody::Object(value))
                }
            }
            "patch" => {
                let changes = call.arguments["changes"].clone();
                if !changes.is_object() {
                    return Err("the changes must be a dict".to_owned());
                }
                let subresource = match only_status(&changes) {
                    true => Subresource::Status,
                    false => Subresource::Main,
                };
                Request {
                    subresource,
                    ..Request::patch(&key, Patch::merge(changes))
                }
            }
            "apply" => {
                let mut request = with(Verb::Patch, RequestBody::Apply(value));
                request.options.force = call.arguments.get("force") != Some(&Value::Bool(false));
                request
            }
            _ => self.deletion(call, &key)?,
        };
        Ok(self.send(call.site, request))
    }

    fn deletion(&self, call: &HostCall<'_>, key: &ObjectRef) -> Result<Request, String> {
        let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
        let mut request = Request::new(Verb::Delete, key);
        request.options.deletion = DeleteOptions {
            grace_period_seconds: None,
            propagation_policy: match text("propagation") {
                None => None,
                Some("Background") => Some(Propagation::Background),
                Some("Foreground") => Some(Propagation::Foreground),
                Some("Orphan") => Some(Propagation::Orphan),
                Some(other) => return Err(format!("there is no propagation {other:?}")),
            },
            preconditions: Preconditions {
                uid: text("uid").map(str::to_owned),
                resource_version: text("version").map(str::to_owned),
            },
        };
        Ok(request)
    }

    fn event(&mut self, call: &HostCall<'_>) -> Answer {
        let (key, _) = self.object(call)?;
        let kind = match call.arguments.get("type").and_then(Value::as_str) {
            None | Some("Normal") => "Normal",
            Some("Warning") => "Warning",
            Some(_) => return Err("the type must be Normal or Warning".to_owned()),
        };
        let mut message = text(call, "message")?;
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message = &message[..end];
        }
        let reason = reason(text(call, "reason")?);
        if let Some(object) = self.view.cache.object(&key).cloned() {
            self.out.event(&object, kind, reason, message);
        }
        Ok(Reply::Json(Value::Null))
    }
}

impl Host for LoopHost<'_, '_, '_> {
    fn call(&mut self, call: &HostCall<'_>) -> Answer {
        match call.function.name {
            "get" => self.get(call),
            "list" => self.list(call),
            "event" => self.event(call),
            "requeue_after" => {
                let seconds = call.arguments["seconds"]
                    .as_f64()
                    .ok_or("takes a number of seconds")?;
                let span = (seconds.clamp(0.001, MAX_REQUEUE_S) * SECOND as f64) as Duration;
                self.requeue = Some(self.requeue.map_or(span, |earlier| earlier.min(span)));
                Ok(Reply::Json(Value::Null))
            }
            "now" => Ok(Reply::Json(self.view.wall.seconds().into())),
            "seconds" => {
                let moment = Timestamp::parse(text(call, "timestamp")?);
                let moment = moment.ok_or("takes a timestamp such as 2026-01-01T00:00:00Z")?;
                Ok(Reply::Json(moment.seconds().into()))
            }
            "timestamp" => {
                let seconds = call.arguments["seconds"]
                    .as_i64()
                    .ok_or("takes whole seconds")?;
                // Years of four digits.
                let seconds = seconds.clamp(0, 253_402_300_799);
                Ok(Reply::Json(Timestamp::new(seconds).rfc3339().into()))
            }
            "log" => {
                let line = match &call.arguments["message"] {
                    Value::String(text) => text.into(),
                    value => Str::from(value.to_string()),
                };
                if self.logged.len() < MAX_LINES {
                    self.logged.push(line);
                }
                Ok(Reply::Json(Value::Null))
            }
            _ => self.write(call),
        }
    }
}

/// Returns true for changes of nothing but the status.
fn only_status(changes: &Value) -> bool {
    let fields = changes.as_object();
    fields.is_some_and(|fields| fields.len() == 1 && fields.contains_key("status"))
}

fn text<'c>(call: &'c HostCall<'_>, name: &str) -> Result<&'c str, String> {
    let value = call.arguments.get(name).and_then(Value::as_str);
    value.ok_or_else(|| format!("the {name} must be a string"))
}

/// Returns a refusal as a program sees it.
fn failure(error: &ApiError) -> Reply {
    let reason = match error.reason {
        StatusReason::Conflict => "conflict",
        StatusReason::NotFound => "not_found",
        StatusReason::AlreadyExists => "exists",
        StatusReason::Forbidden => "forbidden",
        StatusReason::Invalid | StatusReason::BadRequest => "invalid",
        _ => "error",
    };
    Reply::Failure(Failure {
        reason,
        message: error.message.clone(),
    })
}

thread_local! {
    /// Reasons of Events that programs have recorded; an entry is never removed.
    static REASONS: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// Returns the reason of an Event, which the journal keeps.
fn reason(text: &str) -> &'static str {
    /// Maximum number of reasons, and length of one.
    const MOST: usize = 2_000;
    const LONGEST: usize = 128;
    REASONS.with_borrow_mut(|known| {
        if let Some(reason) = known.get(text) {
            return *reason;
        }
        if known.len() >= MOST || text.len() > LONGEST {
            return "Event";
        }
        let reason: &'static str = Box::leak(text.into());
        known.insert(reason);
        reason
    })
}
