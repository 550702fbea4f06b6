use super::*;
use controller_runtime::cluster::ClusterConfig;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: nginx}}\n  template:\n    metadata: {labels: {app: nginx}}\n    spec:\n      containers:\n      - {name: nginx, image: 'nginx:1.14.2'}\n";

fn sim() -> Sim {
    Sim::new(ClusterConfig::default(), 1)
}

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> (i32, String, String) {
    let mut session = Session::start(sim, &parse::split(line), stdin);
    for _ in 0..1000 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        let to = sim.now().after(100_000);
        sim.advance(to, usize::MAX);
    }
    session.interrupt();
    (session.exit.unwrap_or(-1), session.stdout, session.stderr)
}

fn out(sim: &mut Sim, line: &str) -> String {
    let (_, stdout, stderr) = kubectl(sim, line, "");
    stdout + &stderr
}

#[test]
fn apply_creates_leaves_alone_and_configures() {
    let mut sim = sim();
    assert_eq!(
        kubectl(&mut sim, "apply -f -", DEPLOYMENT),
        (
            0,
            "deployment.apps/nginx created\n".to_owned(),
            String::new()
        )
    );
    assert_eq!(
        kubectl(&mut sim, "apply -f -", DEPLOYMENT).1,
        "deployment.apps/nginx unchanged\n"
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "apply -f -",
            &DEPLOYMENT.replace("1.14.2", "1.16.1")
        )
        .1,
        "deployment.apps/nginx configured\n"
    );
    assert_eq!(
        out(
            &mut sim,
            "get deploy nginx -o jsonpath={.spec.template.spec.containers[0].image}"
        ),
        "nginx:1.16.1"
    );
}

#[test]
fn exec_finds_a_pod_behind_plain_labels_and_behind_expressions() {
    let mut sim = sim();
    let template =
        "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}";
    for (api, kind, name, selector) in [
        ("v1", "ReplicationController", "plain", "{app: web}"),
        (
            "apps/v1",
            "ReplicaSet",
            "sets",
            "{matchExpressions: [{key: app, operator: In, values: [web]}]}",
        ),
    ] {
        let text = format!(
            "{{apiVersion: {api}, kind: {kind}, metadata: {{name: {name}}}, spec: {{selector: {selector}, {template}}}}}"
        );
        assert_eq!(kubectl(&mut sim, "apply -f -", &text).0, 0);
        sim.advance(sim.now().after(5_000_000), usize::MAX);
        let (code, stdout, stderr) =
            kubectl(&mut sim, &format!("exec {kind}/{name} -- hostname"), "");
        assert_eq!((code, stderr.as_str()), (0, ""), "{kind}");
        assert!(
            stdout.starts_with("plain-") || stdout.starts_with("sets-"),
            "{stdout}"
        );
    }
}

#[test]
fn get_of_a_missing_object_is_not_found() {
    let mut sim = sim();
    for (line, text) in [
        (
            "get deployment nosuch",
            "Error from server (NotFound): deployments.apps \"nosuch\" not found\n",
        ),
        ("get pods", "No resources found in default namespace.\n"),
        (
            "delete deployment nosuch",
            "Error from server (NotFound): deployments.apps \"nosuch\" not found\n",
        ),
        (
            "get nothing",
            "error: the server doesn't have a resource type \"nothing\"\n",
        ),
        (
            "gett pods",
            "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tset\n\tget\n",
        ),
    ] {
        assert_eq!(out(&mut sim, line), text, "{line}");
    }
}

#[test]
fn a_rollout_is_followed_to_its_end() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    let (exit, stdout, _) = kubectl(&mut sim, "rollout status deployment/nginx", "");
    assert_eq!(exit, 0);
    assert!(
        stdout.ends_with("deployment \"nginx\" successfully rolled out\n"),
        "{stdout}"
    );
    assert!(out(&mut sim, "get deploy").contains("3/3"));
    assert_eq!(
        out(&mut sim, "delete deployment nginx"),
        "deployment.apps \"nginx\" deleted from default namespace\n"
    );
}

const WEB: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: nginx}\nspec: {clusterIP: None, selector: {app: nginx}, ports: [{port: 80}]}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec:\n  serviceName: nginx\n  replicas: 2\n  selector: {matchLabels: {app: nginx}}\n  template:\n    metadata: {labels: {app: nginx}}\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.9.1\n        env: [{name: WHO, value: you}]\n        volumeMounts: [{name: www, mountPath: /usr/share/nginx/html}]\n  volumeClaimTemplates:\n  - metadata: {name: www}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";

fn settle(sim: &mut Sim, seconds: u64) {
    let to = sim.now().after(seconds * 1_000_000);
    sim.advance(to, usize::MAX);
}

#[test]
fn files_of_a_claim_outlive_their_pod() {
    let mut sim = sim();
    out(&mut sim, "apply -f -");
    assert_eq!(kubectl(&mut sim, "apply -f -", WEB).0, 0);
    settle(&mut sim, 20);
    const PAGE: &str = "/usr/share/nginx/html/index.html";
    for pod in ["web-0", "web-1"] {
        let line =
            format!("exec {pod} -- sh -c 'echo hello $(hostname) > {PAGE}; echo gone > /tmp/x'");
        assert_eq!(out(&mut sim, &line), "");
    }
    assert_eq!(
        out(&mut sim, "exec -it web-1 -- curl localhost"),
        "hello web-1\n"
    );
    assert_eq!(
        out(&mut sim, "exec web-0 -- wget -qO- web-1.nginx"),
        "hello web-1\n"
    );
    out(&mut sim, "delete pod web-0");
    settle(&mut sim, 20);
    assert_eq!(
        out(&mut sim, &format!("exec web-0 -- cat {PAGE}")),
        "hello web-0\n"
    );
    assert_eq!(
        kubectl(&mut sim, "exec web-0 -- cat /tmp/x", "").0,
        1,
        "the container's own file is gone"
    );
}

#[test]
fn a_shell_in_a_container_answers() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", WEB).0, 0);
    settle(&mut sim, 20);
    for (line, text) in [
        ("exec web-1 -- hostname", "web-1\n"),
        (
            "exec web-1 -- hostname -f",
            "web-1.nginx.default.svc.cluster.local\n",
        ),
        (
            "exec web-1 -- sh -c \"echo '$WHO' $WHO; false && echo no || echo yes\"",
            "$WHO you\nyes\n",
        ),
        (
            "exec web-0 -- sh -c 'echo a > /t; echo b >> /t; cat /t; ls /etc; ls / | grep -c t'",
            "a\nb\nhostname\nhosts\nresolv.conf\n4\n",
        ),
        (
            "exec web-0 -- frobnicate",
            "sh: frobnicate: not found\ncommand terminated with exit code 127\n",
        ),
        ("exec sts/web -- whoami", "root\n"),
        (
            "exec nope -- ls",
            "Error from server (NotFound): pods \"nope\" not found\n",
        ),
        (
            "exec web-0 -- nslookup web-1.nginx",
            "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local\n\nName:      web-1.nginx\nAddress 1: 10.244.2.2 web-1.nginx.default.svc.cluster.local\n",
        ),
    ] {
        assert_eq!(out(&mut sim, line), text, "{line}");
    }
    let (code, answer, _) = kubectl(&mut sim, "exec web-0 -- nslookup web-9.nginx", "");
    assert_eq!(
        (code, answer.ends_with("can't resolve 'web-9.nginx'\n")),
        (1, true)
    );
}

