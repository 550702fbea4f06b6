//! `kubectl run`: creates a Pod.

use super::client::Client;
use super::create::finish;
use super::exec::Staying;
use super::output::DryRun;
use super::parse::Args;
use super::patch::overridden;
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::{Kind, image};
use serde_json::{Value, json};

const FLAGS: &str = "image= restart= labels/l= port= env= command stdin/i tty/t rm attach dry-run?unchanged output/o= quiet/q expose \
    annotations= image-pull-policy= overrides= override-type= save-config privileged leave-stdin-open ~pod-running-timeout= ~grace-period= \
    ~timeout= ~wait ~cascade?background ~force record";

/// `kubectl run`.
pub const VERB: Verb = Verb {
    name: "run",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Run a particular image on the cluster",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("run", FLAGS, words)?;
    let usage = |message: &str| Failure::usage("run", message);
    let interactive = args.on("stdin");
    let policy = match args.get("restart").filter(|policy| !policy.is_empty()) {
        Some(policy @ ("Always" | "Never" | "OnFailure")) => policy,
        Some(other) => return Err(usage(&format!("invalid restart policy: {other}"))),
        None => "Always",
    };
    client.use_flags(&args)?;
    args.require(&["image"])?;
    let (Some((name, rest)), true) = (args.words.split_first(), args.dash != Some(0)) else {
        return Err(usage("NAME is required for run"));
    };
    let Some(image) = args.get("image").filter(|image| !image.is_empty()) else {
        return Err(usage("--image is required"));
    };
    if let Some(fault) = image::fault(image) {
        return Err(Failure::error(format!(
            "Invalid image name {image:?}: {fault}"
        )));
    }
    if args.on("tty") && !interactive {
        return Err(usage(
            "-i/--stdin is required for containers with -t/--tty=true",
        ));
    }
    if args.on("expose") && args.get("port").is_none() {
        return Err(usage("--port must be set when exposing a service"));
    }
    let attach = args.on("attach") || interactive;
    if args.on("rm") && !attach {
        return Err(usage("--rm should only be used for attached containers"));
    }
    if attach && client.mode.dry != DryRun::No {
        let flags = "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)";
        return Err(usage(flags));
    }
    let labels = match args.get("labels") {
        Some(text) => super::create::pairs(text),
        None => [("run".to_owned(), Value::from(name.as_str()))]
            .into_iter()
            .collect::<serde_json::Map<_, _>>(),
    };
    let mut container = json!({"name": name, "image": image});
    let port = args.number("port")?;
    if let Some(port) = port {
        container["ports"] = json!([{"containerPort": port}]);
    }
    let mut env: Vec<Value> = Vec::new();
    for pair in args.all("env") {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::error(format!("invalid env: {pair}")))?;
        env.push(json!({"name": name, "value": value}));
    }
    if !env.is_empty() {
        container["env"] = env.into();
    }
    if !rest.is_empty() {
        let field = if args.on("command") {
            "command"
        } else {
            "args"
        };
        container[field] = rest.iter().map(String::as_str).collect();
    }
    if let Some(policy) = args.get("image-pull-policy") {
        container["imagePullPolicy"] = policy.into();
    }
    for (flag, field) in [("stdin", "stdin"), ("stdin", "stdinOnce"), ("tty", "tty")] {
        if args.on(flag) {
            container[field] = true.into();
        }
    }
    if args.on("privileged") {
        container["securityContext"] = json!({"privileged": true});
    }
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [container], "restartPolicy": policy, "dnsPolicy": "ClusterFirst"}});
    let annotations = args
        .all("annotations")
        .filter_map(|pair| pair.split_once('='))
        .map(|(k, v)| (k.to_owned(), v.into()))
        .collect::<serde_json::Map<_, _>>();
    if !annotations.is_empty() {
        pod["metadata"]["annotations"] = annotations.into();
    }
    let printed = client.streams.out.len();
    finish(client, &args, overridden(&args, Kind::Pod, pod)?, "")?;
    // With attachment, kubectl prints the result after the Pod's output; otherwise after that of its Service.
    let output = client.streams.out.split_off(printed);
    if let Some(port) = port.filter(|_| args.on("expose")) {
        let spec = json!({"selector": labels, "ports": [{"port": port, "protocol": "TCP", "targetPort": port}]});
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec});
        finish(client, &args, service, "")?;
    }
    if !attach {
        client.streams.out.push_str(&output);
    } else {
        let waits = policy != "Always" && !args.on("leave-stdin-open");
        let (tty, quiet) = (args.on("tty"), args.on("quiet"));
        let how = Staying {
            typed: interactive,
            removes: args.on("rm"),
            waits,
            tty,
            quiet,
            ..Staying::default()
        };
        return super::exec::stay(client, name, "", stdin, how);
    }
    Ok(Outcome::Done)
}
