//! Why something of the Gateway API is not served, as data; `headline` makes messages of it.

use k8s_model::Str;

/// Why a GatewayClass, a Gateway or an HTTPRoute is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GatewayFault {
    /// The class that a Gateway names does not exist.
    ClassMissing(Str),
    /// The class names a controller that does not run here.
    ForeignController {
        /// The class.
        class: Str,
        /// The controller.
        controller: Str,
    },
    /// The controller does not serve a Gateway: the reason and the message of the condition.
    NotServed {
        /// Its reason.
        reason: Str,
        /// Its message.
        message: Str,
    },
    /// A listener is not served.
    Listener {
        /// The listener.
        listener: Str,
        /// The condition's message.
        message: Str,
    },
    /// A route names no Gateway.
    NoParent,
    /// The Gateway that a route names does not exist.
    ParentMissing(Str),
    /// The Gateway that a route names is not served.
    ParentNotServed(Str),
    /// The Gateway does not accept a route.
    Refused {
        /// The Gateway.
        gateway: Str,
        /// The condition's message.
        message: Str,
    },
    /// A route leads to a Service that does not exist.
    BackendMissing {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
    },
    /// A route leads to a port that its Service does not have.
    BackendPort {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
        /// The port.
        port: Str,
    },
    /// A route leads to a Service of another namespace, which allows no reference to it.
    BackendForbidden {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
        /// Its namespace.
        namespace: Str,
    },
    /// A route leads to something that is no Service.
    BackendKind {
        /// Host and path.
        path: Str,
        /// Its kind.
        kind: Str,
    },
}