#[test]
fn server_side_apply_merges_and_reports_managers() {
    let mut sim = sim();
    assert_eq!(
        kubectl(&mut sim, "apply --server-side -f -", DEPLOYMENT).1,
        "deployment.apps/nginx serverside-applied\n"
    );
    out(&mut sim, "scale deployment nginx --replicas=5");
    let (exit, _, stderr) = kubectl(&mut sim, "apply --server-side -f -", DEPLOYMENT);
    assert_eq!(exit, 1);
    assert!(
        stderr.starts_with(
            "error: Apply failed with 1 conflict: conflict with \"kubectl\" with subresource \"scale\" using apps/v1: .spec.replicas\n\
             Please review the fields above--they currently have other managers. Here\n"
        ),
        "{stderr}"
    );
    assert!(!out(&mut sim, "get deploy nginx -o yaml").contains("managedFields"));
    assert!(
        out(&mut sim, "get deploy nginx -o yaml --show-managed-fields")
            .contains("    manager: kubectl\n    operation: Update\n    subresource: scale\n")
    );
    let dry = kubectl(
        &mut sim,
        "apply --server-side --force-conflicts --dry-run=server -f -",
        DEPLOYMENT,
    );
    assert_eq!(
        dry.1,
        "deployment.apps/nginx serverside-applied (server dry run)\n"
    );
    assert_eq!(
        out(&mut sim, "get deploy nginx -o jsonpath={.spec.replicas}"),
        "5"
    );
    kubectl(
        &mut sim,
        "apply --server-side --force-conflicts -f -",
        DEPLOYMENT,
    );
    assert_eq!(
        out(&mut sim, "get deploy nginx -o jsonpath={.spec.replicas}"),
        "3"
    );
    let (_, _, stderr) = kubectl(
        &mut sim,
        "apply --server-side -f -",
        &DEPLOYMENT.replace("replicas", "replica"),
    );
    assert_eq!(
        stderr,
        "Error from server: failed to create typed patch object (default/nginx; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema\n"
    );
    assert_eq!(
        kubectl(&mut sim, "apply --force-conflicts -f -", DEPLOYMENT).2,
        "error: --force-conflicts only works with --server-side\n"
    );
}

#[test]
fn fields_that_do_not_exist_are_dropped_with_a_warning_or_refused() {
    let mut sim = sim();
    let typo = DEPLOYMENT.replace("replicas", "replica");
    assert!(
        kubectl(&mut sim, "apply -f -", &typo)
            .2
            .contains("strict decoding error: unknown field \"spec.replica\"")
    );
    let (exit, stdout, stderr) = kubectl(&mut sim, "apply --validate=warn -f -", &typo);
    assert_eq!(
        (exit, stdout.as_str(), stderr.as_str()),
        (
            0,
            "deployment.apps/nginx created\n",
            "Warning: unknown field \"spec.replica\"\n"
        )
    );
    for kind in ["strategic", "merge"] {
        let line = format!(
            "patch deployment nginx --type={kind} -p '{{\"spec\":{{\"replica\":3,\"paused\":false}}}}'"
        );
        assert_eq!(
            out(&mut sim, &line),
            "deployment.apps/nginx patched (no change)\nWarning: unknown field \"spec.replica\"\n"
        );
    }
    let refused = out(&mut sim, "create deployment nginx --image=nginx");
    assert_eq!(
        refused,
        "error: failed to create deployment: deployments.apps \"nginx\" already exists\n"
    );
    let (_, _, refused) = kubectl(&mut sim, "create -f -", DEPLOYMENT);
    assert_eq!(
        refused,
        "Error from server (AlreadyExists): error when creating \"STDIN\": deployments.apps \"nginx\" already exists\n"
    );
}

#[test]
fn an_object_without_a_kind_is_refused_by_validation_or_by_decoding() {
    let mut sim = sim();
    let nameless = "apiVersion: v1\nmetadata:\n  name: x\n";
    let told = |sim: &mut Sim, line: &str| kubectl(sim, line, nameless).2;
    for line in ["apply -f -", "create -f -", "replace -f -"] {
        assert!(
            told(&mut sim, line).starts_with(
                "error: error validating \"STDIN\": error validating data: kind not set;"
            ),
            "{line}"
        );
    }
    let undecodable = "unable to decode \"STDIN\": Object 'Kind' is missing in '{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}'\n";
    for line in [
        "create --validate=false -f -",
        "delete -f -",
        "label -f - a=b",
        "diff -f -",
        "apply view-last-applied -f -",
    ] {
        assert_eq!(
            told(&mut sim, line),
            format!("error: {undecodable}"),
            "{line}"
        );
    }
}

#[test]
fn a_long_table_comes_in_parts_and_is_the_same_table() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    sim.advance(sim.now().after(10_000_000), usize::MAX);
    for line in [
        "get pods,svc,nodes -A -o wide",
        "get pods -l app=nginx --show-labels",
        "get pods -l app=none",
        "get pod nothing",
        "get all",
    ] {
        let whole = kubectl(&mut sim, line, "");
        for rows in 1..8 {
            let mut session = Session::with_rows(&mut sim, &parse::split(line), "", rows);
            let mut parts = 1;
            while session.poll(&mut sim) == Progress::Running {
                assert!(session.goes_on());
                parts += 1;
            }
            assert!(rows > 1 || whole.1.is_empty() || parts > 3, "{line}");
            assert_eq!(
                (session.exit.unwrap_or(-1), session.stdout, session.stderr),
                whole,
                "{line}, {rows} at a time"
            );
        }
    }
}

#[test]
fn the_help_lists_the_verbs_that_do_something_in_lines() {
    let help = super::help();
    let listed: Vec<&str> = help
        .lines()
        .skip(3)
        .take_while(|line| !line.is_empty())
        .flat_map(str::split_whitespace)
        .collect();
    assert_eq!(
        listed,
        super::VERBS
            .iter()
            .filter(|verb| verb.is_simulated())
            .map(|verb| verb.name)
            .collect::<Vec<_>>()
    );
    assert!(
        help.contains("\n  create expose ")
            && help.lines().all(|line| line.len() <= super::HELP_WIDTH),
        "{help}"
    );
}

#[test]
fn a_verb_is_registered_once() {
    let words = || {
        super::VERBS
            .iter()
            .flat_map(|verb| std::iter::once(&verb.name).chain(verb.aliases))
    };
    assert_eq!(
        words().collect::<std::collections::BTreeSet<_>>().len(),
        words().count()
    );
    assert!(super::VERBS.iter().all(|verb| !verb.help.is_empty()));
    assert!(
        super::only_reads("kubectl -n a get pods")
            && super::only_reads("rollout status deployment/a")
            && !super::only_reads("rollout undo deployment/a")
    );
}

