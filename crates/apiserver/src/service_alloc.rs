//! Cluster IPs and node ports of Services.
//!
//! Models `pkg/registry/core/service/storage/alloc.go`.

use super::error::ApiError;
use super::services;
use super::store::Store;
use super::validation::{ErrorType, FieldError};
use k8s_model::network::Service;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::{Map, Value, json};

/// Allocates cluster IPs and node ports of a Service.
pub(super) fn allocate(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    let Body::Service(service) = &mut object.body else {
        return Ok(());
    };
    if service.spec.kind == "ExternalName" {
        return Ok(());
    }
    check_families(&object.meta.name, service)?;
    let own = store
        .get(&ObjectRef::new(
            Kind::Service,
            &object.meta.namespace,
            &object.meta.name,
        ))
        .cloned();
    let is_taken = |ip: &str| store.addresses.is_taken(ip, own.as_deref());
    let is_open = |port: i32| store.addresses.is_open(port, own.as_deref());
    let name = object.meta.name.as_str();
    let asked = service.spec.cluster_ip.as_str();
    let fixed = !asked.is_empty() && asked != "None";
    if own.is_none() {
        let value = cluster_ips(service);
        if fixed && value.first().is_some_and(|first| first != asked) {
            let detail = "first value must match `clusterIP`".to_owned();
            return Err(taken_value(
                name,
                "spec.clusterIPs".into(),
                json!(value).to_string(),
                detail,
            ));
        }
    }
    let kept = own.as_deref().is_some_and(|own| {
        own.get::<Service>()
            .is_some_and(|own| own.spec.cluster_ip == asked)
    });
    if fixed && !kept && !is_service_address(asked) {
        let detail = format!(
            "failed to allocate IP {asked}: the provided network does not match the current range"
        );
        return Err(taken_value(
            name,
            "spec.clusterIPs".into(),
            format!("[{asked:?}]"),
            detail,
        ));
    }
    if fixed && is_taken(asked) {
        let detail = format!("failed to allocate IP {asked}: provided IP is already allocated");
        return Err(taken_value(
            name,
            "spec.clusterIPs".into(),
            format!("[{asked:?}]"),
            detail,
        ));
    }
    if let Some((i, port)) = service
        .spec
        .ports
        .iter()
        .enumerate()
        .find(|(_, p)| p.node_port != 0 && is_open(p.node_port))
    {
        let field = format!("spec.ports[{i}].nodePort");
        return Err(taken_value(
            name,
            field,
            port.node_port.to_string(),
            "provided port is already allocated".into(),
        ));
    }
    let mut ip = asked.to_string();
    let mut n = store.addresses.next_ip;
    // When all are taken, the last one tried is allocated twice rather than searching forever.
    for _ in 0..=u16::MAX {
        if !ip.is_empty() && (ip == "None" || !is_taken(&ip)) {
            break;
        }
        n += 1;
        ip = format!("10.96.{}.{}", n >> 8 & 0xff, n & 0xff);
    }
    let checked = health_check_port(service);
    if let (Some(port), true) = (checked, services::needs_health_check(&service.spec.raw))
        && is_open(port)
    {
        return Err(ApiError::internal(&format!(
            "Internal error occurred: failed to allocate requested HealthCheck NodePort {port}: provided port is already allocated"
        )));
    }
    let has_ports = services::may_have_node_ports(&service.spec.raw);
    let is_new = own.is_none();
    let allocates = services::allocates_node_ports(&service.spec.raw);
    let first = store.addresses.next_port;
    let mut taken = 0;
    service.spec = service.spec.edited(|raw| {
        raw.insert("clusterIP".into(), ip.as_str().into());
        raw.insert("clusterIPs".into(), json!([ip]));
        let selects = raw
            .get("selector")
            .and_then(Value::as_object)
            .is_some_and(|s| !s.is_empty());
        let families = if selects || ip != "None" {
            json!(["IPv4"])
        } else {
            json!(["IPv4", "IPv6"])
        };
        raw.entry("ipFamilyPolicy").or_insert_with(|| {
            if families.as_array().is_some_and(|f| f.len() == 2) {
                "RequireDualStack"
            } else {
                "SingleStack"
            }
            .into()
        });
        raw.entry("ipFamilies").or_insert(families);
        if has_ports {
            raw.entry("externalTrafficPolicy")
                .or_insert_with(|| "Cluster".into());
            let mut own: Vec<i32> = node_ports(service).collect();
            let mut allocate = |place: &mut Map<String, Value>, field: &str| {
                if place
                    .get(field)
                    .is_some_and(|port| *port != 0 && !port.is_null())
                {
                    return;
                }
                let mut number = 0;
                // When all are taken, the last one tried is allocated twice rather than searching forever.
                for _ in 0..2768 {
                    if number != 0 && !is_open(number) && !own.contains(&number) {
                        break;
                    }
                    number = 30_000 + ((u32::from(first) + taken) * 7919 % 2768) as i32;
                    taken += 1;
                }
                own.push(number);
                place.insert(field.into(), number.into());
            };
            let ports = raw
                .get_mut("ports")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .filter(|_| allocates);
            // The protocols of a new Service's port share a node port.
            let asked = service.spec.ports.iter().filter(|one| one.node_port != 0);
            let mut shared: Vec<(i64, Value)> = asked
                .map(|one| (one.port.into(), one.node_port.into()))
                .collect();
            for port in ports.filter_map(Value::as_object_mut) {
                let number = port.get("port").and_then(Value::as_i64).unwrap_or(0);
                let known = shared.iter().find(|(of, _)| is_new && *of == number);
                match (known, port.get("nodePort").and_then(Value::as_i64)) {
                    (Some((_, node_port)), None | Some(0)) => {
                        port.insert("nodePort".to_owned(), node_port.clone());
                    }
                    _ => allocate(port, "nodePort"),
                }
                shared.push((number, port["nodePort"].clone()));
            }
            if services::needs_health_check(&service.spec.raw) {
                allocate(raw, "healthCheckNodePort");
            }
        }
        if service.spec.kind == "LoadBalancer" {
            raw.entry("allocateLoadBalancerNodePorts")
                .or_insert(true.into());
        }
    });
    store.addresses.next_ip = n;
    store.addresses.next_port = ((u32::from(first) + taken) % 2768) as u16;
    Ok(())
}

