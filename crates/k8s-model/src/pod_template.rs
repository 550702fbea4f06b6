//! Pod template of a workload, and the hash that names its revision.

use super::json;
use super::pod::PodSpec;
use super::{Labels, Str};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pod template: metadata and a spec, shared by all Pods made from it.
#[derive(Clone, Debug, Default)]
pub struct PodTemplate {
    /// `metadata` as JSON.
    pub meta: Map<String, Value>,
    /// Labels of its Pods.
    pub labels: Labels,
    /// Annotations of its Pods.
    pub annotations: Labels,
    /// Spec before admission.
    pub spec: Rc<PodSpec>,
    hash: OnceCell<Str>,
    revision_data: OnceCell<Str>,
}

impl PartialEq for PodTemplate {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.meta == other.meta
                && (Rc::ptr_eq(&self.spec, &other.spec) || self.spec == other.spec))
    }
}

impl PodTemplate {
    /// Parses a template.
    pub fn from_value(value: Value) -> Result<Rc<PodTemplate>, String> {
        let Value::Object(mut map) = value else {
            return Ok(Rc::default());
        };
        let meta = match map.remove("metadata") {
            Some(Value::Object(m)) => m,
            _ => Map::new(),
        };
        let labels = |key: &str| json::part(meta.get(key));
        let spec = map
            .remove("spec")
            .unwrap_or_else(|| Value::Object(Map::new()));
        Ok(Rc::new(PodTemplate {
            labels: labels("labels")?,
            annotations: labels("annotations")?,
            spec: PodSpec::from_raw(spec)?,
            meta,
            hash: OnceCell::new(),
            revision_data: OnceCell::new(),
        }))
    }

    /// Encodes the template as the API shows it.
    pub fn to_value(&self) -> Value {
        let mut spec = self.spec.raw.clone();
        if let (Value::Object(map), false) = (&mut spec, self.spec.node_name.is_empty()) {
            map.insert(
                "nodeName".into(),
                Value::String(self.spec.node_name.to_string()),
            );
        }
        serde_json::json!({ "metadata": self.meta, "spec": spec })
    }

    /// Returns a copy with one more label; the spec stays shared.
    pub fn with_label(&self, key: &str, value: &str) -> PodTemplate {
        let mut labels = (*self.labels).clone();
        labels.insert(key.into(), value.into());
        self.relabelled(labels)
    }

    /// Returns a copy without a label; the spec stays shared.
    pub fn without_label(&self, key: &str) -> PodTemplate {
        let mut labels = (*self.labels).clone();
        labels.remove(key);
        self.relabelled(labels)
    }

    fn relabelled(&self, labels: BTreeMap<Str, Str>) -> PodTemplate {
        let mut meta = self.meta.clone();
        let said = labels
            .iter()
            .map(|(name, value)| (name.to_string(), Value::String(value.to_string())));
        meta.insert(
            "labels".into(),
            Value::Object(said.collect::<serde_json::Map<_, _>>()),
        );
        if labels.is_empty() {
            meta.remove("labels");
        }
        PodTemplate {
            meta,
            labels: Rc::new(labels),
            annotations: self.annotations.clone(),
            spec: self.spec.clone(),
            hash: OnceCell::new(),
            revision_data: OnceCell::new(),
        }
    }

    /// Returns the data of this template's ControllerRevision, from which its name is hashed; computed once.
    pub fn revision_data(&self) -> Str {
        self.revision_data
            .get_or_init(|| super::hash::controller_revision_text(&self.to_value()).into())
            .clone()
    }

    /// Returns the `pod-template-hash` of this template; computed once.
    pub fn hash(&self, collision_count: Option<i32>) -> Str {
        match collision_count {
            None => self
                .hash
                .get_or_init(|| super::hash::pod_template_hash(&self.to_value(), None).into())
                .clone(),
            some => super::hash::pod_template_hash(&self.to_value(), some).into(),
        }
    }
}