/// Writing verbs with their arguments.
const WRITES: &[&str] = &[
    "create deployment new --image=a:1",
    "create configmap c --from-literal=a=b",
    "create -f -",
    "apply -f -",
    "replace -f -",
    "delete -f -",
    "run p --image=a:1",
    "expose deployment nginx --port=80",
    "autoscale deployment nginx --max=3",
    "scale deployment nginx --replicas=7",
    "patch deployment nginx -p '{\"spec\":{\"replicas\":5}}'",
    "patch deployment nginx --subresource=status --type=merge -p '{\"status\":{\"replicas\":5}}'",
    "set image deployment/nginx nginx=nginx:2",
    "set env deployment/nginx A=b",
    "set resources deployment/nginx --limits=cpu=1",
    "set serviceaccount deployment/nginx default",
    "label deployment nginx a=b",
    "annotate deployment nginx a=b",
    "taint node node-1 a=b:NoExecute",
    "cordon node-1",
    "uncordon node-2",
    "drain node-1 --force --ignore-daemonsets --delete-emptydir-data",
    "rollout undo deployment/nginx",
    "delete deployment nginx",
    "delete pods --all --force",
];

#[test]
fn a_dry_run_writes_nothing() {
    let mut start = sim();
    assert_eq!(kubectl(&mut start, "apply -f -", DEPLOYMENT).0, 0);
    start.advance(start.now().after(5_000_000), usize::MAX);
    out(&mut start, "set image deployment/nginx nginx=nginx:1.16.1");
    out(&mut start, "cordon node-2");
    start.advance(start.now().after(10_000_000), usize::MAX);
    let text = DEPLOYMENT.replace("1.14.2", "1.25");
    for line in WRITES {
        // Without the flag the command must write, or the test would prove nothing.
        let mut sim = start.clone();
        let stdin = if line.starts_with("create -f") {
            text.replace("name: nginx}", "name: other}")
        } else {
            text.clone()
        };
        let version = sim.store().version();
        let (code, stdout, stderr) = kubectl(&mut sim, line, &stdin);
        assert!(
            code == 0 && sim.store().version() > version,
            "{line}: {stdout}{stderr}"
        );
        for how in ["client", "server"] {
            let mut sim = start.clone();
            let (before, lines) = (sim.store().version(), sim.journal().len());
            let dry = format!("{line} --dry-run={how}");
            let mut session = Session::start(&mut sim, &parse::split(&dry), &stdin);
            session.poll(&mut sim);
            assert_eq!(
                (session.exit, session.stderr.contains("rror")),
                (Some(0), false),
                "{dry}: {}",
                session.stderr
            );
            // The command itself is recorded, but no writes.
            assert_eq!(
                (sim.store().version(), sim.journal().len()),
                (before, lines + 1),
                "{dry}"
            );
            let note = if how == "client" {
                "(dry run)"
            } else {
                "(server dry run)"
            };
            let silent = line.starts_with("patch")
                || line.starts_with("taint")
                || dry.contains("undo deployment/nginx --dry-run=client");
            assert!(
                silent || session.stdout.lines().all(|line| line.ends_with(note)),
                "{dry}: {}",
                session.stdout
            );
        }
    }
    let mut sim = start;
    assert_eq!(
        out(&mut sim, "label deployment nginx a=b --dry-run=maybe"),
        "error: Invalid dry-run value (maybe). Must be \"none\", \"server\", or \"client\".\n"
    );
    assert!(
        out(
            &mut sim,
            "patch deployment nginx -p '{\"spec\":{\"replicas\":-1}}' --dry-run=server"
        )
        .contains("must be greater than or equal to 0")
    );
}

/// Runs terminal lines to their end, or until they wait for input; returns the output.
fn terminal(sim: &mut Sim, lines: &[&str]) -> String {
    let (mut shown, mut open): (String, Option<Session>) = (String::new(), None);
    for line in lines {
        let mut session = match open.take() {
            Some(mut session) => {
                assert!(session.input(sim, Some(line)), "{line}");
                session
            }
            None => Session::line(sim, line, usize::MAX),
        };
        for _ in 0..1000 {
            if session.takes_input() || session.poll(sim) == Progress::Done {
                break;
            }
            sim.advance(sim.now().after(100_000), usize::MAX);
        }
        shown.push_str(&std::mem::take(&mut session.stdout));
        shown.push_str(&std::mem::take(&mut session.stderr));
        open = session.takes_input().then_some(session);
    }
    shown
}

/// Service and StatefulSet of the notes.
const NOTES: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: nginx, labels: {app: nginx}}\nspec:\n  ports: [{port: 80, name: web}]\n  clusterIP: None\n  selector: {app: nginx}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec:\n  serviceName: nginx\n  replicas: 2\n  selector: {matchLabels: {app: nginx}}\n  template:\n    metadata: {labels: {app: nginx}}\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.9.1\n        ports: [{containerPort: 80, name: web}]\n";

#[test]
fn the_sessions_of_the_notes_run_line_by_line() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", NOTES).0, 0);
    sim.advance(sim.now().after(10_000_000), usize::MAX);
    assert_eq!(
        terminal(&mut sim, &["kubectl exec web-0 -- sh -c 'hostname'"]),
        "web-0\n"
    );
    assert_eq!(
        terminal(&mut sim, &["kubectl exec web-1 -- sh -c 'hostname'"]),
        "web-1\n"
    );
    let ip = out(&mut sim, "get pod web-0 -o jsonpath={.status.podIP}");
    let shown = terminal(
        &mut sim,
        &[
            "kubectl run -i --tty --image busybox dns-test --restart=Never --rm /bin/sh",
            "nslookup web-0.nginx.default.svc.cluster.local",
            "nslookup web-0.nginx | grep Address | tail -1",
            "exit",
        ],
    );
    assert!(
        shown.contains("If you don't see a command prompt, try pressing enter.\n"),
        "{shown}"
    );
    assert_eq!(
        shown
            .matches(&format!(
                "Address 1: {ip} web-0.nginx.default.svc.cluster.local"
            ))
            .count(),
        2,
        "{shown}"
    );
    assert!(
        shown.ends_with("pod \"dns-test\" deleted from default namespace\n"),
        "{shown}"
    );
    sim.advance(sim.now().after(40_000_000), usize::MAX);
    assert_eq!(out(&mut sim, "get pod dns-test --ignore-not-found"), "");
    assert!(
        terminal(
            &mut sim,
            &[
                "kubectl delete pod -l app=nginx",
                "kubectl get pods -w -l app=nginx"
            ]
        )
        .contains("web-1"),
        ""
    );
    let lines = [
        "kubectl exec -it web-0 -- /bin/sh",
        "echo $HOSTNAME > /tmp/a",
        "cat /tmp/a",
        "exit",
    ];
    sim.advance(sim.now().after(10_000_000), usize::MAX);
    assert_eq!(terminal(&mut sim, &lines), "web-0\n");
    assert!(
        terminal(
            &mut sim,
            &[
                "kubectl get pvc -l app=nginx",
                "kubectl rollout undo sts/web"
            ]
        )
        .contains("No resources found")
    );
}

