//! The real kubectl and Helm against the server. `scripts/clients.sh` fetches them; without them these tests say so and are left out.

use crate::http::{pass, post};
use cluster::Sim;
use k8s_model::time::SECOND;
use kubectl::Session;
use kubectl::parse::split;
use serve::{ClockPace, ServeOptions, Server};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Where the clients are.
pub fn client(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/tools/clients")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("left out: {name} is not there; scripts/clients.sh fetches it");
    None
}

/// A folder of its own with a kubeconfig.
pub fn home(server: &Server, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config"), server.kubeconfig(None)).unwrap();
    folder
}

pub fn run(client: &Path, home: &Path, words: &[String], stdin: &str) -> Output {
    let mut child = Command::new(client)
        .args(words)
        .env("KUBECONFIG", home.join("config"))
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn kubectl_sends_certificates_and_tokens_over_tls() {
    let Some(kubectl) = client("kubectl") else {
        return;
    };
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        tls: true,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, "kubectl-tls");
    let ask = |line: &str| text(&run(&kubectl, &home, &split(line), ""));
    let admin = ask("auth whoami -o jsonpath={.status.userInfo.username}");
    assert_eq!(admin, "kubernetes-admin");
    let token = ask("create token default --duration=600s");
    assert_eq!(token.trim().matches('.').count(), 2, "{token}");
    std::fs::write(home.join("config"), server.kubeconfig(Some(token.trim()))).unwrap();
    let account = ask("auth whoami -o jsonpath={.status.userInfo.username}");
    assert_eq!(account, "system:serviceaccount:default:default");
    let refused = ask("get pods");
    let words = "User \"system:serviceaccount:default:default\" cannot list resource \"pods\"";
    assert!(refused.contains(words), "{refused}");
    std::fs::write(home.join("config"), server.kubeconfig(Some("x"))).unwrap();
    assert!(ask("get pods").contains("(Unauthorized)"));
}

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n  \
    template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: nginx, image: 'nginx:1.27'}]}\n---\napiVersion: v1\nkind: \
    Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n";

/// Lines, each with the seconds that pass after it. What they print does not tell how old something is by the client's clock.
const LINES: &[(&str, u64)] = &[
    ("apply -f -", 10),
    ("get deployments,replicasets,pods,services -o wide", 0),
    ("get pods --show-labels -l app=web", 0),
    ("get pods -o name --field-selector status.phase=Running", 0),
    ("get nodes", 0),
    ("get deployment web -o jsonpath={.status.readyReplicas}", 0),
    ("get deployment web -o yaml", 0),
    ("scale deployment web --replicas=5", 10),
    ("scale deployment web --replicas=1 --current-replicas=2", 0),
    ("get pods", 0),
    ("set image deployment/web nginx=nginx:1.28", 30),
    ("rollout status deployment/web", 0),
    ("rollout history deployment/web", 0),
    ("get replicasets -o wide", 0),
    ("rollout undo deployment/web --to-revision=1", 30),
    ("label pods --all tier=front", 0),
    ("annotate deployment web note=x", 0),
    ("patch deployment web -p {\"spec\":{\"paused\":true}}", 1),
    (
        "patch service web --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/selector\"}]",
        1,
    ),
    ("create configmap conf --from-literal=a=b", 0),
    ("create configmap conf --from-literal=a=b", 0),
    ("get configmap conf -o json", 0),
    ("create deployment Bad_ --image=nginx", 0),
    ("get pods nope", 0),
    ("get boats", 0),
    ("taint node node-1 a=b:NoSchedule", 0),
    ("cordon node-2", 0),
    ("get nodes -o wide", 0),
    ("auth can-i create pods --as=jane", 0),
    ("apply --server-side -f -", 1),
    ("delete service web", 0),
    ("delete deployment web", 60),
    ("get all", 0),
    ("get storageclasses", 0),
    ("get namespaces", 0),
    (
        "get events --field-selector reason=ScalingReplicaSet -o custom-columns=R:.reason,M:.message",
        0,
    ),
];

