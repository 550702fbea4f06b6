//! Gateway controller: accepts the GatewayClasses that name it, gives each Gateway of such a class an address, and reports for Gateways
//! and HTTPRoutes what they are attached to and what does not resolve.
//!
//! No cluster has one before the Gateway API and a controller are installed; without its definitions the controller has nothing to do.
//! Stands in for NGINX Gateway Fabric (`internal/controller/status/prepare_requests.go`, `internal/controller/state/conditions/conditions.go`).
//! Guarantees: a condition's time changes with its status only. Each Gateway has an address of its own, as from a provider of load
//! balancers; the proxies behind it are not Pods here.

mod status;

use super::{Controller, Watch};
use apiserver::ApiError;
use apiserver::Op;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use cluster_network::gateway::{all, class_served};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::gateway::{
    CONTROLLER, GATEWAY, GATEWAY_CLASS, GatewaySpec, HTTP_ROUTE, HttpRouteSpec, REFERENCE_GRANT,
    address_of, controller_of, holds, kinds, status_of,
};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::Value;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("nginx-gateway-controller")),
    aliases: &[],
    title: "gateway",
    icon: "i-ingress",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Gateway controller.
pub struct GatewayController;

impl Controller for GatewayController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            // Gateway API kinds are custom kinds, and a watch of one custom kind watches all.
            Watch::Maps(Kind::Custom(0)),
            Watch::Maps(Kind::Service),
            Watch::Maps(Kind::Secret),
            Watch::Maps(Kind::Namespace),
        ]
    }

    fn map_event(&self, event: &super::Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        let mut wake_all = |name: &str, passes: &dyn Fn(&Object) -> bool| {
            all(cache, name)
                .into_iter()
                .filter(|object| passes(object))
                .for_each(|object| wake(object.key()));
        };
        // A status write does not affect other objects.
        let is_status = event.op == Op::Modified
            && event
                .before
                .is_some_and(|before| before.meta.generation == object.meta.generation);
        match object.kind {
            Kind::Namespace
                if event
                    .before
                    .is_none_or(|before| before.meta.labels != object.meta.labels) =>
            {
                wake_all(GATEWAY, &|_| true);
                wake_all(HTTP_ROUTE, &|_| true);
            }
            Kind::Service => wake_all(HTTP_ROUTE, &|route| refers(route, object)),
            Kind::Secret => wake_all(GATEWAY, &|gateway| {
                GatewaySpec::of(gateway)
                    .listeners
                    .iter()
                    .any(|listener| listener.tls.is_some())
            }),
            kind if kind.info().group == GATEWAY_GROUP => {
                match kind.name() {
                    _ if is_status => {}
                    GATEWAY_CLASS | REFERENCE_GRANT => {
                        wake_all(GATEWAY, &|_| true);
                        wake_all(HTTP_ROUTE, &|_| true);
                    }
                    GATEWAY => wake_all(HTTP_ROUTE, &|route| names(route, &object.key())),
                    HTTP_ROUTE => {
                        let named = |gateway: &Object| {
                            let key = gateway.key();
                            names(object, &key)
                                || event.before.is_some_and(|before| names(before, &key))
                        };
                        wake_all(GATEWAY, &named);
                    }
                    _ => {}
                }
                if matches!(kind.name(), GATEWAY_CLASS | GATEWAY | HTTP_ROUTE) {
                    wake(object.key());
                }
            }
            _ => {}
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(object) = view
            .cache
            .object(key)
            .filter(|object| !object.meta.is_deleting())
        else {
            return Ok(Action::AwaitChange);
        };
        let now = view.wall.rfc3339();
        match key.kind.name() {
            GATEWAY_CLASS if controller_of(object) == CONTROLLER => {
                write(out, object, status::of_class(object, &now), Why::Observed)?;
            }
            GATEWAY => gateway(object, view.cache, &now, out)?,
            HTTP_ROUTE => {
                if let Some((status, why)) = status::of_route(view.cache, object, &now) {
                    write(out, object, status, why)?;
                }
            }
            _ => {}
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns true if a route refers to a Service of this name.
fn refers(route: &Object, service: &Object) -> bool {
    let spec = HttpRouteSpec::of(route);
    spec.rules
        .iter()
        .flat_map(|rule| &rule.backend_refs)
        .any(|to| to.name == service.meta.name)
}

/// Returns true if a route names a Gateway as its parent.
fn names(route: &Object, gateway: &ObjectRef) -> bool {
    HttpRouteSpec::of(route)
        .parent_refs
        .iter()
        .any(|parent| parent.names(&route.meta.namespace, gateway))
}

/// Writes the status of a Gateway; a Gateway that was never served is left to other controllers.
fn gateway(
    object: &Object,
    cache: &Cache,
    now: &str,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let spec = GatewaySpec::of(object);
    let class = spec.gateway_class_name.clone();
    if class_served(cache, &class).is_none() {
        let was_served = address_of(object).is_some() || holds(status_of(object), "Accepted");
        return if was_served {
            write(
                out,
                object,
                status::of_unserved(object, now),
                Why::GatewayUnserved { class },
            )
        } else {
            Ok(())
        };
    }
    let address = address(object, &spec, out);
    let is_new = address
        .as_deref()
        .is_ok_and(|address| address_of(object) != Some(address));
    let status = status::of_gateway(cache, object, &spec, address, now);
    let why = if is_new && status.get("addresses").is_some() {
        Why::GatewayServed { class }
    } else {
        Why::Observed
    };
    write(out, object, status, why)
}

/// Reason why a Gateway gets no address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AddressFault {
    /// The requested address is not an IP address.
    Unsupported,
    /// The requested address belongs to another Gateway.
    Taken,
    /// No address is left.
    NoneLeft,
}

/// Range of assignable addresses: the upper quarter of each of these networks.
const NETWORKS: std::ops::RangeInclusive<u8> = 200..=255;
const HOSTS: std::ops::RangeInclusive<u8> = 200..=254;

/// Returns the address of a Gateway: the requested one, the current one, or the first free one.
fn address(
    object: &Object,
    spec: &GatewaySpec,
    out: &LoopClient<'_>,
) -> Result<String, AddressFault> {
    // An address assigned a moment ago is in the store, though not yet in the cache.
    let others = kinds(GATEWAY)
        .into_iter()
        .flat_map(|kind| out.store().list(kind))
        .filter(|other| other.meta.uid != object.meta.uid);
    let taken: Vec<&str> = others.filter_map(|other| address_of(other)).collect();
    if spec
        .addresses
        .iter()
        .any(|address| address.kind != "IPAddress")
    {
        return Err(AddressFault::Unsupported);
    }
    if let Some(asked) = spec
        .addresses
        .iter()
        .find(|address| !address.value.is_empty())
    {
        return if taken.contains(&asked.value.as_str()) {
            Err(AddressFault::Taken)
        } else {
            Ok(asked.value.to_string())
        };
    }
    if let Some(own) = address_of(object).filter(|own| !taken.contains(own)) {
        return Ok(own.to_owned());
    }
    let mut all = NETWORKS
        .rev()
        .flat_map(|network| HOSTS.map(move |host| format!("172.18.{network}.{host}")));
    all.find(|address| !taken.contains(&address.as_str()))
        .ok_or(AddressFault::NoneLeft)
}

/// Writes a status if it differs.
fn write(
    out: &mut LoopClient<'_>,
    object: &Object,
    status: Value,
    why: Why,
) -> Result<(), ApiError> {
    if *status_of(object) == status {
        return Ok(());
    }
    let put = |object: &mut Object| {
        if let Body::Other(body) = &mut object.body {
            body.insert("status".into(), status);
        }
    };
    out.update_status(object, why, put).map(drop)
}