#[test]
fn the_terminal_is_a_small_shell() {
    let mut sim = sim();
    let text = format!("cat > nginx.yaml <<EOF\n{DEPLOYMENT}EOF");
    for (line, shown) in [
        (text.as_str(), ""),
        (
            "kubectl apply -f nginx.yaml && k rollout status deploy/nginx | tail -1",
            "deployment.apps/nginx created\ndeployment \"nginx\" successfully rolled out\n",
        ),
        ("get pods --no-headers | wc -l", "3\n"),
        (
            "kubectl get pods | grep Running | awk '{print $3}' | sort | uniq -c",
            "      3 Running\n",
        ),
        ("for i in 1 2; do echo n$i; done", "n1\nn2\n"),
        (
            "POD=$(kubectl get pods -o name | head -n1); kubectl exec $POD -- sh -c 'hostname' | cut -d- -f1",
            "nginx\n",
        ),
        ("kubectl get deploy nope 2>/dev/null || echo none", "none\n"),
        ("kubectl get deploy nginx -o yaml | grep -c image:", "1\n"),
        (
            "kubectl create deployment x --image=x --dry-run=client -o yaml > x.yaml; sed -i 's/replicas: 1/replicas: 2/' x.yaml; grep replicas x.yaml | tr -d ' '",
            "replicas:2\n",
        ),
        (
            "i=0; while [ $i -lt 3 ]; do i=$((i+1)); if [ $i = 2 ]; then continue; fi; echo $i; done",
            "1\n3\n",
        ),
        (
            "for x in a b c; do if [ $x = b ]; then break; fi; echo $x; done; echo end",
            "a\nend\n",
        ),
        ("sleep 2; echo later", "later\n"),
        ("ls", "nginx.yaml\nx.yaml\n"),
        (
            "kubectl apply -f nowhere.yaml",
            "error: the path \"nowhere.yaml\" does not exist\n",
        ),
        ("nosuch", "sh: nosuch: not found\n"),
        ("echo 'a", "sh: syntax error: unterminated quoted string\n"),
        (
            "while true; do true; done",
            "sh: this script does not end; it is stopped\n",
        ),
        (
            "kubectl config set-context --current --namespace=kube-system",
            "Context \"kubernetes-admin@kubernetes\" modified.\n",
        ),
        (
            "kubectl get deploy",
            "No resources found in kube-system namespace.\n",
        ),
        (
            "kubectl run t --rm -i --restart=Never --image=busybox -n default -- sh -c 'hostname'",
            "t\npod \"t\" deleted from default namespace\nAll commands and output from this session will be recorded in container logs, \
             including credentials and sensitive information passed through the command prompt.\nIf you don't see a command prompt, try \
             pressing enter.\n",
        ),
    ] {
        assert_eq!(terminal(&mut sim, &[line]), shown, "{line}");
    }
    for (line, reads) in [
        ("kubectl get pods | grep x", true),
        ("get pods -o yaml > f", false),
        ("k delete pod x", false),
        ("for i in 1; do kubectl get pods; done", true),
    ] {
        assert_eq!(only_reads(line), reads, "{line}");
    }
}

#[test]
fn logs_are_what_a_known_command_would_have_printed() {
    let mut sim = sim();
    let pod = "kubectl run t --image=busybox --restart=Never -- sh -c 'echo begin; i=0; while true; do i=$((i+1)); echo $i; sleep 2; done'";
    terminal(&mut sim, &[pod]);
    sim.advance(sim.now().after(10_000_000), usize::MAX);
    let shown = terminal(&mut sim, &["kubectl logs t"]);
    assert!(
        shown.starts_with("begin\n1\n2\n3\n") && shown.lines().count() < 8,
        "{shown}"
    );
    assert_eq!(
        terminal(&mut sim, &["kubectl logs t --tail=1 | wc -l"]),
        "1\n"
    );
    for line in ["kubectl logs -f t", "kubectl logs -f t | grep begin"] {
        let mut session = Session::line(&mut sim, line, usize::MAX);
        session.poll(&mut sim);
        assert!(
            session.exit.is_none() && session.stdout.starts_with("begin\n"),
            "{line}: {}{}",
            session.stdout,
            session.stderr
        );
    }
    // Following prints the same lines as a later call, whether the command is suspended or not.
    terminal(
        &mut sim,
        &[
            "kubectl run u --image=busybox --restart=Never -- sh -c 'for i in 1 2 3 4 5; do echo $i; sleep 2; done | grep -v 3; echo end'",
        ],
    );
    sim.advance(sim.now().after(3_000_000), usize::MAX);
    for pod in ["t", "u"] {
        let mut session = Session::line(&mut sim, &format!("kubectl logs -f {pod}"), usize::MAX);
        for _ in 0..20 {
            session.poll(&mut sim);
            sim.advance(sim.now().after(700_000), usize::MAX);
        }
        session.poll(&mut sim);
        assert_eq!(
            session.stdout,
            terminal(&mut sim, &[&format!("kubectl logs {pod}")]),
            "{pod}"
        );
        assert!(
            session.stdout.lines().count() > 4,
            "{pod}: {}",
            session.stdout
        );
    }
    assert_eq!(
        terminal(&mut sim, &["logs t -c no"]),
        "error: container no is not valid for pod t out of: t\n"
    );
    assert_eq!(
        terminal(&mut sim, &["logs t -p"]),
        "Error from server (BadRequest): previous terminated container \"t\" in pod \"t\" not found\n"
    );
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let shown = terminal(&mut sim, &["kubectl logs deploy/nginx"]);
    assert!(
        shown.contains("start worker processes")
            && shown.contains("Found 3 pods, using pod/nginx-"),
        "{shown}"
    );
}