#[test]
fn real_kubectl_prints_what_simulated_kubectl_prints() {
    let Some(kubectl) = client("kubectl") else {
        return;
    };
    let options = ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    };
    let mut sim = Sim::new(options.config.clone(), options.seed);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    let server = Server::start(options).unwrap();
    let home = home(&server, "compared");
    let mut different = String::new();
    for (line, seconds) in LINES {
        let words: Vec<String> = if let Some((head, patch)) = line.split_once(" -p ") {
            head.split(' ')
                .map(str::to_owned)
                .chain(["-p".to_owned(), patch.to_owned()])
                .collect()
        } else {
            split(line)
        };
        let stdin = if line.contains("-f -") { WEB } else { "" };
        let real = run(&kubectl, &home, &words, stdin);
        let mut own = Session::start(&mut sim, &words, stdin);
        own.poll(&mut sim);
        own.interrupt();
        let own_text = own.stdout.clone() + &own.stderr;
        if text(&real) != own_text || real.status.code() != own.exit {
            different += &format!(
                "== {line}\n-- real ({:?})\n{}-- own ({:?})\n{own_text}",
                real.status.code(),
                text(&real),
                own.exit
            );
        }
        if *seconds > 0 {
            pass(server.address(), *seconds);
            sim.advance(sim.now().after(seconds * SECOND), usize::MAX);
        }
    }
    assert!(different.is_empty(), "{different}");
}

#[test]
fn kubectl_waits_watches_drains_and_reads_logs() {
    let Some(kubectl) = client("kubectl") else {
        return;
    };
    let server = Server::start(ServeOptions {
        pace: ClockPace::Leap,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, "waiting");
    let says = |line: &str, stdin: &str, wanted: &str| {
        let output = run(&kubectl, &home, &split(line), stdin);
        assert!(text(&output).contains(wanted), "{line}\n{}", text(&output));
    };
    says("apply -f -", WEB, "deployment.apps/web created");
    says(
        "rollout status deployment/web --timeout=20s",
        "",
        "successfully rolled out",
    );
    says(
        "wait --for=condition=Available deployment/web --timeout=20s",
        "",
        "condition met",
    );
    says("describe deployment web", "", "Scaled up replica set");
    says(
        "drain node-1 --ignore-daemonsets --timeout=20s",
        "",
        "node/node-1 drained",
    );
    says("auth whoami", "", "kubernetes-admin");
    says("auth can-i --list", "", "*.*");
    says(
        "explain deployment.spec.strategy.rollingUpdate",
        "",
        "maxSurge",
    );
    says(
        "diff -f -",
        &WEB.replace("replicas: 3", "replicas: 4"),
        "+  replicas: 4",
    );
    says(
        "run talk --image=busybox --restart=Never --command -- sh -c 'echo hello; sleep 2'",
        "",
        "pod/talk created",
    );
    says(
        "wait --for=jsonpath={.status.phase}=Succeeded pod/talk --timeout=20s",
        "",
        "condition met",
    );
    says("logs talk", "", "hello");
    says("delete pod talk --wait", "", "deleted");
    says("create token default", "", "eyJ");
    says("autoscale deployment web --min 1 --max 4", "", "autoscaled");
    says(
        "delete deployment web --cascade=foreground --timeout=20s",
        "",
        "deleted",
    );
}

#[test]
fn helm_installs_upgrades_rolls_back_and_uninstalls() {
    let Some(helm) = client("helm") else { return };
    let server = Server::start(ServeOptions {
        pace: ClockPace::Leap,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, "helm");
    let chart = home.join("chart/templates");
    std::fs::create_dir_all(&chart).unwrap();
    std::fs::write(
        home.join("chart/Chart.yaml"),
        "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    )
    .unwrap();
    std::fs::write(home.join("chart/values.yaml"), "replicas: 2\n").unwrap();
    std::fs::write(
        chart.join("web.yaml"),
        WEB.replace("replicas: 3", "replicas: {{ .Values.replicas }}"),
    )
    .unwrap();
    let hook = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: check\n  annotations: {helm.sh/hook: 'post-install,post-upgrade', \
        helm.sh/hook-delete-policy: before-hook-creation}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: c, image: \
        busybox, command: [sh, -c, 'echo ok']}]}\n";
    std::fs::write(chart.join("hook.yaml"), hook).unwrap();
    let says = |line: &str, wanted: &str| {
        let output = run(&helm, &home, &split(line), "");
        assert!(
            output.status.success() && text(&output).contains(wanted),
            "{line}\n{}",
            text(&output)
        );
    };
    says(
        "install one ./chart --wait --timeout 20s",
        "STATUS: deployed",
    );
    says(
        "upgrade one ./chart --set replicas=4 --wait --timeout 20s",
        "REVISION: 2",
    );
    says("history one", "superseded");
    says(
        "rollback one 1 --wait --timeout 20s",
        "Rollback was a success",
    );
    says("uninstall one", "uninstalled");
    let left = crate::http::get(server.address(), "/apis/apps/v1/deployments").json();
    assert_eq!(left["items"].as_array().map(Vec::len), Some(0));
    // The page of the server's own clock is still reached.
    assert_eq!(
        post(
            server.address(),
            "/loopscope/time",
            &serde_json::json!({ "seconds": 0 })
        )
        .code,
        200
    );
}

