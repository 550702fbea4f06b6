//! Objects named on a command line: `deploy/x`, `pods a b`, `deploy,rs`, `all`.

use super::Failure;
use super::client::Client;
use super::failure::{list_error, server_error};
use super::output::DryRun;
use super::parse::Args;
use apiserver::{ListOptions, ObjectList};
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
    /// Label and field selectors.
    pub options: ListOptions,
    /// Namespace; empty for all namespaces.
    pub namespace: String,
}

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
    client
        .get_info(&client.key(kind, name))
        .map_err(|error| server_error(&error))
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
        let option = |flag: &str| args.get(flag).unwrap_or("").to_owned();
        let options = ListOptions {
            label_selector: option("selector"),
            field_selector: option("field-selector"),
            ..ListOptions::default()
        };
        let is_selective = !options.label_selector.is_empty() || !options.field_selector.is_empty();
        let named = list.iter().any(|(_, name)| name.is_some());
        if named && (is_selective || args.on("all")) {
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
            options,
            namespace,
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
        self.listings(client).into_iter().flatten().collect()
    }

    /// Returns true if there is a label or a field selector.
    pub fn has_selector(&self) -> bool {
        !self.options.label_selector.is_empty() || !self.options.field_selector.is_empty()
    }

    /// Returns snapshots of the objects for later iteration; refusals are reported.
    pub fn listings(&self, client: &mut Client<'_>) -> VecDeque<ObjectList> {
        let mut found = VecDeque::new();
        for (kind, name) in &self.list {
            match self.listing(client, *kind, name.as_deref()) {
                Ok(objects) => found.push_back(objects),
                Err(failure) => client.streams.fail(&failure),
            }
        }
        found
    }

    fn listing(
        &self,
        client: &Client<'_>,
        kind: Kind,
        name: Option<&str>,
    ) -> Result<ObjectList, Failure> {
        check_served(client, "get", kind, name)?;
        match name {
            None => client
                .listing(kind, &self.namespace, self.options.clone())
                .map_err(|error| list_error(kind, &self.options, &error)),
            Some(name) => {
                let object = client
                    .get_info(&client.key(kind, name))
                    .map_err(|error| server_error(&error))?;
                Ok(ObjectList::new(0, Listing::of([object])))
            }
        }
    }
}

/// Returns the kinds of `deploy,rs`, or of `all` and other categories.
fn kinds(client: &Client<'_>, words: &str) -> Result<Vec<Kind>, Failure> {
    let mut list = Vec::new();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        let mut category = k8s_model::kind::in_category(word);
        category.extend(client.sim().server.definitions().category(word));
        if category.is_empty() {
            list.push(kind(client, word)?);
        } else {
            list.extend(category);
        }
    }
    Ok(list)
}

/// Refuses a kind whose definition is gone; kubectl still has its name cached.
pub fn check_served(
    client: &Client<'_>,
    verb: &str,
    kind: Kind,
    name: Option<&str>,
) -> Result<(), Failure> {
    if client.sim().server.definitions().serves(kind) {
        return Ok(());
    }
    let (info, resource) = (kind.info(), kind.group_resource());
    let missing = "the server could not find the requested resource";
    Err(Failure::plain(match name {
        None => format!(
            "Error from server (NotFound): Unable to list \"{}/{}, Resource={}\": {missing} (get {resource})",
            info.group, info.version, info.plural
        ),
        Some(name) => {
            format!("Error from server (NotFound): {missing} ({verb} {resource} {name})")
        }
    }))
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