#[test]
fn diff_shows_what_applying_would_change() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    assert_eq!(
        kubectl(&mut sim, "diff -f -", DEPLOYMENT),
        (0, String::new(), String::new())
    );
    let version = sim.store().version();
    let (code, shown, _) = kubectl(
        &mut sim,
        "diff -f -",
        &DEPLOYMENT.replace("1.14.2", "1.16.1"),
    );
    assert_eq!((code, sim.store().version()), (1, version));
    assert!(
        shown.starts_with("diff -u -N /tmp/LIVE/apps.v1.Deployment.default.nginx "),
        "{shown}"
    );
    for line in [
        "-  generation: 1\n",
        "+  generation: 2\n",
        "-      - image: nginx:1.14.2\n+      - image: nginx:1.16.1\n",
        "@@ -",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn the_terminals_namespace_and_files_are_part_of_a_copy() {
    let mut sim = sim();
    terminal(
        &mut sim,
        &[
            "kubectl config set-context --current --namespace=kube-system",
            "echo a > f",
        ],
    );
    let mut copy = sim.clone();
    assert_eq!(
        terminal(
            &mut copy,
            &["cat f; kubectl config view | grep -c 'namespace: kube-system'"]
        ),
        "a\n1\n"
    );
}

/// Output of `create`, for every generator.
const GENERATED: &[(&str, &str)] = &[
    (
        "namespace blue",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: blue\nspec: {}\nstatus: {}\n",
    ),
    (
        "serviceaccount s",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: s\n",
    ),
    (
        "configmap c --from-literal=a=1 --from-literal=b=x",
        "apiVersion: v1\ndata:\n  a: \"1\"\n  b: x\nkind: ConfigMap\nmetadata:\n  name: c\n",
    ),
    (
        "secret generic s --from-literal=a=1",
        "apiVersion: v1\ndata:\n  a: MQ==\nkind: Secret\nmetadata:\n  name: s\n",
    ),
    (
        "job j --image=i -- a b",
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n  template:\n    metadata: {}\n    spec:\n      containers:\n      - command:\n        - a\n        - b\n        image: i\n        name: j\n        resources: {}\n      restartPolicy: Never\nstatus: {}\n",
    ),
    (
        "deployment d --image=i",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    app: d\n  name: d\nspec:\n  replicas: 1\n  selector:\n    matchLabels:\n      app: d\n  strategy: {}\n  template:\n    metadata:\n      labels:\n        app: d\n    spec:\n      containers:\n      - image: i\n        name: i\n        resources: {}\nstatus: {}\n",
    ),
    (
        "service nodeport s --tcp=80:8080",
        "apiVersion: v1\nkind: Service\nmetadata:\n  labels:\n    app: s\n  name: s\nspec:\n  ports:\n  - name: 80-8080\n    port: 80\n    protocol: TCP\n    targetPort: 8080\n  selector:\n    app: s\n  type: NodePort\nstatus:\n  loadBalancer: {}\n",
    ),
    (
        "service externalname out --external-name=a.example.com",
        "apiVersion: v1\nkind: Service\nmetadata:\n  labels:\n    app: out\n  name: out\nspec:\n  externalName: a.example.com\n  selector:\n    app: out\n  type: ExternalName\nstatus:\n  loadBalancer: {}\n",
    ),
    (
        "ingress i --rule=a.example.com/x*=s:80,tls=t",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i\nspec:\n  rules:\n  - host: a.example.com\n    http:\n      paths:\n      - backend:\n          service:\n            name: s\n            port:\n              number: 80\n        path: /x\n        pathType: Prefix\n  tls:\n  - hosts:\n    - a.example.com\n    secretName: t\nstatus:\n  loadBalancer: {}\n",
    ),
    (
        "pdb p --selector=a=b --min-available=50%",
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: p\nspec:\n  minAvailable: 50%\n  selector:\n    matchLabels:\n      a: b\nstatus:\n  currentHealthy: 0\n  desiredHealthy: 0\n  disruptionsAllowed: 0\n  expectedPods: 0\n",
    ),
    (
        "priorityclass p --value=5",
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: p\npreemptionPolicy: PreemptLowerPriority\nvalue: 5\n",
    ),
    (
        "role r --verb=get,list --resource=pods,deployments.apps",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: r\nrules:\n- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n  - list\n- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n  - list\n",
    ),
    (
        "rolebinding b --clusterrole=view --user=jane --serviceaccount=default:s",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: b\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: view\nsubjects:\n- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: jane\n- kind: ServiceAccount\n  name: s\n  namespace: default\n",
    ),
];

#[test]
fn generators_print_the_bytes_that_kubectl_prints() {
    let mut sim = sim();
    for (line, text) in GENERATED {
        assert_eq!(
            out(&mut sim, &format!("create --dry-run=client -o yaml {line}")),
            *text,
            "{line}"
        );
        // The generated objects are accepted.
        let made = out(&mut sim, &format!("create {line}"));
        assert!(made.contains(" created"), "{line}: {made}");
    }
    assert!(out(&mut sim, "create token s").split('.').count() == 3);
}

#[test]
fn initial_objects_of_a_watch_are_one_table() {
    let mut sim = sim();
    out(&mut sim, "run a --image=nginx");
    out(&mut sim, "run a-pod-with-a-much-longer-name --image=nginx");
    let session = Session::line(&mut sim, "kubectl get pods -w", usize::MAX);
    let columns: Vec<Option<usize>> = session
        .stdout
        .lines()
        .map(|line| line.find("READY").or(line.find("0/1")))
        .collect();
    assert!(
        columns.len() == 3
            && columns
                .iter()
                .all(|column| column.is_some() && *column == columns[0]),
        "{}",
        session.stdout
    );
}

#[test]
fn output_watch_events_prints_event_types() {
    let mut sim = sim();
    out(&mut sim, "run a --image=nginx");
    let line = "kubectl get pods -w --output-watch-events -l run=a";
    let (mut table, mut names) = (
        Session::line(&mut sim, line, usize::MAX),
        Session::line(
            &mut sim,
            &format!("{line} -o jsonpath={{.type}}/{{.object.metadata.name}},"),
            9,
        ),
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    out(&mut sim, "label pod a run=b --overwrite");
    table.poll(&mut sim);
    names.poll(&mut sim);
    let events: Vec<&str> = table
        .stdout
        .lines()
        .map(|line| line.split_whitespace().next().unwrap_or(""))
        .collect();
    assert_eq!(
        (&events[..3], events.last()),
        (&["EVENT", "ADDED", "MODIFIED"][..], Some(&"DELETED")),
        "{}",
        table.stdout
    );
    assert!(
        names.stdout.starts_with("ADDED/a,MODIFIED/a,") && names.stdout.ends_with("DELETED/a,"),
        "{}",
        names.stdout
    );
}

#[test]
fn a_watch_is_filtered_as_it_goes_on() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let mut session = Session::line(
        &mut sim,
        "kubectl get pods -w | grep Terminating | awk '{print $3}'",
        usize::MAX,
    );
    out(&mut sim, "scale deploy nginx --replicas=2");
    sim.advance(sim.now().after(200_000), usize::MAX);
    session.poll(&mut sim);
    assert_eq!(
        (session.exit, session.stdout.as_str()),
        (None, "Terminating\n")
    );
}

#[test]
fn revisions_and_paths_are_shown_in_other_formats() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let line = "rollout history deploy/nginx --revision=1 -o jsonpath={.kind}/{.spec.template.spec.containers[0].image}";
    assert_eq!(out(&mut sim, line), "ReplicaSet/nginx:1.14.2");
    assert_eq!(
        out(
            &mut sim,
            "get deploy nginx -o jsonpath-as-json={.spec.replicas}"
        ),
        "[\n    3\n]\n"
    );
}

#[test]
fn a_forced_replacement_deletes_first() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).0, 0);
    let uid = out(&mut sim, "get deploy nginx -o jsonpath={.metadata.uid}");
    let (code, shown, _) = kubectl(&mut sim, "replace --force -f -", DEPLOYMENT);
    assert_eq!(
        (code, shown.as_str()),
        (
            0,
            "deployment.apps \"nginx\" deleted from default namespace\ndeployment.apps/nginx replaced\n"
        )
    );
    assert_ne!(
        out(&mut sim, "get deploy nginx -o jsonpath={.metadata.uid}"),
        uid
    );
}

