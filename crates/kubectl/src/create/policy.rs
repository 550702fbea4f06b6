//! `create quota`, `poddisruptionbudget`, `priorityclass`.

use super::generator::{Generator, amount, list, object, pairs};
use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use k8s_model::quantity::Quantity;
use serde_json::{Map, Value, json};

pub const QUOTA: Generator = Generator {
    name: "quota",
    alias: "resourcequota",
    flags: "hard= scopes=",
    fails: "failed to create quota:",
    make: quota,
};

pub const BUDGET: Generator = Generator {
    name: "poddisruptionbudget",
    alias: "pdb",
    flags: "min-available= max-unavailable= selector=",
    fails: "failed to create poddisruptionbudgets:",
    make: budget,
};

pub const PRIORITY_CLASS: Generator = Generator {
    name: "priorityclass",
    alias: "pc",
    flags: "value= global-default description= preemption-policy=",
    fails: "failed to create priorityclass:",
    make: priority_class,
};

fn quota(_: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let mut hard = Map::new();
    for pair in list(args, "hard") {
        let wrong = || {
            Failure::error(format!(
                "Invalid argument syntax {pair}, expected <resource>=<value>"
            ))
        };
        let (resource, amount) = pair.split_once('=').ok_or_else(wrong)?;
        hard.insert(
            resource.to_owned(),
            Quantity::parse(amount)
                .map_err(Failure::error)?
                .to_string()
                .into(),
        );
    }
    let scopes: Vec<&str> = list(args, "scopes").collect();
    let mut quota = object("v1", "ResourceQuota", name);
    quota["spec"] = json!({"hard": if hard.is_empty() { Value::Null } else { hard.into() },
        "scopes": if scopes.is_empty() { Value::Null } else { json!(scopes) }});
    Ok(quota)
}

fn budget(_: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let flag = |name: &str| args.get(name).filter(|text| !text.is_empty());
    let selector =
        flag("selector").ok_or_else(|| Failure::error("a selector must be specified"))?;
    let (least, most) = (flag("min-available"), flag("max-unavailable"));
    let wrong = |text: Option<&str>| {
        text.is_some_and(|text| text.trim_end_matches('%').parse::<u32>().is_err())
    };
    match (least, most) {
        (None, None) => {
            return Err(Failure::error(
                "one of min-available or max-unavailable must be specified",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(Failure::error(
                "min-available and max-unavailable cannot be both specified",
            ));
        }
        _ if wrong(least) => {
            return Err(Failure::error("invalid format specified for min-available"));
        }
        _ if wrong(most) => {
            return Err(Failure::error(
                "invalid format specified for max-unavailable",
            ));
        }
        _ => {}
    }
    let mut budget = object("policy/v1", "PodDisruptionBudget", name);
    budget["spec"] = json!({"minAvailable": least.map(amount), "maxUnavailable": most.map(amount), "selector": {"matchLabels": pairs(selector)}});
    Ok(budget)
}

fn priority_class(_: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let mut class = object("scheduling.k8s.io/v1", "PriorityClass", name);
    class["value"] = args.number("value")?.unwrap_or(0).into();
    class["globalDefault"] = if args.on("global-default") {
        true.into()
    } else {
        Value::Null
    };
    class["description"] = args.get("description").map_or(Value::Null, Value::from);
    class["preemptionPolicy"] = args
        .get("preemption-policy")
        .unwrap_or("PreemptLowerPriority")
        .into();
    Ok(class)
}
