//! API object of any kind.

use super::batch::Job;
use super::daemonset::DaemonSet;
use super::event::Event;
use super::json::Json;
use super::meta::owned_by;
use super::network::{EndpointSlice, Endpoints, Service};
use super::node::Node;
use super::pod::Pod;
use super::pod_template::PodTemplate;
use super::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use super::workload::{ControllerRevision, Deployment, ReplicaSet, StatefulSet};
use super::{Kind, ObjectMeta, ObjectRef, OwnerReference, Str};
use crate::json;
use serde_json::{Map, Value};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Object: metadata common to all kinds, and a body by kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// Kind.
    pub kind: Kind,
    /// `metadata`.
    pub meta: ObjectMeta,
    /// All other fields.
    pub body: Body,
}

/// Body by kind, boxed: the most numerous objects, Events, are the smallest and must not be as large as the largest.
/// Kinds whose fields the engine does not act on stay JSON.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Body {
    Pod(Box<Pod>),
    ReplicaSet(Box<ReplicaSet>),
    Deployment(Box<Deployment>),
    StatefulSet(Box<StatefulSet>),
    Job(Box<Job>),
    DaemonSet(Box<DaemonSet>),
    ControllerRevision(Box<ControllerRevision>),
    Service(Box<Service>),
    Endpoints(Box<Endpoints>),
    EndpointSlice(Box<EndpointSlice>),
    PersistentVolumeClaim(Box<PersistentVolumeClaim>),
    PersistentVolume(Box<PersistentVolume>),
    StorageClass(Box<StorageClass>),
    Node(Box<Node>),
    Event(Box<Event>),
    Other(Box<Map<String, Value>>),
}

/// Body type of a kind: lets a view return `&Deployment` for a key.
pub trait Typed: Sized {
    /// Kind of which this type is the body.
    const KIND: Kind;
    /// Returns the body, if the object is of this kind.
    fn of(object: &Object) -> Option<&Self>;
    /// Returns the body mutably, if the object is of this kind.
    fn of_mut(object: &mut Object) -> Option<&mut Self>;
}

macro_rules! typed {
    ($($name:ident)*) => { $(
        impl Typed for $name {
            const KIND: Kind = Kind::$name;
            fn of(object: &Object) -> Option<&Self> {
                if let Body::$name(body) = &object.body { Some(&**body) } else { None }
            }
            fn of_mut(object: &mut Object) -> Option<&mut Self> {
                if let Body::$name(body) = &mut object.body { Some(&mut **body) } else { None }
            }
        }
    )* };
}
typed!(Pod ReplicaSet Deployment StatefulSet Job DaemonSet ControllerRevision Service Endpoints EndpointSlice
       PersistentVolumeClaim PersistentVolume StorageClass Node);

impl Object {
    /// Returns the key.
    pub fn key(&self) -> ObjectRef {
        ObjectRef {
            kind: self.kind,
            namespace: self.meta.namespace.clone(),
            name: self.meta.name.clone(),
        }
    }

    /// Returns the body, if the object is of the type's kind.
    pub fn get<T: Typed>(&self) -> Option<&T> {
        T::of(self)
    }

    /// Returns the body of an object whose kind is known from the lookup.
    ///
    /// # Panics
    /// If the object is of another kind, which only a bug here can bring about.
    pub fn body<T: Typed>(&self) -> &T {
        match T::of(self) {
            Some(body) => body,
            None => unreachable!("{} is not a {}", self.key(), T::KIND.name()),
        }
    }

    /// Parses a part of a body that is stored as JSON; `None` if it does not decode.
    pub fn part<T: Json + Default>(&self, field: &str) -> Option<T> {
        let Body::Other(body) = &self.body else {
            return None;
        };
        json::part(body.get(field)).ok()
    }

    /// Replaces a part of a body that is stored as JSON.
    pub fn put_part(&mut self, field: &'static str, part: &impl Json) {
        if let Body::Other(body) = &mut self.body {
            body.insert(field.into(), part.write());
        }
    }

    /// Returns the body mutably, if the object is of the type's kind.
    pub fn get_mut<T: Typed>(&mut self) -> Option<&mut T> {
        T::of_mut(self)
    }

    /// Returns the body of a Pod, or `None`.
    pub fn pod(&self) -> Option<&Pod> {
        self.get()
    }

