//! `kubectl set image|env|resources|serviceaccount|selector`: changes one part of a Pod template or Service.

use super::client::Client;
use super::failure::server_error;
use super::output::{DryRun, go_type};
use super::parse::Args;
use super::targets::{Targets, label, name_of};
use super::unavailable::NONE_SPECIFIED;
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::Kind;
use serde_json::{Map, Value, json};

const FLAGS: &str = "container/c= containers/c= env/e= requests= limits= all selector/l= field-selector= local dry-run?unchanged \
    output/o= @filename/f= kustomize/k= recursive/R list ~overwrite from= keys= prefix= !resource-version= record \
    user= group= serviceaccount=";

/// `kubectl set`.
pub const VERB: Verb = Verb {
    name: "set",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Set specific features on objects",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let Some((topic, rest)) = words.split_first() else {
        return Err(Failure::error(
            "must specify one of: env, image, resources, selector, serviceaccount, subject",
        ));
    };
    let args = Args::parse(&format!("set {topic}"), FLAGS, rest)?;
    if matches!(topic.as_str(), "env" | "subject") {
        args.refuse("record")?;
    }
    client.use_flags(&args)?;
    match topic.as_str() {
        "image" => change(
            client,
            &args,
            |word| word.contains('=') && !word.starts_with('/'),
            "image updated",
            image,
        ),
        "env" => change(
            client,
            &args,
            |word| word.contains('=') || word.ends_with('-'),
            "env updated",
            env,
        ),
        "resources" => {
            if args.get("requests").is_none() && args.get("limits").is_none() {
                return Err(Failure::error(
                    "you must specify an update to requests or limits (in the form of --requests/--limits)",
                ));
            }
            change(
                client,
                &args,
                |_| false,
                "resource requirements updated",
                resources,
            )
        }
        "serviceaccount" | "sa" => account(client, &args),
        "selector" => selector(client, &args),
        "subject" => subject(client, &args),
        _ => Err(Failure::usage(
            "set",
            format!("unknown command {:?}", words.join(" ")),
        )),
    }
}

type Edit = fn(&Args, &[String], &mut Map<String, Value>) -> Result<(), Failure>;

/// Edits the Pod spec of every target and prints a line for each that changed.
fn change(
    client: &mut Client<'_>,
    args: &Args,
    is_change: fn(&str) -> bool,
    done: &str,
    edit: Edit,
) -> Result<Outcome, Failure> {
    let (changes, words): (Vec<String>, Vec<String>) =
        args.words.iter().cloned().partition(|word| is_change(word));
    if words.is_empty() && !args.on("local") {
        return Err(Failure::error(NONE_SPECIFIED));
    }
    let targets = Targets::parse(client, args, &words)?;
    let env = done.starts_with("env");
    if changes.is_empty() && done.starts_with("image") {
        return Err(Failure::error("at least one image update is required"));
    }
    let variables = if env {
        variables_from(client, args)?
    } else {
        Vec::new()
    };
    for (kind, object) in targets.fetch(client) {
        let mut edited = object.clone();
        let Some(spec) = pod_spec(kind, &mut edited) else {
            client.streams.fail(&no_template(kind, name_of(&object)));
            continue;
        };
        if env && args.on("list") {
            list(client, kind, name_of(&object), spec);
            continue;
        }
        let edit = edit(args, &changes, spec).and_then(|()| {
            if variables.is_empty() {
                Ok(())
            } else {
                set_variables(args, &variables, spec)
            }
        });
        if let Err(failure) = edit {
            client.streams.fail(&failure);
            continue;
        }
        write(client, kind, &object, edited, done)?;
    }
    Ok(Outcome::Done)
}

fn write(
    client: &mut Client<'_>,
    kind: Kind,
    before: &Value,
    after: Value,
    done: &str,
) -> Result<(), Failure> {
    if *before == after {
        return Ok(());
    }
    match client.patch_difference(kind, before, after) {
        Ok(written) if client.mode.dry == DryRun::Local => {
            client.report_typed(kind, &written, done)?
        }
        Ok(written) => client.report(kind, &written, done)?,
        // The commands for templates print their own prefix, without the causes.
        Err(error) => match FAILED.iter().find(|(what, _)| done.starts_with(what)) {
            Some((_, text)) => client
                .streams
                .fail(&Failure::error(format!("{text} {}", error.message))),
            None => client.streams.fail(&server_error(&error)),
        },
    }
    Ok(())
}

/// Start of the error message by command.
const FAILED: &[(&str, &str)] = &[
    ("env", "failed to patch env update to pod template:"),
    ("image", "failed to patch image update to pod template:"),
    (
        "resource requirements",
        "failed to patch resources update to pod template",
    ),
    ("serviceaccount", "failed to patch ServiceAccountName"),
];

/// Returns the Pod spec inside an object.
fn pod_spec(kind: Kind, object: &mut Value) -> Option<&mut Map<String, Value>> {
    let template = object.pointer_mut(kind.info().pod_template?)?;
    template.get_mut("spec").and_then(Value::as_object_mut)
}

