//! Objects named on a command line: `deploy/x`, `pods a b`, `deploy,rs`, `all`.

use super::Failure;
use super::client::Client;
use super::failure::not_found;
use super::output::DryRun;
use super::parse::Args;
use super::select::ObjectSelector;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use sim_core::Listing;
use std::collections::VecDeque;
use std::rc::Rc;

/// Requested kinds and names.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Kinds with a name, or `None` for all.
    pub list: Vec<(Kind, Option<String>)>,
    /// Label and field selectors by kind; empty if everything is selected.
    selections: Vec<(Kind, ObjectSelector)>,
    /// Namespace; empty for all namespaces.
    pub namespace: String,
    /// Verb for authorization of a named object.
    pub verb: &'static str,
}

/// Kinds of the category `all`.
pub const ALL: [Kind; 10] = [
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Service,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::HorizontalPodAutoscaler,
    Kind::CronJob,
    Kind::Job,
];

/// Checks that the objects of a command with `--local` come only from files.
fn local(client: &Client<'_>, args: &Args, words: &[String]) -> Result<(), Failure> {
    match args.verb.as_str() {
        "patch" if !words.is_empty() => Err(Failure::error(
            "cannot specify --local and server resources",
        )),
        "label" | "annotate" if !words.is_empty() => Err(Failure::error(
            "can only use local files by -f pod.yaml or --filename=pod.json when --local=true is set",
        )),
        _ if client.local.is_empty() || !words.is_empty() => Err(Failure::error(
            "you must specify resources by --filename when --local is set.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   \
             '--filename=rsrc.json'",
        )),
        _ => Ok(()),
    }
}

/// Returns the kind for a word, or kubectl's error.
pub fn kind(client: &Client<'_>, word: &str) -> Result<Kind, Failure> {
    // The message omits a group after the name.
    let resource = word.split('.').next().unwrap_or(word);
    client.kind(word).ok_or_else(|| {
        Failure::error(format!(
            "the server doesn't have a resource type {resource:?}"
        ))
    })
}

/// Splits a word into kind and name: `deploy/web`, or a Pod's name alone.
pub fn kind_and_name<'w>(client: &Client<'_>, word: &'w str) -> Result<(Kind, &'w str), Failure> {
    word.split_once('/')
        .map_or(Ok((Kind::Pod, word)), |(resource, name)| {
            Ok((kind(client, resource)?, name))
        })
}

/// Returns the object for such a word.
pub fn object(client: &Client<'_>, word: &str) -> Result<Rc<Object>, Failure> {
    let (kind, name) = kind_and_name(client, word)?;
    let key = client.key(kind, name);
    client.may_read("get", &key, "")?;
    client
        .sim()
        .get(&key)
        .cloned()
        .ok_or_else(|| client.missing(&key))
}

impl Targets {
    /// Parses the words of a command.
    pub fn parse(client: &Client<'_>, args: &Args, words: &[String]) -> Result<Targets, Failure> {
        if client.mode.dry == DryRun::Local {
            local(client, args, words)?;
        }
        let mut list = Vec::new();
        let slashed = words.first().is_some_and(|word| word.contains('/'));
        if slashed {
            for word in words {
                let Some((resource, name)) = word.split_once('/') else {
                    return Err(Failure::error(
                        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
                    ));
                };
                if name.is_empty() {
                    return Err(Failure::error(
                        "arguments in resource/name form must have a single resource and name",
                    ));
                }
                list.push((kind(client, resource)?, Some(name.to_owned())));
            }
        } else if let Some((resources, names)) = words.split_first() {
            for kind in kinds(client, resources)? {
                if names.is_empty() {
                    list.push((kind, None));
                }
                list.extend(names.iter().map(|name| (kind, Some(name.clone()))));
            }
        }
        let namespace = if args.on("all-namespaces") {
            String::new()
        } else {
            client.namespace.clone()
        };
        let (labels, fields) = (args.get("selector"), args.get("field-selector"));
        let refused = |kind: Kind, fault: String| refused_selector(kind, labels, fields, &fault);
        let mut selections = Vec::new();
        let first = list.first().map_or(Kind::Pod, |(kind, _)| *kind);
        let parsed =
            ObjectSelector::parse(labels, fields).map_err(|fault| refused(first, fault))?;
        if !parsed.is_empty() {
            let definitions = client.sim().server().definitions();
            for (kind, _) in &list {
                let selection = parsed
                    .clone()
                    .for_kind(definitions, *kind, &kind.api_version());
                selections.push((*kind, selection.map_err(|fault| refused(*kind, fault))?));
            }
        }
        let named = list.iter().any(|(_, name)| name.is_some());
        if named && (!parsed.is_empty() || args.on("all")) {
            return Err(Failure::error(
                "name cannot be provided when a selector is specified",
            ));
        }
        if named && args.on("all-namespaces") {
            return Err(Failure::error(
                "a resource cannot be retrieved by name across all namespaces",
            ));
        }
        Ok(Targets {
            list,
            selections,
            namespace,
            verb: "get",
        })
    }

