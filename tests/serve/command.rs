//! `loopscope serve` as a command: its flags, and what it prints.

use crate::http::{get, send};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(name: &str, flags: &[&str]) -> (Command, PathBuf) {
    let config = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.kubeconfig"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopscope"));
    command
        .args(["serve", "--speed", "0", "--kubeconfig"])
        .arg(&config)
        .args(flags);
    (command, config)
}

/// Starts it; what its first two lines are, and where it listens.
fn start(name: &str, flags: &[&str]) -> (Served, Vec<String>, SocketAddr, PathBuf) {
    let (mut command, config) = command(name, flags);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .take(2)
        .collect();
    let at = lines[0].rsplit("http://").next().unwrap().parse().unwrap();
    (Served(child), lines, at, config)
}

#[test]
fn serve_prints_its_address_and_a_kubectl_line() {
    let setup = Path::new(env!("CARGO_TARGET_TMPDIR")).join("begun.yaml");
    std::fs::write(
        &setup,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: begun}\n",
    )
    .unwrap();
    let flags = [
        "--listen",
        "127.0.0.1:0",
        "--nodes",
        "5",
        "--seed",
        "7",
        "--setup",
        setup.to_str().unwrap(),
    ];
    let (_served, lines, at, config) = start("told", &flags);
    assert!(
        lines[1].contains(&format!("export KUBECONFIG={}", config.display())),
        "{lines:?}"
    );
    assert!(
        std::fs::read_to_string(&config)
            .unwrap()
            .contains(&format!("server: \"http://{at}\""))
    );
    assert_eq!(
        get(at, "/api/v1/namespaces/default/configmaps/begun").code,
        200
    );
    assert_eq!(
        get(at, "/api/v1/nodes").json()["items"]
            .as_array()
            .map(Vec::len),
        Some(5)
    );
    let uid = |at: SocketAddr| get(at, "/api/v1/nodes/node-1").json()["metadata"]["uid"].clone();
    let (_other, _, other, _) = start("told-again", &flags);
    assert_eq!(uid(at), uid(other), "the seed decides");
    let (_third, _, third, _) = start("told-else", &["--listen", "127.0.0.1:0", "--seed", "8"]);
    assert_ne!(uid(at), uid(third));
}

#[test]
fn requests_of_other_machines_need_a_token() {
    let (mut open, _) = command("open", &["--listen", "0.0.0.0:0"]);
    let output = open.output().unwrap();
    assert!(
        !output.status.success()
            && String::from_utf8_lossy(&output.stderr).contains("needs --token"),
        "{output:?}"
    );
    let (_served, _, at, config) =
        start("guarded", &["--listen", "0.0.0.0:0", "--token", "secret"]);
    let at = SocketAddr::from(([127, 0, 0, 1], at.port()));
    assert_eq!(
        (
            get(at, "/api").code,
            get(at, "/api").json()["reason"].clone()
        ),
        (401, "Unauthorized".into())
    );
    assert_eq!(
        send(at, "GET", "/api", &[("authorization", "Bearer other")], b"").code,
        401
    );
    assert_eq!(
        send(
            at,
            "GET",
            "/api",
            &[("authorization", "Bearer secret")],
            b""
        )
        .code,
        200
    );
    assert!(
        std::fs::read_to_string(config)
            .unwrap()
            .contains("token: \"secret\"")
    );
}

#[test]
fn a_page_follows_a_server_that_asks_for_a_token() {
    let folder = format!("{}/static", env!("CARGO_MANIFEST_DIR"));
    let flags = [
        "--listen",
        "127.0.0.1:0",
        "--token",
        "se cret",
        "--page-from",
    ];
    // Without a page in the folder nothing starts.
    let (mut without, _) = command("no-page", &[&flags[..], &[&folder]].concat());
    assert!(!without.output().unwrap().status.success());
    let built = std::env::temp_dir().join("loopscope-guarded-page");
    std::fs::create_dir_all(&built).unwrap();
    std::fs::write(built.join("index.html"), "<!doctype html>").unwrap();
    let built = built.to_str().unwrap();
    let (_served, _, at, _) = start("guarded-page", &[&flags[..], &[built]].concat());
    assert_eq!(get(at, "/page/?follow&token=se+cret").code, 200);
    assert_eq!(get(at, "/loopscope/record").code, 401);
    assert_eq!(get(at, "/loopscope/record?token=other").code, 401);
    assert_eq!(get(at, "/loopscope/record?token=se+cret").code, 200);
    // The address gives a reader what is told, and nothing else.
    assert_eq!(get(at, "/api?token=se+cret").code, 401);
    let run = |headers: &[(&str, &str)]| {
        let target = "/loopscope/kubectl?token=se+cret";
        send(at, "POST", target, headers, b"kubectl get pods").code
    };
    assert_eq!(run(&[]), 401);
    assert_eq!(run(&[("authorization", "Bearer se cret")]), 200);
}

