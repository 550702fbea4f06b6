//! `create serviceaccount`, `role`, `clusterrole`, `rolebinding`, `clusterrolebinding`, `token`.

use super::generator::{Generator, list, object, pairs};
use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use apiserver::Subresource;
use k8s_model::{Kind, Timestamp, base64};
use serde_json::{Value, json};

const GROUP: &str = "rbac.authorization.k8s.io";
const VERSION: &str = "rbac.authorization.k8s.io/v1";
/// Default lifetime of a token, in seconds.
const HOUR: i64 = 3_600;

pub const SERVICE_ACCOUNT: Generator = Generator {
    name: "serviceaccount",
    alias: "sa",
    flags: "",
    fails: "failed to create serviceaccount:",
    make: |_, _, name| Ok(object("v1", "ServiceAccount", name)),
};

pub const ROLE: Generator = Generator {
    name: "role",
    alias: "",
    flags: "verb= resource= resource-name=",
    fails: "",
    make: |client, args, name| {
        let mut role = object(VERSION, "Role", name);
        role["rules"] = rules(client, args)?;
        Ok(role)
    },
};

pub const CLUSTER_ROLE: Generator = Generator {
    name: "clusterrole",
    alias: "",
    flags: "verb= resource= resource-name= non-resource-url= aggregation-rule=",
    fails: "",
    make: cluster_role,
};

pub const ROLE_BINDING: Generator = Generator {
    name: "rolebinding",
    alias: "",
    flags: "clusterrole= role= user= group= serviceaccount=",
    fails: "failed to create rolebinding:",
    make: |_, args, name| match (args.get("clusterrole"), args.get("role")) {
        (Some(role), None) => binding(args, "RoleBinding", name, "ClusterRole", role),
        (None, Some(role)) => binding(args, "RoleBinding", name, "Role", role),
        _ => Err(Failure::error(
            "exactly one of clusterrole or role must be specified",
        )),
    },
};

pub const CLUSTER_ROLE_BINDING: Generator = Generator {
    name: "clusterrolebinding",
    alias: "",
    flags: "clusterrole= user= group= serviceaccount=",
    fails: "failed to create clusterrolebinding:",
    make: |_, args, name| {
        args.require(&["clusterrole"])?;
        binding(
            args,
            "ClusterRoleBinding",
            name,
            "ClusterRole",
            args.get("clusterrole").unwrap_or(""),
        )
    },
};

pub const TOKEN: Generator = Generator {
    name: "token",
    alias: "",
    flags: "audience= duration= bound-object-kind= bound-object-name= bound-object-uid=",
    fails: "",
    make: token,
};

const VERBS: &[&str] = &[
    "*",
    "get",
    "delete",
    "list",
    "create",
    "update",
    "patch",
    "watch",
    "proxy",
    "deletecollection",
    "use",
    "bind",
    "escalate",
    "impersonate",
];

/// Returns the verbs, each once; only `*` if it is among them.
fn verbs(args: &Args) -> Result<Vec<&str>, Failure> {
    let mut verbs: Vec<&str> = Vec::new();
    for verb in list(args, "verb") {
        if verb == "*" {
            return Ok(vec!["*"]);
        }
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    if verbs.is_empty() {
        Err(Failure::error("at least one verb must be specified"))
    } else {
        Ok(verbs)
    }
}

/// Builds one rule for each API group of the resources, in the order of the groups.
fn rules(client: &mut Client<'_>, args: &Args) -> Result<Value, Failure> {
    let verbs = verbs(args)?;
    for verb in verbs.iter().filter(|verb| !VERBS.contains(verb)) {
        client
            .streams
            .warn(format!("Warning: '{verb}' is not a standard resource verb"));
    }
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for text in list(args, "resource") {
        let (resource, sub) = text
            .split_once('/')
            .map_or((text, None), |(resource, sub)| (resource, Some(sub)));
        let (group, mut name) = match (resource, client.kind(resource)) {
            ("*", _) => (String::new(), "*".to_owned()),
            (_, Some(kind)) => (kind.info().group.to_owned(), kind.info().plural.to_owned()),
            _ => {
                let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
                let group = if group.is_empty() {
                    String::new()
                } else {
                    format!(" in group {group:?}")
                };
                return Err(Failure::plain(format!(
                    "the server doesn't have a resource type {resource:?}{group}"
                )));
            }
        };
        if let Some(sub) = sub {
            name = format!("{name}/{sub}");
        }
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((group, vec![name])),
        }
    }
    let urls: Vec<&str> = list(args, "non-resource-url").collect();
    if groups.is_empty() && urls.is_empty() {
        return Err(Failure::error(if args.verb_path == "create clusterrole" {
            "one of resource or nonResourceURL must be specified"
        } else {
            "at least one resource must be specified"
        }));
    }
    groups.sort_by_key(|(group, _)| group.clone());
    let names: Vec<&str> = args.all("resource-name").collect();
    let mut rules: Vec<Value> = Vec::new();
    for (group, resources) in groups {
        let mut rule = json!({"verbs": verbs, "resources": resources, "apiGroups": [group]});
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rules.push(rule);
    }
    if !urls.is_empty() {
        rules.push(json!({"verbs": verbs, "nonResourceURLs": urls}));
    }
    Ok(rules.into())
}

