//! `kubectl api-resources`, `api-versions`, `version`, `cluster-info`.

use super::client::Client;
use super::parse::Args;
use super::printers::table::Widths;
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::kind::ALL;
use serde_json::json;

const RESOURCES_FLAGS: &str =
    "namespaced= output/o= no-headers api-group= verbs= ~cached sort-by= categories=";

/// `kubectl cluster-info`.
pub const CLUSTER_INFO: Verb = Verb {
    name: "cluster-info",
    aliases: &[],
    flags: "",
    reads: Reads::Yes,
    run: cluster_info,
    help: "Display cluster information",
};

/// `kubectl version`.
pub const VERSION: Verb = Verb {
    name: "version",
    aliases: &[],
    flags: "",
    reads: Reads::Yes,
    run: version,
    help: "Print the client and server version information",
};

/// `kubectl api-versions`.
pub const API_VERSIONS: Verb = Verb {
    name: "api-versions",
    aliases: &[],
    flags: "",
    reads: Reads::Yes,
    run: api_versions,
    help: "Print the supported API versions on the server",
};

/// `kubectl api-resources`.
pub const API_RESOURCES: Verb = Verb {
    name: "api-resources",
    aliases: &[],
    flags: RESOURCES_FLAGS,
    reads: Reads::Yes,
    run: api_resources,
    help: "Print the supported API resources on the server",
};

/// Resources that are not stored: group, name, short name, version, namespaced flag, kind.
const TRANSIENT: &[(&str, &str, &str, &str, bool, &str)] = &[
    ("", "bindings", "", "v1", true, "Binding"),
    (
        "authentication.k8s.io",
        "selfsubjectreviews",
        "",
        "v1",
        false,
        "SelfSubjectReview",
    ),
    (
        "authentication.k8s.io",
        "tokenreviews",
        "",
        "v1",
        false,
        "TokenReview",
    ),
    (
        "authorization.k8s.io",
        "localsubjectaccessreviews",
        "",
        "v1",
        true,
        "LocalSubjectAccessReview",
    ),
    (
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "",
        "v1",
        false,
        "SelfSubjectAccessReview",
    ),
    (
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        "",
        "v1",
        false,
        "SelfSubjectRulesReview",
    ),
    (
        "authorization.k8s.io",
        "subjectaccessreviews",
        "",
        "v1",
        false,
        "SubjectAccessReview",
    ),
    ("events.k8s.io", "events", "ev", "v1", true, "Event"),
];

fn api_resources(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("api-resources", RESOURCES_FLAGS, words)?;
    let mut rows = Vec::new();
    if !args.on("no-headers") {
        rows.push(
            ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
                .map(str::to_owned)
                .to_vec(),
        );
    }
    let stored = ALL.iter().map(|kind| kind.info()).map(|info| {
        (
            info.group,
            info.plural,
            info.short,
            info.version,
            info.namespaced,
            info.name,
        )
    });
    let definitions: Vec<_> = client
        .sim()
        .server
        .definitions()
        .served()
        .cloned()
        .collect();
    let shorts: Vec<String> = definitions
        .iter()
        .map(|definition| definition.short.join(","))
        .collect();
    let custom = definitions.iter().zip(&shorts).map(|(definition, short)| {
        let info = definition.kind.info();
        (
            info.group,
            info.plural,
            short.as_str(),
            info.version,
            info.namespaced,
            info.name,
        )
    });
    let mut all: Vec<_> = stored
        .chain(TRANSIENT.iter().copied())
        .chain(custom)
        .collect();
    all.sort();
    match args.get("sort-by").unwrap_or("") {
        "" => {}
        "name" => all.sort_by_key(|kind| kind.1),
        "kind" => all.sort_by_key(|kind| kind.5),
        _ => return Err(Failure::error("--sort-by accepts only name or kind")),
    }
    for (group, plural, short, version, namespaced, name) in all {
        // Verbs of every stored kind; other kinds, except for Events, can only be created or read.
        const VERBS: &[&str] = &[
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ];
        let verbs = match name {
            "ComponentStatus" => &VERBS[3..5],
            _ if TRANSIENT.iter().any(|kind| kind.5 == name) && name != "Event" => &VERBS[..1],
            _ => VERBS,
        };
        let wanted = args
            .all("verbs")
            .flat_map(|verbs| verbs.split(','))
            .all(|verb| verbs.contains(&verb))
            && args
                .get("namespaced")
                .is_none_or(|only| (only == "true") == namespaced)
            && args.get("api-group").is_none_or(|wanted| wanted == group)
            && args.all("categories").all(|category| {
                k8s_model::kind::in_category(category)
                    .iter()
                    .any(|kind| (kind.info().group, kind.name()) == (group, name))
            });
        let dot = if group.is_empty() { "" } else { "." };
        if wanted && args.get("output") == Some("name") {
            client.streams.say(format!("{plural}{dot}{group}"));
        } else if wanted {
            let version = if group.is_empty() {
                version.to_owned()
            } else {
                format!("{group}/{version}")
            };
            rows.push(vec![
                plural.to_owned(),
                short.to_owned(),
                version,
                namespaced.to_string(),
                name.to_owned(),
            ]);
        }
    }
    if args.get("output") != Some("name") {
        client.streams.out.push_str(&Widths::default().print(&rows));
    }
    Ok(Outcome::Done)
}

fn api_versions(client: &mut Client<'_>, _: &[String], _: &str) -> Result<Outcome, Failure> {
    served_versions(client)
        .into_iter()
        .for_each(|version| client.streams.say(version));
    Ok(Outcome::Done)
}

/// Returns all groups with their versions, such as `apps/v1`.
pub fn served_versions(client: &Client<'_>) -> Vec<String> {
    let transient = TRANSIENT
        .iter()
        .filter(|kind| !kind.0.is_empty())
        .map(|kind| format!("{}/{}", kind.0, kind.3));
    let definitions = client.sim().server.definitions();
    let custom = definitions.served().flat_map(|definition| {
        definition
            .versions
            .iter()
            .map(|version| format!("{}/{}", definition.kind.info().group, version.name))
    });
    let mut all: Vec<String> = custom
        .chain(ALL.iter().map(|kind| kind.api_version()).chain(transient))
        .collect();
    // The older version of the autoscaler is served too.
    all.push("autoscaling/v1".to_owned());
    all.sort();
    all.dedup();
    all
}

fn version(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("version", "output/o= client short", words)?;
    let parts =
        json!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "platform": "linux/amd64"});
    let mut all = json!({"clientVersion": parts, "kustomizeVersion": "v5.8.1"});
    if !args.on("client") {
        all["serverVersion"] = parts;
    }
    match args.get("output") {
        Some("yaml") => client
            .streams
            .out
            .push_str(&super::printers::yaml::print(&all)),
        Some("json") => client.streams.out.push_str(&format!("{all:#}\n")),
        Some(other) if !other.is_empty() => {
            return Err(Failure::error("--output must be 'yaml' or 'json'"));
        }
        _ if args.on("client") => client
            .streams
            .say("Client Version: v1.36.2\nKustomize Version: v5.8.1"),
        _ => client
            .streams
            .say("Client Version: v1.36.2\nKustomize Version: v5.8.1\nServer Version: v1.36.2"),
    }
    Ok(Outcome::Done)
}

fn cluster_info(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    Args::parse("cluster-info", "", words)?;
    client.streams.say("Kubernetes control plane is running at https://192.168.49.2:6443\n\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.");
    Ok(Outcome::Done)
}
