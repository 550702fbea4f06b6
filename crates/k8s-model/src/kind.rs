//! Kinds of the API server with their names, groups and scopes, including those that CustomResourceDefinitions add.

use std::cell::RefCell;
use std::cmp::Ordering;

/// Fixed properties of a kind.
#[derive(Debug)]
pub struct KindInfo {
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
    /// True if a controller of this engine acts on the kind; other kinds are stored and shown as inert.
    pub animated: bool,
}

/// Returns the group of an `apiVersion`: `apps` of `apps/v1`, empty for the core group.
pub fn api_group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

macro_rules! kinds {
    ($($name:ident $group:literal $version:literal $plural:literal $short:literal $ns:literal $animated:literal;)*) => {
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

        const INFOS: &[KindInfo] = &[$(KindInfo {
            name: stringify!($name), group: $group, version: $version, plural: $plural,
            short: $short, namespaced: $ns, animated: $animated,
        },)*];

        /// All built-in kinds, in the order of the enum.
        pub const ALL: &[Kind] = &[$(Kind::$name,)*];
    };
}

kinds! {
    Namespace "" "v1" "namespaces" "ns" false true;
    Node "" "v1" "nodes" "no" false true;
    Pod "" "v1" "pods" "po" true true;
    ReplicaSet "apps" "v1" "replicasets" "rs" true true;
    Deployment "apps" "v1" "deployments" "deploy" true true;
    StatefulSet "apps" "v1" "statefulsets" "sts" true true;
    ControllerRevision "apps" "v1" "controllerrevisions" "" true true;
    DaemonSet "apps" "v1" "daemonsets" "ds" true true;
    ReplicationController "" "v1" "replicationcontrollers" "rc" true true;
    Job "batch" "v1" "jobs" "" true true;
    CronJob "batch" "v1" "cronjobs" "cj" true true;
    Service "" "v1" "services" "svc" true true;
    Endpoints "" "v1" "endpoints" "ep" true true;
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices" "" true true;
    PersistentVolumeClaim "" "v1" "persistentvolumeclaims" "pvc" true true;
    PersistentVolume "" "v1" "persistentvolumes" "pv" false true;
    StorageClass "storage.k8s.io" "v1" "storageclasses" "sc" false true;
    ConfigMap "" "v1" "configmaps" "cm" true false;
    Secret "" "v1" "secrets" "" true false;
    ServiceAccount "" "v1" "serviceaccounts" "sa" true true;
    PodDisruptionBudget "policy" "v1" "poddisruptionbudgets" "pdb" true true;
    HorizontalPodAutoscaler "autoscaling" "v2" "horizontalpodautoscalers" "hpa" true true;
    ResourceQuota "" "v1" "resourcequotas" "quota" true true;
    LimitRange "" "v1" "limitranges" "limits" true true;
    PriorityClass "scheduling.k8s.io" "v1" "priorityclasses" "pc" false true;
    Event "" "v1" "events" "ev" true true;
    PodTemplate "" "v1" "podtemplates" "" true false;
    Lease "coordination.k8s.io" "v1" "leases" "" true false;
    Ingress "networking.k8s.io" "v1" "ingresses" "ing" true true;
    IngressClass "networking.k8s.io" "v1" "ingressclasses" "" false true;
    NetworkPolicy "networking.k8s.io" "v1" "networkpolicies" "netpol" true true;
    Role "rbac.authorization.k8s.io" "v1" "roles" "" true false;
    RoleBinding "rbac.authorization.k8s.io" "v1" "rolebindings" "" true false;
    ClusterRole "rbac.authorization.k8s.io" "v1" "clusterroles" "" false false;
    ClusterRoleBinding "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "" false false;
    CSIDriver "storage.k8s.io" "v1" "csidrivers" "" false false;
    VolumeAttachment "storage.k8s.io" "v1" "volumeattachments" "" false false;
    RuntimeClass "node.k8s.io" "v1" "runtimeclasses" "" false false;
    CustomResourceDefinition "apiextensions.k8s.io" "v1" "customresourcedefinitions" "crd,crds" false false;
    APIService "apiregistration.k8s.io" "v1" "apiservices" "" false false;
    MutatingWebhookConfiguration "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "" false false;
    ValidatingWebhookConfiguration "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "" false false;
    ValidatingAdmissionPolicy "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "" false false;
    ValidatingAdmissionPolicyBinding "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "" false false;
    CertificateSigningRequest "certificates.k8s.io" "v1" "certificatesigningrequests" "csr" false true;
    FlowSchema "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" "" false false;
    PriorityLevelConfiguration "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations" "" false false;
    IPAddress "networking.k8s.io" "v1" "ipaddresses" "ip" false false;
    ServiceCIDR "networking.k8s.io" "v1" "servicecidrs" "" false false;
    DeviceClass "resource.k8s.io" "v1" "deviceclasses" "" false false;
    ResourceClaim "resource.k8s.io" "v1" "resourceclaims" "" true false;
    ResourceClaimTemplate "resource.k8s.io" "v1" "resourceclaimtemplates" "" true false;
    ResourceSlice "resource.k8s.io" "v1" "resourceslices" "" false false;
    CSINode "storage.k8s.io" "v1" "csinodes" "" false false;
    CSIStorageCapacity "storage.k8s.io" "v1" "csistoragecapacities" "" true false;
    VolumeAttributesClass "storage.k8s.io" "v1" "volumeattributesclasses" "vac" false false;
    MutatingAdmissionPolicy "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicies" "" false false;
    MutatingAdmissionPolicyBinding "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicybindings" "" false false;
    ComponentStatus "" "v1" "componentstatuses" "cs" false true;
}

