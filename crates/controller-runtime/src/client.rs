//! Client of a controller: writes to the API server, each with its reason, and records Events.

use super::cluster::{ClusterConfig, Timing};
use super::events::EventRecorder;
use super::heartbeats::Heartbeats;
use super::informer::Cache;
use super::key_state::KeyState;
use super::limit::Limit;
use super::load::Loads;
use apiserver::journal::Actor;
use apiserver::why::{ProgramCall, Why};
use apiserver::{
    ApiError, ApiServer, Component, ControllerId, Definitions, DeleteOptions, Origin, Request,
    Response, StatusReason, Store,
};
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Object, ObjectRef, Str, Time, Timestamp, Uid};
use serde_json::Value;
use std::rc::Rc;

/// Input of a reconcile pass.
pub struct PassView<'a> {
    /// Cache of the informer.
    pub cache: &'a Cache,
    /// Virtual time.
    pub now: Time,
    /// Wall clock at the same instant, as objects record it.
    pub wall: Timestamp,
    /// Durations outside the control plane.
    pub timing: Timing,
    /// Sources of the usage of Pods, which the resource metrics API shows.
    pub loads: &'a Loads,
    /// Options of the cluster.
    pub config: &'a ClusterConfig,
    /// Heartbeats of the kubelets.
    pub heartbeats: &'a dyn Heartbeats,
    /// True if all writes for this key have come back through the informer.
    pub sees_own_writes: bool,
}

impl PassView<'_> {
    /// Returns the microseconds since a timestamp of an object; negative if it is in the future.
    pub fn since(&self, moment: Timestamp) -> i64 {
        let second = SECOND as i64;
        (self.wall.seconds().saturating_sub(moment.seconds()))
            .saturating_mul(second)
            .saturating_add(self.now.0 as i64 % second)
    }

    /// Returns the time until `seconds` after a timestamp; 0 if that is past.
    pub fn until(&self, moment: Timestamp, seconds: i64) -> Duration {
        seconds
            .saturating_mul(SECOND as i64)
            .saturating_sub(self.since(moment))
            .max(0) as u64
    }
}

/// Outcome of a reconcile pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Wait for the next change.
    AwaitChange,
    /// Requeue after this time even without a change.
    RequeueAfter(Duration),
    /// Retry after the back-off, or after this time if that is sooner, because the pass failed.
    RetryWithin(Duration),
}

/// Output of a reconcile pass: the client of a controller.
pub struct LoopClient<'a> {
    server: &'a mut ApiServer,
    /// Events already recorded, for counting repeats.
    pub recorder: &'a mut EventRecorder,
    /// Actor, and the entry that woke it.
    pub origin: Origin,
    /// Number of accepted writes of this pass that changed an object.
    pub writes: u32,
    /// Number of sequential round trips: the writes of a batch count as one.
    pub round_trips: u32,
    /// State of this key kept between passes; empty for most controllers.
    pub state: &'a mut KeyState,
    /// Rate limit of the client, if any.
    pub limit: Option<(&'a mut Limit, &'a ObjectRef)>,
    /// True if the limit was reached, so that nothing more is written in this pass.
    pub waits: bool,
}

/// Function that writes an object.
type Write = fn(&mut ApiServer, &Origin, Object, Why) -> Result<Rc<Object>, ApiError>;

/// Type-erases a change.
fn once(change: impl FnOnce(&mut Object)) -> impl FnMut(&mut Object) {
    let mut change = Some(change);
    move |object| {
        if let Some(change) = change.take() {
            change(object);
        }
    }
}

