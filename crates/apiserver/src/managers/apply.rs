//! Server-side apply: the client becomes manager of the fields it applies, fields it no longer applies are removed, and fields of other
//! managers are not taken without force.
//!
//! Models `structured-merge-diff/v6/merge/{update,conflict}.go` and `managedfields/internal/{conflict,lastappliedmanager}.go`.

use super::super::definitions::untyped;
use super::super::error::{ApiError, Cause, FieldManagerConflict, StatusReason};
use super::super::server::{ApiServer, Origin, Validated};
use super::fields::{FieldSet, Shape};
use super::typed::type_errors;
use super::{
    CLIENT_SIDE, Fields, KUBECTL, Managed, Manager, before_first_apply, fields_of, managers_of,
    plain, with_fields,
};
use crate::handlers::with_metadata;
use crate::managers::fields;
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::{Value, json};
use std::rc::Rc;

impl ApiServer {
    /// Applies a configuration; `force` takes fields from their managers.
    pub fn apply(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        mut config: Value,
        force: bool,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let kind = key.kind;
        if let Some(Value::Object(meta)) = config.get_mut("metadata")
            && meta
                .remove("managedFields")
                .is_some_and(|given| given.as_array().is_some_and(|list| !list.is_empty()))
        {
            return Err(ApiError::bad_request(
                "metadata.managedFields must be nil".to_owned(),
            ));
        }
        self.check_typed(kind, &config)?;
        let manager = origin
            .manager
            .as_deref()
            .cloned()
            .unwrap_or_else(|| Manager::update(KUBECTL, Subresource::Main));
        let is_status = manager.subresource == Subresource::Status;
        if is_status {
            // Other fields belong to the appliers of the object itself.
            if let Some(config) = config.as_object_mut() {
                config.retain(|field, _| {
                    matches!(
                        field.as_str(),
                        "apiVersion" | "kind" | "metadata" | "status"
                    )
                });
            }
            if let Some(Value::Object(meta)) = config.get_mut("metadata") {
                meta.remove("labels");
            }
        }
        let mut wanted = fields_of(kind, &config);
        if !is_status && !self.definitions.updates_status(kind) {
            // A write of the object leaves its status as it is: `GetResetFields` of its strategy.
            wanted.remove("f:status");
        }
        let mut origin = Origin {
            manager: with_fields(&manager, Fields::Applied(wanted.clone()), true),
            ..origin.clone()
        };
        let Some(live) = self.store.get(key).cloned() else {
            if is_status {
                return Err(ApiError::absent(key));
            }
            let config = with_metadata(config, &key.namespace, &key.name)?;
            if let Some(uid) = config["metadata"]["uid"].as_str() {
                let problem = format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                );
                return Err(ApiError::conflict_because(kind, &key.name, &problem));
            }
            let mut object = self.decoder().object(&origin, config, None)?.object;
            object.meta.resource_version = 0;
            return self.admit_and_store(&origin, object, Validated::Decoded, why);
        };
        let current = live.to_value();
        let mut all = managers_of(&self.store, key);
        if all.is_empty() {
            all.push(before_first_apply(&live));
            if let Some(manager) = &mut origin.manager {
                Rc::make_mut(manager).given = Some(all.clone().into());
            }
        }
        let migrates = manager.migrates
            && live.meta.annotation(LAST_APPLIED).is_some()
            && all
                .iter()
                .any(|m| m.is(CLIENT_SIDE, Subresource::Main, false));
        let mut merged = self.merged(kind, &current, &config, (&manager, &wanted), &all);
        self.check_conflicts((key, &why), &origin, (&live, &merged), &all, force)?;
        merged = with_metadata(merged, &key.namespace, &key.name)?;
        if let Some(annotation) = merged
            .pointer_mut("/metadata/annotations")
            .and_then(|a| a.get_mut(LAST_APPLIED))
            .filter(|_| *manager.name == *KUBECTL)
        {
            *annotation = json!(format!("{config}\n"));
        }
        let object = if is_status {
            self.decoder()
                .subresource(&origin, Subresource::Status, merged, &live)?
        } else {
            self.decoder().object(&origin, merged, Some(&live))?.object
        };
        all.retain(|m| m.is(&manager.name, manager.subresource, true) && m.fields == wanted);
        if object.to_value() == current && !all.is_empty() && !migrates {
            return Ok(live);
        }
        if is_status {
            self.update_latest_status(&origin, object, why)
        } else {
            self.update_decoded(&origin, object, why)
        }
    }

    /// Checks that a configuration matches the fields of its kind.
    fn check_typed(&self, kind: Kind, config: &Value) -> Result<(), ApiError> {
        let api_version = config["apiVersion"].as_str().unwrap_or("");
        let faults: Vec<String> = match self.definitions.of(kind) {
            Some(definition) => untyped(
                &definition
                    .version(api_version.rsplit('/').next().unwrap_or(""))
                    .schema,
                config,
            ),
            None => type_errors(kind, config),
        };
        if faults.is_empty() {
            return Ok(());
        }
        let text = |field: &str| config["metadata"][field].as_str().unwrap_or("");
        let (namespace, name) = (text("namespace"), text("name"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let detail = if faults.len() == 1 {
            faults.concat()
        } else {
            format!("errors:\n  {}", faults.join("\n  "))
        };
        Err(ApiError::unclassified(format!(
            "failed to create typed patch object ({namespace}/{name}; {group}/{version}, Kind={}): {detail}",
            kind.name()
        )))
    }

    /// Merges the configuration into the live object, and removes fields that this manager no longer applies.
    fn merged(
        &self,
        kind: Kind,
        current: &Value,
        config: &Value,
        own: (&Manager, &FieldSet),
        all: &[Managed],
    ) -> Value {
        let (shape, (manager, wanted)) = (Shape::of_kind(kind), own);
        let mut merged = current.clone();
        fields::merge(shape, &mut merged, config);
        let client_side = |m: &Managed| {
            manager.migrates
                && m.is(CLIENT_SIDE, Subresource::Main, false)
                && current["metadata"]["annotations"]
                    .get(LAST_APPLIED)
                    .is_some()
        };
        let mut last = FieldSet::new();
        let mut kept = wanted.clone();
        for other in all {
            if other.is(&manager.name, manager.subresource, true) {
                last = fields::union(&last, &other.fields);
            } else if client_side(other) {
                last = fields::union(&last, &fields::difference(&other.fields, &annotation()));
            } else {
                kept = fields::union(&kept, &other.fields);
            }
        }
        fields::prune(shape, &mut merged, &last, &kept);
        merged
    }

    /// Refuses changes of fields of other managers.
    fn check_conflicts(
        &mut self,
        asked: (&ObjectRef, &Why),
        origin: &Origin,
        states: (&Rc<Object>, &Value),
        all: &[Managed],
        force: bool,
    ) -> Result<(), ApiError> {
        let (key, (live, merged)) = (asked.0, states);
        let shape = Shape::of_kind(key.kind);
        let mut changed =
            fields::compare(shape, &plain(live.to_value()), &plain(merged.clone())).changed;
        let own = origin.manager.as_deref();
        if own.is_some_and(|m| m.name == KUBECTL)
            && let Some(last) = live
                .meta
                .annotation(LAST_APPLIED)
                .and_then(|text| serde_json::from_str::<Value>(text).ok())
        {
            // Fields from kubectl's own client-side apply are not a conflict.
            changed = fields::difference(&changed, &fields_of(key.kind, &last));
        }
        let mut conflicts: Vec<(String, Vec<String>)> = Vec::new();
        for other in all
            .iter()
            .filter(|m| own.is_none_or(|own| !m.is(&own.name, own.subresource, true)))
        {
            let paths = fields::paths(&fields::intersection(&other.fields, &changed));
            if !paths.is_empty() {
                conflicts.push((other.shown(key.kind), paths));
            }
        }
        if force || conflicts.is_empty() {
            return Ok(());
        }
        conflicts.sort_by_key(|(manager, _)| manager.clone());
        let causes = conflicts.iter().flat_map(|(manager, paths)| {
            paths.iter().map(|path| FieldManagerConflict {
                field: path.clone(),
                manager: manager.clone(),
            })
        });
        let error = ApiError {
            reason: StatusReason::Conflict,
            message: told(&conflicts),
            cause: Some(Box::new(Cause::FieldManagers(causes.collect()))),
        };
        self.refuse(origin, key.clone(), &error, asked.1.clone());
        Err(error)
    }
}

impl Managed {
    /// Formats this manager for a conflict message.
    fn shown(&self, kind: Kind) -> String {
        let mut text = format!("{:?}", self.manager.as_str());
        if !self.subresource.is_main() {
            text += &format!(" with subresource {:?}", self.subresource.word());
        }
        if !self.applies {
            text += &format!(" using {}", kind.api_version());
        }
        text
    }
}

fn told(conflicts: &[(String, Vec<String>)]) -> String {
    let count: usize = conflicts.iter().map(|(_, paths)| paths.len()).sum();
    if let ([(manager, paths)], 1) = (conflicts, count) {
        return format!(
            "Apply failed with 1 conflict: conflict with {manager}: {}",
            paths[0]
        );
    }
    let each = conflicts.iter().flat_map(|(manager, paths)| {
        std::iter::once(format!("conflicts with {manager}:"))
            .chain(paths.iter().map(|path| format!("- {path}")))
    });
    format!(
        "Apply failed with {count} conflicts: {}",
        each.collect::<Vec<_>>().join("\n")
    )
}

/// Returns the field set of the last-applied annotation.
fn annotation() -> FieldSet {
    let mut set = FieldSet::new();
    set.insert(
        "f:metadata".into(),
        json!({"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}}),
    );
    set
}
