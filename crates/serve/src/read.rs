//! Reads: get, list, watch.
//!
//! Models `apiserver/pkg/endpoints/handlers/get.go`.

use super::cluster::{Cluster, Reply};
use super::objects::{RenderedObject, objects_at, stored};
use super::request::{Request, Target};
use super::show::Representation;
use super::status::{Answer, failure};
use super::watch::WatchStream;
use apiserver::ApiError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cluster::Sim;
use k8s_model::{Kind, ObjectRef};
use kubectl::ObjectSelector;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Handles a get.
pub fn get(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Reply {
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    if let Some(error) = cluster.forbids(request, "get", &key, "") {
        return Answer::error(&error, Some((kind, &target.name))).into();
    }
    let Some(object) = stored(cluster, &key) else {
        if kind == Kind::ComponentStatus {
            return failure(500, "", &format!("Component not found: {}", target.name)).into();
        }
        return Answer::error(
            &ApiError::not_found(kind, &target.name),
            Some((kind, &target.name)),
        )
        .into();
    };
    let form = Representation::new(&cluster.sim, request, kind, target.api_version());
    Answer::json_text(200, form.object(&cluster.sim, object)).into()
}

/// Handles a list or a watch.
pub fn list(cluster: &mut Cluster, request: &Request, kind: Kind, target: &Target) -> Reply {
    let watches = request.on("watch");
    let key = ObjectRef::new(kind, &target.namespace, &target.name);
    if let Some(error) = cluster.forbids(request, if watches { "watch" } else { "list" }, &key, "")
    {
        return Answer::error(&error, Some((kind, &target.name))).into();
    }
    if watches && !kind.is_stored() {
        let message = format!(
            "watch is not supported on resources of kind {:?}",
            kind.info().plural
        );
        return failure(405, "MethodNotAllowed", &message).into();
    }
    let selection = match selection(&cluster.sim, request, kind, &target.api_version()) {
        Ok(selection) => selection,
        Err(error) => return Answer::error(&error, None).into(),
    };
    if let Some(reply) = wrong_version(&cluster.sim, request) {
        return reply.into();
    }
    let form = Representation::new(&cluster.sim, request, kind, target.api_version());
    if watches {
        let (watch, receiver) = WatchStream::open(
            cluster,
            request,
            (kind, &target.namespace, &target.name),
            selection,
            form,
        );
        cluster.open.push(Box::new(watch));
        return Reply::Stream("application/json", receiver, Vec::new());
    }
    let page = match Page::of(&cluster.sim, request) {
        Ok(page) => page,
        Err(answer) => return answer.into(),
    };
    let mut items = objects_at(cluster, page.version, (kind, &target.namespace), &selection);
    let more = page.cut(&mut items, selection.is_empty());
    Answer::json_text(200, form.list(&cluster.sim, items, page.version, &more)).into()
}

/// Parses the selectors of a request for objects of a kind.
pub fn selection(
    sim: &Sim,
    request: &Request,
    kind: Kind,
    api_version: &str,
) -> Result<ObjectSelector, ApiError> {
    let parsed = ObjectSelector::parse(
        Some(request.option("labelSelector")),
        Some(request.option("fieldSelector")),
    );
    let selection =
        parsed.and_then(|parsed| parsed.for_kind(sim.server().definitions(), kind, api_version));
    selection.map_err(ApiError::bad_request)
}

/// Rejects a resourceVersion that is not a number, or has not been reached.
fn wrong_version(sim: &Sim, request: &Request) -> Option<Answer> {
    let text = request.option("resourceVersion");
    if text.is_empty() {
        return None;
    }
    let Ok(version) = text.parse::<u64>() else {
        return Some(failure(
            400,
            "BadRequest",
            &format!(
                "invalid resource version {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
            ),
        ));
    };
    let current = sim.server().version();
    (version > current).then(|| {
        let message = format!("Timeout: Too large resource version: {version}, current: {current}");
        failure(504, "Timeout", &message)
    })
}

/// Continue token of a list.
#[derive(Serialize, Deserialize)]
struct Token {
    /// resourceVersion of the list.
    v: u64,
    /// Namespace and name of the last object of the previous page.
    last: (String, String),
}

/// Requested page of a list.
struct Page {
    /// resourceVersion of the list: that of its first page.
    version: u64,
    after: Option<(String, String)>,
    limit: usize,
}

impl Page {
    fn of(sim: &Sim, request: &Request) -> Result<Page, Answer> {
        let (current, limit) = (
            sim.server().version(),
            request.option("limit").parse().unwrap_or(0),
        );
        let (token, asked) = (
            request.option("continue"),
            request.option("resourceVersion"),
        );
        if token.is_empty() {
            let exact = request.option("resourceVersionMatch") == "Exact";
            let version = asked
                .parse()
                .ok()
                .filter(|version| exact && *version > 0)
                .unwrap_or(current);
            return Ok(Page {
                version,
                after: None,
                limit,
            });
        }
        let invalid = |problem: &str| {
            failure(
                400,
                "BadRequest",
                &format!("continue key is not valid: {problem}"),
            )
        };
        if !matches!(asked, "" | "0") {
            return Err(failure(
                400,
                "BadRequest",
                "specifying resource version is not allowed when using continue",
            ));
        }
        let bytes = URL_SAFE_NO_PAD
            .decode(token)
            .map_err(|error| invalid(&error.to_string()))?;
        let token: Token =
            serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        if token.v > current {
            let message = "The provided continue parameter is too old to display a consistent list result. You must start a new list \
                           without the continue parameter.";
            return Err(failure(410, "Expired", message));
        }
        Ok(Page {
            version: token.v,
            after: Some(token.last),
            limit,
        })
    }

    /// Cuts a list to the page; returns the metadata about the rest, with its length if there is no selector.
    fn cut(&self, items: &mut Vec<RenderedObject>, count: bool) -> Value {
        if let Some(after) = &self.after {
            items.retain(|item| place(item) > *after);
        }
        if self.limit == 0 || items.len() <= self.limit {
            return Value::Null;
        }
        let left = items.len() - self.limit;
        items.truncate(self.limit);
        let token = Token {
            v: self.version,
            last: items.last().map(place).unwrap_or_default(),
        };
        let mut more = json!({ "continue": URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default()) });
        if count {
            more["remainingItemCount"] = left.into();
        }
        more
    }
}

fn place(item: &RenderedObject) -> (String, String) {
    let text = |key: &str| {
        item.value["metadata"][key]
            .as_str()
            .unwrap_or("")
            .to_owned()
    };
    (text("namespace"), text("name"))
}
