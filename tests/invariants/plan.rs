//! What is asked of a cluster: manifests, command lines and faults, drawn by seed.

use cluster::Sim;
use k8s_model::{Kind, ObjectRef};
use kubectl::parse::split;
use kubectl::{Progress, Session};
use sim_core::rng::Rng;

/// One thing that is asked, some time after the one before.
#[derive(Clone, Debug)]
pub struct Step {
    /// Microseconds since the step before.
    pub after: u64,
    pub act: Act,
}

#[derive(Clone, Debug)]
pub enum Act {
    Apply(String),
    Kubectl(String),
    Fault(String),
}

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}

fn template(app: &str, rng: &mut Rng, extra: &str) -> String {
    let cpu = pick(rng, &["100m", "200m", "400m"]);
    let memory = pick(rng, &["", "", ", memory: 64Mi", ", memory: 1Gi"]);
    let probe = pick(
        rng,
        &[
            "",
            "",
            "\n        readinessProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 2}",
            "\n        readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 3}\n        \
             livenessProbe: {httpGet: {port: 80}, periodSeconds: 2, failureThreshold: 2}",
            "\n        startupProbe: {exec: {command: [check]}, periodSeconds: 1, failureThreshold: 4}\n        \
             livenessProbe: {grpc: {port: 80}, periodSeconds: 4, failureThreshold: 1}",
        ],
    );
    format!(
        "  template:\n    metadata: {{labels: {{app: {app}}}}}\n    spec:\n      containers:\n      - name: c\n        image: a:1\n        \
         resources: {{requests: {{cpu: {cpu}{memory}}}}}{probe}\n{extra}"
    )
}

pub fn deployment(rng: &mut Rng) -> String {
    let (surge, unavailable) = (
        pick(rng, &["1", "0", "25%", "50%", "3"]),
        pick(rng, &["1", "0", "25%", "50%"]),
    );
    let unavailable = if surge == "0" && unavailable == "0" {
        "1"
    } else {
        unavailable
    };
    let strategy = match rng.below(5) {
        0 => "{type: Recreate}".to_owned(),
        _ => format!("{{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}"),
    };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  replicas: {}\n  minReadySeconds: {}\n  \
         revisionHistoryLimit: 2\n  selector: {{matchLabels: {{app: d}}}}\n  strategy: {strategy}\n{}",
        rng.below(8),
        rng.below(2) * 2,
        template("d", rng, "")
    )
}

fn stateful_set(rng: &mut Rng) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{clusterIP: None, selector: {{app: s}}, ports: [{{port: 80}}]}}\n---\n\
         apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: s}}\nspec:\n  replicas: {}\n  serviceName: s\n  podManagementPolicy: {}\n  \
         persistentVolumeClaimRetentionPolicy: {{whenScaled: {}, whenDeleted: {}}}\n  updateStrategy: {{type: {}}}\n  \
         selector: {{matchLabels: {{app: s}}}}\n{}  volumeClaimTemplates:\n  - metadata: {{name: v}}\n    spec: {{accessModes: [ReadWriteOnce], \
         storageClassName: {}, resources: {{requests: {{storage: 1Gi}}}}}}\n",
        rng.below(5),
        pick(rng, &["OrderedReady", "Parallel"]),
        pick(rng, &["Retain", "Delete"]),
        pick(rng, &["Retain", "Delete"]),
        pick(rng, &["RollingUpdate", "RollingUpdate", "OnDelete"]),
        template("s", rng, ""),
        pick(rng, &["standard", "standard-wait"]),
    )
}

