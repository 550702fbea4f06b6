//! Kinds of the API server with their names, groups and scopes, including those that CustomResourceDefinitions add.

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::cmp::Ordering;

/// Properties of a kind: names, scope, and the rules of its storage. A new kind is a row of `kinds!` and a case of each `match` over kinds.
///
/// Names and short names are those of `k8s.io/api` and of `ShortNames` and `Categories` in `pkg/registry/*/storage`.
#[derive(Debug)]
pub struct KindSpec {
    /// Kind name, such as `Deployment`.
    pub name: &'static str,
    /// Group, such as `apps`; empty for the core group.
    pub group: &'static str,
    /// Version, such as `v1`.
    pub version: &'static str,
    /// Plural resource name, such as `deployments`.
    pub plural: &'static str,
    /// Short names, such as `deploy`; separated by commas, empty if there is none.
    pub short: &'static str,
    /// True if objects live in a namespace.
    pub namespaced: bool,
    /// Component that acts on objects of the kind.
    pub simulation: Simulation,
    /// Categories of `kubectl get`, such as `all`.
    pub categories: &'static [&'static str],
    /// Rules of storage.
    pub strategy: Strategy,
    /// JSON pointer to the Pod template; empty for Pods.
    pub pod_template: Option<&'static str>,
}

/// Rules of the API server for storing objects of a kind, by the strategies in `pkg/registry`.
#[derive(Debug)]
pub struct Strategy {
    /// Format of `metadata.name`.
    pub name_format: NameFormat,
    /// Rule of `metadata.generation`.
    pub generation: Generation,
    /// Rule for an update without a resource version.
    pub precondition: Precondition,
    /// Rule for an update of an object that does not exist.
    pub upsert: Upsert,
    /// Directory of the objects in etcd, below `/registry`.
    pub directory: &'static str,
    /// Subresources that many kinds have.
    pub subresources: &'static [Subresource],
}

/// Scope of a kind's objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Namespaced,
    Cluster,
}

/// Component that acts on objects of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simulation {
    /// A controller of this engine.
    Controlled,
    /// A kubelet, which reads ConfigMaps and Secrets, or the API server, which evaluates roles, RuntimeClasses and definitions.
    Read,
    /// None: objects are stored and shown.
    Inert,
}

/// Format of `metadata.name`, by the `ValidateObjectName` functions of `pkg/apis/*/validation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameFormat {
    /// DNS label: the name becomes part of host names.
    DnsLabel,
    /// Path segment, such as `system:node`.
    PathSegment,
    /// DNS subdomain.
    DnsSubdomain,
}

/// Rule of `metadata.generation`, by `PrepareForCreate` and `PrepareForUpdate` of the strategies in `pkg/registry`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// Counts changes of the spec, from 1.
    Counted,
    /// Absent.
    Uncounted,
}

/// Rule for an update without a resource version (`AllowUnconditionalUpdate`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precondition {
    /// Allowed: the update replaces whatever is stored.
    Unconditional,
    /// Refused: the update must name the version that it replaces.
    Versioned,
}

/// Rule for an update of an object that does not exist (`AllowCreateOnUpdate`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Upsert {
    /// The object is created.
    Creating,
    /// The update is refused.
    Existing,
}

/// Subresource of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subresource {
    /// Object without its status.
    #[default]
    Main,
    /// Status.
    Status,
    /// Number of replicas.
    Scale,
    /// Resources of a Pod's containers.
    Resize,
    /// Ephemeral containers of a running Pod.
    EphemeralContainers,
    /// Approval of a certificate signing request.
    Approval,
    /// Eviction of a Pod.
    Eviction,
    /// Binding of a Pod to a node.
    Binding,
    /// Finalizers of a namespace's spec.
    Finalize,
    /// Output of a container.
    Log,
    /// Commands in a container.
    Exec,
    /// Streams of a container's process.
    Attach,
    /// Tokens of a ServiceAccount.
    Token,
}

