//! The real kubectl where it goes on: rows of a watch and lines of a log as they come, debugging, server-side apply, waiting in vain.

use crate::deployment;
use crate::http::{pass, post};
use crate::kubectl::{client, home, run, text};
use kubectl::parse::split;
use serve::{ClockPace, ServeOptions, Server};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A kubectl that goes on, and the lines that it prints; it ends with the test.
struct Running(Child, Receiver<String>);

impl Running {
    fn start(kubectl: &Path, home: &Path, line: &str) -> Running {
        let mut command = Command::new(kubectl);
        command
            .args(split(line))
            .env("KUBECONFIG", home.join("config"))
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Running(child, lines)
    }

    /// The next line; a busy machine may be slow.
    fn line(&self) -> String {
        self.1
            .recv_timeout(Duration::from_secs(30))
            .expect("another line")
    }

    /// The next line that has all these words.
    fn line_with(&self, words: &[&str]) -> String {
        loop {
            let line = self.line();
            if words
                .iter()
                .all(|word| line.split_whitespace().any(|own| own == *word))
            {
                return line;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(pace: ClockPace, name: &str) -> Option<(PathBuf, Server, PathBuf)> {
    let kubectl = client("kubectl")?;
    let server = Server::start(ServeOptions {
        pace,
        ..ServeOptions::default()
    })
    .unwrap();
    let home = home(&server, name);
    Some((kubectl, server, home))
}

#[test]
fn a_change_is_a_new_row_of_a_watch() {
    let Some((kubectl, server, home)) = start(ClockPace::Held, "watching") else {
        return;
    };
    let at = server.address();
    assert_eq!(
        post(at, crate::DEPLOYMENTS, &deployment("web", 1)).code,
        201
    );
    pass(at, 10);
    let watch = Running::start(&kubectl, &home, "get pods -w");
    assert!(watch.line().starts_with("NAME"), "the titles");
    let first = watch.line();
    let pod = first.split_whitespace().next().unwrap().to_owned();
    assert!(pod.starts_with("web-") && first.contains("1/1"), "{first}");
    let deployments = Running::start(&kubectl, &home, "get deployment web -w -o name");
    assert_eq!(deployments.line(), "deployment.apps/web");
    assert!(
        run(
            &kubectl,
            &home,
            &split(&format!("delete pod {pod} --wait=false")),
            ""
        )
        .status
        .success()
    );
    watch.line_with(&[&pod, "Terminating"]);
    pass(at, 60);
    let mut other = String::new();
    for state in ["Pending", "ContainerCreating", "Running"] {
        let line = watch.line_with(&[state]);
        let name = line.split_whitespace().next().unwrap().to_owned();
        assert!(name != pod && (other.is_empty() || name == other), "{line}");
        other = name;
    }
    assert_eq!(
        deployments.line(),
        "deployment.apps/web",
        "a row for each change"
    );
}

#[test]
fn a_log_is_followed_to_its_end() {
    let Some((kubectl, server, home)) = start(ClockPace::Held, "following") else {
        return;
    };
    let at = server.address();
    let made = run(
        &kubectl,
        &home,
        &split(
            "run talk --image=busybox --restart=Never --command -- sh -c 'echo one; sleep 20; echo two; sleep 20; echo three'",
        ),
        "",
    );
    assert!(made.status.success(), "{}", text(&made));
    pass(at, 10);
    let mut log = Running::start(&kubectl, &home, "logs -f talk");
    assert_eq!(log.line(), "one");
    assert!(log.1.try_recv().is_err(), "two comes later");
    pass(at, 20);
    assert_eq!(log.line(), "two");
    pass(at, 20);
    assert_eq!(log.line(), "three");
    assert!(
        log.1
            .recv_timeout(Duration::from_secs(30))
            .is_err_and(|ended| ended == std::sync::mpsc::RecvTimeoutError::Disconnected)
    );
    assert!(
        log.0.wait().unwrap().success(),
        "it ends with the container"
    );
}

#[test]
fn pods_and_nodes_are_debugged() {
    let Some((kubectl, _server, home)) = start(ClockPace::Leap, "debugging") else {
        return;
    };
    let says = |line: &str, stdin: &str, wanted: &str| {
        let output = run(&kubectl, &home, &split(line), stdin);
        assert!(
            output.status.success() && text(&output).contains(wanted),
            "{line}\n{}",
            text(&output)
        );
        text(&output)
    };
    says("run box --image=nginx", "", "pod/box created");
    says(
        "wait --for=condition=Ready pod/box --timeout=20s",
        "",
        "condition met",
    );
    says(
        "debug box --image=busybox -c look -- sh -c 'echo seen; sleep 600'",
        "",
        "",
    );
    says(
        "wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.running} pod/box --timeout=20s",
        "",
        "condition met",
    );
    says("logs box -c look", "", "seen");
    says(
        "get pod box -o jsonpath={.spec.ephemeralContainers[*].name}/{.spec.containers[*].name}",
        "",
        "look/box",
    );
    says("exec box -c look -- hostname", "", "box");
    says(
        "debug -i box --image=busybox -c talk -- sh",
        "hostname\n",
        "box\n",
    );
    says(
        "debug box --copy-to=copy --set-image=box=nginx:1.28",
        "",
        "",
    );
    says(
        "get pod copy -o jsonpath={.spec.containers[*].image}",
        "",
        "nginx:1.28",
    );
    let made = says(
        "debug node/node-2 --image=busybox -- sleep 600",
        "",
        "with container debugger on node node-2.",
    );
    let name = made
        .split_whitespace()
        .find(|word| word.starts_with("node-debugger-node-2-"))
        .unwrap();
    says(
        &format!(
            "get pod {name} -o jsonpath={{.spec.nodeName}}/{{.spec.hostPID}}/{{.spec.volumes[0].hostPath.path}}"
        ),
        "",
        "node-2/true//",
    );
}

const CONF: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: '1'}\n";

#[test]
fn fields_are_applied_on_the_server_and_compared() {
    let Some((kubectl, _server, home)) = start(ClockPace::Leap, "applying") else {
        return;
    };
    let says = |line: &str, stdin: &str, code: i32, wanted: &str| {
        let output = run(&kubectl, &home, &split(line), stdin);
        assert!(
            output.status.code() == Some(code) && text(&output).contains(wanted),
            "{line}\n{:?} {}",
            output.status,
            text(&output)
        );
    };
    let (one, two) = (CONF.to_owned(), CONF.replace("'1'", "'2'"));
    says(
        "apply --server-side --dry-run=server -f -",
        &one,
        0,
        "configmap/conf serverside-applied (server dry run)",
    );
    says("get configmap conf", "", 1, "not found");
    says(
        "apply --server-side -f -",
        &one,
        0,
        "configmap/conf serverside-applied",
    );
    says("diff --server-side -f -", &one, 0, "");
    says("diff --server-side -f -", &two, 1, "+  a: \"2\"");
    says(
        "apply --server-side --field-manager other -f -",
        &two,
        1,
        "conflict with \"kubectl\": .data.a",
    );
    says(
        "apply --server-side --field-manager other --force-conflicts -f -",
        &two,
        0,
        "configmap/conf serverside-applied",
    );
    says("get configmap conf -o jsonpath={.data.a}", "", 0, "2");
    says(
        "get configmap conf --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}",
        "",
        0,
        "other",
    );
    // The status of an object, by the subresource.
    says(
        "create deployment web --image=nginx --replicas=0",
        "",
        0,
        "created",
    );
    says(
        "apply --server-side --subresource=status --field-manager me -f -",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nstatus: {collisionCount: 3}\n",
        0,
        "serverside-applied",
    );
    says(
        "get deployment web -o jsonpath={.status.collisionCount}/{.metadata.generation}",
        "",
        0,
        "3/1",
    );
}

#[test]
fn waits_fail_after_their_timeout() {
    let Some((kubectl, _server, home)) = start(ClockPace::Leap, "in-vain") else {
        return;
    };
    let says = |line: &str, stdin: &str, code: i32, wanted: &str| {
        let output = run(&kubectl, &home, &split(line), stdin);
        assert!(
            output.status.code() == Some(code) && text(&output).contains(wanted),
            "{line}\n{:?} {}",
            output.status,
            text(&output)
        );
    };
    says(
        "create deployment web --image=nginx --replicas=2",
        "",
        0,
        "created",
    );
    says(
        "rollout status deployment/web --timeout=20s",
        "",
        0,
        "successfully rolled out",
    );
    says(
        "create poddisruptionbudget web --selector=app=web --min-available=2",
        "",
        0,
        "created",
    );
    says(
        "wait --for=delete deployment/web --timeout=1s",
        "",
        1,
        "timed out waiting for the condition on deployments/web",
    );
    says(
        "wait --for=jsonpath={.status.disruptionsAllowed}=0 pdb/web --timeout=20s",
        "",
        0,
        "condition met",
    );
    let node = run(
        &kubectl,
        &home,
        &split("get pods -o jsonpath={.items[0].spec.nodeName}"),
        "",
    );
    let node = text(&node);
    says(
        &format!("drain {node} --ignore-daemonsets --timeout=2s"),
        "",
        1,
        "Cannot evict pod as it would violate the pod's disruption budget.",
    );
    says("delete poddisruptionbudget web", "", 0, "deleted");
    says(
        &format!("drain {node} --ignore-daemonsets --timeout=20s"),
        "",
        0,
        &format!("node/{node} drained"),
    );
    says(&format!("uncordon {node}"), "", 0, "uncordoned");
}