    /// Builds a controlling owner reference to this object.
    pub fn controller_reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.kind.api_version().into(),
            block_owner_deletion: Some(true),
            controller: Some(true),
            kind: self.kind.name().into(),
            name: self.meta.name.clone(),
            uid: self.meta.uid,
        }
    }

    /// Returns the Pod template of a workload whose fields are typed.
    pub fn pod_template(&self) -> Option<&Rc<PodTemplate>> {
        match &self.body {
            Body::Deployment(body) => Some(&body.spec.template),
            Body::ReplicaSet(body) => Some(&body.spec.template),
            Body::StatefulSet(body) => Some(&body.spec.template),
            Body::DaemonSet(body) => Some(&body.template),
            Body::Job(body) => Some(&body.spec.template),
            Body::Pod(_)
            | Body::ControllerRevision(_)
            | Body::Service(_)
            | Body::Endpoints(_)
            | Body::EndpointSlice(_)
            | Body::PersistentVolumeClaim(_)
            | Body::PersistentVolume(_)
            | Body::StorageClass(_)
            | Body::Node(_)
            | Body::Event(_)
            | Body::Other(_) => None,
        }
    }

    /// Returns the image of the first container of a Pod or of a workload's template.
    pub fn first_image(&self) -> Option<&Str> {
        let containers = match self.pod() {
            Some(pod) => &pod.spec.containers,
            None => &self.pod_template()?.spec.containers,
        };
        containers.first().map(|container| &container.image)
    }

    /// Builds the metadata of a new Pod of this workload; its name is generated.
    pub fn pod_meta(&self, template: &PodTemplate) -> ObjectMeta {
        ObjectMeta {
            generate_name: format_smolstr!("{}-", self.meta.name).into(),
            namespace: self.meta.namespace.clone(),
            labels: template.labels.clone(),
            annotations: template.annotations.clone(),
            owner_references: owned_by(self.controller_reference()),
            ..ObjectMeta::default()
        }
    }

    /// Builds a new Pod of this workload.
    pub fn new_pod(&self, template: &PodTemplate) -> Object {
        Object {
            kind: Kind::Pod,
            meta: self.pod_meta(template),
            body: Body::Pod(Box::new(Pod::new(template.spec.clone()))),
        }
    }

    /// Returns true if this is an active Pod: not terminating and not in a terminal phase.
    pub fn is_active_pod(&self) -> bool {
        self.pod()
            .is_some_and(|pod| !pod.is_terminal() && !self.meta.is_deleting())
    }

    /// Decodes an object that has passed strict decoding; the error is the decoder's.
    pub fn from_value(kind: Kind, value: Value) -> Result<Object, String> {
        let Value::Object(mut map) = value else {
            return Err("expected an object".into());
        };
        let meta: ObjectMeta = json::part(map.get("metadata"))?;
        map.remove("metadata");
        map.remove("apiVersion");
        map.remove("kind");
        Ok(Object {
            kind,
            meta,
            body: Body::from_map(kind, map)?,
        })
    }

    /// Encodes the object as the API shows it.
    pub fn to_value(&self) -> Value {
        let mut map = self.body.to_map();
        map.insert("apiVersion".into(), self.kind.api_version().into());
        map.insert("kind".into(), self.kind.name().into());
        map.insert("metadata".into(), self.meta.write());
        Value::Object(map)
    }
}

/// Encodes two versions of an object for a comparison; a spec that they share is left out.
pub fn compared(before: &Object, after: &Object) -> (Value, Value) {
    let (Some(old), Some(new)) = (before.pod(), after.pod()) else {
        return (before.to_value(), after.to_value());
    };
    if !Rc::ptr_eq(&old.spec, &new.spec) || old.node_name != new.node_name || old.token != new.token
    {
        return (before.to_value(), after.to_value());
    }
    let rest = |object: &Object, pod: &Pod| {
        let fields = [
            ("metadata".to_owned(), object.meta.write()),
            ("status".to_owned(), pod.status.write()),
        ];
        Value::Object(fields.into_iter().collect::<serde_json::Map<_, _>>())
    };
    (rest(before, old), rest(after, new))
}

