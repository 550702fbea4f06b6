//! Ingresses that no controller serves, or whose backends do not work.

use super::finding::{Context, Diagnosis, all_in, line};
use super::network::allowance;
use super::workloads::follow;
use crate::rules;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use actions::Action;
use cluster_network::connectivity::{Backend, class_of, ingress_backend};
use k8s_model::ingress::{BackendService, IngressSpec};
use k8s_model::network::Service;
use k8s_model::{Kind, Object, Str};
use serde_json::json;
use std::rc::Rc;

/// Class offered if an Ingress names none.
const OFFERED_CLASS: &str = "nginx";

pub fn ingress(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let spec = IngressSpec::of(object);
    if object.meta.is_deleting() {
        return None;
    }
    if class_of(sim.store(), object).is_none() {
        return Some(unserved(object, spec.class(object)));
    }
    for (r, rule) in spec.rules.iter().enumerate() {
        for (p, path) in rule.http.paths.iter().enumerate() {
            let at = format!("/spec/rules/{r}/http/paths/{p}/backend/service");
            let asked = rules::of_path(&rule.host, path);
            if let Some(found) = path
                .backend
                .service
                .as_ref()
                .and_then(|to| leads_nowhere(sim, object, to, &asked, &at))
            {
                return Some(found);
            }
        }
    }
    let to = spec.default_backend.as_ref()?.service.as_ref()?;
    leads_nowhere(sim, object, to, "*", "/spec/defaultBackend/service")
}

fn unserved(object: &Object, class: &str) -> Diagnosis {
    let (waits, name) = match class {
        "" => (PendingReason::NoIngressClass, OFFERED_CLASS),
        class => (PendingReason::IngressClassMissing(class.into()), class),
    };
    let mut out = Diagnosis::new(object, waits);
    let manifest = format!(
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata:\n  name: {name}\nspec:\n  controller: k8s.io/ingress-nginx\n"
    );
    let patch = json!({ "spec": { "ingressClassName": name } });
    let names = class.is_empty().then(|| {
        line(
            "patch",
            &object.key(),
            &format!(" --type=merge -p '{patch}'"),
        )
    });
    out.cure(
        RemedyKind::MakeIngressClass,
        name,
        "",
        &[Action::apply(manifest)]
            .into_iter()
            .chain(names)
            .collect::<Vec<_>>(),
    );
    out
}

/// Diagnoses a backend at a path of the object.
fn leads_nowhere(
    sim: &Context<'_>,
    object: &Object,
    to: &BackendService,
    asked: &str,
    at: &str,
) -> Option<Diagnosis> {
    let (path, service): (Str, Str) = (asked.into(), to.name.clone());
    let of = k8s_model::ingress::IngressBackend {
        service: Some(to.clone()),
    };
    let (key, found) = ingress_backend(sim.store(), &object.meta.namespace, &of);
    let set = |field: &str, value: serde_json::Value| {
        let patch = json!([{ "op": "replace", "path": format!("{at}/{field}"), "value": value }]);
        line(
            "patch",
            &object.key(),
            &format!(" --type=json -p '{patch}'"),
        )
    };
    match found {
        Backend::Ready(_) => None,
        Backend::NoService => {
            let mut out = Diagnosis::new(object, PendingReason::BackendMissing { path, service });
            let others = all_in(sim, Kind::Service, &object.meta.namespace)
                .filter(|other| other.meta.name != "kubernetes");
            for other in others.take(4) {
                out.facts.push(DecidingFact::Word(
                    FactLabel::Services,
                    other.meta.name.clone(),
                ));
                let port = other
                    .body::<Service>()
                    .spec
                    .ports
                    .first()
                    .map_or(80, |port| port.port);
                let steps = [
                    set("name", json!(other.meta.name.as_str())),
                    set("port", json!({ "number": port })),
                ];
                out.cure(RemedyKind::SetBackendService, &other.meta.name, "", &steps);
            }
            Some(out)
        }
        Backend::NoPort => {
            let wanted = if to.port.name.is_empty() {
                to.port.number.to_string().into()
            } else {
                to.port.name.clone()
            };
            let mut out = Diagnosis::new(
                object,
                PendingReason::BackendPort {
                    path,
                    service,
                    port: wanted,
                },
            );
            let ports = key
                .as_ref()
                .and_then(|key| sim.store().get(key))
                .map(|object| &object.body::<Service>().spec.ports);
            for port in ports.into_iter().flatten() {
                out.word(FactLabel::Ports, &port.port.to_string());
                out.cure(
                    RemedyKind::SetBackendPort,
                    &port.port.to_string(),
                    "",
                    &[set("port", json!({ "number": port.port }))],
                );
            }
            Some(out)
        }
        Backend::Denied(policies) => {
            let policies = policies.into_iter().map(|policy| policy.name).collect();
            let mut out = Diagnosis::new(object, PendingReason::BackendDenied { path, policies });
            let service = key.as_ref().and_then(|key| sim.store().get(key))?;
            let name = super::finding::free_name(
                sim,
                Kind::NetworkPolicy,
                &object.meta.namespace,
                "allow-ingress-nginx",
            );
            let rule = json!({"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}]});
            out.cure(
                RemedyKind::AllowClient,
                "ingress-nginx",
                "",
                &[allowance(&name, service, &rule)],
            );
            Some(out)
        }
        Backend::NoEndpoints => {
            let mut out = Diagnosis::new(object, PendingReason::BackendNotReady { path, service });
            follow(&mut out, key.and_then(|key| sim.diagnose(&key)));
            Some(out)
        }
    }
}
