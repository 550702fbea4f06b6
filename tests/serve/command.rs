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
    command.args(["serve", "--speed", "0", "--kubeconfig"]).arg(&config).args(flags);
    (command, config)
}

/// Starts it; what its first two lines are, and where it listens.
fn start(name: &str, flags: &[&str]) -> (Served, Vec<String>, SocketAddr, PathBuf) {
    let (mut command, config) = command(name, flags);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).take(2).collect();
    let at = lines[0].rsplit("http://").next().unwrap().parse().unwrap();
    (Served(child), lines, at, config)
}

#[test]
fn it_tells_its_address_and_the_line_to_type() {
    let setup = Path::new(env!("CARGO_TARGET_TMPDIR")).join("begun.yaml");
    std::fs::write(&setup, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: begun}\n").unwrap();
    let flags = ["--listen", "127.0.0.1:0", "--nodes", "5", "--seed", "7", "--setup", setup.to_str().unwrap()];
    let (_served, lines, at, config) = start("told", &flags);
    assert!(lines[1].contains(&format!("export KUBECONFIG={}", config.display())), "{lines:?}");
    assert!(std::fs::read_to_string(&config).unwrap().contains(&format!("server: \"http://{at}\"")));
    assert_eq!(get(at, "/api/v1/namespaces/default/configmaps/begun").code, 200);
    assert_eq!(get(at, "/api/v1/nodes").json()["items"].as_array().map(Vec::len), Some(5));
    let uid = |at: SocketAddr| get(at, "/api/v1/nodes/node-1").json()["metadata"]["uid"].clone();
    let (_other, _, other, _) = start("told-again", &flags);
    assert_eq!(uid(at), uid(other), "the seed decides");
    let (_third, _, third, _) = start("told-else", &["--listen", "127.0.0.1:0", "--seed", "8"]);
    assert_ne!(uid(at), uid(third));
}

#[test]
fn other_machines_reach_it_with_a_token_alone() {
    let (mut open, _) = command("open", &["--listen", "0.0.0.0:0"]);
    let output = open.output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("needs --token"), "{output:?}");
    let (_served, _, at, config) = start("guarded", &["--listen", "0.0.0.0:0", "--token", "secret"]);
    let at = SocketAddr::from(([127, 0, 0, 1], at.port()));
    assert_eq!((get(at, "/api").code, get(at, "/api").json()["reason"].clone()), (401, "Unauthorized".into()));
    assert_eq!(send(at, "GET", "/api", &[("authorization", "Bearer other")], b"").code, 401);
    assert_eq!(send(at, "GET", "/api", &[("authorization", "Bearer secret")], b"").code, 200);
    assert!(std::fs::read_to_string(config).unwrap().contains("token: \"secret\""));
}