    /// Returns the objects as JSON; missing ones are reported.
    pub fn fetch(&self, client: &mut Client<'_>) -> Vec<(Kind, Value)> {
        if client.mode.dry == DryRun::Local {
            return client.local.clone();
        }
        self.find(client)
            .iter()
            .map(|object| (object.kind, object.to_value()))
            .collect()
    }

    /// Returns the objects themselves, since thousands of them need less memory than their JSON.
    pub fn find(&self, client: &mut Client<'_>) -> Vec<Rc<Object>> {
        let asked = |object: &Rc<Object>| {
            !self.has_selector() || self.selects(object.kind, &object.to_value())
        };
        self.listings(client)
            .into_iter()
            .flatten()
            .filter(asked)
            .collect()
    }

    /// Returns true if there is a label or a field selector.
    pub fn has_selector(&self) -> bool {
        !self.selections.is_empty()
    }

    /// Returns true if the selectors select an object.
    pub fn selects(&self, kind: Kind, object: &Value) -> bool {
        let own = self.selections.iter().find(|(own, _)| *own == kind);
        own.is_none_or(|(_, selection)| selection.matches(object))
    }

    /// Returns snapshots of the objects for later iteration, ignoring the selectors.
    pub fn listings(&self, client: &mut Client<'_>) -> VecDeque<Listing> {
        let mut found = VecDeque::new();
        for (kind, name) in &self.list {
            let key = client.key(*kind, name.as_deref().unwrap_or(""));
            let all = ObjectRef::new(*kind, &self.namespace, "");
            let (verb, asked) = if name.is_some() {
                (self.verb, &key)
            } else {
                ("list", &all)
            };
            if let Err(failure) = client.may_read(verb, asked, "") {
                client.fail(&failure);
                continue;
            }
            if !client.sim().server().serves(*kind) {
                client.fail(&unserved(*kind, name.as_deref()));
                continue;
            }
            let Some(name) = name else {
                found.push_back(client.listing(*kind, &self.namespace));
                continue;
            };
            match client.sim().seen(&client.key(*kind, name)) {
                Some(object) => found.push_back(Listing::of([object])),
                None if self.verb == "delete" => client.fail(&not_found(*kind, name)),
                None => client.fail(&client.missing(&key)),
            }
        }
        found
    }
}

/// Returns the API server's refusal of a selector.
pub fn refused_selector(
    kind: Kind,
    labels: Option<&str>,
    fields: Option<&str>,
    fault: &str,
) -> Failure {
    let info = kind.info();
    Failure::plain(format!(
        "Error from server (BadRequest): Unable to find \"{}/{}, Resource={}\" that match label selector {:?}, field selector {:?}: {fault}",
        info.group,
        info.version,
        info.plural,
        labels.unwrap_or(""),
        fields.unwrap_or("")
    ))
}

/// Returns the kinds of `deploy,rs`, or of `all` and other categories.
fn kinds(client: &Client<'_>, words: &str) -> Result<Vec<Kind>, Failure> {
    let mut list = Vec::new();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        if word == "all" {
            list.extend(ALL);
        }
        let category = client.sim().server().definitions().category(word);
        if category.is_empty() && word != "all" {
            list.push(kind(client, word)?);
        } else {
            list.extend(category);
        }
    }
    Ok(list)
}

/// Returns the error for a kind whose definition is gone; kubectl still has its name cached.
fn unserved(kind: Kind, name: Option<&str>) -> Failure {
    let (info, resource) = (kind.info(), kind.group_resource());
    let missing = "the server could not find the requested resource";
    Failure::plain(match name {
        None => format!(
            "Error from server (NotFound): Unable to list \"{}/{}, Resource={}\": {missing} (get {resource})",
            info.group, info.version, info.plural
        ),
        Some(name) => format!("Error from server (NotFound): {missing} (get {resource} {name})"),
    })
}

/// Returns the name of an object.
pub fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

/// Returns the key of an object.
pub fn key_of(kind: Kind, object: &Value) -> ObjectRef {
    ObjectRef::new(
        kind,
        object["metadata"]["namespace"].as_str().unwrap_or(""),
        name_of(object),
    )
}

/// Formats a kind and a name: `deployment.apps/nginx`.
pub fn label(kind: Kind, name: &str) -> String {
    format!("{}/{name}", kind.qualified_singular())
}
