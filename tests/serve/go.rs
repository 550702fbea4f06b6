//! The example for Go, with client-go: Debian's package of it, or modules that `scripts/clients.sh` fetches. Without Go or client-go this test
//! says so and is left out.

use std::env::{split_paths, var_os};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `go run` of the example, where client-go is.
fn example(root: &Path) -> Option<Command> {
    let mut go = Command::new("go");
    go.env("GOTOOLCHAIN", "local").arg("run");
    let paths: Vec<PathBuf> = var_os("GOPATH")
        .iter()
        .flat_map(split_paths)
        .chain([PathBuf::from("/usr/share/gocode")])
        .collect();
    if let Some(packages) = paths
        .iter()
        .find(|path| path.join("src/k8s.io/client-go").exists())
    {
        go.current_dir(root.join("examples/go"))
            .env("GO111MODULE", "off")
            .env("GOPATH", packages)
            .arg("main.go");
        return Some(go);
    }
    // Its versions stand in a copy of go.mod with the sums of what was fetched.
    let modules = root.join("target/tools/clients/go");
    modules.join("go.sum").exists().then(|| {
        std::fs::copy(root.join("examples/go/main.go"), modules.join("main.go")).unwrap();
        go.current_dir(&modules)
            .env("GOFLAGS", "-mod=mod")
            .env("GOPROXY", "off")
            .arg(".");
        go
    })
}

#[test]
fn the_go_client_watches_applies_executes_and_leads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("left out: Go is not there");
        return;
    }
    let Some(mut go) = example(root) else {
        eprintln!(
            "left out: client-go is not there; scripts/clients.sh fetches it, or Debian's golang-k8s-client-go-dev has it"
        );
        return;
    };
    let output = go.arg(env!("CARGO_BIN_EXE_loopscope")).output().unwrap();
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
