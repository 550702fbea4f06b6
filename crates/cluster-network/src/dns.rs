//! Cluster DNS: records of Services, and lookups from Pods.
//!
//! A Service with a cluster IP has one record; a headless one has a record for every ready endpoint and, for Pods with a
//! hostname under it, a name of their own. Models CoreDNS' `plugin/kubernetes` and the cluster's `resolv.conf`.

use apiserver::Store;
use k8s_model::network::{EndpointSlice, Service};
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::collections::{BTreeMap, BTreeSet};

/// Address of the cluster's name store.
pub const SERVER: &str = "10.96.0.10";
/// Suffix of every DNS name of the cluster.
pub const ZONE: &str = "svc.cluster.local";

/// DNS record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DnsRecord {
    /// Full name, without the trailing dot.
    pub name: String,
    /// Address; the target name for an ExternalName.
    pub address: Str,
    /// Name of the Pod behind the record, if it is a single Pod's.
    pub pod: Str,
}

/// Returns the records of a Service and its EndpointSlices.
pub fn records<'a>(
    service: &Object,
    slices: impl Iterator<Item = &'a EndpointSlice>,
) -> Vec<DnsRecord> {
    let Some(body) = service.get::<Service>() else {
        return Vec::new();
    };
    let name = format!("{}.{}.{ZONE}", service.meta.name, service.meta.namespace);
    if body.spec.kind == "ExternalName" {
        return vec![DnsRecord {
            name,
            address: body.spec.external_name.clone(),
            pod: Str::default(),
        }];
    }
    if !body.is_headless() {
        return vec![DnsRecord {
            name,
            address: body.spec.cluster_ip.clone(),
            pod: Str::default(),
        }];
    }
    let (mut all, mut own) = (Vec::new(), Vec::new());
    for endpoint in slices
        .flat_map(|slice| &slice.endpoints)
        .filter(|e| e.is_ready())
    {
        let pod = endpoint
            .target_ref
            .as_ref()
            .map(|target| target.name.clone())
            .unwrap_or_default();
        for address in &endpoint.addresses {
            let host = if endpoint.hostname.is_empty() {
                address.replace('.', "-")
            } else {
                endpoint.hostname.to_string()
            };
            all.push(DnsRecord {
                name: name.clone(),
                address: address.clone(),
                pod: pod.clone(),
            });
            own.push(DnsRecord {
                name: format!("{host}.{name}"),
                address: address.clone(),
                pod: pod.clone(),
            });
        }
    }
    all.append(&mut own);
    // A Pod with two port numbers is in two slices, but has one record.
    let mut seen = BTreeSet::new();
    all.retain(|record| seen.insert(record.clone()));
    all
}

/// Answer to a lookup.
#[derive(Clone, Debug, Default)]
pub struct DnsAnswer {
    pub records: Vec<DnsRecord>,
    /// Canonical name of each address: that of the Pod behind it, if it has one.
    pub own: Vec<String>,
}

/// Returns the result of a lookup from a Pod of this namespace: the search domains are tried in turn.
pub fn lookup(store: &Store, namespace: &str, name: &str) -> Vec<DnsRecord> {
    answer(store, namespace, name).records
}

/// Returns the answer to a lookup, with the canonical names of the addresses.
pub fn answer(store: &Store, namespace: &str, name: &str) -> DnsAnswer {
    let name = name.trim_end_matches('.');
    for search in [
        format!(".{namespace}.{ZONE}"),
        format!(".{ZONE}"),
        ".cluster.local".to_string(),
        String::new(),
    ] {
        let full = format!("{name}{search}");
        // The last two labels before the zone name the Service: no other Service has a record of this name.
        let Some(labels) = full.strip_suffix(&format!(".{ZONE}")) else {
            continue;
        };
        let mut labels = labels.rsplit('.');
        let (Some(namespace), Some(service)) = (labels.next(), labels.next()) else {
            continue;
        };
        let Some(service) = store.get(&ObjectRef::new(Kind::Service, namespace, service)) else {
            continue;
        };
        let all = records(service, store.slices_of(service));
        // Records of Pods come last, so that they override the Service's name.
        let mut own: BTreeMap<&Str, &str> = BTreeMap::new();
        for record in &all {
            own.insert(&record.address, &record.name);
        }
        let found: Vec<DnsRecord> = all
            .iter()
            .filter(|record| record.name == full)
            .cloned()
            .collect();
        if !found.is_empty() {
            let own = found
                .iter()
                .map(|record| {
                    own.get(&record.address)
                        .map_or(String::new(), |name| (*name).to_owned())
                })
                .collect();
            return DnsAnswer {
                records: found,
                own,
            };
        }
    }
    DnsAnswer::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn service(spec: serde_json::Value) -> Object {
        Object::from_value(
            Kind::Service,
            json!({"metadata": {"name": "nginx", "namespace": "default"}, "spec": spec}),
        )
        .unwrap()
    }

    #[test]
    fn a_headless_service_has_a_name_for_every_ready_pod() {
        let slice = Object::from_value(
            Kind::EndpointSlice,
            json!({"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [
                {"addresses": ["10.244.1.2"], "hostname": "web-0", "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": "web-0"}},
                {"addresses": ["10.244.2.2"], "hostname": "web-1", "conditions": {"ready": false}, "targetRef": {"kind": "Pod", "name": "web-1"}},
                {"addresses": ["10.244.3.2"], "conditions": {"ready": true}}]}),
        )
        .unwrap();
        let slices = || std::iter::once(slice.body::<EndpointSlice>());
        let names = |spec| {
            records(&service(spec), slices())
                .into_iter()
                .map(|r| format!("{} {}", r.name, r.address))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(json!({"clusterIP": "None"})),
            [
                "nginx.default.svc.cluster.local 10.244.1.2",
                "nginx.default.svc.cluster.local 10.244.3.2",
                "web-0.nginx.default.svc.cluster.local 10.244.1.2",
                "10-244-3-2.nginx.default.svc.cluster.local 10.244.3.2"
            ]
        );
        assert_eq!(
            names(json!({"clusterIP": "10.96.0.7"})),
            ["nginx.default.svc.cluster.local 10.96.0.7"]
        );
        assert_eq!(
            names(json!({"type": "ExternalName", "externalName": "example.com"})),
            ["nginx.default.svc.cluster.local example.com"]
        );
    }
}
