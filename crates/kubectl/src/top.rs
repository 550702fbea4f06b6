//! `kubectl top`: usage of Pods and nodes; without a load there is no metrics API, as in a new cluster.

use super::client::Client;
use super::parse::Args;
use super::printers::table::Widths;
use super::targets::{Targets, name_of};
use super::{Failure, Outcome, Reads, Verb};
use apiserver::ObjectSelector;
use cluster_network::usage::Usage;
use k8s_model::quantity::Quantity;
use k8s_model::{Kind, Object, Str};
use std::collections::BTreeMap;

const FLAGS: &str = "selector/l= field-selector= all-namespaces/A containers no-headers sort-by= sum ~use-protocol-buffers ~show-capacity";

/// `kubectl top`.
pub const VERB: Verb = Verb {
    name: "top",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Display resource (CPU/memory) usage",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("top", FLAGS, words)?;
    client.use_flags(&args)?;
    let topic = args.words.first().map_or("", String::as_str);
    let nodes = match Kind::from_word(topic) {
        Some(Kind::Node) => true,
        Some(Kind::Pod) => false,
        _ => {
            return Err(Failure::usage(
                "top",
                format!("unknown command {:?}", args.words.join(" ")),
            ));
        }
    };
    if !Usage::new(client.sim().store(), &client.sim().kubelets.loads).is_available() {
        return Err(Failure::error("Metrics API not available"));
    }
    ObjectSelector::parse(args.get("selector"), args.get("field-selector"))
        .map_err(Failure::error)?;
    let pods = Targets::parse(client, &args, &args.words)?;
    let found = if nodes { Vec::new() } else { pods.find(client) };
    let listed = if nodes {
        pods.fetch(client)
    } else {
        Vec::new()
    };
    let mut usage = Usage::new(client.sim().store(), &client.sim().kubelets.loads);
    let mut used = |pod: &Object| {
        let mut of = |what: &str| usage.of(what, pod).unwrap_or(0);
        (of("cpu"), of("memory"))
    };
    let order = args.get("sort-by").unwrap_or("");
    if !matches!(order, "" | "cpu" | "memory") {
        return Err(Failure::error("--sort-by accepts only cpu or memory"));
    }
    let namespaced = !nodes && args.on("all-namespaces");
    let mut rows = Vec::new();
    let of_containers = !nodes && args.on("containers");
    let show = |cpu: i64, memory: i64| {
        (
            format!("{cpu}m"),
            format!("{}Mi", memory / 1000 / (1 << 20)),
        )
    };
    if nodes {
        let mut sums: BTreeMap<Str, (i64, i64)> = BTreeMap::new();
        for (pod, body) in client
            .sim()
            .store()
            .list(Kind::Pod)
            .filter_map(|pod| Some((pod, pod.pod()?)))
        {
            let sum = sums.entry(body.node_name.clone()).or_default();
            let (cpu, memory) = used(pod);
            *sum = (sum.0.saturating_add(cpu), sum.1.saturating_add(memory));
        }
        for (_, node) in listed {
            let (cpu, memory) = sums
                .get(&Str::from(name_of(&node)))
                .copied()
                .unwrap_or_default();
            let share = |what: &str, used: i64| {
                let all = node["status"]["allocatable"][what]
                    .as_str()
                    .and_then(|text| Quantity::parse(text).ok())
                    .map_or(0, |q| q.as_millis());
                format!(
                    "{}%",
                    used.saturating_mul(100).checked_div(all).unwrap_or(0)
                )
            };
            let (a, b) = show(cpu, memory);
            rows.push((
                (cpu, memory),
                vec![
                    name_of(&node).to_owned(),
                    a,
                    share("cpu", cpu),
                    b,
                    share("memory", memory),
                ],
            ));
        }
    } else {
        for pod in found
            .iter()
            .filter(|pod| pod.pod().is_some_and(|p| p.status.phase == "Running"))
        {
            let used = used(pod);
            let mut row = |used: (i64, i64), container: Option<String>| {
                let (cpu, memory) = show(used.0, used.1);
                let named = namespaced
                    .then(|| pod.meta.namespace.to_string())
                    .into_iter()
                    .chain([pod.meta.name.to_string()]);
                rows.push((used, named.chain(container).chain([cpu, memory]).collect()));
            };
            let containers = pod
                .pod()
                .map(|pod| &pod.spec.containers[..])
                .filter(|_| of_containers)
                .unwrap_or_default();
            if containers.is_empty() {
                row(used, None);
            }
            // A load is attributed to a Pod's first container.
            for (at, container) in containers.iter().enumerate() {
                row(
                    if at == 0 { used } else { (0, 0) },
                    Some(container.name.to_string()),
                );
            }
        }
    }
    match order {
        "cpu" => rows.sort_by_key(|((cpu, _), _)| std::cmp::Reverse(*cpu)),
        "memory" => rows.sort_by_key(|((_, memory), _)| std::cmp::Reverse(*memory)),
        _ => {}
    }
    let mut columns = match (nodes, of_containers) {
        (true, _) => vec!["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"],
        (_, true) => vec!["POD", "NAME", "CPU(cores)", "MEMORY(bytes)"],
        _ => vec!["NAME", "CPU(cores)", "MEMORY(bytes)"],
    };
    if namespaced {
        columns.insert(0, "NAMESPACE");
    }
    let all = rows.iter().fold((0_i64, 0_i64), |all, ((cpu, memory), _)| {
        (all.0.saturating_add(*cpu), all.1.saturating_add(*memory))
    });
    let head = (!args.on("no-headers"))
        .then(|| columns.iter().map(|column| (*column).to_owned()).collect());
    let mut rows: Vec<Vec<String>> = head
        .into_iter()
        .chain(rows.into_iter().map(|(_, row)| row))
        .collect();
    if args.on("sum") && !nodes {
        let (cpu, memory) = show(all.0, all.1);
        let last = |a: String, b: String| {
            vec![String::new(); columns.len() - 2]
                .into_iter()
                .chain([a, b])
                .collect()
        };
        rows.extend([
            last("________".to_owned(), "________".to_owned()),
            last(cpu, memory),
        ]);
    }
    client.streams.out.push_str(&Widths::default().print(&rows));
    Ok(Outcome::Done)
}