/// What it says on stderr until its address stands on stdout.
fn told(name: &str, flags: &[&str]) -> String {
    let (mut command, _) = command(name, flags);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.take().unwrap())
        .lines()
        .take(2)
        .for_each(|line| drop(line.unwrap()));
    let stderr = child.stderr.take().unwrap();
    drop(Served(child));
    std::io::read_to_string(stderr).unwrap()
}

#[test]
fn serve_prints_who_may_connect() {
    let open = told("lets-in", &["--listen", "127.0.0.1:0"]);
    assert!(
        open.contains("administrator") && open.contains("--token"),
        "{open}"
    );
    let guarded = told(
        "guarded-told",
        &["--listen", "127.0.0.1:0", "--token", "secret"],
    );
    assert!(
        guarded.contains("kubectl") && guarded.contains("Helm") && guarded.contains("http"),
        "{guarded}"
    );
    assert!(
        guarded.contains("--tls") && !guarded.contains("secret"),
        "{guarded}"
    );
    let help = Command::new(env!("CARGO_BIN_EXE_loopscope"))
        .args(["serve", "--help"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&help.stdout);
    let (_, flag) = text.split_once("      --token <").unwrap();
    assert!(
        flag.split("--").next().unwrap().contains("kubectl"),
        "{flag}"
    );
}

/// What was answered is in the record when the answer comes, so that a killed server loses nothing of it.
#[test]
fn an_answered_write_is_in_the_record_of_a_killed_server() {
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed.jsonl");
    let (served, _, at, _) = start(
        "killed",
        &[
            "--listen",
            "127.0.0.1:0",
            "--record",
            record.to_str().unwrap(),
        ],
    );
    let maps = "/api/v1/namespaces/default/configmaps";
    let name = |number: usize| format!("acknowledged-{number}");
    for number in 0..50 {
        let map = format!("{{\"metadata\":{{\"name\":\"{}\"}}}}", name(number));
        assert_eq!(
            send(
                at,
                "POST",
                maps,
                &[("content-type", "application/json")],
                map.as_bytes()
            )
            .code,
            201
        );
        let text = std::fs::read_to_string(&record).unwrap();
        assert!(
            text.contains(&format!("\"{}\"", name(number))) && text.ends_with('\n'),
            "{number} was answered before it was recorded"
        );
    }
    let line = send(
        at,
        "POST",
        "/loopscope/kubectl",
        &[],
        b"kubectl create configmap acknowledged-50",
    );
    assert_eq!(line.json()["failed"], false);
    drop(served);
    let (_resumed, _, at, _) = start(
        "resumed",
        &[
            "--listen",
            "127.0.0.1:0",
            "--resume",
            record.to_str().unwrap(),
        ],
    );
    for number in 0..=50 {
        assert_eq!(
            get(at, &format!("{maps}/{}", name(number))).code,
            200,
            "{number}"
        );
    }
}

#[test]
fn clock_requests_ignore_the_content_type() {
    let (_served, _, at, _) = start("typed", &["--listen", "127.0.0.1:0"]);
    let before = get(at, "/loopscope/time").json()["seconds"]
        .as_f64()
        .unwrap();
    // The last is what curl says unless it is told otherwise.
    for (number, kind) in [
        "application/json",
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
    ]
    .into_iter()
    .enumerate()
    {
        let headers: &[(&str, &str)] = if kind.is_empty() {
            &[]
        } else {
            &[("content-type", kind)]
        };
        let reply = send(at, "POST", "/loopscope/time", headers, b"{\"seconds\": 10}");
        assert_eq!(
            reply.code,
            200,
            "{kind}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        assert_eq!(
            reply.json()["seconds"].as_f64(),
            Some(before + 10.0 * (number + 1) as f64),
            "{kind}"
        );
    }
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(
        send(at, "POST", "/loopscope/fork", &headers, b"{\"speed\": 0}").code,
        201
    );
    assert_eq!(
        send(
            at,
            "POST",
            "/loopscope/run",
            &headers,
            b"{\"command\": \"get pods\"}"
        )
        .code,
        200
    );
}