impl Subresource {
    /// Returns true for the object itself.
    pub fn is_main(&self) -> bool {
        *self == Subresource::Main
    }

    /// Returns true if requests change no object: those to a container, and those for a token.
    pub fn is_connection(self) -> bool {
        matches!(
            self,
            Subresource::Log | Subresource::Exec | Subresource::Attach | Subresource::Token
        )
    }

    /// Returns the name in a path, empty for the object itself.
    pub fn word(self) -> &'static str {
        match self {
            Subresource::Main => "",
            Subresource::Status => "status",
            Subresource::Scale => "scale",
            Subresource::Resize => "resize",
            Subresource::EphemeralContainers => "ephemeralcontainers",
            Subresource::Approval => "approval",
            Subresource::Eviction => "eviction",
            Subresource::Binding => "binding",
            Subresource::Finalize => "finalize",
            Subresource::Log => "log",
            Subresource::Exec => "exec",
            Subresource::Attach => "attach",
            Subresource::Token => "token",
        }
    }
}

impl KindSpec {
    /// Returns true if the kind has a subresource.
    pub fn has(&self, subresource: Subresource) -> bool {
        self.strategy.subresources.contains(&subresource)
    }

    /// Returns true if a controller acts on objects of the kind.
    pub fn is_controlled(&self) -> bool {
        self.simulation == Simulation::Controlled
    }
}

/// Returns the group of an `apiVersion`: `apps` of `apps/v1`, empty for the core group.
pub fn api_group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

macro_rules! kinds {
    ($($name:ident $group:literal $version:literal $plural:literal $short:literal $scope:ident [$($category:literal)*] $simulation:ident
       { $name_format:ident $generation:ident $precondition:ident $upsert:ident $directory:literal [$($subresource:ident)*]
         [$($template:literal)?] };)*) => {
        /// Kind of API object.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Kind {
            $($name,)*
            /// Kind of a CustomResourceDefinition: index into the registered custom kinds.
            Custom(u16),
        }

        /// Built-in kinds in their order.
        enum BuiltIn { $($name,)* }

        impl Kind {
            /// Index of the kind's table: built-in kinds, then custom ones.
            pub fn index(self) -> usize {
                match self {
                    $(Kind::$name => BuiltIn::$name as usize,)*
                    Kind::Custom(place) => ALL.len() + usize::from(place),
                }
            }
        }

        const SPECS: &[KindSpec] = &[$(KindSpec {
            name: stringify!($name), group: $group, version: $version, plural: $plural, short: $short,
            namespaced: matches!(Scope::$scope, Scope::Namespaced), simulation: Simulation::$simulation,
            categories: &[$($category,)*],
            strategy: Strategy {
                name_format: NameFormat::$name_format, generation: Generation::$generation,
                precondition: Precondition::$precondition, upsert: Upsert::$upsert, directory: $directory,
                subresources: &[$(Subresource::$subresource,)*],
            },
            pod_template: optional!($($template)?),
        },)*];

        /// All built-in kinds, in the order of the enum.
        pub const ALL: &[Kind] = &[$(Kind::$name,)*];
    };
}

