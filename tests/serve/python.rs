//! The example for Python, with the official client. `scripts/clients.sh` fetches that; without it this test says so and is left out.

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
