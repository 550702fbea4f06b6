//! Ingresses: stored as JSON, parsed on access.

use super::json::record;
use super::{Body, Object, Str};
use crate::json;
use serde_json::{Value, json};
use std::rc::Rc;

record! {
    /// `spec` of an Ingress.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressSpec {
        pub ingress_class_name: Str = "ingressClassName",
        /// Backend for requests that no rule matches.
        pub default_backend: Option<IngressBackend> = "defaultBackend",
        pub rules: Vec<IngressRule> = "rules",
    }

    /// Paths of one host; without a host, of every host.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressRule {
        pub host: Str = "host",
        pub http: IngressPaths = "http",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressPaths {
        pub paths: Vec<IngressPath> = "paths",
    }

    /// Path and its backend.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressPath {
        pub path: Str = "path",
        /// `Exact`, `Prefix` or `ImplementationSpecific`.
        pub path_type: Str = "pathType",
        pub backend: IngressBackend = "backend",
    }

    /// Backend of a path.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressBackend {
        pub service: Option<BackendService> = "service",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BackendService {
        pub name: Str = "name",
        pub port: BackendPort = "port",
    }

    /// Port by name or by number.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BackendPort {
        pub name: Str = "name",
        pub number: i32 = "number",
    }
}

/// Annotation that named the class before `spec.ingressClassName` existed.
const OLD_CLASS: &str = "kubernetes.io/ingress.class";

impl IngressSpec {
    /// Parses the spec; the default if it does not decode.
    pub fn of(ingress: &Object) -> IngressSpec {
        let Body::Other(map) = &ingress.body else {
            return Default::default();
        };
        json::part(map.get("spec")).unwrap_or_default()
    }

    /// Returns each path preceded by its host, as in a URL.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.rules.iter().flat_map(|rule| {
            rule.http
                .paths
                .iter()
                .map(|path| [rule.host.as_str(), &path.path].concat())
        })
    }

    /// Returns the name of the IngressClass; empty if there is none.
    pub fn class<'a>(&'a self, ingress: &'a Object) -> &'a str {
        match self.ingress_class_name.as_str() {
            "" => ingress
                .meta
                .annotation(OLD_CLASS)
                .map_or("", |class| class.as_str()),
            class => class,
        }
    }
}

/// Returns the default IngressClass.
pub fn default_class<'a>(classes: impl Iterator<Item = &'a Rc<Object>>) -> Option<&'a Rc<Object>> {
    let default = |class: &&Rc<Object>| {
        class
            .meta
            .annotation("ingressclass.kubernetes.io/is-default-class")
            .is_some_and(|v| v == "true")
    };
    super::storage::newest(classes.filter(default))
}

/// Sets the class of an Ingress that has none in the spec or as annotation.
pub fn give_class(ingress: &mut Object, class: &str) {
    if IngressSpec::of(ingress).class(ingress).is_empty()
        && let Body::Other(map) = &mut ingress.body
        && let Some(Value::Object(spec)) = map.get_mut("spec")
    {
        spec.insert("ingressClassName".into(), class.into());
    }
}

/// Returns the first load balancer IP of an Ingress; `None` for a hostname.
pub fn address(ingress: &Object) -> Option<&str> {
    let Body::Other(map) = &ingress.body else {
        return None;
    };
    map.get("status")?["loadBalancer"]["ingress"][0]["ip"].as_str()
}

/// Sets the load balancer address of an Ingress; `None` removes it.
pub fn set_address(ingress: &mut Object, address: Option<&str>) {
    if let Body::Other(map) = &mut ingress.body {
        let balancer: Value =
            address.map_or_else(|| json!({}), |ip| json!({ "ingress": [{ "ip": ip }] }));
        map.insert("status".into(), json!({ "loadBalancer": balancer }));
    }
}