/// The chart that `helm create` writes, with its own test: a Pod that asks the release's Service.
#[test]
fn helm_tests_the_chart_that_it_creates() {
    let Some(helm) = client("helm") else { return };
    let server = Server::start(ServeOptions {
        pace: ClockPace::Leap,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, "helm-test");
    let says = |line: &str, wanted: &str| {
        let output = run(&helm, &home, &split(line), "");
        assert!(
            output.status.success() && text(&output).contains(wanted),
            "{line}\n{}",
            text(&output)
        );
    };
    says("create demo", "Creating demo");
    says(
        "install one ./demo --wait --timeout 20s",
        "STATUS: deployed",
    );
    says("test one --timeout 20s", "Phase:          Succeeded");
}

#[test]
fn kubectl_runs_commands_in_containers() {
    let Some(kubectl) = client("kubectl") else {
        return;
    };
    let server = Server::start(ServeOptions {
        pace: ClockPace::Leap,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, "exec");
    let says = |line: &str, stdin: &str, wanted: &str, code: i32| {
        let output = run(&kubectl, &home, &split(line), stdin);
        assert_eq!(
            (text(&output).as_str(), output.status.code()),
            (wanted, Some(code)),
            "{line}"
        );
    };
    says(
        "run box --image=busybox --command -- sleep infinity",
        "",
        "pod/box created\n",
        0,
    );
    says(
        "wait --for=condition=Ready pod/box --timeout=20s",
        "",
        "pod/box condition met\n",
        0,
    );
    says("exec box -- hostname", "", "box\n", 0);
    says(
        "exec box -- sh -c 'echo out; echo err >&2; exit 3'",
        "",
        "out\nerr\ncommand terminated with exit code 3\n",
        3,
    );
    says(
        "exec -i box -- sh -c 'cat > /tmp/f; wc -l < /tmp/f'",
        "a\nb\n",
        "2\n",
        0,
    );
    says(
        "exec -i box -- sh",
        "cd /tmp\ncat f\nexit 4\n",
        "a\nb\ncommand terminated with exit code 4\n",
        4,
    );
    says("exec box -- sh -c 'sleep 60; echo late'", "", "late\n", 0);
    says(
        "exec nope -- ls",
        "",
        "Error from server (NotFound): pods \"nope\" not found\n",
        1,
    );
    says(
        "exec box -c other -- ls",
        "",
        "error: container other is not valid for pod box out of: box\n",
        1,
    );
    says(
        "run none --image=busybox:broken",
        "",
        "pod/none created\n",
        0,
    );
    let refused = "error: Internal error occurred: unable to upgrade connection: container not found (\"none\")\n";
    says(
        "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff pod/none",
        "",
        "pod/none condition met\n",
        0,
    );
    says("exec none -- ls", "", refused, 1);
    says("attach none -q", "", refused, 1);
}
