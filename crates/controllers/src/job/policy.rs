//! Pod failure policy and success policy of a Job.
//!
//! Models `pkg/controller/job/{pod_failure_policy,success_policy}.go`.

use super::indexes::Indexes;
use k8s_model::batch::{FailurePolicy, JobSpec, OnExitCodes, SuccessPolicy};
use k8s_model::pod::{ContainerStatus, Pod};
use k8s_model::{Object, Str};
use smol_str::format_smolstr;

/// Effect of a Pod's failure on its Job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyVerdict {
    /// The failure counts against the limits.
    Count,
    /// The failure does not count.
    Ignore,
    /// The index has failed for good.
    FailIndex,
    /// The Job has failed; the message says why.
    FailJob(Str),
}

/// Returns the verdict of the first rule that a failed Pod matches; without one the failure counts.
pub fn judge(spec: &JobSpec, object: &Object) -> PolicyVerdict {
    let (Some(policy), Some(pod)) = (&spec.pod_failure_policy, object.pod()) else {
        return PolicyVerdict::Count;
    };
    let Some((index, matched)) = first_match(policy, pod) else {
        return PolicyVerdict::Count;
    };
    let action = &policy.rules[index].action;
    match action.as_str() {
        "Ignore" => PolicyVerdict::Ignore,
        "FailIndex" => PolicyVerdict::FailIndex,
        "FailJob" => {
            let name = format_smolstr!("{}/{}", object.meta.namespace, object.meta.name);
            PolicyVerdict::FailJob(match matched {
                Match::Container(container, code) => format_smolstr!(
                    "Container {container} for pod {name} failed with exit code {code} matching {action} rule at index {index}"
                ),
                Match::Condition(kind) => format_smolstr!(
                    "Pod {name} has condition {kind} matching {action} rule at index {index}"
                ),
            })
        }
        _ => PolicyVerdict::Count,
    }
}

enum Match<'a> {
    Container(&'a Str, i32),
    Condition(&'a Str),
}

fn first_match<'a>(policy: &FailurePolicy, pod: &'a Pod) -> Option<(usize, Match<'a>)> {
    policy.rules.iter().enumerate().find_map(|(index, rule)| {
        let matched = match &rule.on_exit_codes {
            Some(wanted) => {
                let all = pod
                    .status
                    .container_statuses
                    .iter()
                    .chain(&pod.status.init_container_statuses);
                all.filter_map(|status| {
                    exit_code(status, wanted).map(|code| Match::Container(&status.name, code))
                })
                .next()
            }
            None => {
                let matches = |kind: &Str, status: &Str| {
                    rule.on_pod_conditions
                        .iter()
                        .any(|pattern| pattern.kind == *kind && pattern.status == *status)
                };
                pod.status
                    .conditions
                    .iter()
                    .find(|c| matches(&c.kind, &c.status))
                    .map(|c| Match::Condition(&c.kind))
            }
        };
        matched.map(|matched| (index, matched))
    })
}

/// Returns the exit code of a container that failed as the rule requires.
fn exit_code(status: &ContainerStatus, wanted: &OnExitCodes) -> Option<i32> {
    let code = status.state.terminated.as_ref()?.exit_code;
    let named = wanted
        .container_name
        .as_ref()
        .is_none_or(|name| *name == status.name);
    let listed = wanted.values.contains(&code);
    (named
        && code != 0
        && if wanted.operator == "In" {
            listed
        } else {
            !listed
        })
    .then_some(code)
}

/// Returns the index of the first rule that the succeeded indexes satisfy.
pub fn success_rule(
    policy: Option<&SuccessPolicy>,
    completions: i64,
    succeeded: &Indexes,
) -> Option<usize> {
    if succeeded.total() == 0 {
        return None;
    }
    policy?.rules.iter().position(|rule| {
        let enough = |have: i64| {
            rule.succeeded_count
                .is_some_and(|count| have >= i64::from(count))
        };
        let Some(text) = &rule.succeeded_indexes else {
            return enough(succeeded.total());
        };
        let wanted = Indexes::parse(text, completions);
        let have = wanted.common(succeeded);
        wanted.total() > 0 && (have == wanted.total() || enough(have))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::batch::Job;
    use k8s_model::{Kind, json};
    use serde_json::{Value, json};

    fn spec(value: Value) -> JobSpec {
        json::read(&value).unwrap()
    }

    fn failed(code: i32, condition: &str) -> Object {
        let value = json!({ "metadata": { "name": "p", "namespace": "default" }, "spec": {}, "status": { "phase": "Failed",
            "conditions": [{ "type": condition, "status": "True" }],
            "containerStatuses": [{ "name": "main", "state": { "terminated": { "exitCode": code } } }] } });
        Object::from_value(Kind::Pod, value).unwrap()
    }

    #[test]
    fn the_first_matching_rule_decides() {
        let spec = spec(json!({ "podFailurePolicy": { "rules": [
            { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
            { "action": "FailIndex", "onExitCodes": { "operator": "In", "values": [7] } },
            { "action": "FailJob", "onExitCodes": { "containerName": "main", "operator": "NotIn", "values": [1, 2] } },
            { "action": "Count", "onExitCodes": { "operator": "In", "values": [1] } },
        ] } }));
        assert_eq!(
            judge(&spec, &failed(42, "DisruptionTarget")),
            PolicyVerdict::Ignore
        );
        assert_eq!(judge(&spec, &failed(7, "Ready")), PolicyVerdict::FailIndex);
        assert_eq!(judge(&spec, &failed(1, "Ready")), PolicyVerdict::Count);
        let message = "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 2";
        assert_eq!(
            judge(&spec, &failed(42, "Ready")),
            PolicyVerdict::FailJob(message.into())
        );
        assert_eq!(
            judge(&Job::default().spec, &failed(42, "Ready")),
            PolicyVerdict::Count
        );
    }

    #[test]
    fn some_indexes_are_enough() {
        let rules = json!([{ "succeededIndexes": "0,5-7" }, { "succeededIndexes": "1-4", "succeededCount": 2 }, { "succeededCount": 5 }]);
        let spec = spec(json!({ "successPolicy": { "rules": rules } }));
        let met =
            |text: &str| success_rule(spec.success_policy.as_ref(), 10, &Indexes::parse(text, 10));
        assert_eq!(met(""), None);
        assert_eq!(met("0,5,6"), None);
        assert_eq!(met("0,5-7"), Some(0));
        assert_eq!(met("1,3"), Some(1));
        assert_eq!(met("1,5-9"), Some(2));
    }
}
