//! Reading: one object, a list, a watch.
//!
//! Models `apiserver/pkg/endpoints/handlers/get.go`.

use super::cluster::{Cluster, Reply};
use super::objects::{objects, stored};
use super::request::{Request, Target};
use super::show::Form;
use super::status::{Answer, failure};
use super::watch::Watch;
use crate::api::{Kind, ObjectRef};
use crate::engine::Sim;
use crate::engine::store::ApiError;
use crate::kubectl::Selection;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// One object.
pub fn get(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Reply {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    if let Some(error) = cluster.forbids(request, "get", &key, "") {
        return Answer::error(&error, Some((kind, &target.name))).into();
    }
    let Some(object) = stored(&cluster.sim, &key) else {
        return Answer::error(&ApiError::not_found(kind, &target.name), Some((kind, &target.name))).into();
    };
    let form = Form::new(&cluster.sim, request, kind, target.api_version());
    Answer::json(200, &form.object(&cluster.sim, object)).into()
}

/// A list, or a watch of it.
pub fn list(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Reply {
    let watches = request.on("watch");
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    if let Some(error) = cluster.forbids(request, if watches { "watch" } else { "list" }, &key, "") {
        return Answer::error(&error, Some((kind, &target.name))).into();
    }
    let (labels, fields) = (request.option("labelSelector"), request.option("fieldSelector"));
    let selection = match Selection::parse(Some(labels), Some(fields)) {
        Ok(selection) => selection,
        Err(problem) => return failure(400, "BadRequest", &problem).into(),
    };
    let sim = &cluster.sim;
    if let Some(reply) = wrong_version(sim, request) {
        return reply.into();
    }
    let form = Form::new(sim, request, kind, target.api_version());
    if watches {
        let (watch, receiver) = Watch::open(sim, request, (kind, &target.namespace, &target.name), selection, form);
        cluster.open.push(Box::new(watch));
        return Reply::Stream("application/json", receiver);
    }
    let mut items = objects(sim, (kind, &target.namespace, ""), &selection);
    let more = match page(&mut items, request) {
        Ok(more) => more,
        Err(problem) => return failure(400, "BadRequest", &problem).into(),
    };
    Answer::json(200, &form.list(sim, items, sim.server().version(), &more)).into()
}

/// A version that is no number, or has not been reached.
fn wrong_version(sim: &Sim, request: &Request) -> Option<Answer> {
    let text = request.option("resourceVersion");
    if text.is_empty() {
        return None;
    }
    let Ok(version) = text.parse::<u64>() else {
        return Some(failure(
            400,
            "BadRequest",
            &format!("invalid resource version {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"),
        ));
    };
    let current = sim.server().version();
    (version > current).then(|| {
        let message = format!("Timeout: Too large resource version: {version}, current: {current}");
        failure(504, "Timeout", &message)
    })
}

/// Cuts a list to the page that is asked for. The token names the last object of the page before: the next page begins behind it, in
/// the list as it is then.
fn page(items: &mut Vec<Value>, request: &Request) -> Result<Value, String> {
    let token = request.option("continue");
    if !token.is_empty() {
        let invalid = || "continue key is not valid".to_owned();
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| invalid())?;
        let last: (String, String) = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        items.retain(|item| place(item) > last);
    }
    let limit = request.option("limit").parse().unwrap_or(0);
    if limit == 0 || items.len() <= limit {
        return Ok(Value::Null);
    }
    let left = items.len() - limit;
    items.truncate(limit);
    let last = items.last().map(place).unwrap_or_default();
    let token = URL_SAFE_NO_PAD.encode(json!([last.0, last.1]).to_string());
    Ok(json!({ "continue": token, "remainingItemCount": left }))
}

fn place(item: &Value) -> (String, String) {
    let text = |key: &str| item["metadata"][key].as_str().unwrap_or("").to_owned();
    (text("namespace"), text("name"))
}
