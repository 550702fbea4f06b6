//! Ingresses: stored as JSON, read where they are looked at.

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
        /// Where requests go that no rule matches.
        pub default_backend: Option<IngressBackend> = "defaultBackend",
        pub rules: Vec<IngressRule> = "rules",
    }

    /// The paths of one host; without a host, of every host.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressRule {
        pub host: Str = "host",
        pub http: IngressPaths = "http",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressPaths {
        pub paths: Vec<IngressPath> = "paths",
    }

    /// A path and where it leads.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressPath {
        pub path: Str = "path",
        /// `Exact`, `Prefix` or `ImplementationSpecific`.
        pub path_type: Str = "pathType",
        pub backend: IngressBackend = "backend",
    }

    /// A port of a Service.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IngressBackend {
        pub service: Option<BackendService> = "service",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BackendService {
        pub name: Str = "name",
        pub port: BackendPort = "port",
    }

    /// By its name or by its number.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BackendPort {
        pub name: Str = "name",
        pub number: i32 = "number",
    }
}

/// The annotation that named the class before the field did.
const OLD_CLASS: &str = "kubernetes.io/ingress.class";

impl IngressSpec {
    /// Reads the spec; what cannot be read routes nothing.
    pub fn of(ingress: &Object) -> IngressSpec {
        let Body::Other(map) = &ingress.body else {
            return Default::default();
        };
        json::part(map.get("spec")).unwrap_or_default()
    }

    /// Each path behind its host, as in a URL.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.rules.iter().flat_map(|rule| {
            rule.http
                .paths
                .iter()
                .map(|path| [rule.host.as_str(), &path.path].concat())
        })
    }

    /// The name of its class; empty if it has none.
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

/// The IngressClass that Ingresses without a class get.
pub fn default_class<'a>(classes: impl Iterator<Item = &'a Rc<Object>>) -> Option<&'a Rc<Object>> {
    let default = |class: &&Rc<Object>| {
        class
            .meta
            .annotation("ingressclass.kubernetes.io/is-default-class")
            .is_some_and(|v| v == "true")
    };
    super::storage::newest(classes.filter(default))
}

/// Names a class in an Ingress that names none in either way.
pub fn give_class(ingress: &mut Object, class: &str) {
    if IngressSpec::of(ingress).class(ingress).is_empty()
        && let Body::Other(map) = &mut ingress.body
        && let Some(Value::Object(spec)) = map.get_mut("spec")
    {
        spec.insert("ingressClassName".into(), class.into());
    }
}

/// The first address at which a controller serves an Ingress, if one does.
pub fn address(ingress: &Object) -> Option<&str> {
    let Body::Other(map) = &ingress.body else {
        return None;
    };
    map.get("status")?["loadBalancer"]["ingress"][0]["ip"].as_str()
}

/// Sets the address at which it is served; `None` for nowhere.
pub fn set_address(ingress: &mut Object, address: Option<&str>) {
    if let Body::Other(map) = &mut ingress.body {
        let balancer: Value =
            address.map_or_else(|| json!({}), |ip| json!({ "ingress": [{ "ip": ip }] }));
        map.insert("status".into(), json!({ "loadBalancer": balancer }));
    }
}