impl<'a> LoopClient<'a> {
    /// Creates a client without a rate limit.
    pub fn new(
        server: &'a mut ApiServer,
        recorder: &'a mut EventRecorder,
        origin: Origin,
        state: &'a mut KeyState,
    ) -> LoopClient<'a> {
        LoopClient {
            server,
            recorder,
            origin,
            writes: 0,
            round_trips: 0,
            state,
            limit: None,
            waits: false,
        }
    }

    /// Returns the objects as the API server has them, for reads that do not come from a cache.
    pub fn store(&self) -> &Store {
        &self.server.store
    }

    /// Returns the custom kinds.
    pub fn definitions(&self) -> &Definitions {
        self.server.definitions()
    }

    /// Draws a random uid.
    pub fn random_uid(&mut self) -> Uid {
        self.server.store.rng.uid()
    }

    /// Makes a request of a program, as a client of the API server, with the call as the reason of its write.
    pub fn request(&mut self, request: &Request, call: Rc<ProgramCall>) -> Response {
        let before = self.server.store.version();
        let origin = Origin {
            call: Some(call),
            ..request.origin(self.origin.clone())
        };
        let response = self.server.handle(&origin, request);
        self.writes += u32::from(self.server.store.version() > before);
        // A refusal takes as long.
        self.round_trips += 1;
        response
    }

    /// Creates an object.
    pub fn create(&mut self, object: Object, why: Why) -> Result<Rc<Object>, ApiError> {
        self.send(|server, origin| server.create(origin, object, why))
    }

    /// Creates an object from its JSON, with defaults and validation.
    pub fn create_value(&mut self, value: Value, why: Why) -> Result<Rc<Object>, ApiError> {
        self.send(|server, origin| server.create_value(origin, value, why))
    }

    /// Replaces spec and metadata of the object that was read, as edited by `change`.
    pub fn update(
        &mut self,
        object: &Object,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        self.write(object.clone(), why, ApiServer::update, &mut once(change))
    }

    /// Replaces the status of the object that was read, as edited by `change`.
    pub fn update_status(
        &mut self,
        object: &Object,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        self.write(
            object.clone(),
            why,
            ApiServer::update_status,
            &mut once(change),
        )
    }

    /// Replaces the status of an object stored as JSON, if it differs.
    pub fn observe(&mut self, object: &Object, status: Value) -> Result<(), ApiError> {
        let Body::Other(body) = &object.body else {
            return Ok(());
        };
        if body.get("status") == Some(&status) {
            return Ok(());
        }
        let put = |object: &mut Object| {
            if let Body::Other(body) = &mut object.body {
                body.insert("status".into(), status);
            }
        };
        self.update_status(object, Why::Observed, put).map(drop)
    }

    /// Edits spec and metadata of the stored object whatever its version, as a patch does.
    pub fn patch(
        &mut self,
        key: &ObjectRef,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        let current = self.current(key)?;
        self.write(current, why, ApiServer::update_latest, &mut once(change))
    }

    /// Edits the status of the stored object whatever its version, as a patch of its status subresource does.
    pub fn patch_status(
        &mut self,
        key: &ObjectRef,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        let current = self.current(key)?;
        self.write(
            current,
            why,
            ApiServer::update_latest_status,
            &mut once(change),
        )
    }

    fn current(&self, key: &ObjectRef) -> Result<Object, ApiError> {
        let current = self.server.store.get(key);
        current
            .map(|object| (**object).clone())
            .ok_or_else(|| ApiError::not_found(key.kind, &key.name))
    }

    /// Binds a Pod to a node, if it is the Pod that was read and is unbound.
    pub fn bind(&mut self, pod: &Object, node: &str, why: Why) -> Result<Rc<Object>, ApiError> {
        let uid = pod.meta.uid.to_string();
        self.send(|server, origin| server.bind(origin, &pod.key(), &uid, node, why))
    }

    /// Replaces the finalizers of the spec of a namespace; without any its deletion ends.
    pub fn finalize(
        &mut self,
        namespace: &ObjectRef,
        finalizers: &[Value],
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.send(|server, origin| server.finalize(origin, namespace, finalizers, why))
    }

    /// Sends a request, if the client may.
    fn send(
        &mut self,
        request: impl FnOnce(&mut ApiServer, &Origin) -> Result<Rc<Object>, ApiError>,
    ) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.store.version();
        let result = request(self.server, &self.origin);
        self.count(before);
        result
    }

    /// Makes a write; type-erased, since an instance per closure would make the page larger.
    fn write(
        &mut self,
        mut new: Object,
        why: Why,
        how: Write,
        change: &mut dyn FnMut(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        change(&mut new);
        self.send(|server, origin| how(server, origin, new, why))
    }

    /// Sets the number of replicas through the scale subresource.
    pub fn scale(
        &mut self,
        key: &ObjectRef,
        replicas: i32,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.send(|server, origin| server.scale(origin, key, i64::from(replicas), why))
    }

    /// Deletes an object.
    pub fn delete(
        &mut self,
        key: &ObjectRef,
        how: DeleteOptions,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.send(|server, origin| server.delete(origin, key, how, why))
    }

    /// Returns `Ok` if the client may send one more request.
    fn may_write(&mut self) -> Result<(), ApiError> {
        if self.limit.is_some() {
            self.take_turn()
        } else {
            Ok(())
        }
    }

    fn take_turn(&mut self) -> Result<(), ApiError> {
        let now = self.server.store.now;
        self.waits = self.waits
            || self
                .limit
                .as_mut()
                .is_some_and(|(limit, key)| !limit.take(key, now));
        if self.waits {
            Err(ApiError {
                reason: StatusReason::Unknown,
                message: "client rate limiter".into(),
                cause: None,
            })
        } else {
            Ok(())
        }
    }

    /// Records an Event about an object.
    pub fn event(
        &mut self,
        about: &Object,
        kind: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) {
        self.event_at(about, &Str::default(), kind, reason, message);
    }

    /// Records an Event under an identity other than the controller's own: some controllers have two.
    pub fn event_as(
        &mut self,
        source: &'static ControllerId,
        about: &Object,
        kind: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) {
        let source = Actor::component(Component::Controller(source));
        let own = std::mem::replace(&mut self.origin.actor, source);
        self.event(about, kind, reason, message);
        self.origin.actor = own;
    }

    /// Records an Event about a field of an object, such as one container.
    pub fn event_at(
        &mut self,
        about: &Object,
        field: &Str,
        kind: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) {
        // Events about a postponed write are recorded when it is made.
        if !self.waits {
            self.recorder.record(
                self.server,
                &self.origin,
                about,
                field,
                (kind, reason),
                message.into(),
            );
        }
    }

    /// Makes several concurrent writes, which together cost one round trip.
    pub fn together<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.round_trips;
        let result = write(self);
        self.round_trips = self.round_trips.min(before + 1);
        result
    }

    fn count(&mut self, before: u64) {
        let wrote = u32::from(self.server.store.version() > before);
        self.writes += wrote;
        self.round_trips += wrote;
    }
}