fn containers<'a>(
    spec: &'a mut Map<String, Value>,
    kind: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    spec.get_mut(kind)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
}

fn image(_: &Args, changes: &[String], spec: &mut Map<String, Value>) -> Result<(), Failure> {
    for change in changes {
        let (name, image) = change.split_once('=').unwrap_or((change, ""));
        let mut found = false;
        for kind in ["initContainers", "containers"] {
            for container in containers(spec, kind)
                .filter(|c| name == "*" || c.get("name").is_some_and(|n| n == name))
            {
                container.insert("image".to_owned(), Value::from(image));
                found = true;
            }
        }
        if !found {
            return Err(Failure::error(format!(
                "unable to find container named \"{name}\""
            )));
        }
    }
    Ok(())
}

fn chosen<'a>(
    args: &Args,
    spec: &'a mut Map<String, Value>,
) -> Result<Vec<&'a mut Map<String, Value>>, Failure> {
    let wanted = args
        .get("container")
        .or(args.get("containers"))
        .unwrap_or("*")
        .to_owned();
    let all: Vec<_> = containers(spec, "containers")
        .filter(|c| wanted == "*" || c.get("name").is_some_and(|n| *n == wanted.as_str()))
        .collect();
    if all.is_empty() {
        Err(Failure::error(format!(
            "unable to find container named {wanted}"
        )))
    } else {
        Ok(all)
    }
}

fn env(args: &Args, changes: &[String], spec: &mut Map<String, Value>) -> Result<(), Failure> {
    for container in chosen(args, spec)? {
        let mut list = container
            .get("env")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for change in changes {
            let Some((name, value)) = change.split_once('=') else {
                list.retain(|entry| entry["name"] != change[..change.len() - 1]);
                continue;
            };
            match list.iter_mut().find(|entry| entry["name"] == name) {
                Some(entry) => *entry = json!({"name": name, "value": value}),
                None => list.push(json!({"name": name, "value": value})),
            }
        }
        if list.is_empty() {
            container.remove("env");
        } else {
            container.insert("env".to_owned(), Value::Array(list));
        }
    }
    Ok(())
}

/// Returns variables for the keys of the ConfigMap or Secret of `--from`.
fn variables_from(client: &mut Client<'_>, args: &Args) -> Result<Vec<Value>, Failure> {
    let Some(from) = args.get("from") else {
        return Ok(Vec::new());
    };
    let (kind, name) = from
        .split_once('/')
        .ok_or_else(|| Failure::error("--from must be like configmap/NAME"))?;
    let (kind, field) = match super::targets::kind(client, kind)? {
        Kind::ConfigMap => (Kind::ConfigMap, "configMapKeyRef"),
        Kind::Secret => (Kind::Secret, "secretKeyRef"),
        _ => return Err(Failure::error("unsupported resource specified in --from")),
    };
    let object = client.get(kind, name)?;
    let wanted: Vec<&str> = args.all("keys").flat_map(|keys| keys.split(',')).collect();
    let mut variables = Vec::new();
    for key in object["data"].as_object().into_iter().flat_map(Map::keys) {
        if !wanted.is_empty() && !wanted.contains(&key.as_str()) {
            continue;
        }
        let upper: String = key
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_uppercase()
                } else {
                    '_'
                }
            })
            .collect();
        if upper != *key {
            client
                .streams
                .warn(format!("Warning: key {key} transferred to {upper}"));
        }
        let variable = format!("{}{upper}", args.get("prefix").unwrap_or(""));
        variables.push(json!({"name": variable, "valueFrom": {field: {"key": key, "name": name}}}));
    }
    Ok(variables)
}

/// Sets variables in the chosen containers.
fn set_variables(
    args: &Args,
    variables: &[Value],
    spec: &mut Map<String, Value>,
) -> Result<(), Failure> {
    for container in chosen(args, spec)? {
        let list = container.entry("env").or_insert_with(|| json!([]));
        for variable in variables {
            match list.as_array_mut().map(|list| {
                (
                    list.iter()
                        .position(|known| known["name"] == variable["name"]),
                    list,
                )
            }) {
                Some((Some(at), list)) => list[at] = variable.clone(),
                Some((None, list)) => list.push(variable.clone()),
                None => {}
            }
        }
    }
    Ok(())
}

/// Prints the variables of each container, for `--list`.
fn list(client: &mut Client<'_>, kind: Kind, name: &str, spec: &mut Map<String, Value>) {
    for container in ["containers", "initContainers"]
        .iter()
        .flat_map(|field| spec.get(*field).and_then(Value::as_array))
        .flatten()
    {
        let plural = kind.info().name;
        client.streams.say(format!(
            "# {plural} {name}, container {}",
            container["name"].as_str().unwrap_or("")
        ));
        for variable in container["env"].as_array().into_iter().flatten() {
            let name = variable["name"].as_str().unwrap_or("");
            let (config, secret) = (
                &variable["valueFrom"]["configMapKeyRef"],
                &variable["valueFrom"]["secretKeyRef"],
            );
            let text = |value: &Value, field: &str| value[field].as_str().unwrap_or("").to_owned();
            client.streams.say(if config.is_object() {
                format!(
                    "# {name} from configmap {}, key {}",
                    text(config, "name"),
                    text(config, "key")
                )
            } else if secret.is_object() {
                format!(
                    "# {name} from secret {}, key {}",
                    text(secret, "name"),
                    text(secret, "key")
                )
            } else if let Some(path) = variable["valueFrom"]["fieldRef"]["fieldPath"].as_str() {
                format!("# {name} from field path {path}")
            } else {
                format!("{name}={}", text(variable, "value"))
            });
        }
    }
}