fn job(rng: &mut Rng) -> String {
    let restart = pick(rng, &["Never", "OnFailure"]);
    let mode = pick(rng, &["NonIndexed", "Indexed"]);
    let code = pick(
        rng,
        &[
            "exit-code: \"0\"",
            "exit-code: \"0\"",
            "exit-code: \"1\"",
            "exit-code-by-index: \"1=1\"",
        ],
    );
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec:\n  completions: {}\n  parallelism: {}\n  backoffLimit: {}\n  \
         completionMode: {mode}\n  template:\n    metadata: {{annotations: {{loopscope.dev/exit-after: \"2\", loopscope.dev/{code}}}}}\n    \
         spec: {{restartPolicy: {restart}, containers: [{{name: c, image: a:1}}]}}\n",
        1 + rng.below(5),
        1 + rng.below(4),
        rng.below(4),
    )
}

/// The manifest of one kind; each keeps to its own labels.
pub fn manifest(kind: u64, rng: &mut Rng) -> String {
    match kind {
        0 => deployment(rng),
        1 => stateful_set(rng),
        2 => job(rng),
        3 => format!(
            "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: e}}\nspec:\n  updateStrategy: {{rollingUpdate: {}}}\n  \
             selector: {{matchLabels: {{app: e}}}}\n{}",
            pick(rng, &["{maxUnavailable: 1}", "{maxUnavailable: 2}", "{maxSurge: 1, maxUnavailable: 0}"]),
            template("e", rng, "")
        ),
        4 => format!(
            "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: r}}\nspec:\n  replicas: {}\n  selector: {{matchLabels: {{app: r}}}}\n{}",
            rng.below(5),
            template("r", rng, "")
        ),
        5 => format!(
            "apiVersion: v1\nkind: ReplicationController\nmetadata: {{name: o}}\nspec:\n  replicas: {}\n  selector: {{app: o}}\n{}",
            rng.below(4),
            template("o", rng, "")
        ),
        6 => format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: m}}\nspec:\n  schedule: \"* * * * *\"\n  concurrencyPolicy: {}\n  \
             jobTemplate:\n    spec:\n      template:\n        metadata: {{annotations: {{loopscope.dev/exit-after: \"{}\"}}}}\n        \
             spec: {{restartPolicy: Never, containers: [{{name: c, image: a:1}}]}}\n",
            pick(rng, &["Allow", "Forbid", "Replace"]),
            pick(rng, &["3", "90"]),
        ),
        7 => "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {minReplicas: 1, maxReplicas: 6, \
              scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, metrics: [{type: Resource, resource: {name: cpu, target: \
              {type: Utilization, averageUtilization: 50}}}]}\n"
            .to_owned(),
        8 => format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: p}}\nspec: {{{}, selector: {{matchLabels: {{app: {}}}}}}}\n",
            pick(rng, &["minAvailable: 2", "maxUnavailable: 1", "minAvailable: 50%", "maxUnavailable: 0"]),
            pick(rng, &["d", "s", "r"]),
        ),
        9 => format!("apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q}}\nspec: {{hard: {{pods: \"{}\"}}}}\n", 3 + rng.below(12)),
        10 => "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 50m}}]}\n"
            .to_owned(),
        11 => "apiVersion: v1\nkind: Service\nmetadata: {name: w}\nspec: {selector: {app: d}, ports: [{port: 80}]}\n".to_owned(),
        _ => format!(
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: pv-a}}\nspec: {{capacity: {{storage: 5Gi}}, accessModes: [ReadWriteOnce], \
             storageClassName: {0}, persistentVolumeReclaimPolicy: {1}, hostPath: {{path: /tmp/a}}}}\n---\napiVersion: v1\nkind: \
             PersistentVolumeClaim\nmetadata: {{name: c-a}}\nspec: {{accessModes: [ReadWriteOnce], storageClassName: {0}, resources: \
             {{requests: {{storage: 2Gi}}}}}}\n",
            pick(rng, &["manual", "standard"]),
            pick(rng, &["Retain", "Delete"]),
        ),
    }
}

pub const KINDS: u64 = 13;
const NAMES: [&str; 13] = [
    "deploy/d", "sts/s", "job/j", "ds/e", "rs/r", "rc/o", "cj/m", "hpa/h", "pdb/p", "quota/q",
    "limits/l", "svc/w", "pvc/c-a",
];