impl Body {
    fn from_map(kind: Kind, mut map: Map<String, Value>) -> Result<Body, String> {
        let spec = |map: &mut Map<String, Value>| map.remove("spec").filter(|v| !v.is_null());
        Ok(match kind {
            Kind::Pod => Body::Pod(Box::new(Pod::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::ReplicaSet | Kind::ReplicationController => Body::ReplicaSet(Box::new(
                ReplicaSet::from_parts(spec(&mut map), map.remove("status"))?,
            )),
            Kind::Deployment => Body::Deployment(Box::new(Deployment::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::Node => Body::Node(Box::new(Node::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::Service => Body::Service(Box::new(Service::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::StatefulSet => Body::StatefulSet(Box::new(StatefulSet::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::Job => Body::Job(Box::new(Job::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::DaemonSet => Body::DaemonSet(Box::new(DaemonSet::from_parts(
                spec(&mut map),
                map.remove("status"),
            )?)),
            Kind::ControllerRevision => Body::ControllerRevision(Box::new(whole(map)?)),
            Kind::Endpoints => Body::Endpoints(Box::new(whole(map)?)),
            Kind::EndpointSlice => Body::EndpointSlice(Box::new(whole(map)?)),
            Kind::PersistentVolumeClaim => Body::PersistentVolumeClaim(Box::new(
                PersistentVolumeClaim::from_parts(spec(&mut map), map.remove("status"))?,
            )),
            Kind::PersistentVolume => Body::PersistentVolume(Box::new(
                PersistentVolume::from_parts(spec(&mut map), map.remove("status"))?,
            )),
            Kind::StorageClass => Body::StorageClass(Box::new(StorageClass::from_map(map)?)),
            Kind::Event => Body::Event(Box::new(whole(map)?)),
            Kind::Namespace
            | Kind::CronJob
            | Kind::ConfigMap
            | Kind::Secret
            | Kind::ServiceAccount
            | Kind::PodDisruptionBudget
            | Kind::HorizontalPodAutoscaler
            | Kind::ResourceQuota
            | Kind::LimitRange
            | Kind::PriorityClass
            | Kind::PodTemplate
            | Kind::Lease
            | Kind::Ingress
            | Kind::IngressClass
            | Kind::NetworkPolicy
            | Kind::Role
            | Kind::RoleBinding
            | Kind::ClusterRole
            | Kind::ClusterRoleBinding
            | Kind::CSIDriver
            | Kind::VolumeAttachment
            | Kind::RuntimeClass
            | Kind::CustomResourceDefinition
            | Kind::APIService
            | Kind::MutatingWebhookConfiguration
            | Kind::ValidatingWebhookConfiguration
            | Kind::ValidatingAdmissionPolicy
            | Kind::ValidatingAdmissionPolicyBinding
            | Kind::CertificateSigningRequest
            | Kind::FlowSchema
            | Kind::PriorityLevelConfiguration
            | Kind::IPAddress
            | Kind::ServiceCIDR
            | Kind::DeviceClass
            | Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::ResourceSlice
            | Kind::CSINode
            | Kind::CSIStorageCapacity
            | Kind::VolumeAttributesClass
            | Kind::MutatingAdmissionPolicy
            | Kind::MutatingAdmissionPolicyBinding
            | Kind::ComponentStatus
            | Kind::Custom(_) => Body::Other(Box::new(map)),
        })
    }

    fn to_map(&self) -> Map<String, Value> {
        match self {
            Body::Pod(b) => parts(b.spec_value(), b.status.write()),
            Body::ReplicaSet(b) => parts(b.spec.to_value(), b.status.write()),
            Body::Deployment(b) => parts(b.spec.to_value(), b.status.write()),
            Body::StatefulSet(b) => parts(b.spec.to_value(), b.status.write()),
            Body::Job(b) => parts(b.spec.raw.clone(), b.status.write()),
            Body::DaemonSet(b) => parts(b.spec.raw.clone(), b.status.write()),
            Body::ControllerRevision(b) => map_of(b.write()),
            Body::Service(b) => parts(b.spec.raw.clone(), b.status.clone()),
            Body::Endpoints(b) => map_of(b.write()),
            Body::EndpointSlice(b) => map_of(b.write()),
            Body::PersistentVolumeClaim(b) => parts(b.spec.raw.clone(), b.status.write()),
            Body::PersistentVolume(b) => parts(b.spec.raw.clone(), b.status.write()),
            Body::StorageClass(b) => b.raw.clone(),
            Body::Node(b) => parts(b.spec.raw.clone(), b.status.write()),
            Body::Event(b) => map_of(b.write()),
            Body::Other(map) => (**map).clone(),
        }
    }
}

fn whole<T: Json + Default>(map: Map<String, Value>) -> Result<T, String> {
    json::read(&Value::Object(map))
}

fn map_of(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value {
        map
    } else {
        Map::new()
    }
}

fn parts(spec: Value, status: Value) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("spec".into(), spec);
    if !status.is_null() {
        map.insert("status".into(), status);
    }
    map
}