kinds! {
    Namespace "" "v1" "namespaces" "ns" Cluster [] Controlled
        { DnsLabel Uncounted Unconditional Existing "namespaces" [Status] [] };
    Node "" "v1" "nodes" "no" Cluster [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "minions" [Status] [] };
    Pod "" "v1" "pods" "po" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "pods" [Status] [""] };
    ReplicaSet "apps" "v1" "replicasets" "rs" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "replicasets" [Status Scale] ["/spec/template"] };
    Deployment "apps" "v1" "deployments" "deploy" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "deployments" [Status Scale] ["/spec/template"] };
    StatefulSet "apps" "v1" "statefulsets" "sts" Namespaced ["all"] Controlled
        { DnsLabel Counted Unconditional Existing "statefulsets" [Status Scale] ["/spec/template"] };
    ControllerRevision "apps" "v1" "controllerrevisions" "" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "controllerrevisions" [] [] };
    DaemonSet "apps" "v1" "daemonsets" "ds" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "daemonsets" [Status] ["/spec/template"] };
    ReplicationController "" "v1" "replicationcontrollers" "rc" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "controllers" [Status Scale] ["/spec/template"] };
    Job "batch" "v1" "jobs" "" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "jobs" [Status] ["/spec/template"] };
    CronJob "batch" "v1" "cronjobs" "cj" Namespaced ["all"] Controlled
        { DnsSubdomain Counted Unconditional Existing "cronjobs" [Status] ["/spec/jobTemplate/spec/template"] };
    Service "" "v1" "services" "svc" Namespaced ["all"] Controlled
        { DnsLabel Uncounted Unconditional Creating "services/specs" [Status] [] };
    Endpoints "" "v1" "endpoints" "ep" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Creating "services/endpoints" [] [] };
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices" "" Namespaced [] Controlled
        { DnsSubdomain Counted Unconditional Existing "endpointslices" [] [] };
    PersistentVolumeClaim "" "v1" "persistentvolumeclaims" "pvc" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "persistentvolumeclaims" [Status] [] };
    PersistentVolume "" "v1" "persistentvolumes" "pv" Cluster [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "persistentvolumes" [Status] [] };
    StorageClass "storage.k8s.io" "v1" "storageclasses" "sc" Cluster [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "storageclasses" [] [] };
    ConfigMap "" "v1" "configmaps" "cm" Namespaced [] Read
        { DnsSubdomain Uncounted Unconditional Existing "configmaps" [] [] };
    Secret "" "v1" "secrets" "" Namespaced [] Read
        { DnsSubdomain Uncounted Unconditional Existing "secrets" [] [] };
    ServiceAccount "" "v1" "serviceaccounts" "sa" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "serviceaccounts" [] [] };
    PodDisruptionBudget "policy" "v1" "poddisruptionbudgets" "pdb" Namespaced [] Controlled
        { DnsSubdomain Counted Versioned Existing "poddisruptionbudgets" [Status] [] };
    HorizontalPodAutoscaler "autoscaling" "v2" "horizontalpodautoscalers" "hpa" Namespaced ["all"] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "horizontalpodautoscalers" [Status] [] };
    ResourceQuota "" "v1" "resourcequotas" "quota" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "resourcequotas" [Status] [] };
    LimitRange "" "v1" "limitranges" "limits" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Creating "limitranges" [] [] };
    PriorityClass "scheduling.k8s.io" "v1" "priorityclasses" "pc" Cluster [] Controlled
        { DnsSubdomain Counted Unconditional Existing "priorityclasses" [] [] };
    Event "" "v1" "events" "ev" Namespaced [] Controlled
        { DnsSubdomain Uncounted Unconditional Creating "events" [] [] };
    PodTemplate "" "v1" "podtemplates" "" Namespaced [] Inert
        { DnsSubdomain Counted Unconditional Existing "podtemplates" [] ["/template"] };
    Lease "coordination.k8s.io" "v1" "leases" "" Namespaced [] Inert
        { DnsSubdomain Uncounted Versioned Creating "leases" [] [] };
    Ingress "networking.k8s.io" "v1" "ingresses" "ing" Namespaced [] Controlled
        { DnsSubdomain Counted Unconditional Existing "ingress" [Status] [] };
    IngressClass "networking.k8s.io" "v1" "ingressclasses" "" Cluster [] Controlled
        { DnsSubdomain Counted Unconditional Existing "ingressclasses" [] [] };
    NetworkPolicy "networking.k8s.io" "v1" "networkpolicies" "netpol" Namespaced [] Controlled
        { DnsSubdomain Counted Unconditional Existing "networkpolicies" [] [] };
    Role "rbac.authorization.k8s.io" "v1" "roles" "" Namespaced [] Read
        { PathSegment Uncounted Unconditional Creating "roles" [] [] };
    RoleBinding "rbac.authorization.k8s.io" "v1" "rolebindings" "" Namespaced [] Read
        { PathSegment Uncounted Unconditional Creating "rolebindings" [] [] };
    ClusterRole "rbac.authorization.k8s.io" "v1" "clusterroles" "" Cluster [] Read
        { PathSegment Uncounted Unconditional Creating "clusterroles" [] [] };
    ClusterRoleBinding "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "" Cluster [] Read
        { PathSegment Uncounted Unconditional Creating "clusterrolebindings" [] [] };
    CSIDriver "storage.k8s.io" "v1" "csidrivers" "" Cluster [] Inert
        { DnsSubdomain Uncounted Versioned Existing "csidrivers" [] [] };
    VolumeAttachment "storage.k8s.io" "v1" "volumeattachments" "" Cluster [] Inert
        { DnsSubdomain Uncounted Versioned Existing "volumeattachments" [Status] [] };
    RuntimeClass "node.k8s.io" "v1" "runtimeclasses" "" Cluster [] Read
        { DnsSubdomain Uncounted Versioned Creating "runtimeclasses" [] [] };
    CustomResourceDefinition "apiextensions.k8s.io" "v1" "customresourcedefinitions" "crd,crds" Cluster ["api-extensions"] Read
        { DnsSubdomain Counted Versioned Existing "apiextensions.k8s.io/customresourcedefinitions" [Status] [] };
    APIService "apiregistration.k8s.io" "v1" "apiservices" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Uncounted Versioned Existing "apiregistration.k8s.io/apiservices" [Status] [] };
    MutatingWebhookConfiguration "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "mutatingwebhookconfigurations" [] [] };
    ValidatingWebhookConfiguration "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "validatingwebhookconfigurations" [] [] };
    ValidatingAdmissionPolicy "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "validatingadmissionpolicies" [Status] [] };
    ValidatingAdmissionPolicyBinding "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "validatingadmissionpolicybindings" [] [] };
    CertificateSigningRequest "certificates.k8s.io" "v1" "certificatesigningrequests" "csr" Cluster [] Controlled
        { PathSegment Uncounted Unconditional Existing "certificatesigningrequests" [Status] [] };
    FlowSchema "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" "" Cluster [] Inert
        { DnsSubdomain Counted Unconditional Existing "flowschemas" [Status] [] };
    PriorityLevelConfiguration "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations" "" Cluster [] Inert
        { DnsSubdomain Counted Unconditional Existing "prioritylevelconfigurations" [Status] [] };
    IPAddress "networking.k8s.io" "v1" "ipaddresses" "ip" Cluster [] Inert
        { DnsSubdomain Uncounted Unconditional Existing "ipaddresses" [] [] };
    ServiceCIDR "networking.k8s.io" "v1" "servicecidrs" "" Cluster [] Inert
        { DnsSubdomain Uncounted Unconditional Existing "servicecidrs" [Status] [] };
    DeviceClass "resource.k8s.io" "v1" "deviceclasses" "" Cluster [] Inert
        { DnsSubdomain Counted Unconditional Existing "deviceclasses" [] [] };
    ResourceClaim "resource.k8s.io" "v1" "resourceclaims" "" Namespaced [] Inert
        { DnsSubdomain Uncounted Unconditional Existing "resourceclaims" [Status] [] };
    ResourceClaimTemplate "resource.k8s.io" "v1" "resourceclaimtemplates" "" Namespaced [] Inert
        { DnsSubdomain Uncounted Unconditional Existing "resourceclaimtemplates" [] [] };
    ResourceSlice "resource.k8s.io" "v1" "resourceslices" "" Cluster [] Inert
        { DnsSubdomain Counted Unconditional Existing "resourceslices" [] [] };
    CSINode "storage.k8s.io" "v1" "csinodes" "" Cluster [] Inert
        { DnsSubdomain Uncounted Versioned Existing "csinodes" [] [] };
    CSIStorageCapacity "storage.k8s.io" "v1" "csistoragecapacities" "" Namespaced [] Inert
        { DnsSubdomain Uncounted Versioned Existing "csistoragecapacities" [] [] };
    VolumeAttributesClass "storage.k8s.io" "v1" "volumeattributesclasses" "vac" Cluster [] Inert
        { DnsSubdomain Uncounted Unconditional Existing "volumeattributesclasses" [] [] };
    MutatingAdmissionPolicy "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicies" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "mutatingadmissionpolicies" [] [] };
    MutatingAdmissionPolicyBinding "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicybindings" "" Cluster ["api-extensions"] Inert
        { DnsSubdomain Counted Versioned Existing "mutatingadmissionpolicybindings" [] [] };
    ComponentStatus "" "v1" "componentstatuses" "cs" Cluster [] Controlled
        { DnsSubdomain Uncounted Unconditional Existing "componentstatuses" [] [] };
}

