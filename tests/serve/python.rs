//! The examples for Python: with the official client, which `scripts/clients.sh` fetches (without it that test says so and is left out), and
//! with the standard library alone.

use std::path::Path;
use std::process::Command;

#[test]
fn the_python_client_lists_watches_applies_executes_and_leads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let client = root.join("target/tools/clients/python");
    if !client.join("kubernetes").exists() {
        eprintln!("left out: the Python client is not there; scripts/clients.sh fetches it");
        return;
    }
    let mut python = Command::new("python3");
    python
        .arg(root.join("examples/client.py"))
        .arg(env!("CARGO_BIN_EXE_loopscope"))
        .env("PYTHONPATH", client);
    let output = python.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let ended = output.status;
    assert!(
        ended.success() && said.matches(": ok").count() == 5,
        "{ended}\n{said}"
    );
}

#[test]
fn an_operator_that_never_retries_is_caught_by_faults_on_clients() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3");
    python
        .arg(root.join("examples/retries.py"))
        .arg(env!("CARGO_BIN_EXE_loopscope"));
    let Ok(output) = python.output() else {
        eprintln!("left out: python3 is not there");
        return;
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let ended = output.status;
    assert!(
        ended.success() && said.matches(": ok").count() == 4,
        "{ended}\n{said}"
    );
}
