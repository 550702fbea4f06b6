//! `create namespace`, `deployment`, `job`, `cronjob`.

use super::generator::{Generator, list, object};
use crate::Failure;
use crate::client::Client;
use crate::output::go_type;
use crate::parse::Args;
use crate::targets;
use k8s_model::Kind;
use serde_json::{Value, json};

pub const NAMESPACE: Generator = Generator {
    name: "namespace",
    alias: "ns",
    flags: "",
    fails: "",
    make: |_, _, name| Ok(object("v1", "Namespace", name)),
};

pub const DEPLOYMENT: Generator = Generator {
    name: "deployment",
    alias: "deploy",
    flags: "image= replicas/r= port=",
    fails: "failed to create deployment:",
    make: deployment,
};

pub const JOB: Generator = Generator {
    name: "job",
    alias: "",
    flags: "image= from=",
    fails: "failed to create job:",
    make: job,
};

pub const CRON_JOB: Generator = Generator {
    name: "cronjob",
    alias: "cj",
    flags: "image= schedule= restart=",
    fails: "failed to create cronjob:",
    make: cron_job,
};

/// Returns the words after `--`.
fn command(args: &Args) -> Value {
    let words = args.dash.map(|at| &args.words[at..]).unwrap_or_default();
    if words.is_empty() {
        Value::Null
    } else {
        words.iter().map(String::as_str).collect()
    }
}

fn deployment(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    args.require(&["image"])?;
    let images: Vec<&str> = list(args, "image").collect();
    if images.len() > 1 && !command(args).is_null() {
        return Err(Failure::error(
            "cannot specify multiple --image options and command",
        ));
    }
    let mut containers: Vec<Value> = Vec::new();
    for image in images {
        containers.push(json!({"name": container_name(client, image), "image": image, "command": command(args)}));
    }
    if let (Some(port), Some(first)) = (
        args.number("port")?.filter(|port| *port >= 0),
        containers.first_mut(),
    ) {
        first["ports"] = json!([{"containerPort": port}]);
    }
    let labels = json!({"app": name});
    let mut deployment = object("apps/v1", "Deployment", name);
    deployment["metadata"]["labels"] = labels.clone();
    deployment["spec"] = json!({"replicas": args.number("replicas")?.unwrap_or(1), "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}});
    Ok(deployment)
}

/// Returns the container name for an image, `nginx` for `ghcr.io/acme/nginx:1.16`; an invalid label is converted, with a random suffix.
fn container_name(client: &Client<'_>, image: &str) -> String {
    let name = image
        .rsplit('/')
        .next()
        .unwrap_or(image)
        .split([':', '@'])
        .next()
        .unwrap_or(image);
    if !name.contains(['_', '.']) {
        return name.to_owned();
    }
    let suffix = client.sim().store().rng.clone().suffix();
    format!("{}-{suffix}", name.replace(['_', '.'], "-"))
}

fn job(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let mut job = object("batch/v1", "Job", name);
    let source = match (args.get("image"), args.get("from")) {
        (Some(image), None) => {
            let container = json!({"name": name, "image": image, "command": command(args)});
            job["spec"]["template"]["spec"] =
                json!({"containers": [container], "restartPolicy": "Never"});
            return Ok(job);
        }
        (None, Some(source)) => source,
        _ => return Err(Failure::error("either --image or --from must be specified")),
    };
    if !command(args).is_null() {
        return Err(Failure::error("cannot specify --from and command"));
    }
    let (kind, cron) = source
        .split_once('/')
        .ok_or_else(|| Failure::error("--from must be like cronjob/NAME"))?;
    let kind = targets::kind(client, kind)?;
    if kind != Kind::CronJob {
        return Err(Failure::error(format!(
            "unknown object type {}",
            go_type(kind)
        )));
    }
    let cron = client.get(Kind::CronJob, cron)?;
    let template = &cron["spec"]["jobTemplate"];
    job["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
    job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] = json!("manual");
    job["metadata"]["labels"] = template["metadata"]["labels"].clone();
    job["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": cron["metadata"]["name"],
        "uid": cron["metadata"]["uid"], "controller": true}]);
    job["spec"] = template["spec"].clone();
    Ok(job)
}

fn cron_job(_: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    args.require(&["image", "schedule"])?;
    let container = json!({"name": name, "image": args.get("image"), "command": command(args)});
    let pod = json!({"containers": [container], "restartPolicy": args.get("restart").unwrap_or("OnFailure")});
    let mut cron = object("batch/v1", "CronJob", name);
    cron["spec"] = json!({"schedule": args.get("schedule"), "jobTemplate": {"metadata": {"name": name}, "spec": {"template": {"spec": pod}}}});
    Ok(cron)
}
