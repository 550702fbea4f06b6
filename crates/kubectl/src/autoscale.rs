//! `kubectl autoscale`: creates a HorizontalPodAutoscaler for a workload.

use super::client::Client;
use super::documents::with_last_applied;
use super::failure::server_error;
use super::output::{DryRun, resource};
use super::parse::Args;
use super::targets::{Targets, name_of};
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::Kind;
use serde_json::{Value, json};

const FLAGS: &str = "min= max= cpu-percent= cpu= memory= name= dry-run?unchanged output/o= @filename/f= kustomize/k= recursive/R save-config record";

/// `kubectl autoscale`.
pub const VERB: Verb = Verb {
    name: "autoscale",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Auto-scale a deployment, replica set, stateful set, or replication controller",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("autoscale", FLAGS, words)?;
    client.use_flags(&args)?;
    args.require(&["max"])?;
    let (least, most) = (
        args.number("min")?.unwrap_or(-1),
        args.number("max")?.unwrap_or(-1),
    );
    if most < 1 {
        return Err(Failure::error(format!(
            "--max=MAXPODS is required and must be at least 1, max: {most}"
        )));
    }
    if most < least {
        return Err(Failure::error(format!(
            "--max=MAXPODS must be larger or equal to --min=MINPODS, max: {most}, min: {least}"
        )));
    }
    if args.get("cpu-percent").is_some() {
        client.streams.warn(
            "Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or \
             '500m' for milliCPU).",
        );
    }
    for (kind, object) in Targets::parse(client, &args, &args.words)?.fetch(client) {
        if !matches!(
            kind,
            Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController
        ) {
            client.streams.fail(&Failure::error(format!(
                "cannot autoscale a {}: could not find scale subresource for {} in discovery information",
                kind.name(),
                resource(kind)
            )));
            continue;
        }
        let name = args.get("name").unwrap_or(name_of(&object)).to_owned();
        let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name, "namespace": object["metadata"]["namespace"]},
            "spec": {"scaleTargetRef": {"apiVersion": kind.api_version(), "kind": kind.name(), "name": name_of(&object)},
                "minReplicas": args.number("min")?.filter(|n| *n > 0), "maxReplicas": args.number("max")?, "metrics": metrics(&args)?}});
        let scaler = if args.on("save-config") {
            with_last_applied(&scaler)
        } else {
            scaler
        };
        match client.create(scaler) {
            Ok(scaler) => {
                let done = if client.mode.dry == DryRun::No {
                    "autoscaled"
                } else {
                    "created"
                };
                client.report_typed(Kind::HorizontalPodAutoscaler, &scaler, done)?;
            }
            Err(error) => client.streams.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}

fn metrics(args: &Args) -> Result<Value, Failure> {
    let mut metrics = Vec::new();
    if let Some(percent) = args.number("cpu-percent")?.filter(|n| *n >= 0) {
        metrics.push(metric("cpu", &format!("{percent}%")));
    }
    for name in ["cpu", "memory"] {
        metrics.extend(args.get(name).map(|target| metric(name, target)));
    }
    Ok(if metrics.is_empty() {
        Value::Null
    } else {
        Value::Array(metrics)
    })
}

fn metric(name: &str, target: &str) -> Value {
    let target = match target.strip_suffix('%').and_then(|n| n.parse::<i64>().ok()) {
        Some(percent) => json!({"type": "Utilization", "averageUtilization": percent}),
        None => json!({"type": "AverageValue", "averageValue": target}),
    };
    json!({"type": "Resource", "resource": {"name": name, "target": target}})
}
