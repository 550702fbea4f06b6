//! `kubectl config`: the single context of this cluster, and the default namespace.

use super::client::{CLUSTER, CONTEXT, Client, NAMESPACE, USER};
use super::parse::Args;
use super::printers::table::Widths;
use super::{Failure, Outcome, Reads, Verb};
use cluster::disk::CONSOLE;

const FLAGS: &str = "current ~minify ~flatten raw output/o= ~no-headers";
/// `kubectl config`.
pub const VERB: Verb = Verb {
    name: "config",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Sub(&[
        "view",
        "get-contexts",
        "current-context",
        "get-clusters",
        "get-users",
    ]),
    run,
    help: "Modify kubeconfig files",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("config", FLAGS, words)?;
    let Some((topic, rest)) = args.words.split_first() else {
        return Err(Failure::usage(
            "config",
            "one of current-context, get-contexts, set-context, use-context, view is required",
        ));
    };
    let unknown = |name: &str| Failure::error(format!("no context exists with the name: {name:?}"));
    match topic.as_str() {
        "current-context" => client.streams.say(CONTEXT),
        "use-context" | "use" => match rest {
            [name] if name == CONTEXT => client
                .streams
                .say(format!("Switched to context {CONTEXT:?}.")),
            [name] => return Err(unknown(name)),
            _ => {
                return Err(Failure::usage(
                    "config use-context",
                    format!("accepts 1 arg(s), received {}", rest.len()),
                ));
            }
        },
        "set-context" => {
            if let Some(name) = rest.first().filter(|name| *name != CONTEXT) {
                return Err(unknown(name));
            }
            if let Some(namespace) = args.get("namespace") {
                client.disks().write(CONSOLE, NAMESPACE, namespace);
            }
            client.streams.say(format!("Context {CONTEXT:?} modified."));
        }
        "get-contexts" => {
            let namespace = client.context_namespace().unwrap_or_default();
            let rows = [
                ["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"],
                ["*", CONTEXT, CLUSTER, USER, &namespace],
            ];
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
                .collect();
            client.streams.out.push_str(&Widths::default().print(&rows));
        }
        "get-clusters" => client.streams.say(format!("NAME\n{CLUSTER}")),
        "get-users" => client.streams.say(format!("NAME\n{USER}")),
        "view" => {
            let namespace = client
                .context_namespace()
                .map_or(String::new(), |name| format!("    namespace: {name}\n"));
            client.streams.out.push_str(&format!(
                "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: DATA+OMITTED\n    server: https://192.168.49.2:6443\n  \
                 name: {CLUSTER}\ncontexts:\n- context:\n    cluster: {CLUSTER}\n{namespace}    user: {USER}\n  name: {CONTEXT}\n\
                 current-context: {CONTEXT}\nkind: Config\nusers:\n- name: {USER}\n  user:\n    client-certificate-data: DATA+OMITTED\n    \
                 client-key-data: DATA+OMITTED\n"
            ));
        }
        _ => {
            return Err(Failure::usage(
                "config",
                format!("unknown command {:?}", args.words.join(" ")),
            ));
        }
    }
    Ok(Outcome::Done)
}
