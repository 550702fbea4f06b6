//! Gives a ClusterRole with an aggregation rule the rules of all ClusterRoles that its selectors match.
//!
//! Models `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`.

use super::{Controller, Event, Watch};
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::selector::LabelSelector;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::Value;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("clusterrole-aggregation-controller")),
    aliases: &[],
    title: "role aggregation",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Controller that aggregates the rules of ClusterRoles.
pub struct ClusterRoleAggregation;

fn part<'o>(object: &'o Object, field: &str) -> &'o Value {
    match &object.body {
        Body::Other(body) => body.get(field).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}

impl Controller for ClusterRoleAggregation {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::Maps(Kind::ClusterRole)]
    }

    /// Wakes all aggregating ClusterRoles, since any ClusterRole may match their selectors.
    fn map_event(&self, _event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        for role in cache
            .list(Kind::ClusterRole)
            .filter(|role| part(role, "aggregationRule").is_object())
        {
            wake(role.key());
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(role) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        let mut rules: Vec<&Value> = Vec::new();
        for selector in part(role, "aggregationRule")["clusterRoleSelectors"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let selector: LabelSelector = k8s_model::json::part(Some(selector)).unwrap_or_default();
            for other in view
                .cache
                .list(Kind::ClusterRole)
                .filter(|other| other.meta.name != key.name)
            {
                if selector.matches(&other.meta.labels) {
                    let more = part(other, "rules").as_array().into_iter().flatten();
                    more.for_each(|rule| {
                        if !rules.contains(&rule) {
                            rules.push(rule)
                        }
                    });
                }
            }
        }
        let rules = Value::from_iter(rules.into_iter().cloned());
        let old = part(role, "rules");
        if part(role, "aggregationRule").is_object()
            && *old != rules
            && !(old.is_null() && rules == Value::Array(Vec::new()))
        {
            out.update(role, Why::RulesJoined, |o| {
                if let Body::Other(body) = &mut o.body {
                    body.insert("rules".into(), rules);
                }
            })?;
        }
        Ok(Action::AwaitChange)
    }
}