thread_local! {
    /// Registered custom kinds by index; an entry is never removed and keeps its meaning, like a variant of an enum: the API server
    /// decides which of them a cluster serves.
    static CUSTOM: RefCell<Vec<&'static KindSpec>> = const { RefCell::new(Vec::new()) };
    /// Registered custom kinds in the order of their names.
    static SORTED: RefCell<Vec<Kind>> = const { RefCell::new(Vec::new()) };
}

/// Group of the Gateway API.
pub const GATEWAY_GROUP: &str = "gateway.networking.k8s.io";
/// Kinds of the Gateway API that a controller acts on or reads.
const GATEWAY_KINDS: [&str; 4] = ["GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant"];

/// Group of the kind of loops that are programs.
pub const LOOP_GROUP: &str = "loopscope.dev";

/// Names of a custom kind.
#[derive(Clone, Copy, Debug)]
pub struct CustomNames<'a> {
    /// Group, such as `stable.example.com`.
    pub group: &'a str,
    /// Version that clients get unless they ask for another.
    pub version: &'a str,
    /// Kind name, such as `CronTab`.
    pub name: &'a str,
    /// Plural resource name, such as `crontabs`.
    pub plural: &'a str,
    /// True if objects live in a namespace.
    pub namespaced: bool,
}

