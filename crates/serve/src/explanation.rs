//! `/loopscope/why`, `/loopscope/diagnosis`, `/loopscope/value`: causes, missing conditions and remedies of an object, and expressions about
//! the cluster.

use super::cluster::Cluster;
use super::status::{Answer, failure, no_such_path};
use cluster::Sim;
use explain::diagnose::{self, Diagnosis};
use explain::headline;
use explain::standing::{self, Standing};
use explain::waits::Health;
use explain::why::{self, Row};
use explain::words::Reason;
use k8s_model::ObjectRef;
use lesson::expr::Expr;
use lesson::{ObservedHistory, Value as ExprValue};
use serde_json::{Value, json};

/// Engine tasks after which a remedy that is tried on a copy counts as no help.
const TRIAL_TASKS: usize = 20_000;

/// Answers with the state of an object and the chain of its causes, newest first. The name is that of expressions: `web`, `pod/web-0`,
/// `deploy/prod/web`.
pub fn why(cluster: &Cluster, name: &str) -> Answer {
    with_object(cluster, name, |sim, key| {
        let found = diagnose::chain_of_waiting(sim, key);
        let standing = standing::standing(sim, key, &found, &[]);
        let root = standing.root.clone().unwrap_or_else(|| key.clone());
        let causes = standing::chain(sim, sim.journal(), &root);
        let mut answer = state(&standing);
        answer["causes"] = causes.iter().map(cause).collect();
        answer
    })
}

/// Answers with what an object waits for, down to the root, and with remedies, each tried on a copy of the cluster.
pub fn diagnosis(cluster: &Cluster, name: &str) -> Answer {
    with_object(cluster, name, |sim, key| {
        let found = diagnose::chain_of_waiting(sim, key);
        let mut answer = state(&standing::standing(sim, key, &found, &[]));
        answer["waits"] = found.iter().map(|one| waits(sim, one)).collect();
        answer
    })
}

/// Answers with the value of an expression, such as `ready(web) == 3`.
pub fn value(cluster: &Cluster, text: &str) -> Answer {
    match Expr::of_instant(text.trim()) {
        Ok(expr) => Answer::json(200, &json!({ "value": evaluate(&cluster.host.sim, &expr) })),
        Err(error) => {
            let problem = lesson::read::of_expression(&error).english();
            failure(400, "BadRequest", &problem)
        }
    }
}

/// Returns the value of an expression now; null where the object does not exist.
pub fn evaluate(sim: &Sim, expr: &Expr) -> Value {
    match ObservedHistory::present(sim).value(sim, expr) {
        ExprValue::Nothing => Value::Null,
        ExprValue::Number(number) => number.into(),
        ExprValue::Text(text) => text.as_str().into(),
        ExprValue::Truth(truth) => truth.into(),
    }
}

fn with_object(
    cluster: &Cluster,
    name: &str,
    answer: impl FnOnce(&Sim, &ObjectRef) -> Value,
) -> Answer {
    let sim = &cluster.host.sim;
    let history = ObservedHistory::present(sim);
    match history.find(name) {
        Some(object) => Answer::json(200, &answer(sim, &object.key())),
        None if name.is_empty() => no_such_path(),
        None => failure(404, "NotFound", &format!("there is no object {name:?}")),
    }
}

fn state(standing: &Standing) -> Value {
    let health = match standing.health {
        Health::Stuck => "stuck",
        Health::Waiting => "waiting",
        Health::Well => "well",
        Health::Note => "note",
    };
    json!({
        "object": standing.object.to_string(), "health": health, "state": standing.sentence.english(),
        "root": standing.root.as_ref().map(ObjectRef::to_string),
    })
}

fn facts(rows: impl IntoIterator<Item = Row>) -> Value {
    let rows = rows.into_iter();
    rows.map(|(name, value)| json!({ "name": name.english(), "value": value.english() }))
        .collect()
}

fn cause(reason: &Reason) -> Value {
    json!({
        "seconds": reason.at as f64 / 1000.0, "actor": reason.actor.english(), "effect": reason.effect.english(), "reason": reason.short.english(),
        "object": reason.object.as_ref().map(ObjectRef::to_string), "facts": facts(reason.saw.iter().map(why::row)),
    })
}

fn waits(sim: &Sim, one: &Diagnosis) -> Value {
    let remedies = one.remedies.iter().map(|remedy| {
        let steps = remedy.steps.iter().map(ToString::to_string);
        json!({
            "remedy": headline::cure(remedy.cure, &remedy.name, &remedy.more).english(), "commands": steps.collect::<Vec<_>>(),
            "helps": diagnose::works(sim, one, remedy, TRIAL_TASKS),
        })
    });
    json!({
        "object": one.object.to_string(), "condition": one.headline().english(), "failure": one.waits.is_bad(),
        "facts": facts(one.rows()), "remedies": remedies.collect::<Vec<_>>(),
    })
}
