//! The direction of imports, and who may name which crate.

mod imports;

use imports::Imports;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn all_sources() -> Vec<(PathBuf, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let of = |path: PathBuf| {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
        let text = fs::read_to_string(&path).unwrap();
        (path, module, text)
    };
    sources(&root).into_iter().map(of).collect()
}

#[test]
#[ignore = "a report, printed with --nocapture"]
fn report() {
    let imports = Imports::read();
    for circle in imports.circles() {
        println!("circle of {}: {}", circle.len(), circle.join(" "));
    }
}

#[test]
fn one_place_names_each_crate() {
    let rules: [(&[&str], &str); 4] =
        [(&["serde_yaml"], "manifest"), (&["web_sys", "gloo_timers", "js_sys"], "web"), (&["use yew"], "web"), (&["wasm_bindgen"], "web")];
    for (path, module, text) in all_sources() {
        for (names, home) in rules {
            for name in names {
                let code = text.lines().filter(|l| !l.trim_start().starts_with("//")).any(|l| l.contains(name));
                assert!(!code || module == home || module == "main", "{} names {name}; only {home} may", path.display());
            }
        }
    }
}

#[test]
fn every_loop_and_filter_says_what_it_models() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine");
    for folder in ["controllers", "scheduler/filters", "scheduler/scores"] {
        for path in sources(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            let is_loop = text.contains("impl Controller for") || folder.starts_with("scheduler") && !path.ends_with("mod.rs");
            assert!(!is_loop || text.contains("Models `") || text.contains("Stands in for"), "{} names no upstream source", path.display());
        }
    }
}

#[test]
fn every_write_of_a_loop_has_a_reason() {
    // The type system asks for a `Why` with each write; nobody may hand over the one that says nothing.
    for (path, module, text) in all_sources() {
        let loops = module == "engine" && (path.to_string_lossy().contains("controllers") || path.to_string_lossy().contains("kubelet"));
        assert!(!loops || !text.contains("Why::Asked"), "{}: only a person's wish is Why::Asked", path.display());
    }
}