/// A command that leaves what is asked for a matter of the manifests.
fn command(rng: &mut Rng) -> Act {
    let n = rng.below(6);
    let image = 1 + rng.below(3);
    let node = 1 + rng.below(3);
    let pod = rng.below(50);
    let cascade = pick(rng, &["background", "foreground", "orphan"]);
    let late = pick(rng, &["none", "5ms", "40ms"]);
    let line = match rng.below(46) {
        0 | 1 => format!("scale deploy/d --replicas={n}"),
        2 => format!("scale sts/s --replicas={n}"),
        3 => format!("scale rs/r --replicas={n}"),
        4 => format!("scale rc/o --replicas={n}"),
        5 | 6 => format!("set image deploy/d c=a:{image}"),
        7 => format!("set image sts/s c=a:{image}"),
        8 => format!("set image ds/e c=a:{image}"),
        9 => "rollout undo deploy/d".into(),
        10 => format!(
            "rollout {} deploy/d",
            pick(rng, &["pause", "resume", "restart"])
        ),
        11 => format!("rollout restart {}", pick(rng, &["sts/s", "ds/e"])),
        12..=14 => format!(
            "delete {} --wait=false --cascade={cascade}",
            NAMES[rng.below(13) as usize]
        ),
        15 | 16 => format!("delete pod {{{pod}}} --wait=false"),
        17 => format!("delete pod {{{pod}}} --wait=false --force --grace-period=0"),
        18 => format!("cordon node-{node}"),
        19 => format!("uncordon node-{node}"),
        20 | 21 => format!(
            "drain node-{node} --ignore-daemonsets --delete-emptydir-data --force --timeout=20s"
        ),
        22 => format!(
            "patch job j -p '{{\"spec\":{{\"suspend\":{}}}}}'",
            pick(rng, &["true", "false"])
        ),
        23 => format!("label pod {{{pod}}} app=other --overwrite"),
        24 => return Act::Fault(format!("unready pod/{{{pod}}}")),
        25 => return Act::Fault(format!("ready pod/{{{pod}}}")),
        26 => return Act::Fault(format!("exit pod/{{{pod}}} {}", rng.below(2))),
        27 | 28 => return Act::Fault(format!("evict pod/{{{pod}}}")),
        29 => return Act::Fault(format!("node-down node-{node}")),
        30 => return Act::Fault(format!("node-up node-{node}")),
        31 => {
            return Act::Fault(
                pick(
                    rng,
                    &[
                        "node-notready node-1",
                        "add-node node-4",
                        "remove-node node-4",
                        "remove-node node-2",
                    ],
                )
                .into(),
            );
        }
        32 => return Act::Fault(format!("cpu-load app=d {}m", 100 * rng.below(20))),
        33..=35 => {
            let kind = pick(rng, &["startup", "readiness", "liveness"]);
            return Act::Fault(format!(
                "fail-probe pod/{{{pod}}} {kind}{}",
                pick(rng, &["", "", " timeout"])
            ));
        }
        36 => {
            return Act::Fault(format!(
                "pass-probe pod/{{{pod}}} {}",
                pick(rng, &["startup", "readiness", "liveness"])
            ));
        }
        37 | 38 => {
            return Act::Fault(format!(
                "memory-pressure node-{node}{}",
                pick(rng, &["", " 100Mi", " 3Gi"])
            ));
        }
        39 => {
            return Act::Fault(format!(
                "memory-load app={} {}Mi",
                pick(rng, &["d", "s", "e", "r"]),
                1 << rng.below(14)
            ));
        }
        // So little that a loop still acts upon what was true a moment ago.
        40 | 41 => {
            let kind = pick(
                rng,
                &[
                    "pod",
                    "pod",
                    "rs",
                    "deploy",
                    "sts",
                    "job",
                    "pvc",
                    "node",
                    "endpointslices",
                ],
            );
            let component = pick(
                rng,
                &["kube-controller-manager", "kube-scheduler", "kubelet"],
            );
            return Act::Fault(format!("delay {kind} {late} {component}"));
        }
        42 => return Act::Fault(format!("slow kube-scheduler {late}")),
        43 => {
            let name = pick(
                rng,
                &[
                    "deployment",
                    "replicaset",
                    "statefulset",
                    "daemonset",
                    "job",
                    "garbage-collector",
                    "disruption",
                ],
            );
            return Act::Fault(format!("slow {name}-controller {late}"));
        }
        _ => return Act::Apply(manifest(rng.below(KINDS), rng)),
    };
    Act::Kubectl(line)
}

