//! Registry: the API server's rules for each kind, one row a kind.
//!
//! Names, scope and strategy of a kind are its `KindSpec`; here stand its defaults, validator, selectable fields and printer. A new kind is
//! an arm of `resource`. Models `pkg/registry`, `pkg/apis/*/{v1,validation}` and `pkg/printers/internalversion`.

use crate::defaults::{self, JsonObject, admission as admission_defaults, workloads as defaulting};
use crate::deletion::Propagation;
use crate::printers::{self, Printer, cluster, network as networking, storage as volumes};
use crate::validation::{
    Errors, admission, batch, ingress, network, pod, policy, rbac, scheduling, storage, update,
    workloads,
};
use k8s_model::{Kind, ObjectMeta};
use serde_json::Value;

/// Rules of the API server for objects of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Resource {
    /// Sets the fields that a client left out.
    pub set_defaults: fn(&mut JsonObject),
    /// Validates all but the metadata.
    pub validate: fn(&mut Errors, &Value),
    /// Validates what an update may not change: the new object against the old one.
    pub validate_update: fn(&mut Errors, &Value, &Value),
    /// Validates the status of an object that a client writes.
    pub validate_status: fn(&mut Errors, &Value),
    /// Selectable fields; none if only name and namespace are selectable, as field selectors call those.
    pub selectable_fields: Option<&'static [&'static str]>,
    /// Propagation policy of a deletion that names none.
    pub default_propagation: Propagation,
    /// Restores the metadata that a write of the status may not change: `PrepareForUpdate` of the status strategy.
    pub reset_status_metadata: fn(&mut ObjectMeta, &ObjectMeta),
    /// Printer of tables.
    pub printer: Printer,
}

/// Returns true if a deletion is answered with the object that it deleted (`ReturnDeletedObject` of the storage).
pub fn returns_deleted(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Namespace
            | Kind::PersistentVolume
            | Kind::PersistentVolumeClaim
            | Kind::Pod
            | Kind::PodTemplate
            | Kind::ResourceQuota
            | Kind::Service
            | Kind::ServiceAccount
            | Kind::DeviceClass
            | Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::ResourceSlice
            | Kind::CSIDriver
            | Kind::CSINode
            | Kind::StorageClass
            | Kind::VolumeAttachment
            | Kind::VolumeAttributesClass
    )
}

/// Rules of a kind that is stored as it comes.
const STORED: Resource = Resource {
    set_defaults: |_| {},
    validate: |_, _| {},
    validate_update: |_, _, _| {},
    validate_status: |_, _| {},
    selectable_fields: None,
    default_propagation: Propagation::Background,
    reset_status_metadata: |_, _| {},
    printer: printers::NAME_AND_AGE,
};

/// Restores all metadata of an object whose status is written: `ResetObjectMetaForStatus` of `apimachinery/pkg/apis/meta/v1/helpers.go`.
fn reset_metadata(new: &mut ObjectMeta, old: &ObjectMeta) {
    new.labels = old.labels.clone();
    new.annotations = old.annotations.clone();
    new.finalizers = old.finalizers.clone();
    new.owner_references = old.owner_references.clone();
}