#[test]
fn a_changed_config_map_reaches_volumes_at_the_next_sync() {
    let mut sim = sim();
    let map = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{k: {value}}}\n")
    };
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: a\n    image: nginx\n    env: [{name: K, valueFrom: {configMapKeyRef: {name: c, key: k}}}]\n    volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /s, subPath: k}]\n  volumes: [{name: v, configMap: {name: c}}]\n";
    assert_eq!(kubectl(&mut sim, "apply -f -", &map("old")).0, 0);
    assert_eq!(kubectl(&mut sim, "apply -f -", pod).0, 0);
    settle(&mut sim, 20);
    let seen = |sim: &mut Sim| out(sim, "exec p -- sh -c 'echo $(cat /v/k) $(cat /s) $K'");
    assert_eq!(seen(&mut sim), "old old old\n");
    assert_eq!(kubectl(&mut sim, "apply -f -", &map("new")).0, 0);
    assert_eq!(seen(&mut sim), "old old old\n", "it takes a sync");
    settle(&mut sim, 90);
    assert_eq!(seen(&mut sim), "new old old\n");
    // A write of the Pod syncs it immediately.
    assert_eq!(kubectl(&mut sim, "apply -f -", &map("newer")).0, 0);
    assert_eq!(seen(&mut sim), "new old old\n");
    settle(&mut sim, 1);
    out(&mut sim, "annotate pod p touched=1");
    settle(&mut sim, 1);
    assert_eq!(seen(&mut sim), "newer old old\n");
    // A volume keeps the content of a deleted source, and a new container gets the current one.
    out(&mut sim, "delete cm c");
    settle(&mut sim, 200);
    assert_eq!(seen(&mut sim), "newer old old\n");
    assert_eq!(kubectl(&mut sim, "apply -f -", &map("last")).0, 0);
    out(&mut sim, "delete pod p");
    assert_eq!(kubectl(&mut sim, "apply -f -", pod).0, 0);
    settle(&mut sim, 20);
    assert_eq!(seen(&mut sim), "last last last\n");
}

#[test]
fn flags_may_stand_before_the_verb() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    for (line, said) in [
        (
            "-n default rollout restart deploy nginx",
            "deployment.apps/nginx restarted\n",
        ),
        (
            "--namespace=default set image deploy/nginx nginx=nginx:1.27",
            "deployment.apps/nginx image updated\n",
        ),
        (
            "-n default get deploy nginx -o name",
            "deployment.apps/nginx\n",
        ),
        (
            "-n default run one --image=busybox -- sleep 9",
            "pod/one created\n",
        ),
    ] {
        assert_eq!(out(&mut sim, line), said, "{line}");
    }
    assert_eq!(
        out(
            &mut sim,
            "get pod one -o jsonpath={.spec.containers[0].args[*]}"
        ),
        "sleep 9"
    );
}

/// Checks that verbs that take a file act on the objects in it; all are run on the same Deployment.
#[test]
fn a_file_names_objects_for_every_verb_that_takes_one() {
    for (line, said) in [
        ("get -f - -o name", "deployment.apps/nginx\n"),
        ("scale -f - --replicas=4", "deployment.apps/nginx scaled\n"),
        ("label -f - x=y", "deployment.apps/nginx labeled\n"),
        ("annotate -f - x=y", "deployment.apps/nginx annotated\n"),
        (
            "patch -f - -p '{\"spec\":{\"replicas\":5}}'",
            "deployment.apps/nginx patched\n",
        ),
        (
            "set image -f - nginx=nginx:1.27",
            "deployment.apps/nginx image updated\n",
        ),
        ("rollout restart -f -", "deployment.apps/nginx restarted\n"),
        (
            "rollout status -f -",
            "deployment \"nginx\" successfully rolled out\n",
        ),
        (
            "wait --filename=- --for=condition=Available",
            "deployment.apps/nginx condition met\n",
        ),
        (
            "autoscale -f - --max=5",
            "horizontalpodautoscaler.autoscaling/nginx autoscaled\n",
        ),
        ("expose -f - --port=80", "service/nginx exposed\n"),
    ] {
        let mut sim = sim();
        kubectl(&mut sim, "apply -f -", DEPLOYMENT);
        out(&mut sim, "rollout status deploy nginx");
        let (code, printed, complained) = kubectl(&mut sim, line, DEPLOYMENT);
        assert_eq!(
            (code, printed.as_str(), complained.as_str()),
            (0, said, ""),
            "{line}"
        );
    }
    let mut sim = sim();
    assert_eq!(
        kubectl(&mut sim, "get -f -", DEPLOYMENT).2,
        "Error from server (NotFound): deployments.apps \"nginx\" not found\n"
    );
    assert_eq!(
        kubectl(&mut sim, "scale -f - --replicas=1", "").2,
        "error: no objects passed to scale\n"
    );
}

#[test]
fn a_file_names_its_namespace() {
    let mut sim = sim();
    out(&mut sim, "create namespace far");
    let manifest = DEPLOYMENT.replace("{name: nginx}\nspec", "{name: nginx, namespace: far}\nspec");
    kubectl(&mut sim, "apply -f -", &manifest);
    assert_eq!(
        kubectl(&mut sim, "scale -f - --replicas=1", &manifest).1,
        "deployment.apps/nginx scaled\n"
    );
    assert_eq!(
        out(
            &mut sim,
            "get deploy nginx -n far -o jsonpath={.spec.replicas}"
        ),
        "1"
    );
    assert_eq!(
        kubectl(&mut sim, "-n far rollout restart -f -", &manifest).1,
        "deployment.apps/nginx restarted\n"
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(
        kubectl(
            &mut sim,
            "exec -f - -- cat /etc/hostname",
            "{apiVersion: v1, kind: Pod, metadata: {name: none, namespace: far}}"
        )
        .2,
        "Error from server (NotFound): pods \"none\" not found\n"
    );
}

#[test]
fn flags_that_would_be_without_effect_are_refused() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    for line in [
        "edit deploy nginx --output-patch",
        "logs nginx --timestamps",
        "get deploy nginx --subresource=status",
    ] {
        let (code, printed, complained) = kubectl(&mut sim, line, DEPLOYMENT);
        assert!(
            code == 1 && printed.is_empty() && complained.ends_with(" is not simulated\n"),
            "{line}: {complained}"
        );
    }
    assert_eq!(
        out(&mut sim, "get deploy nginx -o jsonpath={.metadata.labels}"),
        ""
    );
}

#[test]
fn versions_and_overrides_count() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    assert!(
        out(
            &mut sim,
            "scale deploy nginx --replicas=1 --resource-version=1"
        )
        .starts_with("error: Expected resource version to be 1, was ")
    );
    assert!(
        out(&mut sim, "label deploy nginx x=y --resource-version=1")
            .starts_with("Error from server (Conflict)")
    );
    let line = "run one --image=nginx --overrides='{\"spec\":{\"hostname\":\"first\"}}' --dry-run=client -o jsonpath={.spec.hostname}";
    assert_eq!(out(&mut sim, line), "first");
    let line = "expose deploy nginx --port=80 --external-ip=198.51.100.7 --dry-run=client -o jsonpath={.spec.externalIPs}";
    assert_eq!(out(&mut sim, line), "[\"198.51.100.7\"]");
}