fn cluster_role(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let mut role = object(VERSION, "ClusterRole", name);
    let Some(labels) = args.get("aggregation-rule") else {
        role["rules"] = rules(client, args)?;
        return Ok(role);
    };
    if ["verb", "resource", "resource-name", "non-resource-url"]
        .iter()
        .any(|flag| args.get(flag).is_some())
    {
        return Err(Failure::error(
            "aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames",
        ));
    }
    role["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": pairs(labels)}]});
    role["rules"] = Value::Null;
    Ok(role)
}

fn binding(
    args: &Args,
    kind: &str,
    name: &str,
    role_kind: &str,
    role: &str,
) -> Result<Value, Failure> {
    let mut subjects: Vec<Value> = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        subjects.extend(
            args.all(flag)
                .map(|name| json!({"kind": kind, "apiGroup": GROUP, "name": name})),
        );
    }
    for account in args.all("serviceaccount") {
        let parts: Vec<&str> = account.split(':').collect();
        let [namespace, name] = parts[..] else {
            return Err(Failure::error("serviceaccount must be <namespace>:<name>"));
        };
        if namespace.is_empty() || name.is_empty() {
            return Err(Failure::error("serviceaccount must be <namespace>:<name>"));
        }
        subjects.push(json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}));
    }
    let mut binding = object(VERSION, kind, name);
    binding["roleRef"] = json!({"apiGroup": GROUP, "kind": role_kind, "name": role});
    if !subjects.is_empty() {
        binding["subjects"] = subjects.into();
    }
    Ok(binding)
}

/// Builds a token with the claims that a server would sign; signatures are never checked here.
fn token(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let key = client.key(Kind::ServiceAccount, name);
    let account = client
        .connect(&key, apiserver::Verb::Create, Subresource::Token)
        .map_err(|error| Failure::error(format!("failed to create token: {}", error.message)))?
        .to_value();
    let lasts = args
        .duration("duration")?
        .map_or(HOUR, |span| (span / 1_000_000) as i64);
    let now = client.wall();
    let namespace = &account["metadata"]["namespace"];
    let claims = json!({"aud": ["https://kubernetes.default.svc.cluster.local"], "exp": Timestamp::new(now + lasts).seconds(), "iat": now,
        "iss": "https://kubernetes.default.svc.cluster.local", "nbf": now, "kubernetes.io": {"namespace": namespace,
            "serviceaccount": {"name": name, "uid": account["metadata"]["uid"]}},
        "sub": format!("system:serviceaccount:{}:{name}", namespace.as_str().unwrap_or(""))});
    let part = |text: &str| {
        base64::encoded(text.as_bytes())
            .trim_end_matches('=')
            .replace('+', "-")
            .replace('/', "_")
    };
    let header = part("{\"alg\":\"RS256\",\"kid\":\"loopscope\"}");
    client.streams.say(format!(
        "{header}.{}.{}",
        part(&claims.to_string()),
        part("not signed")
    ));
    Ok(Value::Null)
}
