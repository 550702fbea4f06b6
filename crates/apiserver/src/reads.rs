//! Reads: get, list and watch; connections to containers, which the API server only authorizes.
//!
//! Models `apiserver/pkg/endpoints/handlers/get.go`, `apiserver/pkg/registry/generic/registry/store.go`, `apiserver/pkg/storage/continue.go`
//! and `apiserver/pkg/storage/cacher`.

use super::authorizer::Authorizer;
use super::error::{ApiError, Cause, StatusReason};
use super::journal::{self, Entry, Op, Record};
use super::request::{Content, ListOptions, Request, Response, Verb};
use super::scale::ObjectScale;
use super::selector::ObjectSelector;
use super::server::ApiServer;
use super::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use k8s_model::kind::Subresource;
use k8s_model::{Kind, Object, ObjectRef, go_json};
use serde::{Deserialize, Serialize};
use sim_core::Listing;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Source of the objects that clients read: the store, and objects that components keep without writing them.
pub trait ObjectReader {
    /// Returns the store, whose journal gives the events of watches.
    fn store(&self) -> &Store;

    /// Returns the object with a key.
    fn get(&self, key: &ObjectRef) -> Option<Rc<Object>>;

    /// Returns the objects of a kind, in a namespace or in all.
    fn list(&self, kind: Kind, namespace: Option<&str>) -> Listing;
}

impl ObjectReader for Store {
    fn store(&self) -> &Store {
        self
    }

    fn get(&self, key: &ObjectRef) -> Option<Rc<Object>> {
        Store::get(self, key).cloned()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Listing {
        self.listing(kind, namespace)
    }
}

/// Selected objects of a list, as of one resourceVersion. Iteration filters a snapshot, so that a long list costs nothing at once.
#[derive(Clone, Debug)]
pub struct ObjectList {
    /// resourceVersion of the list.
    pub resource_version: u64,
    /// Token for the next page; empty for the last one.
    pub continue_token: String,
    /// Number of objects on later pages, if no selector applies.
    pub remaining_item_count: Option<usize>,
    objects: Listing,
    selector: ObjectSelector,
}

impl ObjectList {
    /// Creates a list of all objects of a listing.
    pub fn new(resource_version: u64, objects: Listing) -> ObjectList {
        ObjectList {
            resource_version,
            continue_token: String::new(),
            remaining_item_count: None,
            objects,
            selector: ObjectSelector::default(),
        }
    }

    /// Examines the next object: returns `None` at the end, and `Some(None)` for an object that is not selected.
    pub fn examine(&mut self) -> Option<Option<Rc<Object>>> {
        let object = self.objects.next()?;
        Some(self.selector.selects(&object).then_some(object))
    }
}

impl Iterator for ObjectList {
    type Item = Rc<Object>;

    fn next(&mut self) -> Option<Rc<Object>> {
        loop {
            if let Some(object) = self.examine()? {
                return Some(object);
            }
        }
    }
}

/// Watch of the objects of a kind: a position in the journal.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Objects to send before the events, if the client requests them.
    pub initial: Option<ObjectList>,
    kind: Kind,
    /// Namespace; empty for all.
    namespace: String,
    /// Name; empty for all.
    name: String,
    selector: ObjectSelector,
    /// Number of journal entries processed.
    position: usize,
}

/// Event of a watch.
#[derive(Clone, Debug)]
pub struct WatchEvent {
    /// Type of the event.
    pub op: Op,
    /// Object after the write; its last selected state for a deletion.
    pub object: Rc<Object>,
}

impl Watch {
    /// Returns the next event, if there is one already.
    pub fn next_event(&mut self, store: &Store) -> Option<WatchEvent> {
        while let Some(entry) = store.journal().get(self.position) {
            self.position += 1;
            if let Some(event) = self.event(entry) {
                return Some(event);
            }
        }
        None
    }

    /// Returns the number of journal entries processed.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the event for a write, as `watch_cache.go` derives it: an object that is no longer selected is deleted for this client, and
    /// one newly selected is added.
    fn event(&self, entry: &Entry) -> Option<WatchEvent> {
        let Record::Write { op, object, before } = &entry.record else {
            return None;
        };
        let is_watched = object.kind == self.kind
            && (self.namespace.is_empty() || object.meta.namespace == self.namespace)
            && (self.name.is_empty() || object.meta.name == self.name);
        if !is_watched {
            return None;
        }
        let is_selected = *op != Op::Deleted && self.selector.selects(object);
        let was_selected = before.as_ref().filter(|old| self.selector.selects(old));
        let (op, object) = match (is_selected, was_selected) {
            (false, None) => return None,
            (true, None) => (Op::Added, object.clone()),
            (true, Some(_)) => (Op::Modified, object.clone()),
            (false, Some(old)) => (Op::Deleted, Rc::new(journal::leaving(old, object))),
        };
        Some(WatchEvent { op, object })
    }
}