#[test]
fn usage_is_sorted_and_shown_of_all_namespaces() {
    let mut sim = sim();
    out(&mut sim, "create namespace far");
    out(&mut sim, "run small --image=nginx -n far");
    out(&mut sim, "run large --image=nginx");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    for (pod, load) in [("small", "100m"), ("large", "300m")] {
        sim.fault(&format!("cpu-load run={pod} {load}")).expect(pod);
    }
    let rows = out(&mut sim, "top pods -A --sort-by=cpu --no-headers");
    let names: Vec<&str> = rows
        .lines()
        .map(|row| row.split_whitespace().nth(1).unwrap_or(""))
        .collect();
    assert_eq!(names[..2], ["large", "small"], "{rows}");
    assert!(out(&mut sim, "top pods -A").starts_with("NAMESPACE "));
    assert_eq!(
        out(&mut sim, "top pods --containers --sum"),
        "POD     NAME    CPU(cores)   MEMORY(bytes)\nlarge   large   300m         0Mi\n                ________     ________\n                \
         300m         0Mi\n"
    );
    assert_eq!(
        out(&mut sim, "top pods --sort-by=age"),
        "error: --sort-by accepts only cpu or memory\n"
    );
}

#[test]
fn last_output_of_a_command_is_in_its_log() {
    let mut sim = sim();
    for (name, code) in [("good", 0), ("bad", 3)] {
        let script = format!("echo one; sleep 5; echo two; sleep 5; echo three; exit {code}");
        out(
            &mut sim,
            &format!("run {name} --image=busybox --restart=Never --command -- sh -c '{script}'"),
        );
    }
    sim.advance(sim.now().after(3_000_000), usize::MAX);
    let mut followed = Session::line(&mut sim, "kubectl logs -f good", usize::MAX);
    for _ in 0..30 {
        followed.poll(&mut sim);
        sim.advance(sim.now().after(1_000_000), usize::MAX);
    }
    assert_eq!(
        (followed.stdout.as_str(), followed.exit),
        ("one\ntwo\nthree\n", Some(0))
    );
    for name in ["good", "bad"] {
        assert_eq!(
            out(&mut sim, &format!("logs {name}")),
            "one\ntwo\nthree\n",
            "{name}"
        );
        assert_eq!(
            out(&mut sim, &format!("logs {name} --limit-bytes=6")),
            "one\ntw",
            "{name}"
        );
    }
}

#[test]
fn logs_are_shown_since_a_moment() {
    let mut sim = sim();
    out(
        &mut sim,
        "run counter --image=busybox --restart=Never --command -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 10; done'",
    );
    sim.advance(sim.now().after(45_000_000), usize::MAX);
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let all = lines(out(&mut sim, "logs counter"));
    assert!((4..=5).contains(&all.len()), "{all:?}");
    let last = lines(out(&mut sim, "logs counter --since=15s"));
    assert!(
        !last.is_empty() && last.len() < all.len() && all.ends_with(&last),
        "{last:?}"
    );
    assert_eq!(lines(out(&mut sim, "logs counter --since=1h")), all);
    assert_eq!(
        out(&mut sim, "logs counter --since-time=2100-01-01T00:00:00Z"),
        ""
    );
    let said = out(
        &mut sim,
        "logs counter --since=1s --since-time=2100-01-01T00:00:00Z",
    );
    assert_eq!(
        said,
        "error: at most one of `sinceTime` or `sinceSeconds` may be specified\n"
    );
    out(&mut sim, "run web --image=nginx");
    sim.advance(sim.now().after(20_000_000), usize::MAX);
    assert!(out(&mut sim, "logs web --since=1h").contains("start worker processes"));
    assert_eq!(out(&mut sim, "logs web --since=1s"), "");
}

/// Compares the reference page with the registry; `UPDATE_DOCS=1 cargo test the_reference_of_verbs` regenerates it.
#[test]
fn the_reference_of_verbs_and_flags_is_the_registry() {
    use parse::FlagEffect;
    let mut page = String::from(
        "# kubectl's verbs and flags\n\nGenerated from the registry of verbs (`crates/kubectl`); `UPDATE_DOCS=1 cargo test the_reference_of_verbs` writes it \
         anew.\n\nA flag does what it does in kubectl, has nothing to do here (it is taken and changes nothing), or is refused with a sentence. \
         A flag that is not listed is unknown, as it is for kubectl. Subcommands and generators (`create deployment`, `rollout undo`, …) have flags of \
         their own beside these.\n\n| verb | | flags | nothing to do here | refused |\n|---|---|---|---|---|\n",
    );
    let row = |name: &str, help: &str, table: &'static str| {
        let flags = |wanted: &[FlagEffect]| {
            let of = parse::described(table)
                .filter(|(_, effect)| wanted.contains(effect))
                .map(|(flag, _)| format!("`{flag}`"));
            of.collect::<Vec<_>>().join(" ")
        };
        let (same, nothing) = (
            flags(&[FlagEffect::Same, FlagEffect::Names]),
            flags(&[FlagEffect::Nothing]),
        );
        format!(
            "| {name} | {help} | {same} | {nothing} | {} |\n",
            flags(&[FlagEffect::Refused])
        )
    };
    page.push_str(&row("every verb", "", parse::GLOBAL));
    for verb in VERBS {
        let help = if verb.is_simulated() {
            verb.help.to_owned()
        } else {
            format!("{}: not simulated, and told why", verb.help)
        };
        page.push_str(&row(&format!("`{}`", verb.name), &help, verb.flags));
    }
    page.push_str(
        "\n`plugin`, `completion`, `options`, `alpha` and `kuberc` are unknown commands here. Images do not run: `exec`, `attach`, \
         `cp`, `logs` and `run -it` work on modelled files and a modelled shell, `top` on the loads that faults set.\n",
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kubectl.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).expect("docs/kubectl.md");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        kept, page,
        "docs/kubectl.md is stale: UPDATE_DOCS=1 cargo test the_reference_of_verbs"
    );
}

#[test]
fn a_recorded_command_is_the_change_cause_of_its_revision() {
    let mut sim = sim();
    let (exit, stdout, stderr) = kubectl(&mut sim, "create -f - --record", DEPLOYMENT);
    assert_eq!(
        (exit, stdout.as_str()),
        (0, "deployment.apps/nginx created\n")
    );
    assert_eq!(
        stderr,
        "Flag --record has been deprecated, --record will be removed in the future\n"
    );
    out(&mut sim, "rollout status deploy/nginx");
    out(
        &mut sim,
        "set image deploy/nginx nginx=nginx:1.16.1 --record",
    );
    out(&mut sim, "rollout status deploy/nginx");
    let history = "deployment.apps/nginx \nREVISION  CHANGE-CAUSE\n1         kubectl create --filename=- --record=true\n\
                   2         kubectl set image deploy/nginx nginx=nginx:1.16.1 --record=true\n\n";
    assert_eq!(out(&mut sim, "rollout history deploy/nginx"), history);
    let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, \
               spec: {containers: [{name: c, image: redis}]}}}\n";
    kubectl(&mut sim, "create -f - --record", set);
    out(&mut sim, "rollout status sts/db");
    assert!(
        out(&mut sim, "rollout history sts/db")
            .contains("1         kubectl create --filename=- --record=true\n")
    );
    // A scale request has no place for it, so a second request follows.
    out(&mut sim, "scale deploy/nginx --replicas=2 --record");
    let cause = out(
        &mut sim,
        "get deploy nginx -o jsonpath={.metadata.annotations.kubernetes\\\\.io/change-cause}",
    );
    assert_eq!(
        cause,
        "kubectl scale deploy/nginx --replicas=2 --record=true"
    );
    assert_eq!(
        out(&mut sim, "set env deploy/nginx A=b --record"),
        "error: unknown flag: --record\nSee 'kubectl set env --help' for usage.\n"
    );
}