thread_local! {
    /// Registered custom kinds by index; an entry is never removed and keeps its meaning, like a variant of an enum: the API server
    /// decides which of them a cluster serves.
    static CUSTOM: RefCell<Vec<&'static KindInfo>> = const { RefCell::new(Vec::new()) };
}

/// Group of the Gateway API.
pub const GATEWAY_GROUP: &str = "gateway.networking.k8s.io";
/// Kinds of the Gateway API that a controller acts on or reads.
const GATEWAY_KINDS: [&str; 4] = ["GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant"];

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
    let places = CUSTOM.with_borrow(Vec::len) as u16;
    let mut custom: Vec<Kind> = (0..places).map(Kind::Custom).collect();
    crate::sort::sort(&mut custom);
    ALL.iter().copied().chain(custom)
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
        CUSTOM.with_borrow_mut(|all| {
            let same = |known: &&KindInfo| {
                (
                    known.group,
                    known.version,
                    known.name,
                    known.plural,
                    known.namespaced,
                ) == (group, version, name, plural, namespaced)
            };
            let place = all.iter().position(same).unwrap_or_else(|| {
                let text = |text: &str| -> &'static str { Box::leak(text.into()) };
                let info = KindInfo {
                    name: text(name),
                    group: text(group),
                    version: text(version),
                    plural: text(plural),
                    short: "",
                    namespaced,
                    animated: group == GATEWAY_GROUP && GATEWAY_KINDS.contains(&name),
                };
                all.push(Box::leak(Box::new(info)));
                all.len() - 1
            });
            u16::try_from(place).ok().map(Kind::Custom)
        })
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

    /// Returns the fixed properties of this kind.
    pub fn info(self) -> &'static KindInfo {
        match self {
            Kind::Custom(place) => CUSTOM.with_borrow(|all| all[usize::from(place)]),
            built_in => &INFOS[built_in.index()],
        }
    }

    /// Returns true if a component acts on objects of this kind: a controller, a kubelet, which reads ConfigMaps and Secrets, or the
    /// API server, which evaluates roles, RuntimeClasses and CustomResourceDefinitions.
    pub fn is_simulated(self) -> bool {
        use Kind::{
            ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition, Role,
            RoleBinding, RuntimeClass, Secret,
        };
        self.info().animated
            || matches!(
                self,
                ConfigMap
                    | Secret
                    | Role
                    | RoleBinding
                    | ClusterRole
                    | ClusterRoleBinding
                    | RuntimeClass
                    | CustomResourceDefinition
            )
    }

    /// Returns true if objects of this kind are stored and can be written; ComponentStatuses are computed on read.
    pub fn is_stored(self) -> bool {
        self != Kind::ComponentStatus
    }

    /// Returns the deprecation warning that the API server sends to clients of this kind.
    pub fn deprecation(self) -> Option<&'static str> {
        match self {
            Kind::ComponentStatus => Some("v1 ComponentStatus is deprecated in v1.19+"),
            Kind::Endpoints => {
                Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
            }
            _ => None,
        }
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
        let (resource, group) = word.split_once('.').unwrap_or((&word, ""));
        all().find(|k| {
            let info = k.info();
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
        })
    }

    /// Returns true if `metadata.generation` counts changes of this kind's spec.
    pub fn has_generation(self) -> bool {
        matches!(
            self,
            Kind::Pod
                | Kind::ReplicaSet
                | Kind::Deployment
                | Kind::StatefulSet
                | Kind::DaemonSet
                | Kind::ReplicationController
                | Kind::Job
                | Kind::CronJob
                | Kind::EndpointSlice
                | Kind::PodDisruptionBudget
                | Kind::Ingress
                | Kind::NetworkPolicy
                | Kind::CustomResourceDefinition
                | Kind::PriorityClass
                | Kind::Custom(_)
        )
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