/// Continue token of a list.
#[derive(Serialize, Deserialize)]
struct ContinueToken {
    /// resourceVersion of the list.
    #[serde(rename = "v")]
    version: u64,
    /// Namespace and name of the last object of the previous page.
    last: (String, String),
}

impl ApiServer {
    /// Serves a request that changes nothing.
    pub fn read(&self, reader: &dyn ObjectReader, request: &Request) -> Response {
        Response {
            result: self.route_read(reader, request),
            managed_fields: serde_json::Value::Null,
            warnings: Vec::new(),
        }
    }

    fn route_read(
        &self,
        reader: &dyn ObjectReader,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let key = self.key(request)?;
        match request.verb {
            Verb::List | Verb::Watch => {
                let api_version = &request.resource.api_version;
                let selector = self.selector(key.kind, api_version, &request.options.list_options);
                // An exact name in the field selector counts as the name of the request (`requestinfo.go`).
                let named = match &selector {
                    Ok(selector) if key.name.is_empty() => selector.name(),
                    _ => None,
                };
                let attributes =
                    ObjectRef::new(key.kind, &key.namespace, named.unwrap_or(&key.name));
                check_access(reader.store(), request, &attributes)?;
                match request.verb {
                    Verb::Watch => watch(reader, &key, request, selector?).map(Content::Watch),
                    _ => list(reader, &key, &request.options.list_options, selector?)
                        .map(Content::List),
                }
            }
            _ => {
                check_access(reader.store(), request, &key)?;
                check_version(reader.store(), &request.options.list_options)?;
                let object = reader.get(&key).ok_or_else(|| missing(&key))?;
                match request.subresource {
                    Subresource::Scale => {
                        let scale = ObjectScale::of(&self.definitions, &object)?;
                        Ok(Content::Scale(scale.to_value(&object)))
                    }
                    _ => Ok(Content::Object(object)),
                }
            }
        }
    }

    /// Parses the selectors of a list.
    pub(super) fn selector(
        &self,
        kind: Kind,
        api_version: &str,
        options: &ListOptions,
    ) -> Result<ObjectSelector, ApiError> {
        let (labels, fields) = (&options.label_selector, &options.field_selector);
        ObjectSelector::parse(Some(labels), Some(fields))
            .and_then(|parsed| parsed.for_kind(&self.definitions, kind, api_version))
            .map_err(ApiError::bad_request)
    }
}

/// Refuses a request for which its user is not authorized.
fn check_access(store: &Store, request: &Request, key: &ObjectRef) -> Result<(), ApiError> {
    let (verb, subresource) = (request.verb.word(), request.subresource.word());
    let refusal = Authorizer::new(store).forbids(request.user.as_ref(), verb, key, subresource);
    refusal.map_or(Ok(()), Err)
}

fn missing(key: &ObjectRef) -> ApiError {
    if key.kind == Kind::ComponentStatus {
        return ApiError {
            reason: StatusReason::Unknown,
            message: format!("Component not found: {}", key.name),
            cause: None,
        };
    }
    ApiError::not_found(key.kind, &key.name)
}

/// Checks that the resourceVersion of a read is a number and has been reached; returns it, 0 if none is given.
fn check_version(store: &Store, options: &ListOptions) -> Result<u64, ApiError> {
    let text = options.resource_version.as_str();
    if text.is_empty() {
        return Ok(0);
    }
    let version = text.parse::<u64>().map_err(|_| ApiError {
        reason: StatusReason::Unknown,
        message: format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ),
        cause: None,
    })?;
    let current = store.version();
    if version > current {
        return Err(ApiError {
            reason: StatusReason::Timeout,
            message: format!("Timeout: Too large resource version: {version}, current: {current}"),
            cause: Some(Box::new(Cause::ResourceVersionTooLarge)),
        });
    }
    Ok(version)
}