#[test]
fn local_objects_change_without_the_server() {
    let mut sim = sim();
    let before = sim.store().version();
    let (exit, stdout, _) = kubectl(
        &mut sim,
        "set image -f - nginx=nginx:2 --local -o jsonpath={..image}",
        DEPLOYMENT,
    );
    assert_eq!((exit, stdout.as_str()), (0, "nginx:2"));
    assert_eq!(
        kubectl(
            &mut sim,
            "label -f - a=b --local -o jsonpath={.metadata.labels.a}",
            DEPLOYMENT
        )
        .1,
        "b"
    );
    assert_eq!(
        kubectl(&mut sim, "patch -f - --local -p {\\\"spec\\\":{\\\"replicas\\\":7}} -o jsonpath={.spec.replicas}", DEPLOYMENT).1,
        "7"
    );
    assert_eq!(
        out(&mut sim, "patch deploy nginx --local -p {}"),
        "error: cannot specify --local and server resources\n"
    );
    assert_eq!(sim.store().version(), before);
}

#[test]
fn apply_prunes_what_was_applied_before() {
    let maps = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {g: x}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, labels: {g: x}}\n";
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", maps);
    out(&mut sim, "create configmap made");
    out(&mut sim, "label configmap made g=x");
    let one = maps.split("---\n").next().unwrap_or_default();
    assert!(
        kubectl(&mut sim, "apply --prune -f -", one).2.starts_with(
            "error: all resources selected for prune without explicitly passing --all."
        )
    );
    assert_eq!(
        kubectl(&mut sim, "apply --prune -l g=x -f - --dry-run=server", one).1,
        "configmap/a unchanged (server dry run)\nconfigmap/b pruned (server dry run)\n"
    );
    assert_eq!(
        kubectl(&mut sim, "apply --prune -l g=x -f -", one).1,
        "configmap/a unchanged\nconfigmap/b pruned\n"
    );
    // Objects that were never applied are left alone.
    assert_eq!(
        out(&mut sim, "get configmap -l g=x -o name"),
        "configmap/a\nconfigmap/made\n"
    );
}

#[test]
fn apply_creates_anew_by_force_what_cannot_be_changed() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    let other = DEPLOYMENT.replace("app: nginx", "app: other");
    assert!(
        kubectl(&mut sim, "apply -f -", &other)
            .2
            .contains("field is immutable")
    );
    let uid = out(&mut sim, "get deploy nginx -o jsonpath={.metadata.uid}");
    assert_eq!(
        kubectl(&mut sim, "apply --force -f -", &other).1,
        "deployment.apps/nginx configured\n"
    );
    assert_ne!(
        out(&mut sim, "get deploy nginx -o jsonpath={.metadata.uid}"),
        uid
    );
    assert!(out(&mut sim, "apply view-last-applied deploy/nginx").contains("app: other"));
}

#[test]
fn an_approved_certificate_request_is_signed() {
    let request = "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: jane}\nspec: {request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K, signerName: \
                   kubernetes.io/kube-apiserver-client, usages: [client auth]}\n";
    let mut sim = sim();
    kubectl(&mut sim, "create -f -", request);
    assert_eq!(
        out(&mut sim, "certificate approve jane"),
        "certificatesigningrequest.certificates.k8s.io/jane approved\n"
    );
    let to = sim.now().after(1_000_000);
    sim.advance(to, usize::MAX);
    let row = out(&mut sim, "get csr jane --no-headers");
    assert!(
        row.contains("kubernetes-admin") && row.ends_with("Approved,Issued\n"),
        "{row}"
    );
    assert!(out(&mut sim, "certificate deny jane").contains("mutually exclusive"));
    assert!(
        out(&mut sim, "get csr jane -o jsonpath={.status.certificate}")
            .starts_with("LS0tLS1CRUdJTi")
    );
}

#[test]
fn a_cluster_has_its_roles_from_the_start() {
    let mut sim = sim();
    assert!(
        out(
            &mut sim,
            "get clusterrole view -o jsonpath={.rules[0].verbs}"
        )
        .contains("watch")
    );
    let before = out(
        &mut sim,
        "get clusterrole view -o jsonpath={.metadata.resourceVersion}",
    );
    let to = sim.now().after(5_000_000);
    sim.advance(to, usize::MAX);
    assert_eq!(
        out(
            &mut sim,
            "get clusterrole view -o jsonpath={.metadata.resourceVersion}"
        ),
        before,
        "it has its parts' rules already"
    );
    let more = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: kites, labels: {rbac.authorization.k8s.io/aggregate-to-view: \
                'true'}}\nrules: [{apiGroups: [acme.io], resources: [kites], verbs: [get]}]\n";
    kubectl(&mut sim, "create -f -", more);
    out(
        &mut sim,
        "create clusterrolebinding jane --clusterrole=view --user=jane",
    );
    let to = sim.now().after(5_000_000);
    sim.advance(to, usize::MAX);
    assert!(
        out(&mut sim, "get clusterrole admin -o yaml").contains("acme.io"),
        "view is a part of edit, and edit of admin"
    );
    assert_eq!(out(&mut sim, "auth can-i list pods --as=jane"), "yes\n");
}

#[test]
fn wait_for_delete_ends_when_another_object_has_the_name() {
    let mut sim = sim();
    out(&mut sim, "create configmap settings");
    let line = parse::split("wait --for=delete configmap/settings --timeout=1h");
    let mut session = Session::start(&mut sim, &line, "");
    assert_eq!(session.poll(&mut sim), Progress::Running);
    out(&mut sim, "delete configmap settings");
    out(&mut sim, "create configmap settings");
    assert_eq!(session.poll(&mut sim), Progress::Done);
    assert_eq!(session.stdout, "configmap/settings condition met\n");
}

#[test]
fn set_and_rollout_send_patches() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    let rules = "create role patcher --verb=get,patch --resource=deployments.apps";
    out(&mut sim, rules);
    out(
        &mut sim,
        "create rolebinding patcher --role=patcher --user=ann",
    );
    for line in [
        "set image deploy/nginx nginx=nginx:1.27 --as=ann",
        "set env deploy/nginx A=b --as=ann",
        "rollout pause deploy/nginx --as=ann",
        "rollout resume deploy/nginx --as=ann",
        "rollout restart deploy/nginx --as=ann",
    ] {
        let (exit, _, stderr) = kubectl(&mut sim, line, "");
        assert_eq!((exit, stderr.as_str()), (0, ""), "{line}");
    }
    let (exit, _, stderr) = kubectl(&mut sim, "taint nodes node-1 a=b:NoSchedule --as=ann", "");
    assert_eq!(exit, 1);
    assert!(stderr.contains("cannot get resource \"nodes\""), "{stderr}");
    out(&mut sim, "taint nodes node-1 a=b:NoSchedule");
    let taints = "get node node-1 -o jsonpath={.spec.taints[*].key}";
    assert_eq!(out(&mut sim, taints), "a");
    out(&mut sim, "taint nodes node-1 a-");
    assert_eq!(out(&mut sim, taints), "");
}