/// Returns the rules of a kind. Those of custom kinds are in their definitions.
pub(crate) fn resource(kind: Kind) -> Resource {
    match kind {
        Kind::Namespace => Resource {
            set_defaults: defaults::namespace,
            validate_status: policy::namespace_status,
            selectable_fields: Some(&["metadata.name", "status.phase"]),
            printer: cluster::NAMESPACE,
            ..STORED
        },
        Kind::Node => Resource {
            set_defaults: defaults::node,
            validate: |errors, object| {
                scheduling::taints(errors, &object["spec"], "metadata.taints")
            },
            selectable_fields: Some(&["metadata.name", "spec.unschedulable"]),
            printer: cluster::NODE,
            ..STORED
        },
        Kind::Pod => Resource {
            set_defaults: defaults::pod_object,
            validate: |errors, object| pod::spec(errors, &object["spec"], "spec", &[]),
            selectable_fields: Some(&[
                "metadata.name",
                "metadata.namespace",
                "spec.nodeName",
                "spec.host",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.podIPs",
                "status.nominatedNodeName",
            ]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::pod),
            reset_status_metadata: |new, old| new.owner_references = old.owner_references.clone(),
            printer: printers::pods::POD,
            ..STORED
        },
        Kind::PodTemplate => Resource {
            printer: printers::workloads::POD_TEMPLATE,
            set_defaults: |object| defaults::template(object, "template"),
            validate: |errors, object| pod::template(errors, &object["template"], "template", &[]),
            ..STORED
        },
        Kind::Deployment => Resource {
            set_defaults: defaulting::deployment,
            validate: |errors, object| workloads::deployment(errors, &object["spec"]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::selector),
            reset_status_metadata: |new, old| new.labels = old.labels.clone(),
            printer: printers::workloads::DEPLOYMENT,
            ..STORED
        },
        Kind::ReplicaSet => Resource {
            set_defaults: defaulting::replica_set,
            validate: |errors, object| workloads::replica_set(errors, &object["spec"]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::selector),
            printer: printers::workloads::REPLICA_SET,
            ..STORED
        },
        Kind::ReplicationController => Resource {
            set_defaults: defaulting::replication_controller,
            validate: |errors, object| workloads::replication_controller(errors, &object["spec"]),
            selectable_fields: Some(&["metadata.name", "metadata.namespace", "status.replicas"]),
            default_propagation: Propagation::Orphan,
            printer: printers::workloads::REPLICA_SET,
            ..STORED
        },
        Kind::StatefulSet => Resource {
            set_defaults: defaulting::stateful_set,
            validate: |errors, object| workloads::stateful_set(errors, &object["spec"]),
            validate_update: |errors, new, old| {
                update::specs(errors, new, old, update::stateful_set)
            },
            printer: printers::workloads::STATEFUL_SET,
            ..STORED
        },
        Kind::ControllerRevision => Resource {
            validate_update: update::controller_revision,
            printer: printers::workloads::CONTROLLER_REVISION,
            ..STORED
        },
        Kind::DaemonSet => Resource {
            set_defaults: defaulting::daemon_set,
            validate: |errors, object| workloads::daemon_set(errors, &object["spec"]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::selector),
            printer: printers::workloads::DAEMON_SET,
            ..STORED
        },
        Kind::Job => Resource {
            set_defaults: defaulting::job,
            validate: |errors, object| {
                let uid = object["metadata"]["uid"].as_str().unwrap_or("");
                batch::job(errors, &object["spec"], "spec", uid)
            },
            selectable_fields: Some(&["metadata.name", "metadata.namespace", "status.successful"]),
            default_propagation: Propagation::Orphan,
            validate_update: |errors, new, old| {
                let is_active = old["status"]["active"].as_i64().unwrap_or(0) > 0;
                update::specs(errors, new, old, |errors, new, old| {
                    update::job(errors, new, old, is_active)
                })
            },
            printer: printers::workloads::JOB,
            ..STORED
        },
        Kind::CronJob => Resource {
            set_defaults: defaulting::cron_job,
            validate: batch::cron_job,
            printer: printers::workloads::CRON_JOB,
            ..STORED
        },
        Kind::HorizontalPodAutoscaler => Resource {
            set_defaults: defaulting::autoscaler,
            validate: |errors, object| policy::autoscaler(errors, &object["spec"]),
            printer: printers::workloads::HORIZONTAL_POD_AUTOSCALER,
            ..STORED
        },
        Kind::Service => Resource {
            set_defaults: defaults::service,
            validate: |errors, object| network::service(errors, &object["spec"]),
            validate_status: network::service_status,
            selectable_fields: Some(&[
                "metadata.namespace",
                "metadata.name",
                "spec.clusterIP",
                "spec.type",
            ]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::service),
            printer: networking::SERVICE,
            ..STORED
        },
        Kind::Endpoints => Resource {
            set_defaults: defaults::endpoints,
            validate: network::endpoints,
            printer: networking::ENDPOINTS,
            ..STORED
        },
        Kind::EndpointSlice => Resource {
            set_defaults: defaults::slice,
            printer: networking::ENDPOINT_SLICE,
            ..STORED
        },
        Kind::Ingress => Resource {
            validate: ingress::ingress,
            printer: networking::INGRESS,
            ..STORED
        },
        Kind::NetworkPolicy => Resource {
            set_defaults: defaults::network_policy,
            validate: |errors, object| ingress::network_policy(errors, &object["spec"]),
            printer: networking::NETWORK_POLICY,
            ..STORED
        },
        Kind::PersistentVolumeClaim => Resource {
            set_defaults: defaults::claim,
            validate: |errors, object| storage::claim(errors, &object["spec"], "spec"),
            validate_update: |errors, new, old| {
                update::specs(errors, new, old, |errors, spec, before| {
                    update::claim(errors, spec, before, &old["status"])
                })
            },
            printer: volumes::PERSISTENT_VOLUME_CLAIM,
            ..STORED
        },
        Kind::PersistentVolume => Resource {
            set_defaults: defaults::volume,
            validate: |errors, object| storage::volume(errors, &object["spec"]),
            validate_update: |errors, new, old| update::specs(errors, new, old, update::volume),
            printer: volumes::PERSISTENT_VOLUME,
            ..STORED
        },
        Kind::StorageClass => Resource {
            set_defaults: defaults::storage_class,
            validate: storage::class,
            validate_update: update::class,
            printer: volumes::STORAGE_CLASS,
            ..STORED
        },
        Kind::ConfigMap => Resource {
            validate: policy::config_map,
            validate_update: update::immutable_data,
            printer: cluster::CONFIG_MAP,
            ..STORED
        },
        Kind::Secret => Resource {
            set_defaults: defaults::secret,
            validate: policy::secret,
            selectable_fields: Some(&["type", "metadata.namespace", "metadata.name"]),
            validate_update: update::secret,
            printer: cluster::SECRET,
            ..STORED
        },
        Kind::PodDisruptionBudget => Resource {
            validate: |errors, object| policy::budget(errors, &object["spec"]),
            validate_status: policy::budget_status,
            printer: cluster::POD_DISRUPTION_BUDGET,
            ..STORED
        },
        Kind::ResourceQuota => Resource {
            validate: |errors, object| policy::quota(errors, &object["spec"]),
            validate_status: policy::quota_status,
            validate_update: update::quota,
            printer: cluster::RESOURCE_QUOTA,
            ..STORED
        },
        Kind::LimitRange => Resource {
            set_defaults: defaults::limit_range,
            validate: |errors, object| policy::limit_range(errors, &object["spec"]),
            printer: cluster::CREATED_AT,
            ..STORED
        },
        Kind::PriorityClass => Resource {
            set_defaults: defaults::priority_class,
            validate: ingress::priority_class,
            validate_update: update::priority_class,
            printer: cluster::PRIORITY_CLASS,
            ..STORED
        },
        Kind::Event => Resource {
            selectable_fields: Some(&[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
                "metadata.namespace",
                "metadata.name",
            ]),
            printer: cluster::EVENT,
            ..STORED
        },
        Kind::Lease => Resource {
            printer: cluster::LEASE,
            ..STORED
        },
        Kind::Role => Resource {
            validate: |errors, object| rbac::role(errors, object, rbac::Scope::Namespaced),
            printer: cluster::CREATED_AT,
            ..STORED
        },
        Kind::ClusterRole => Resource {
            validate: |errors, object| rbac::role(errors, object, rbac::Scope::Cluster),
            printer: cluster::CREATED_AT,
            ..STORED
        },
        Kind::RoleBinding => Resource {
            set_defaults: defaults::role_binding,
            validate: |errors, object| rbac::binding(errors, object, rbac::Scope::Namespaced),
            validate_update: update::binding,
            printer: cluster::ROLE_BINDING,
            ..STORED
        },
        Kind::ClusterRoleBinding => Resource {
            set_defaults: defaults::role_binding,
            validate: |errors, object| rbac::binding(errors, object, rbac::Scope::Cluster),
            validate_update: update::binding,
            printer: cluster::ROLE_BINDING,
            ..STORED
        },
        Kind::CustomResourceDefinition => Resource {
            set_defaults: defaults::definition,
            validate: rbac::definition,
            printer: cluster::CREATED_AT,
            ..STORED
        },
        Kind::CertificateSigningRequest => Resource {
            validate: policy::certificate_request,
            validate_status: policy::certificate_conditions,
            selectable_fields: Some(&["metadata.name", "spec.signerName"]),
            printer: cluster::CERTIFICATE_SIGNING_REQUEST,
            ..STORED
        },
        Kind::ComponentStatus => Resource {
            printer: cluster::COMPONENT_STATUS,
            ..STORED
        },
        Kind::ResourceSlice => Resource {
            selectable_fields: Some(&["metadata.name", "spec.nodeName", "spec.driver"]),
            ..STORED
        },
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => Resource {
            set_defaults: admission_defaults::webhooks,
            validate: admission::webhooks,
            printer: printers::admission::WEBHOOK_CONFIGURATION,
            ..STORED
        },
        Kind::ValidatingAdmissionPolicy => Resource {
            reset_status_metadata: reset_metadata,
            set_defaults: admission_defaults::policy,
            validate: admission::validating_policy,
            validate_status: admission::policy_status,
            printer: printers::admission::VALIDATING_POLICY,
            ..STORED
        },
        Kind::MutatingAdmissionPolicy => Resource {
            set_defaults: admission_defaults::policy,
            validate: admission::mutating_policy,
            printer: printers::admission::MUTATING_POLICY,
            ..STORED
        },
        Kind::ValidatingAdmissionPolicyBinding => Resource {
            set_defaults: admission_defaults::binding,
            validate: admission::validating_binding,
            printer: printers::admission::POLICY_BINDING,
            ..STORED
        },
        Kind::MutatingAdmissionPolicyBinding => Resource {
            set_defaults: admission_defaults::binding,
            validate: admission::mutating_binding,
            printer: printers::admission::POLICY_BINDING,
            ..STORED
        },
        Kind::CSIDriver => Resource {
            set_defaults: defaults::csi_driver,
            validate: storage::csi_driver,
            validate_update: update::csi_driver,
            printer: volumes::CSI_DRIVER,
            ..STORED
        },
        Kind::CSINode => Resource {
            validate: storage::csi_node,
            printer: volumes::CSI_NODE,
            ..STORED
        },
        Kind::VolumeAttachment => Resource {
            reset_status_metadata: reset_metadata,
            validate: storage::volume_attachment,
            printer: volumes::VOLUME_ATTACHMENT,
            ..STORED
        },
        Kind::RuntimeClass => Resource {
            printer: cluster::RUNTIME_CLASS,
            ..STORED
        },
        Kind::APIService => Resource {
            reset_status_metadata: reset_metadata,
            validate: policy::api_service,
            printer: cluster::API_SERVICE,
            ..STORED
        },
        Kind::FlowSchema => Resource {
            reset_status_metadata: reset_metadata,
            set_defaults: defaults::flow_schema,
            validate: policy::flow_schema,
            printer: cluster::FLOW_SCHEMA,
            ..STORED
        },
        Kind::PriorityLevelConfiguration | Kind::ServiceCIDR | Kind::Custom(_) => Resource {
            reset_status_metadata: reset_metadata,
            ..STORED
        },
        Kind::ResourceClaim => Resource {
            reset_status_metadata: reset_metadata,
            set_defaults: defaults::resource_claim,
            validate: scheduling::resource_claim,
            ..STORED
        },
        Kind::DeviceClass => Resource {
            validate: scheduling::device_class,
            ..STORED
        },
        Kind::ServiceAccount
        | Kind::IngressClass
        | Kind::IPAddress
        | Kind::ResourceClaimTemplate
        | Kind::CSIStorageCapacity
        | Kind::VolumeAttributesClass => STORED,
    }
}
