//! Store and write path of the API server.
//!
//! Guarantees: `resourceVersion` grows with every write; an update without changes is not written;
//! `uid` and `creationTimestamp` never change; `generation` counts changes of the spec; an object with
//! finalizers outlives its deletion until the last one is gone.
//! Models `staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go`.

use super::addresses::Addresses;
use super::admission_request::AdmissionRequest;
use super::authorizer::UserInfo;
use super::definitions::Definitions;
use super::error::ApiError;
use super::managers::Manager;
use super::parts::{keep_spec, keep_status, spec_changed};
use super::webhooks::{AdmissionPhase, AdmissionPlugins};
use crate::journal::{Actor, Entries, Entry, EntryId, Journal, Op, Record, RefusedWrite};
use crate::why::Why;
use k8s_model::daemonset::TEMPLATE_GENERATION;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time, Timestamp};
use sim_core::indexes::ReferenceIndex;
use sim_core::rng::Rng;
use sim_core::table::{Listing, Tables};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Finalizer that holds a namespace until its controller has emptied it; in the API it is in `spec.finalizers`, not in the metadata.
pub const FINALIZED_BY_LOOP: &str = "kubernetes";
/// Maximum number of Pods: a typo must not fill the memory of the page.
const MAX_PODS: usize = 200_000;
/// Attempts to generate an unused name (RetryGenerateName, GA in v1.32).
const MAX_NAME_TRIES: usize = 8;

/// Origin of a request.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Component or person that acts.
    pub actor: Actor,
    /// Journal entry that woke the actor.
    pub cause: Option<EntryId>,
    /// Number of the reconcile pass.
    pub pass: u32,
    /// The field manager, if it differs from the actor.
    pub manager: Option<Rc<Manager>>,
    /// Impersonated user; `None` for unrestricted access.
    pub user: Option<Rc<UserInfo>>,
}

/// API server with its store.
#[derive(Clone, Debug)]
pub struct ApiServer {
    pub(super) objects: Tables,
    pub(super) definitions: Definitions,
    pub(super) references: ReferenceIndex,
    pub(super) addresses: Addresses,
    pub(super) admission_plugins: AdmissionPlugins,
    journal: Entries,
    version: u64,
    /// Virtual time of the request being served.
    pub now: Time,
    epoch: Timestamp,
    /// Random source of names, uids and tie-breaks.
    pub rng: Rng,
    /// Injected conflicts: writes of controllers to be refused once.
    pub conflicts: Vec<fault::ResolvedTarget>,
    /// Default toleration of a node that is not ready or not reachable, in seconds.
    pub toleration_seconds: i64,
    /// True if StatefulSets honour `maxUnavailable`: the feature gate `MaxUnavailableStatefulSet`.
    pub max_unavailable_statefulset: bool,
    /// Warnings for the client whose request is being served.
    pub warnings: Vec<String>,
}

impl ApiServer {
    /// Creates an empty cluster whose time 0 is `epoch`.
    pub fn new(epoch: Timestamp, seed: u64) -> Self {
        ApiServer {
            objects: Tables::default(),
            definitions: Definitions::default(),
            references: ReferenceIndex::default(),
            addresses: Addresses::default(),
            admission_plugins: AdmissionPlugins::default(),
            journal: Entries::default(),
            version: 0,
            now: Time::default(),
            epoch,
            rng: Rng::new(seed),
            conflicts: Vec::new(),
            toleration_seconds: 300,
            max_unavailable_statefulset: false,
            warnings: Vec::new(),
        }
    }

    /// Returns the wall clock of the cluster at the current virtual time.
    pub fn wall(&self) -> Timestamp {
        self.wall_at(self.now)
    }

    /// Returns the wall clock of the cluster at a virtual time.
    pub fn wall_at(&self, time: Time) -> Timestamp {
        Timestamp::new(self.epoch.seconds() + (time.0 / 1_000_000) as i64)
    }

    pub fn entries(&self) -> &Entries {
        &self.journal
    }

    pub fn entries_mut(&mut self) -> &mut Entries {
        &mut self.journal
    }

