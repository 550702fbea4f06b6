//! `kubectl run`: one Pod.

use super::client::Client;
use super::create::finish;
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb};
use serde_json::{Value, json};

const FLAGS: &str = "image= restart= labels/l= port= env= command stdin/i tty/t rm attach dry-run?unchanged output/o= quiet/q expose \
    annotations= image-pull-policy= overrides= save-config privileged";

/// `kubectl run`.
pub const VERB: Verb =
    Verb { name: "run", aliases: &[], flags: FLAGS, reads: Reads::No, run: Some(run), help: "Run a particular image on the cluster" };

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("run", FLAGS, words)?;
    client.use_flags(&args)?;
    let Some((name, rest)) = args.words.split_first() else { return Err(Failure::error("NAME is required for run")) };
    args.require(&["image"])?;
    let mut labels = crate::sort::map([("run".to_owned(), Value::from(name.as_str()))].into_iter());
    if let Some(text) = args.get("labels") {
        labels = super::create::pairs(text);
    }
    let mut container = json!({"name": name, "image": args.get("image")});
    if let Some(port) = args.number("port")? {
        container["ports"] = json!([{"containerPort": port}]);
    }
    let env: Vec<Value> = args.all("env").filter_map(|pair| pair.split_once('=')).map(|(k, v)| json!({"name": k, "value": v})).collect();
    if !env.is_empty() {
        container["env"] = Value::Array(env);
    }
    if !rest.is_empty() {
        let field = if args.on("command") { "command" } else { "args" };
        container[field] = rest.iter().map(String::as_str).collect();
    }
    if let Some(policy) = args.get("image-pull-policy") {
        container["imagePullPolicy"] = Value::from(policy);
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [container], "restartPolicy": args.get("restart").unwrap_or("Always"), "dnsPolicy": "ClusterFirst"}});
    finish(client, &args, pod)
}
