//! Client of a controller: writes to the API server, each with its reason, and records Events.

use super::cluster::{ClusterConfig, Timing};
use super::events::EventRecorder;
use super::heartbeats::Heartbeats;
use super::informer::Cache;
use super::limit::Limit;
use apiserver::journal::Actor;
use apiserver::why::Why;
use apiserver::{ApiError, ApiServer, Delete, Origin, StatusReason};
use fault::Load;
use k8s_model::time::SECOND;
use k8s_model::{Body, Duration, Object, ObjectRef, Str, Time, Timestamp};
use std::collections::BTreeMap;
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
    /// Resource usage of Pods, as the resource metrics API shows it.
    pub loads: &'a [Load],
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
    /// API server.
    pub server: &'a mut ApiServer,
    /// Events already recorded, for counting repeats.
    pub recorder: &'a mut EventRecorder,
    /// Actor, and the entry that woke it.
    pub origin: Origin,
    /// Number of accepted writes of this pass that changed an object.
    pub writes: u32,
    /// Number of sequential round trips: the writes of a batch count as one.
    pub round_trips: u32,
    /// State of this key kept between passes; empty for most controllers.
    pub memory: &'a mut Memory,
    /// Rate limit of the client, if any.
    pub limit: Option<(&'a mut Limit, &'a ObjectRef)>,
    /// True if the limit was reached, so that nothing more is written in this pass.
    pub waits: bool,
}

/// Timestamps and numbers that a controller keeps for one key.
pub type Memory = BTreeMap<Str, i64>;

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

impl LoopClient<'_> {
    /// Creates an object.
    pub fn create(&mut self, object: Object, why: Why) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.version();
        let result = self.server.create(&self.origin, object, why);
        self.count(before);
        result
    }

    /// Creates an object from its JSON, with defaults and validation.
    pub fn create_value(
        &mut self,
        value: serde_json::Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.version();
        let result = self.server.create_value(&self.origin, value, why);
        self.count(before);
        result
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
    pub fn observe(&mut self, object: &Object, status: serde_json::Value) -> Result<(), ApiError> {
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

    /// Edits the stored object whatever its version, as a patch does.
    pub fn patch(
        &mut self,
        key: &ObjectRef,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        let Some(current) = self.server.get(key) else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        let current = (**current).clone();
        self.write(current, why, ApiServer::update_all, &mut once(change))
    }

    /// Binds a Pod to its node, if it is the Pod that was read and is unbound.
    pub fn bind(
        &mut self,
        pod: &Object,
        why: Why,
        change: impl FnOnce(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        let key = pod.key();
        if let Some(error) = self
            .server
            .get(&key)
            .and_then(|stored| ApiError::not_bound(stored, pod))
        {
            self.server.refuse(&self.origin, key, &error, why);
            return Err(error);
        }
        self.patch(&key, why, change)
    }

    /// Makes a write; type-erased, since an instance per closure would make the page larger.
    fn write(
        &mut self,
        mut new: Object,
        why: Why,
        how: Write,
        change: &mut dyn FnMut(&mut Object),
    ) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.version();
        change(&mut new);
        let result = how(self.server, &self.origin, new, why);
        self.count(before);
        result
    }

    /// Sets the number of replicas through the scale subresource.
    pub fn scale(
        &mut self,
        key: &ObjectRef,
        replicas: i32,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.version();
        let result = self
            .server
            .scale(&self.origin, key, i64::from(replicas), why);
        self.count(before);
        result
    }

    /// Deletes an object.
    pub fn delete(
        &mut self,
        key: &ObjectRef,
        how: Delete,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.may_write()?;
        let before = self.server.version();
        let result = self.server.delete(&self.origin, key, how, why);
        self.count(before);
        result
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
        let now = self.server.now;
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

    /// Records an Event under a name other than the controller's own: some controllers have two.
    pub fn event_as(
        &mut self,
        name: &'static str,
        about: &Object,
        kind: &'static str,
        reason: &'static str,
        message: impl Into<Str>,
    ) {
        let own = std::mem::replace(&mut self.origin.actor, Actor::component(name));
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
        let wrote = u32::from(self.server.version() > before);
        self.writes += wrote;
        self.round_trips += wrote;
    }
}