fn resources(args: &Args, _: &[String], spec: &mut Map<String, Value>) -> Result<(), Failure> {
    for container in chosen(args, spec)? {
        let entry = container.entry("resources").or_insert_with(|| json!({}));
        for kind in ["requests", "limits"] {
            for pair in args
                .get(kind)
                .unwrap_or("")
                .split(',')
                .filter(|pair| !pair.is_empty())
            {
                let (name, amount) = pair.split_once('=').ok_or_else(|| {
                    Failure::error(format!(
                        "Invalid argument syntax {pair}, expected <resource>=<value>"
                    ))
                })?;
                let amount = k8s_model::quantity::Quantity::parse(amount)
                    .map_err(Failure::error)?
                    .to_string();
                entry[kind][name] = Value::from(amount);
            }
        }
    }
    Ok(())
}

fn no_template(kind: Kind, name: &str) -> Failure {
    let (plural, of) = (kind.info().plural, go_type(kind));
    Failure::error(format!(
        "{plural}/{name} the object is not a pod or does not have a pod template: {of}"
    ))
}

fn account(client: &mut Client<'_>, args: &Args) -> Result<Outcome, Failure> {
    let Some((account, words)) = args
        .words
        .split_last()
        .filter(|(_, words)| !words.is_empty() || args.on("local"))
    else {
        return Err(Failure::error("serviceaccount is required"));
    };
    for (kind, object) in Targets::parse(client, args, words)?.fetch(client) {
        let mut edited = object.clone();
        let Some(spec) = pod_spec(kind, &mut edited) else {
            client.streams.fail(&no_template(kind, name_of(&object)));
            continue;
        };
        spec.insert(
            "serviceAccountName".to_owned(),
            Value::from(account.as_str()),
        );
        spec.remove("serviceAccount");
        write(client, kind, &object, edited, "serviceaccount updated")?;
    }
    Ok(Outcome::Done)
}

/// Adds users, groups and service accounts to bindings.
fn subject(client: &mut Client<'_>, args: &Args) -> Result<Outcome, Failure> {
    let mut subjects: Vec<Value> = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        for name in args
            .all(flag)
            .flat_map(|names| names.split(','))
            .filter(|name| !name.is_empty())
        {
            subjects
                .push(json!({"kind": kind, "apiGroup": "rbac.authorization.k8s.io", "name": name}));
        }
    }
    for account in args
        .all("serviceaccount")
        .flat_map(|names| names.split(','))
        .filter(|name| !name.is_empty())
    {
        let (namespace, name) = account.split_once(':').ok_or_else(|| {
            Failure::error("serviceaccount must be <namespace>:<name>".to_owned())
        })?;
        subjects.push(json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}));
    }
    if subjects.is_empty() {
        return Err(Failure::error(
            "you must specify at least one value of user, group or serviceaccount",
        ));
    }
    for (kind, object) in Targets::parse(client, args, &args.words)?.fetch(client) {
        if !matches!(kind, Kind::RoleBinding | Kind::ClusterRoleBinding) {
            client.streams.fail(&Failure::error(format!(
                "{} is not a RoleBinding or ClusterRoleBinding",
                label(kind, name_of(&object))
            )));
            continue;
        }
        let mut edited = object.clone();
        let list = edited["subjects"].as_array().cloned().unwrap_or_default();
        let new: Vec<Value> = subjects
            .iter()
            .filter(|subject| !list.contains(subject))
            .cloned()
            .collect();
        edited["subjects"] = list.into_iter().chain(new).collect();
        write(client, kind, &object, edited, "subjects updated")?;
    }
    Ok(Outcome::Done)
}

fn selector(client: &mut Client<'_>, args: &Args) -> Result<Outcome, Failure> {
    let Some((selector, words)) = args
        .words
        .split_last()
        .filter(|(_, words)| !words.is_empty() || args.on("local"))
    else {
        return Err(Failure::error(NONE_SPECIFIED));
    };
    let pairs = super::create::pairs(selector);
    for (kind, object) in Targets::parse(client, args, words)?.fetch(client) {
        if kind != Kind::Service {
            client.streams.fail(&Failure::error(
                "setting a selector is only supported for Services",
            ));
            continue;
        }
        let mut edited = object.clone();
        edited["spec"]["selector"] = Value::Object(pairs.clone());
        write(client, kind, &object, edited, "selector updated")?;
    }
    Ok(Outcome::Done)
}
