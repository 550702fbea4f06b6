//! Reasons why an object of the Gateway API is not served, as data; `headline` turns them into messages.

use k8s_model::Str;

/// Reason why a GatewayClass, a Gateway or an HTTPRoute is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GatewayFault {
    /// The class named by a Gateway does not exist.
    ClassMissing(Str),
    /// The class names a controller that is not running here.
    ForeignController {
        /// Class.
        class: Str,
        /// Controller.
        controller: Str,
    },
    /// The controller does not serve a Gateway, as its condition says.
    NotServed {
        /// Reason of the condition.
        reason: Str,
        /// Message of the condition.
        message: Str,
    },
    /// A listener is not served.
    Listener {
        /// Listener.
        listener: Str,
        /// Message of the condition.
        message: Str,
    },
    /// A route names no Gateway.
    NoParent,
    /// The Gateway named by a route does not exist.
    ParentMissing(Str),
    /// The Gateway named by a route is not served.
    ParentNotServed(Str),
    /// The Gateway does not accept a route.
    Refused {
        /// Gateway.
        gateway: Str,
        /// Message of the condition.
        message: Str,
    },
    /// A route has a backend Service that does not exist.
    BackendMissing {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
    },
    /// A route has a backend port that its Service does not have.
    BackendPort {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
        /// Port.
        port: Str,
    },
    /// A route has a backend Service in another namespace, without a ReferenceGrant there.
    BackendForbidden {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
        /// Namespace of the Service.
        namespace: Str,
    },
    /// A route has a backend that is not a Service.
    BackendKind {
        /// Host and path.
        path: Str,
        /// Kind of the backend.
        kind: Str,
    },
}
