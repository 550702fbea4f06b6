//! `kubectl auth`: identity and permissions of the user.
//!
//! Models `kubectl/pkg/cmd/auth`.

use super::client::Client;
use super::describe::policy_rules;
use super::parse::Args;
use super::printers::tabs;
use super::{Failure, Outcome, Reads, Verb};
use apiserver::{Attributes, Authorizer, PolicyRule, UserInfo};
use k8s_model::Kind;
use serde_json::json;

const FLAGS: &str = "list quiet/q subresource= all-namespaces/A no-headers output/o=";
const VERBS: [&str; 14] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "use",
    "bind",
    "impersonate",
    "*",
    "approve",
    "escalate",
];

/// `kubectl auth`.
pub const VERB: Verb = Verb {
    name: "auth",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Inspect authorization",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("auth", FLAGS, words)?;
    client.use_flags(&args)?;
    let user = client
        .user()
        .cloned()
        .unwrap_or_else(UserInfo::administrator);
    match args.words.first().map(String::as_str) {
        Some("whoami") => who(client, &user)?,
        Some("can-i") if args.on("list") => list(client, &args, &user),
        Some("can-i") => return can_i(client, &args),
        Some(other) => return Err(Failure::usage("auth", format!("unknown command {other:?}"))),
        None => client.streams.say("Inspect authorization.\n\nAvailable Commands:\n  can-i         Check whether an action is allowed\n  whoami        Experimental: Check self subject attributes"),
    }
    Ok(Outcome::Done)
}

fn who(client: &mut Client<'_>, user: &UserInfo) -> Result<(), Failure> {
    let groups: Vec<&str> = user.groups.iter().map(|group| group.as_str()).collect();
    let Some(format) = client.mode.format.clone() else {
        let text = format!(
            "ATTRIBUTE\tVALUE\nUsername\t{}\nGroups\t[{}]\n",
            user.name,
            groups.join(" ")
        );
        client.streams.out.push_str(&tabs::align_with(&text, 3));
        return Ok(());
    };
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {},
        "status": {"userInfo": {"groups": groups, "username": user.name.as_str()}}});
    let text = format.print(Kind::ServiceAccount, &[review], true, true)?;
    client.streams.out.push_str(&text);
    Ok(())
}

fn can_i(client: &mut Client<'_>, args: &Args) -> Result<Outcome, Failure> {
    let [_, verb, what] = &args.words[..] else {
        return Err(Failure::error(
            "you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth can-i -h' for help and examples.",
        ));
    };
    let (resource, name) = what.split_once('/').unwrap_or((what, ""));
    let path = resource.is_empty();
    let kind = client.kind(resource).filter(|_| !path);
    let mut group = "";
    let mut resource = resource.to_owned();
    if let Some(kind) = kind {
        let info = kind.info();
        (group, resource) = (info.group, info.plural.to_owned());
        if !info.namespaced && !args.on("all-namespaces") {
            let of = if group.is_empty() {
                String::new()
            } else {
                format!(" in group '{group}'")
            };
            client.streams.warn(format!(
                "Warning: resource '{resource}' is not namespace scoped{of}\n"
            ));
        }
    } else if !path && resource != "*" {
        let (resource, group) = resource.split_once('.').unwrap_or((&resource, ""));
        let group = if group.is_empty() {
            String::new()
        } else {
            format!(" in group '{group}'")
        };
        client.streams.warn(format!(
            "Warning: the server doesn't have a resource type '{resource}'{group}\n"
        ));
    } else if resource == "*" {
        group = "*";
    }
    if !path && !VERBS.contains(&verb.as_str()) {
        client
            .streams
            .warn(format!("Warning: verb '{verb}' is not a known verb\n"));
    }
    if let Some(part) = args.get("subresource").filter(|part| !part.is_empty()) {
        resource = format!("{resource}/{part}");
    }
    let namespace = if args.on("all-namespaces") {
        String::new()
    } else {
        client.namespace.clone()
    };
    let url = if path { what.as_str() } else { "" };
    let request = Attributes {
        verb,
        group,
        resource: &resource,
        namespace: &namespace,
        name,
        url,
    };
    let answer = client.user().map_or(Ok(()), |user| {
        Authorizer::new(client.sim().store()).allows(user, &request)
    });
    let quiet = args.on("quiet");
    match answer {
        Ok(()) if quiet => Ok(Outcome::Done),
        Ok(()) => {
            client.streams.say("yes");
            Ok(Outcome::Done)
        }
        Err(fault) => {
            if !quiet {
                client.streams.say(if fault.is_empty() {
                    "no".to_owned()
                } else {
                    format!("no - {fault}")
                });
            }
            Err(Failure::exit("", 1))
        }
    }
}

/// Prints every rule that applies, merging rules that differ only in their verbs.
fn list(client: &mut Client<'_>, args: &Args, user: &UserInfo) {
    let administrator = UserInfo::new(&user.name, vec!["system:masters".into()]);
    let user = client.user().unwrap_or(&administrator);
    let (rules, _) = Authorizer::new(client.sim().store()).rules_of(user, &client.namespace);
    let mut all: Vec<PolicyRule> = Vec::new();
    for rule in rules {
        if !rule.urls.is_empty() {
            all.extend(rule.urls.iter().map(|url| PolicyRule {
                urls: vec![url.clone()],
                ..rule.clone()
            }));
            continue;
        }
        for single in rule.single() {
            let same = |other: &&mut PolicyRule| {
                (&other.groups, &other.resources, &other.names)
                    == (&single.groups, &single.resources, &single.names)
            };
            match all.iter_mut().find(same) {
                Some(known) if known.verbs.contains(&single.verbs[0]) => {}
                Some(known) => known.verbs.extend(single.verbs),
                None => all.push(single),
            }
        }
    }
    let head = if args.on("no-headers") {
        ""
    } else {
        "Resources\tNon-Resource URLs\tResource Names\tVerbs\n"
    };
    let text = format!("{head}{}", policy_rules(all, ""));
    client.streams.out.push_str(&tabs::align_with(&text, 3));
}
