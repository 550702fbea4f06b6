//! Types of expressions, and the types of the variables of admission.
//!
//! Models `cel-go/common/types/types.go` and `BuildRequestType`, `BuildNamespaceType` of
//! `apiserver/pkg/admission/plugin/cel/compile.go`.

use std::fmt;

/// Type of an expression, as far as it is known before evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CelType {
    /// Any type: known only by the value.
    Dyn,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// Type of `null`.
    Null,
    /// `list`, with the type of its elements.
    List(Box<CelType>),
    /// `map` with keys that are strings, with the type of its values.
    Map(Box<CelType>),
    /// Optional value.
    Optional(Box<CelType>),
    /// Type with a name, such as `kubernetes.URL`; some have fields.
    Named(&'static str),
}

/// Type of the request under admission.
pub const REQUEST: CelType = CelType::Named("kubernetes.AdmissionRequest");
/// Type of the namespace of the object under admission.
pub const NAMESPACE: CelType = CelType::Named("kubernetes.Namespace");
/// Type of the authorizer of the request.
pub const AUTHORIZER: CelType = CelType::Named("kubernetes.authorization.Authorizer");
/// Type of the variables that a policy composes.
pub const VARIABLES: CelType = CelType::Named("kubernetes.variables");

impl CelType {
    /// Returns true for a type of numbers.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, CelType::Int | CelType::Uint | CelType::Double)
    }

    /// Returns true for a number, string or boolean.
    pub(super) fn is_scalar(&self) -> bool {
        self.is_number() || matches!(self, CelType::Bool | CelType::String)
    }

    /// Returns the type of the elements of a list, the keys of a map.
    pub(super) fn element(&self) -> CelType {
        match self {
            CelType::List(element) => (**element).clone(),
            CelType::Map(_) => CelType::String,
            _ => CelType::Dyn,
        }
    }

    /// Returns the type in an optional.
    pub(super) fn unwrapped(&self) -> CelType {
        match self {
            CelType::Optional(inner) => (**inner).clone(),
            _ => CelType::Dyn,
        }
    }

    /// Returns the type of a field; `None` if the type has no such field.
    pub(super) fn field(&self, name: &str) -> Option<CelType> {
        let named = match self {
            CelType::Dyn => return Some(CelType::Dyn),
            CelType::Map(value) => return Some((**value).clone()),
            CelType::Optional(inner) => {
                return inner
                    .field(name)
                    .map(|field| CelType::Optional(field.into()));
            }
            CelType::Named(name) => *name,
            _ => return None,
        };
        let strings = || CelType::List(CelType::String.into());
        let object = |name| Some(CelType::Named(name));
        match (named, name) {
            ("kubernetes.AdmissionRequest", "kind" | "requestKind") => {
                object("kubernetes.GroupVersionKind")
            }
            ("kubernetes.AdmissionRequest", "resource" | "requestResource") => {
                object("kubernetes.GroupVersionResource")
            }
            ("kubernetes.AdmissionRequest", "userInfo") => object("kubernetes.UserInfo"),
            ("kubernetes.AdmissionRequest", "dryRun") => Some(CelType::Bool),
            ("kubernetes.AdmissionRequest", "options") => Some(CelType::Dyn),
            ("kubernetes.UserInfo", "groups") => Some(strings()),
            ("kubernetes.UserInfo", "extra") => Some(CelType::Map(strings().into())),
            ("kubernetes.Namespace", "metadata") => object("kubernetes.NamespaceMetadata"),
            ("kubernetes.Namespace", "spec") => object("kubernetes.NamespaceSpec"),
            ("kubernetes.Namespace", "status") => object("kubernetes.NamespaceStatus"),
            ("kubernetes.NamespaceMetadata", "labels" | "annotations") => {
                Some(CelType::Map(CelType::String.into()))
            }
            ("kubernetes.NamespaceMetadata" | "kubernetes.NamespaceSpec", "finalizers") => {
                Some(strings())
            }
            ("kubernetes.NamespaceMetadata", "deletionGracePeriodSeconds" | "generation") => {
                Some(CelType::Int)
            }
            ("kubernetes.NamespaceMetadata", "creationTimestamp" | "deletionTimestamp")
            | ("kubernetes.NamespaceCondition", "lastTransitionTime") => object("timestamp"),
            ("kubernetes.NamespaceStatus", "conditions") => object("kubernetes.NamespaceCondition")
                .map(|condition| CelType::List(condition.into())),
            ("kubernetes.authorization.Authorizer", "requestResource") => {
                object("kubernetes.authorization.ResourceCheck")
            }
            (
                "kubernetes.AdmissionRequest",
                "subResource" | "requestSubResource" | "name" | "namespace" | "operation",
            )
            | ("kubernetes.GroupVersionKind", "group" | "version" | "kind")
            | ("kubernetes.GroupVersionResource", "group" | "version" | "resource")
            | ("kubernetes.UserInfo", "username" | "uid")
            | (
                "kubernetes.NamespaceMetadata",
                "name" | "generateName" | "namespace" | "UID" | "resourceVersion",
            )
            | ("kubernetes.NamespaceStatus", "phase")
            | ("kubernetes.NamespaceCondition", "status" | "type" | "message" | "reason") => {
                Some(CelType::String)
            }
            _ => None,
        }
    }
}

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CelType::Dyn => f.write_str("dyn"),
            CelType::Bool => f.write_str("bool"),
            CelType::Int => f.write_str("int"),
            CelType::Uint => f.write_str("uint"),
            CelType::Double => f.write_str("double"),
            CelType::String => f.write_str("string"),
            CelType::Bytes => f.write_str("bytes"),
            CelType::Null => f.write_str("null_type"),
            CelType::List(element) => write!(f, "list({element})"),
            CelType::Map(value) => write!(f, "map(string, {value})"),
            CelType::Optional(inner) => write!(f, "optional_type({inner})"),
            CelType::Named(name) => f.write_str(name),
        }
    }
}
