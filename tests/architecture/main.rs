//! The direction of imports, and who may name which crate.

mod imports;

use imports::Imports;
use std::fs;
use std::path::{Path, PathBuf};

/// The floors, the lowest first: a file imports files of its own floor and of those before it.
const FLOORS: &[&[&str]] = &[
    &["sort"],
    &["api"],
    &["manifest"],
    &["i18n"],
    &["engine"],
    &["kubectl"],
    &["scenario"],
    &["projection"],
    &["actions"],
    &["explain"],
    &["views"],
    &["lesson"],
    &["session"],
    &["check"],
    &["serve"],
    &["web"],
    &["command"],
];

/// Files that import each other in a circle, at most.
const LARGEST_CIRCLE: usize = 3;

/// Lines of a file without its tests, at most.
const LONGEST_FILE: usize = 500;

/// Where state lies, and the fields that a struct there has at most.
const STATE_FLOORS: [&str; 2] = ["session", "web"];
const MOST_FIELDS: usize = 12;
/// Wider structs; these numbers only go down.
const WIDE_STRUCTS: &[(&str, usize)] = &[("Stage", 19), ("Calls", 25), ("Props", 20)];

/// Names of several types: what each component of the page has, and what a model of the page draws of an object of the API.
const SHARED_NAMES: [&str; 7] = ["Console", "Editor", "Msg", "Node", "Pod", "Props", "Service"];

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

/// The floor of a file: its folder in `src/`, or its own name there.
fn floor(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

#[test]
fn a_floor_imports_only_floors_below_it() {
    let rank = |file: &str| FLOORS.iter().position(|floors| floors.contains(&floor(file)));
    let mut wrong = Vec::new();
    for (from, names) in Imports::read().edges() {
        let Some(own) = rank(&from) else {
            assert!(["lib.rs", "main.rs"].contains(&from.as_str()), "{from} belongs to no floor: name it in FLOORS");
            continue;
        };
        wrong.extend(names.iter().filter(|to| rank(to).is_none_or(|other| other > own)).map(|to| format!("{from} imports {to}")));
    }
    assert_eq!(wrong, Vec::<String>::new(), "a file imports only its own floor and those below it");
}

#[test]
fn no_circle_of_files_is_larger_than_three() {
    for circle in Imports::read().circles() {
        assert!(circle.len() <= LARGEST_CIRCLE, "a circle of {} files: {}", circle.len(), circle.join(" "));
    }
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    // Only `src/` is read from its root, so the page, built for wasm32 alone, counts as well.
    for (file, lines) in Imports::read().lines {
        assert!(lines <= LONGEST_FILE, "{file} has {lines} lines without its tests");
    }
}

#[test]
fn no_state_has_more_than_a_dozen_fields() {
    for one in Imports::read().structs.iter().filter(|one| STATE_FLOORS.contains(&floor(&one.file))) {
        let limit = WIDE_STRUCTS.iter().find(|(of, _)| *of == one.name).map_or(MOST_FIELDS, |(_, limit)| *limit);
        assert!(one.fields <= limit, "{} in {} has {} fields; {limit} are allowed", one.name, one.file, one.fields);
    }
}

#[test]
fn a_name_that_other_files_use_is_the_name_of_one_type() {
    for (name, files) in Imports::read().types.iter().filter(|(name, _)| !SHARED_NAMES.contains(&name.as_str())) {
        assert!(files.len() == 1, "{} types are called {name}: {}", files.len(), files.iter().cloned().collect::<Vec<_>>().join(" "));
    }
}

/// `cargo test --test architecture report -- --ignored --nocapture`
#[test]
#[ignore = "a report of figures"]
fn report() {
    let imports = Imports::read();
    for circle in imports.circles() {
        println!("circle of {}: {}", circle.len(), circle.join(" "));
        imports.names(&circle).iter().for_each(|name| println!("    {name}"));
    }
    let mut files: Vec<_> = imports.lines.iter().map(|(file, lines)| (lines, file)).collect();
    files.sort();
    files.iter().rev().take_while(|(lines, _)| **lines > LONGEST_FILE).for_each(|(lines, file)| println!("{lines} lines: {file}"));
    let mut structs: Vec<_> = imports.structs.iter().filter(|one| STATE_FLOORS.contains(&floor(&one.file))).collect();
    structs.sort_by_key(|one| std::cmp::Reverse(one.fields));
    structs
        .iter()
        .take_while(|one| one.fields > MOST_FIELDS)
        .for_each(|one| println!("{} fields: {} in {}", one.fields, one.name, one.file));
    for (name, files) in imports.types.iter().filter(|(_, files)| files.len() > 1) {
        println!("{} types called {name}: {}", files.len(), files.iter().cloned().collect::<Vec<_>>().join(" "));
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
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(!loops || !code.contains("Why::Asked"), "{}: only a person's wish is Why::Asked", path.display());
    }
}

/// A flag that no code looks at would be taken without a word: such a flag is marked in its table as one that has nothing to do here.
#[test]
fn every_flag_of_kubectl_is_looked_at_or_marked() {
    use kubectl::parse::{FlagEffect, GLOBAL, described};
    let code: String =
        all_sources().into_iter().filter(|(path, ..)| path.to_string_lossy().contains("/kubectl/")).map(|(.., text)| text).collect();
    let tables = kubectl::VERBS.iter().map(|verb| (verb.name, verb.flags)).chain([("every verb", GLOBAL)]);
    let mut unread = Vec::new();
    for (name, table) in tables {
        for (flag, effect) in described(table) {
            let word = flag.rsplit("--").next().unwrap_or_default().trim_end_matches('=');
            // Files and folders are read before a verb sees its words, and `--help` is answered for it.
            let elsewhere = ["filename", "recursive", "help"].contains(&word);
            let read = elsewhere || code.contains(&format!("\"{word}\""));
            if effect == FlagEffect::Same && !read {
                unread.push(format!("{name} --{word}"));
            }
        }
    }
    assert!(unread.is_empty(), "nothing looks at these flags: {unread:?}");
}