/// Returns the built-in kinds, then all registered custom ones in the order of their names.
pub fn all() -> impl Iterator<Item = Kind> + Clone {
    ALL.iter().copied().chain(SORTED.with_borrow(Vec::clone))
}

/// Returns the built-in kinds of a category such as `all`, by group and resource name as in discovery.
pub fn in_category(category: &str) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = ALL
        .iter()
        .copied()
        .filter(|kind| kind.info().categories.contains(&category))
        .collect();
    kinds.sort_by_key(|kind| (kind.info().group, kind.info().plural));
    kinds
}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    /// Compares custom kinds by name: the order of their registration must not matter.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Kind::Custom(a), Kind::Custom(b)) if a != b => {
                let names = |kind: Kind| {
                    let info = kind.info();
                    (
                        info.group,
                        info.plural,
                        info.name,
                        info.version,
                        info.namespaced,
                    )
                };
                names(*self).cmp(&names(*other))
            }
            _ => self.index().cmp(&other.index()),
        }
    }
}

impl Kind {
    /// Returns the custom kind of these names, registering it if needed; `None` if there is no room for more.
    pub fn custom(names: CustomNames<'_>) -> Option<Kind> {
        let CustomNames {
            group,
            version,
            name,
            plural,
            namespaced,
        } = names;
        let place = CUSTOM.with_borrow_mut(|all| {
            let same = |known: &&KindSpec| {
                (
                    known.group,
                    known.version,
                    known.name,
                    known.plural,
                    known.namespaced,
                ) == (group, version, name, plural, namespaced)
            };
            all.iter().position(same).unwrap_or_else(|| {
                let text = |text: &str| -> &'static str { Box::leak(text.into()) };
                let info = KindSpec {
                    name: text(name),
                    group: text(group),
                    version: text(version),
                    plural: text(plural),
                    short: "",
                    namespaced,
                    simulation: match group {
                        GATEWAY_GROUP if GATEWAY_KINDS.contains(&name) => Simulation::Controlled,
                        LOOP_GROUP => Simulation::Controlled,
                        _ => Simulation::Inert,
                    },
                    categories: &[],
                    strategy: Strategy {
                        name_format: NameFormat::DnsSubdomain,
                        generation: Generation::Counted,
                        precondition: Precondition::Versioned,
                        upsert: Upsert::Existing,
                        directory: text(&format!("{group}/{plural}")),
                        // Those of a definition differ by version: `Definition` of the API server has them.
                        subresources: &[],
                    },
                    pod_template: None,
                };
                all.push(Box::leak(Box::new(info)));
                all.len() - 1
            })
        });
        let kind = u16::try_from(place).ok().map(Kind::Custom)?;
        SORTED.with_borrow_mut(|sorted| {
            if let Err(at) = sorted.binary_search(&kind) {
                sorted.insert(at, kind);
            }
        });
        Some(kind)
    }