/// A whole plan: some manifests first, then commands.
pub fn random(seed: u64, commands: u64) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    let mut steps = Vec::new();
    for kind in 0..KINDS {
        // Quotas and autoscalers get into the way of much; they come more seldom.
        if rng.below(if matches!(kind, 7 | 9) { 6 } else { 2 }) == 0 {
            steps.push(Step {
                after: rng.below(500_000),
                act: Act::Apply(manifest(kind, &mut rng)),
            });
        }
    }
    for _ in 0..commands {
        let most = [300_000, 4_000_000, 4_000_000, 60_000_000][rng.below(4) as usize];
        let after = rng.below(most);
        steps.push(Step {
            after,
            act: command(&mut rng),
        });
    }
    if seed.is_multiple_of(3) {
        late_around_a_binding(&mut Rng::new(!seed), &mut steps);
    }
    steps
}

/// Pods that wait for a node change, and the scheduler hears of that, and of what it does then, later than that.
fn late_around_a_binding(rng: &mut Rng, steps: &mut Vec<Step>) {
    steps.push(Step {
        after: 0,
        act: Act::Apply(manifest(4, rng)),
    });
    let mut put = |after: u64, line: String| {
        let act = line
            .strip_prefix("fault ")
            .map(|fault| Act::Fault(fault.into()));
        steps.push(Step {
            after,
            act: act.unwrap_or(Act::Kubectl(line)),
        });
    };
    (1..=3).for_each(|node| put(rng.below(2_000), format!("cordon node-{node}")));
    put(rng.below(2_000_000), "scale rs/r --replicas=4".into());
    put(
        1_000_000,
        format!(
            "fault delay pod {} kube-scheduler",
            pick(rng, &["5ms", "2s", "10s"])
        ),
    );
    put(
        0,
        format!(
            "fault delay pod {} kube-scheduler",
            pick(rng, &["40ms", "10s", "60s"])
        ),
    );
    put(0, "label pod -l app=r x=y --overwrite".into());
    (1..=3).for_each(|node| put(rng.below(100_000), format!("uncordon node-{node}")));
}

/// Commands after which nothing is broken any more.
pub fn heal() -> Vec<Step> {
    let mut acts = vec![
        Act::Kubectl("delete quota q --wait=false".into()),
        Act::Kubectl("rollout resume deploy/d".into()),
    ];
    acts.extend(
        [
            "slow kube-scheduler none",
            "slow kube-controller-manager none",
        ]
        .map(|line| Act::Fault(line.into())),
    );
    for n in 1..=4 {
        acts.push(Act::Fault(format!("node-up node-{n}")));
        acts.push(Act::Fault(format!("add-node node-{n}")));
        acts.push(Act::Kubectl(format!("uncordon node-{n}")));
        // A DaemonSet's Pods tolerate the pressure and come back to be evicted again, as long as it lasts.
        acts.push(Act::Fault(format!("memory-pressure node-{n} 0")));
    }
    acts.push(Act::Kubectl(
        "patch cj m -p '{\"spec\":{\"suspend\":true}}'".into(),
    ));
    acts.into_iter()
        .map(|act| Step { after: 1000, act })
        .collect()
}

/// `{7}` is one of the Pods there are.
fn resolve(line: &str, sim: &Sim) -> String {
    let Some((head, rest)) = line
        .split_once('{')
        .filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return line.to_owned();
    };
    let (number, tail) = rest.split_once('}').unwrap();
    // A StatefulSet's Pod with other labels stands in the way of its successor for ever, as it does upstream.
    let meant = |name: &str| !line.starts_with("label") || !name.starts_with("s-");
    let pods: Vec<ObjectRef> = sim
        .store()
        .list(Kind::Pod)
        .map(|o| o.key())
        .filter(|key| meant(&key.name))
        .collect();
    let n: usize = number.parse().unwrap();
    let name = if pods.is_empty() {
        "none"
    } else {
        pods[n % pods.len()].name.as_str()
    };
    format!("{head}{name}{tail}")
}

/// Does what is asked. A command that waits is given back, to be polled.
pub fn act(sim: &mut Sim, act: &Act) -> Option<Session> {
    let mut session = match act {
        Act::Apply(manifest) => {
            Session::start(sim, &["apply".into(), "-f".into(), "-".into()], manifest)
        }
        Act::Kubectl(line) => Session::start(sim, &split(&resolve(line, sim)), ""),
        Act::Fault(line) => {
            // What cannot be done to the cluster as it is, is not done.
            let _ = sim.fault(&resolve(line, sim));
            return None;
        }
    };
    (session.poll(sim) == Progress::Running).then_some(session)
}