/// Returns the port at which load balancers check the nodes of a Service.
fn health_check_port(service: &Service) -> Option<i32> {
    let port = service.spec.raw["healthCheckNodePort"].as_i64()?;
    i32::try_from(port).ok().filter(|port| *port != 0)
}

/// Returns the ports that a Service occupies on every node.
pub(super) fn node_ports(service: &Service) -> impl Iterator<Item = i32> {
    let ports = service.spec.ports.iter().map(|port| port.node_port);
    ports
        .filter(|port| *port != 0)
        .chain(health_check_port(service))
}

/// Refuses a Service that requires more than IPv4. A headless Service without a selector may have any IP families.
///
/// Models `initIPFamilyFields` of `pkg/registry/core/service/storage/alloc.go`.
fn check_families(name: &str, service: &Service) -> Result<(), ApiError> {
    let raw = &service.spec.raw;
    if service.is_headless() && service.spec.selector.is_empty() {
        return Ok(());
    }
    let mut errors = Vec::new();
    let mut complain = |field: String, value: &Value, detail: &str| {
        errors.push(FieldError {
            field,
            fault: ErrorType::Invalid,
            value: value.to_string(),
            detail: detail.to_owned(),
        });
    };
    if raw["ipFamilyPolicy"] == "RequireDualStack" {
        complain(
            "spec.ipFamilyPolicy".into(),
            &raw["ipFamilyPolicy"],
            "this cluster is not configured for dual-stack services",
        );
    }
    for (i, family) in raw["ipFamilies"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(_, family)| *family != "IPv4")
    {
        complain(
            format!("spec.ipFamilies[{i}]"),
            family,
            "not configured on this cluster",
        );
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(ApiError::invalid_fields(
            &Kind::Service.group_kind(),
            name,
            &errors,
        )),
    }
}

/// Returns `clusterIPs` of a Service.
fn cluster_ips(service: &Service) -> Vec<String> {
    let ips = service.spec.raw.get("clusterIPs").and_then(Value::as_array);
    ips.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Returns true if an address is in the range of Services, 10.96.0.0/12.
fn is_service_address(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| {
        u32::from(ip) >> 20 == u32::from(std::net::Ipv4Addr::new(10, 96, 0, 0)) >> 20
    })
}

/// Builds the error for a value that another Service already has.
fn taken_value(name: &str, field: String, value: String, detail: String) -> ApiError {
    let error = FieldError {
        field,
        fault: ErrorType::Invalid,
        value,
        detail,
    };
    ApiError::invalid_fields(&Kind::Service.group_kind(), name, &[error])
}