    /// Returns the whole journal.
    pub fn journal(&self) -> Journal<'_> {
        self.journal.all()
    }

    /// Returns the resource version of the last write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the object with this key.
    pub fn get(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.objects.of(key.kind).get(&key.namespace, &key.name)
    }

    /// Returns true if this is the current version of an object.
    pub fn is_newest(&self, object: &Object) -> bool {
        let now = self
            .objects
            .of(object.kind)
            .get(&object.meta.namespace, &object.meta.name);
        now.is_some_and(|now| now.meta.resource_version == object.meta.resource_version)
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.objects.of(kind).iter()
    }

    /// Returns all objects of a kind, in unspecified order.
    pub fn each(&self, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.objects.of(kind).each()
    }

    /// Returns the objects at up to `most` places starting at `from`; `None` beyond the last place.
    pub fn some(
        &self,
        kind: Kind,
        from: usize,
        most: usize,
    ) -> Option<impl Iterator<Item = &Rc<Object>>> {
        self.objects.of(kind).some(from, most)
    }

    /// Returns a snapshot of a list, of all objects or those of a namespace, for later iteration.
    pub fn listing(&self, kind: Kind, namespace: Option<&str>) -> Listing {
        self.objects.of(kind).listing(namespace)
    }

    /// Sorts up to `most` new objects in advance.
    pub fn settle(&mut self, most: usize) {
        for table in self.objects.each_mut() {
            if table.settle(most) {
                return;
            }
        }
    }

    /// Returns the number of objects of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.objects.of(kind).len()
    }

    /// Records an entry that is not a write: a command or a fault.
    pub fn note(&mut self, origin: &Origin, record: Record, why: Why) -> EntryId {
        self.push(origin, record, why)
    }

    /// Stores a new object. Its fields must be defaulted; admission and metadata are handled here.
    pub fn create(
        &mut self,
        origin: &Origin,
        mut object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        if let Err(error) = self.prepare_create(origin, &mut object) {
            self.refuse(origin, object.key(), &error, why);
            return Err(error);
        }
        self.version += 1;
        object.meta.resource_version = self.version;
        let object = Rc::new(object);
        self.put(&object);
        self.push(
            origin,
            Record::Write {
                op: Op::Added,
                object: object.clone(),
                before: None,
            },
            why,
        );
        Ok(object)
    }

    fn prepare_create(&mut self, origin: &Origin, object: &mut Object) -> Result<(), ApiError> {
        if !object.kind.is_stored() {
            return Err(ApiError::not_writable());
        }
        let info = object.kind.info();
        let meta = &mut object.meta;
        if !info.namespaced {
            meta.namespace = Str::default();
        } else if meta.namespace.is_empty() {
            meta.namespace = "default".into();
        }
        let generated = meta.name.is_empty() && !meta.generate_name.is_empty();
        let mut taken = !generated && self.get(&object.key()).is_some();
        for _ in 0..if generated { MAX_NAME_TRIES } else { 0 } {
            object.meta.name =
                format_smolstr!("{}{}", object.meta.generate_name, self.rng.suffix());
            taken = self.get(&object.key()).is_some();
            if !taken {
                break;
            }
        }
        let meta = &mut object.meta;
        if meta.uid.0 == 0 {
            meta.uid = self.rng.uid();
        }
        meta.creation_timestamp = Some(self.wall());
        meta.deletion_timestamp = None;
        meta.generation = i64::from(object.kind.has_generation());
        if info.namespaced {
            self.check_namespace(object)?;
        }
        if object.kind == Kind::Pod && self.count(Kind::Pod) >= MAX_PODS {
            let name = object.meta.name.as_str();
            return Err(ApiError::forbidden(format!(
                "pods {name:?} is forbidden: this cluster holds at most {MAX_PODS} Pods"
            )));
        }
        if taken {
            let error = if generated {
                ApiError::no_unique_name
            } else {
                ApiError::already_exists
            };
            return Err(error(object.kind, &object.meta.name));
        }
        self.admit(object)?;
        let request = AdmissionRequest {
            operation: "CREATE",
            subresource: "",
            object,
            old: None,
            api_version: None,
        };
        self.admit_in_phase(AdmissionPhase::Mutating, origin, request)?;
        self.check_pod_security(object)?;
        self.admit_in_phase(AdmissionPhase::Validating, origin, request)?;
        self.charge_quotas(origin, object)
    }

    /// Replaces spec and metadata; the status is kept. The object must carry the version it was made from.
    pub fn update(
        &mut self,
        origin: &Origin,
        mut object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.read_before(origin, &object, &why)?;
        let subresource = origin
            .manager
            .as_ref()
            .map_or("", |manager| manager.subresource);
        self.admit_update_by_webhooks(origin, subresource, (&object, &old), &why)?;
        if !self.updates_status(object.kind) {
            keep_status(&mut object, &old);
        }
        if let (Body::DaemonSet(new), Body::DaemonSet(before)) = (&object.body, &old.body) {
            let count = old
                .meta
                .annotation(TEMPLATE_GENERATION)
                .and_then(|n| n.parse::<i64>().ok())
                .unwrap_or(1);
            let changed = new.template != before.template;
            object.meta.annotate(
                TEMPLATE_GENERATION,
                &(count + i64::from(changed)).to_string(),
            );
        }
        // Only Deployments count changes of their annotations too.
        let annotated =
            old.kind == Kind::Deployment && old.meta.annotations != object.meta.annotations;
        let generation = old.meta.generation + i64::from(annotated || spec_changed(&old, &object));
        self.replace(origin, &old, object, generation, why)
    }

    /// Replaces status and annotations; spec and labels are kept.
    pub fn update_status(
        &mut self,
        origin: &Origin,
        mut new: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.read_before(origin, &new, &why)?;
        let subresource = origin
            .manager
            .as_ref()
            .map_or("", |manager| manager.subresource);
        self.admit_update_by_webhooks(
            origin,
            if subresource.is_empty() {
                "status"
            } else {
                subresource
            },
            (&new, &old),
            &why,
        )?;
        new.meta.labels = old.meta.labels.clone();
        keep_spec(&mut new, &old);
        if let Body::Job(job) = &new.body
            && job
                .status
                .ready
                .is_some_and(|ready| ready > job.status.active)
        {
            let name = &new.meta.name;
            let ready = job.status.ready.unwrap_or_default();
            let cause = super::validation::FieldError {
                field: "status.ready".into(),
                fault: super::validation::ErrorType::Invalid,
                value: ready.to_string(),
                detail: "cannot set more ready pods than active".into(),
            };
            let error = ApiError::invalid_fields(&Kind::Job.group_kind(), name, &[cause]);
            self.refuse(origin, new.key(), &error, why);
            return Err(error);
        }
        let generation = old.meta.generation;
        self.replace(origin, &old, new, generation, why)
    }

    /// Replaces spec, status and metadata at once, for bindings and other subresources.
    pub fn update_all(
        &mut self,
        origin: &Origin,
        object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.current(origin, &object, &why)?;
        self.replace(origin, &old, object, old.meta.generation, why)
    }

    /// Returns the stored object of an update, unless a fault refuses it with a conflict.
    fn read_before(
        &mut self,
        origin: &Origin,
        object: &Object,
        why: &Why,
    ) -> Result<Rc<Object>, ApiError> {
        if self.is_disturbed(origin.actor.name, object) {
            let error = ApiError::conflict(object.kind, &object.meta.name);
            self.refuse(origin, object.key(), &error, why.clone());
            return Err(error);
        }
        self.current(origin, object, why)
    }

    /// Returns the stored object of a write, if the write is based on its current version.
    fn current(
        &mut self,
        origin: &Origin,
        object: &Object,
        why: &Why,
    ) -> Result<Rc<Object>, ApiError> {
        let key = object.key();
        let error = match self.get(&key) {
            Some(old) if object.meta.uid.0 != 0 && object.meta.uid != old.meta.uid => {
                ApiError::conflict(key.kind, &key.name)
            }
            Some(old)
                if object.meta.resource_version == 0
                    || object.meta.resource_version == old.meta.resource_version =>
            {
                return Ok(old.clone());
            }
            Some(_) => ApiError::conflict(key.kind, &key.name),
            None => ApiError::not_found(key.kind, &key.name),
        };
        self.refuse(origin, key, &error, why.clone());
        Err(error)
    }

    fn replace(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut new: Object,
        generation: i64,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        new.meta.uid = old.meta.uid;
        new.meta.creation_timestamp = old.meta.creation_timestamp;
        new.meta.deletion_timestamp = old.meta.deletion_timestamp;
        new.meta.deletion_grace_period_seconds = old.meta.deletion_grace_period_seconds;
        new.meta.generate_name = old.meta.generate_name.clone();
        new.meta.resource_version = old.meta.resource_version;
        new.meta.generation = old.meta.generation;
        // An apply makes its client a manager even of unchanged fields, and a client may set managers itself.
        if new == **old
            && !origin
                .manager
                .as_ref()
                .is_some_and(|m| m.applies || m.given.is_some())
        {
            return Ok(old.clone());
        }
        if old.kind.has_generation() {
            new.meta.generation = generation;
        }
        let released = new.meta.is_deleting()
            && new.meta.finalizers.is_empty()
            && !old.meta.finalizers.is_empty();
        if released && !self.is_graceful(&new) {
            return Ok(self.remove(origin, old, new, why));
        }
        Ok(self.write(origin, old, new, why))
    }

    pub(super) fn write(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut new: Object,
        why: Why,
    ) -> Rc<Object> {
        self.version += 1;
        new.meta.resource_version = self.version;
        let object = Rc::new(new);
        self.put(&object);
        let record = Record::Write {
            op: Op::Modified,
            object: object.clone(),
            before: Some(old.clone()),
        };
        self.push(origin, record, why);
        object
    }

    pub(super) fn remove(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut last: Object,
        why: Why,
    ) -> Rc<Object> {
        self.version += 1;
        last.meta.resource_version = self.version;
        let object = Rc::new(last);
        if object.kind == Kind::CustomResourceDefinition {
            self.definitions.forget(&object);
        }
        if let Some((place, old)) = self
            .objects
            .of_mut(old.kind)
            .remove(&old.meta.namespace, &old.meta.name)
        {
            self.references.change(Some(&old), None, place);
            self.addresses.change(Some(&old), None);
        }
        self.refresh_admission_plugins(object.kind);
        let record = Record::Write {
            op: Op::Deleted,
            object: object.clone(),
            before: Some(old.clone()),
        };
        self.push(origin, record, why);
        object
    }

    fn put(&mut self, object: &Rc<Object>) {
        if object.kind == Kind::CustomResourceDefinition {
            self.definitions.take(object);
        }
        let (place, old) = self.objects.of_mut(object.kind).insert(object);
        self.references.change(old.as_ref(), Some(object), place);
        self.addresses.change(old.as_ref(), Some(object));
        self.refresh_admission_plugins(object.kind);
    }

    pub fn refuse(&mut self, origin: &Origin, key: ObjectRef, error: &ApiError, why: Why) {
        self.push(
            origin,
            Record::Refused(Box::new(RefusedWrite {
                key,
                error: error.clone(),
            })),
            why,
        );
    }

    fn push(&mut self, origin: &Origin, record: Record, why: Why) -> EntryId {
        let id = self.journal.len() as EntryId;
        self.journal.push(Entry {
            time: self.now,
            actor: origin.actor.clone(),
            record,
            why,
            cause: origin.cause,
            pass: origin.pass,
            manager: origin.manager.clone(),
        });
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Actor;
    use serde_json::json;

    #[test]
    fn a_generated_name_in_use_is_generated_again() {
        let origin = Origin {
            actor: Actor::SERVER,
            cause: None,
            pass: 0,
            manager: None,
            user: None,
        };
        let made = |taken: &[Str]| {
            let mut server = ApiServer::new(Timestamp::new(0), 1);
            for (at, name) in taken.iter().enumerate() {
                let meta = json!({"name": name.as_str(), "uid": format!("00000000-0000-4000-8000-00000000000{}", at + 1)});
                let object =
                    Object::from_value(Kind::ConfigMap, json!({ "metadata": meta })).unwrap();
                server.create(&origin, object, Why::Asked).unwrap();
            }
            let object =
                Object::from_value(Kind::ConfigMap, json!({"metadata": {"generateName": "a-"}}))
                    .unwrap();
            server
                .create(&origin, object, Why::Asked)
                .map(|object| object.meta.name.clone())
        };
        let mut taken = Vec::new();
        for _ in 0..MAX_NAME_TRIES {
            let name = made(&taken).unwrap();
            assert!(name.starts_with("a-") && !taken.contains(&name));
            taken.push(name);
        }
        let error = made(&taken).unwrap_err();
        assert_eq!(error.reason, super::super::StatusReason::AlreadyExists);
        assert!(
            error.message.ends_with(
                "already exists, the server was not able to generate a unique name for the object"
            ),
            "{error}"
        );
    }
}
