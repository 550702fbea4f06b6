//! Builds the page into `dist/`: the module with its JavaScript bindings, the files of `static/`, and what `scripts/post-build.sh` adds.
//!
//! `wasm-bindgen` is used as a library: its version is that of `Cargo.lock`, and nothing has to be installed.

use clap::{Args, Parser, Subcommand};
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use wasm_bindgen_cli_support::Bindgen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TARGET: &str = "wasm32-unknown-unknown";
/// Files of `static/` that are not copied: inlined into `index.html`, or written by `scripts/offline.mjs`.
const NOT_COPIED: [&str; 3] = ["icons.svg", "sw.js", "manifest.webmanifest"];
/// Sources of the page.
const SOURCES: [&str; 8] = [
    "src",
    "crates",
    "static",
    "scripts",
    "xtask",
    "index.html",
    "Cargo.toml",
    "Cargo.lock",
];

#[derive(Parser)]
#[command(about = "Builds Loopscope's page")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the page into dist/
    Page(PageArgs),
    /// Build the page whenever a source changes
    Watch(PageArgs),
}

#[derive(Args)]
struct PageArgs {
    /// Optimize the module for size
    #[arg(long)]
    release: bool,
    /// Features of the module
    #[arg(long)]
    features: Option<String>,
}

/// Products of cargo.
struct Build {
    /// Module without bindings.
    module: PathBuf,
    /// Directory with the tables that the build script of `k8s-model` has generated.
    tables: PathBuf,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    match cli.command {
        Task::Page(args) => build_page(&args),
        Task::Watch(args) => watch(&args),
    }
}

fn build_page(args: &PageArgs) -> Result<()> {
    let build = build_module(args)?;
    // Beside `dist`, as `target` may be on another file system.
    let staging = Path::new("dist.new");
    if staging.exists() {
        fs::remove_dir_all(staging)?;
    }
    fs::create_dir_all(staging)?;
    Bindgen::new()
        .input_path(&build.module)
        .out_name("loopscope")
        .no_modules(true)?
        .typescript(false)
        .generate(staging)?;
    let page = fs::read_to_string("index.html")?;
    let icons = fs::read_to_string("static/icons.svg")?;
    fs::write(
        staging.join("index.html"),
        page.replace("<!-- icons -->", icons.trim()),
    )?;
    for entry in fs::read_dir("static")? {
        let entry = entry?;
        let name = entry.file_name();
        let is_copied = entry.file_type()?.is_file() && !NOT_COPIED.iter().any(|it| name == *it);
        if is_copied {
            fs::copy(entry.path(), staging.join(&name))?;
        }
    }
    run(Command::new("sh")
        .arg("scripts/post-build.sh")
        .args([staging, &build.tables]))?;
    if Path::new("dist").exists() {
        fs::remove_dir_all("dist")?;
    }
    fs::rename(staging, "dist")?;
    Ok(())
}

/// Compiles the module; cargo's messages name it, and the directory of the generated tables.
fn build_module(args: &PageArgs) -> Result<Build> {
    let profile = if args.release { "web" } else { "serve" };
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--bin=loopscope",
        "--target",
        TARGET,
        "--profile",
        profile,
    ]);
    cargo.args(["--message-format=json-render-diagnostics"]);
    if args.release {
        cargo.args(["--config", &without_paths()?]);
    }
    cargo.args(
        args.features
            .iter()
            .flat_map(|features| ["--features", features]),
    );
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the module does not compile".into());
    }
    let messages: Vec<Value> = String::from_utf8(output.stdout)?
        .lines()
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()?;
    let path = |value: &Value| value.as_str().map(PathBuf::from);
    let module = messages.iter().find_map(|message| {
        let is_module =
            message["reason"] == "compiler-artifact" && message["target"]["name"] == "loopscope";
        let files = message["filenames"].as_array().filter(|_| is_module)?;
        let files = files.iter().filter_map(path);
        files
            .into_iter()
            .find(|file| file.extension().is_some_and(|it| it == "wasm"))
    });
    let tables = messages.iter().find_map(|message| {
        let is_model = message["reason"] == "build-script-executed"
            && message["package_id"]
                .as_str()
                .is_some_and(|id| id.contains("k8s-model"));
        path(&message["out_dir"])
            .filter(|directory| is_model && directory.join("openapi.txt").exists())
    });
    Ok(Build {
        module: module.ok_or("cargo names no module")?,
        tables: tables.ok_or("cargo names no tables of k8s-model")?,
    })
}

/// Configuration of cargo by which messages of panics name sources without the paths of this machine.
fn without_paths() -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    let registries = fs::read_dir(sources).into_iter().flatten().flatten();
    let mut flags: Vec<String> = registries
        .map(|registry| format!("--remap-path-prefix={}=crates", registry.path().display()))
        .collect();
    flags.push(format!(
        "--remap-path-prefix={}=loopscope",
        std::env::current_dir()?.display()
    ));
    Ok(format!("target.{TARGET}.rustflags={flags:?}"))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}

/// Builds the page whenever a source has changed.
fn watch(args: &PageArgs) -> Result<()> {
    let last_change = || {
        SOURCES
            .iter()
            .filter_map(|source| newest(Path::new(source)))
            .max()
    };
    let mut built = newest(Path::new("dist/index.html"));
    loop {
        let changed = last_change();
        if changed > built {
            built = changed;
            match build_page(args) {
                Ok(()) => println!("The page is built: reload it."),
                Err(error) => eprintln!("{error}"),
            }
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Returns the time of the last change of a file, or of a directory and the files in it.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = fs::metadata(path).and_then(|it| it.modified()).ok();
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let inner = entries.filter_map(|entry| newest(&entry.path())).max();
    own.max(inner)
}