    /// Returns the custom kinds of this group and name: one for each version or scope under which the kind was first served.
    pub fn custom_named(group: &str, name: &str) -> Vec<Kind> {
        CUSTOM.with_borrow(|all| {
            let same = |place: &usize| (all[*place].group, all[*place].name) == (group, name);
            (0..all.len())
                .filter(same)
                .map(|place| Kind::Custom(place as u16))
                .collect()
        })
    }

    /// Returns true for the Gateway API kind of this name.
    pub fn is_gateway_api(self, name: &str) -> bool {
        self.is_custom() && self.info().group == GATEWAY_GROUP && self.info().name == name
    }

    /// Returns true if a CustomResourceDefinition defines the kind.
    pub fn is_custom(self) -> bool {
        matches!(self, Kind::Custom(_))
    }

    /// Returns the properties of this kind.
    pub fn info(self) -> &'static KindSpec {
        match self {
            Kind::Custom(place) => CUSTOM.with_borrow(|all| all[usize::from(place)]),
            built_in => &SPECS[built_in.index()],
        }
    }

    /// Returns true if a component acts on objects of this kind.
    pub fn is_simulated(self) -> bool {
        self.info().simulation != Simulation::Inert
    }

    /// Returns true if objects of this kind are stored and can be written; ComponentStatuses are computed on read.
    pub fn is_stored(self) -> bool {
        self != Kind::ComponentStatus
    }

    /// Returns the deprecation warning that the API server sends to clients of this kind.
    pub fn deprecation(self) -> Option<&'static str> {
        const DEPRECATED: [(Kind, &str); 2] = [
            (
                Kind::ComponentStatus,
                "v1 ComponentStatus is deprecated in v1.19+",
            ),
            (
                Kind::Endpoints,
                "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            ),
        ];
        let found = DEPRECATED.iter().find(|(kind, _)| *kind == self);
        found.map(|(_, warning)| *warning)
    }

    /// Returns the kind name, such as `Deployment`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the API version, as `apps/v1`, or `v1` for the core group.
    pub fn api_version(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.version.into()
        } else {
            format!("{}/{}", info.group, info.version)
        }
    }

    /// Returns `deployments.apps`, or `pods` for the core group, as errors name the resource.
    pub fn group_resource(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.plural.into()
        } else {
            format!("{}.{}", info.plural, info.group)
        }
    }

    /// Returns `Deployment.apps`, or `Pod` for the core group, as validation names the kind.
    pub fn group_kind(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.name.into()
        } else {
            format!("{}.{}", info.name, info.group)
        }
    }

    /// Returns `deployment.apps`, or `pod`, as kubectl names an object it has changed.
    pub fn qualified_singular(self) -> String {
        let info = self.info();
        let singular = info.name.to_ascii_lowercase();
        if info.group.is_empty() {
            singular
        } else {
            format!("{singular}.{}", info.group)
        }
    }

    /// Returns the kind of an `apiVersion` and `kind`.
    pub fn from_api(api_version: &str, kind: &str) -> Option<Kind> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        all().find(|k| {
            let info = k.info();
            info.name == kind && info.group == group && info.version == version
        })
    }

    /// Returns the kind of a group in any version, as owner references and scale targets name it.
    pub fn from_group_kind(group: &str, kind: &str) -> Option<Kind> {
        let built_in = ALL
            .iter()
            .copied()
            .find(|k| k.name() == kind && k.info().group == group);
        built_in.or_else(|| Kind::custom_named(group, kind).into_iter().next())
    }

    /// Returns a label that is unique to this kind: its name, or `Service.serving.knative.dev` for a custom kind with the name of a
    /// built-in one.
    pub fn label(self) -> String {
        let shared = self.is_custom() && ALL.iter().any(|other| other.name() == self.name());
        if shared {
            self.group_kind()
        } else {
            self.name().into()
        }
    }

    /// Returns the kind of a label, or of a bare name such as `Deployment`; of several with one name the built-in one.
    pub fn from_label(label: &str) -> Option<Kind> {
        match label.split_once('.') {
            Some((name, group)) => Kind::from_group_kind(group, name),
            None => all().find(|k| k.name() == label),
        }
    }

    /// Returns the kind for a word on kubectl's command line: `deploy`, `deployments`, `deployment.apps`, `deployments.v1.apps`.
    pub fn from_word(word: &str) -> Option<Kind> {
        let word = word.to_ascii_lowercase();
        all().find(|kind| kind.is_meant(&word))
    }

    /// Returns true if a word of the command line in lower case names this kind.
    pub fn is_meant(self, word: &str) -> bool {
        let info = self.info();
        let (resource, group) = word.split_once('.').unwrap_or((word, ""));
        let by_name = resource == info.plural
            || resource == info.name.to_ascii_lowercase()
            || info
                .short
                .split(',')
                .any(|s| !s.is_empty() && s == resource);
        by_name
            && (group.is_empty()
                || group == info.group
                || group == format!("{}.{}", info.version, info.group))
    }

    /// Returns true if `metadata.generation` counts changes of this kind's spec.
    pub fn has_generation(self) -> bool {
        self.info().strategy.generation == Generation::Counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line_name_kinds() {
        for word in [
            "deploy",
            "deployment",
            "deployments",
            "Deployment",
            "deployments.apps",
            "deployments.v1.apps",
        ] {
            assert_eq!(Kind::from_word(word), Some(Kind::Deployment), "{word}");
        }
        assert_eq!(Kind::from_word("pvc"), Some(Kind::PersistentVolumeClaim));
        assert_eq!(Kind::from_word("nothing"), None);
    }

    #[test]
    fn custom_kinds_are_sorted_by_name_whatever_was_named_first() {
        let named = |plural, name| {
            Kind::custom(CustomNames {
                group: "test.example.com",
                version: "v1",
                name,
                plural,
                namespaced: true,
            })
            .unwrap()
        };
        let (b, a) = (named("boats", "Boat"), named("anchors", "Anchor"));
        assert_eq!(named("boats", "Boat"), b);
        assert!(a < b && b > Kind::Pod && a != b);
        assert_eq!(Kind::from_api("test.example.com/v1", "Boat"), Some(b));
        assert_eq!(
            all()
                .filter(|kind| kind.info().group == "test.example.com")
                .collect::<Vec<_>>(),
            [a, b]
        );
        assert_eq!(b.qualified_singular(), "boat.test.example.com");
    }

    #[test]
    fn a_kind_is_known_by_its_api_version_too() {
        assert_eq!(
            Kind::from_api("apps/v1", "Deployment"),
            Some(Kind::Deployment)
        );
        assert_eq!(Kind::from_api("v1", "Deployment"), None);
        assert_eq!(
            Kind::from_api("v1", "Pod")
                .map(Kind::api_version)
                .as_deref(),
            Some("v1")
        );
    }
}