/// Serves a list.
fn list(
    reader: &dyn ObjectReader,
    key: &ObjectRef,
    options: &ListOptions,
    selector: ObjectSelector,
) -> Result<ObjectList, ApiError> {
    let current = reader.store().version();
    let asked = check_version(reader.store(), options).map_err(|error| match error.reason {
        StatusReason::Unknown => {
            ApiError::bad_request(format!("invalid resource version: {}", error.message))
        }
        _ => error,
    })?;
    let token = continue_token(options, current)?;
    let version = match &token {
        Some(token) => token.version,
        None if options.resource_version_match == "Exact" && asked > 0 => asked,
        None => current,
    };
    let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
    let is_selective = !selector.is_empty();
    let all = ObjectList {
        selector,
        ..ObjectList::new(version, objects_at(reader, version, key.kind, namespace))
    };
    if token.is_none() && options.limit == 0 {
        return Ok(all);
    }
    let limit = match options.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let (mut page, mut left) = (Vec::new(), 0);
    for object in all {
        let place = (object.meta.namespace.as_str(), object.meta.name.as_str());
        let is_read = |token: &ContinueToken| place <= (&*token.last.0, &*token.last.1);
        if token.as_ref().is_some_and(is_read) {
            continue;
        }
        if page.len() < limit {
            page.push(object);
            continue;
        }
        left += 1;
        if is_selective {
            break;
        }
    }
    let last = page.last().filter(|_| left > 0);
    let continue_token = last.map_or_else(String::new, |last| {
        let last = (last.meta.namespace.to_string(), last.meta.name.to_string());
        let token = ContinueToken { version, last };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    });
    Ok(ObjectList {
        continue_token,
        remaining_item_count: (left > 0 && !is_selective).then_some(left),
        ..ObjectList::new(version, Listing::of(page))
    })
}

/// Decodes the continue token of a list.
fn continue_token(options: &ListOptions, current: u64) -> Result<Option<ContinueToken>, ApiError> {
    if options.continue_token.is_empty() {
        return Ok(None);
    }
    let invalid = |problem: String| {
        let problem = format!("invalid continue token: continue key is not valid: {problem}");
        ApiError::bad_request(problem)
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(&options.continue_token)
        .map_err(|error| invalid(error.to_string()))?;
    let token: ContinueToken = serde_json::from_slice(&bytes).map_err(|error| {
        invalid(go_json::syntax_error(&bytes).unwrap_or_else(|| error.to_string()))
    })?;
    if !matches!(options.resource_version.as_str(), "" | "0") {
        return Err(ApiError::bad_request(
            "specifying resource version is not allowed when using continue".to_owned(),
        ));
    }
    if token.version > current {
        return Err(ApiError {
            reason: StatusReason::Expired,
            message: "The provided continue parameter is too old to display a consistent list result. You must start a new list \
                      without the continue parameter."
                .to_owned(),
            cause: None,
        });
    }
    Ok(Some(token))
}

/// Returns the objects of a kind as of a resourceVersion: later writes are undone.
fn objects_at(
    reader: &dyn ObjectReader,
    version: u64,
    kind: Kind,
    namespace: Option<&str>,
) -> Listing {
    let store = reader.store();
    let mut earlier: BTreeMap<ObjectRef, Option<Rc<Object>>> = BTreeMap::new();
    for entry in store.journal().from(store.entries_until(version)).iter() {
        let Record::Write { op, object, before } = &entry.record else {
            continue;
        };
        let is_listed = object.kind == kind
            && namespace.is_none_or(|namespace| object.meta.namespace == namespace);
        if is_listed {
            earlier.entry(object.key()).or_insert_with(|| match op {
                Op::Added => None,
                Op::Modified | Op::Deleted => before.clone(),
            });
        }
    }
    if earlier.is_empty() {
        return reader.list(kind, namespace);
    }
    let listing = store.listing(kind, namespace);
    let mut all: BTreeMap<ObjectRef, Rc<Object>> =
        listing.map(|object| (object.key(), object)).collect();
    for (key, object) in earlier {
        match object {
            Some(object) => drop(all.insert(key, object)),
            None => drop(all.remove(&key)),
        }
    }
    Listing::of(all.into_values())
}

/// Serves a watch.
fn watch(
    reader: &dyn ObjectReader,
    key: &ObjectRef,
    request: &Request,
    selector: ObjectSelector,
) -> Result<Watch, ApiError> {
    if !key.kind.is_stored() {
        let resource = key.kind.group_resource();
        return Err(ApiError {
            reason: StatusReason::MethodNotAllowed,
            message: format!("watch is not supported on resources of kind {resource:?}"),
            cause: None,
        });
    }
    let options = &request.options.list_options;
    let version = check_version(reader.store(), options)?;
    let sends_initial = options.send_initial_events.unwrap_or(version == 0);
    let initial = sends_initial.then(|| {
        let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
        let objects = match key.name.as_str() {
            "" => reader.list(key.kind, namespace),
            _ => Listing::of(reader.get(key)),
        };
        ObjectList {
            selector: selector.clone(),
            ..ObjectList::new(reader.store().version(), objects)
        }
    });
    let position = match &initial {
        Some(_) => reader.store().journal().len(),
        None => reader.store().entries_until(version),
    };
    Ok(Watch {
        initial,
        kind: key.kind,
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
        selector,
        position,
    })
}
