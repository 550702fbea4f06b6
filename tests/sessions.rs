//! Recorded terminals of kubectl 1.36, replayed from their first line to the last: what is printed must be what was recorded, apart from
//! ages, times, addresses and random names. How long the person paused between two commands is not recorded: of several pauses the
//! first with which the output is the same counts. What was watched in the background is passed over: its lines depend on moments.
//!
//! Outputs known to differ are named in `data/sessions/different.txt`, which may only shrink.

use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::{Progress, Session};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// What was there before a terminal's first line: what led to it is not recorded.
const BEFORE: [(&str, &str); 2] = [
    (
        "04",
        "kubectl apply -f - <<E\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: nginx-deployment, labels: {app: nginx}}, spec: {replicas: 3, selector: {matchLabels: {app: nginx}}, template: {metadata: {labels: {app: nginx}}, spec: {containers: [{name: nginx, image: 'nginx:1.16.1', ports: [{containerPort: 80}]}]}}}}\nE",
    ),
    ("04", "kubectl rollout status deploy/nginx-deployment"),
];

/// A command takes so many milliseconds to start.
const STARTS: u64 = 100;

/// Pauses before each of the commands that change something, if what they led to shows that there were some.
const LONGER: [u64; 4] = [1_500, 4_000, 8_000, 20_000];

/// Pauses before a command, in milliseconds.
const PAUSES: [u64; 16] = [0, 50, 150, 400, 600, 700, 850, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000, 12_000, 20_000, 40_000];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/sessions")
}

/// A command and what it printed.
struct Step {
    line: String,
    output: String,
    /// It went on beside other commands.
    background: bool,
}

impl Step {
    /// How long a command in the background was watched: its lines begin with seconds.
    fn watched(&self) -> u64 {
        let seconds = |line: &str| line.trim_start().split(' ').next().and_then(|word| word.parse::<f64>().ok());
        self.output.lines().filter_map(seconds).fold(0.0, f64::max) as u64
    }

    /// Whether it only looks.
    fn reads(&self) -> bool {
        !self.line.contains(['|', '<']) && loopscope::kubectl::only_reads(&self.line)
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            let Some(step) = steps.last_mut() else { continue };
            if line == "# some seconds later" {
                steps.push(Step { line: "sleep 6".to_owned(), output: String::new(), background: false });
            } else {
                step.output.push_str(&format!("{line}\n"));
            }
            continue;
        };
        let (command, background) = command.split_once("        [background").map_or((command, false), |(command, _)| (command, true));
        let mut command = command.to_owned();
        if command.ends_with("<<'MANIFEST'") {
            for line in lines.by_ref() {
                command.push_str(&format!("\n{line}"));
                if line == "MANIFEST" {
                    break;
                }
            }
        }
        steps.push(Step { line: command, output: String::new(), background });
    }
    steps
}

/// Runs a line to its end, or for two minutes.
fn run(sim: &mut Sim, line: &str) -> String {
    let mut session = Session::line(sim, line, usize::MAX);
    for _ in 0..2_400 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(50_000), usize::MAX);
    }
    let exit = session.exit.filter(|code| *code != 0).map_or(String::new(), |code| format!("[exit {code}]\n"));
    let end = if session.stdout.is_empty() || session.stdout.ends_with('\n') { "" } else { "\n" };
    format!("{}{end}{}{exit}", session.stdout, session.stderr)
}

/// Masks, with which both texts become the same.
struct Masks {
    rules: Vec<(Regex, &'static str)>,
    age: Regex,
    gap: Regex,
    random: Regex,
}

impl Masks {
    fn new() -> Masks {
        let rules = [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
            (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC", "<time>"),
            (r"containerd://[0-9a-f]{64}", "<container>"),
            // The API servers of some recordings listened elsewhere.
            (r"\b16843\b", "6443"),
            (r"\b(?:10|192|172)\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "<ip>"),
            (r"<ip>:\d{5}\b", "<ip>:<port>"),
            (r#"((?:"resourceVersion"|resourceVersion|Resource Version):\s+)"?\d+"?"#, "$1<rv>"),
            (r#"((?:"nodePort"|nodePort):\s+)3\d{4}"#, "$1<port>"),
            (r":3[0-2]\d{3}/", ":<port>/"),
            (r"(NodePort:\s+\S+\s+)3\d{4}/", "$1<port>/"),
            (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<r>"),
            // How often an Event came until the command is a matter of moments.
            (r"\s*\(x\d+ over [^)]*\)", ""),
            (r"\(\S+ ago\)", "(<age> ago)"),
            // The kubelets of the recording had their own names for images.
            (r"docker\.io/library/registry\.k8s\.io", "registry.k8s.io"),
            (r"\.[0-9a-f]{16}\b", ".<event>"),
        ];
        Masks {
            rules: rules.into_iter().map(|(rule, with)| (Regex::new(rule).unwrap(), with)).collect(),
            age: Regex::new(r"^\(?(?:\d+(?:ms|[smhdy]))+\)?$").unwrap(),
            gap: Regex::new(r"\s{2,}").unwrap(),
            random: Regex::new(r"\b(pvc-[0-9a-f]{8}-[0-9a-f-]{27}|[a-z0-9-]+-[bcdfghjklmnpqrstvwxz2456789]{5})\b").unwrap(),
        }
    }

    fn normal(&self, line: &str, text: &str) -> Vec<String> {
        let mut text = text.to_owned();
        for (rule, with) in &self.rules {
            text = rule.replace_all(&text, *with).into_owned();
        }
        let node = Regex::new(r"\bnode-\d\b").unwrap();
        if !line.contains(" node") {
            text = node.replace_all(&text, "<node>").into_owned();
        }
        let mut lines: Vec<String> = Vec::new();
        for row in text.trim_end().lines() {
            let mut out = String::new();
            for piece in row.split_inclusive(char::is_whitespace) {
                let word = piece.trim_end();
                out.push_str(if self.age.is_match(word) { "<age>" } else { word });
                out.push_str(&piece[word.len()..]);
            }
            lines.push(self.gap.replace_all(out.trim_end(), "  ").into_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        // Rows are in the order of their random names.
        if matches!(words.get(1), Some(&("get" | "delete" | "drain" | "events"))) && !line.contains("yaml") && !line.contains("json") {
            lines.sort();
        }
        if let Some(at) = lines.iter().position(|line| line == "Events:") {
            lines[at + 1..].sort();
        }
        // The Events of the nodes' registration are not simulated.
        let count = lines.len();
        lines.retain(|line| !line.contains("RegisteredNode"));
        if lines.len() < count {
            let empty = |line: &String| ["NAME", "LAST SEEN", "Warning: v1 Endpoints"].iter().any(|head| line.starts_with(head));
            if lines.iter().all(empty) {
                return vec!["No resources found in default namespace.".to_owned()];
            }
            if let Some(at) = lines.iter().position(|line| line == "Events:").filter(|at| lines.len() == at + 3) {
                lines.truncate(at);
                lines.push("Events:  <none>".to_owned());
            }
        }
        lines.dedup();
        lines
    }

    /// A command with the random names of this cluster: the first object whose name begins alike.
    fn renamed(&self, sim: &mut Sim, line: &str) -> String {
        let mut out = line.to_owned();
        for found in self.random.find_iter(line.lines().next().unwrap_or("")) {
            let name = found.as_str();
            let (kind, prefix) = match name.starts_with("pvc-") {
                true => ("pv", "pvc-"),
                false => ("pod", &name[..name.len() - 5]),
            };
            let names = run(&mut sim.clone(), &format!("kubectl get {kind} -o name"));
            let own = names.lines().filter_map(|line| line.split('/').nth(1)).find(|own| own.starts_with(prefix));
            if let Some(own) = own {
                out = out.replace(name, own);
            }
        }
        out
    }
}

#[test]
fn what_was_recorded_is_printed() {
    let masks = Masks::new();
    let known = std::fs::read_to_string(folder().join("different.txt")).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut equal, mut all, mut shown) = (0, 0, String::new());
    let mut different: BTreeSet<String> = BTreeSet::new();
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        if name != "02-rolling-update" {
            sim = Sim::new(ClusterConfig::default(), 1);
            sim.advance(sim.now().after(5_000_000), usize::MAX);
        }
        for (_, line) in BEFORE.iter().filter(|(of, _)| name.starts_with(of)) {
            run(&mut sim, line);
            run(&mut sim, "sleep 6");
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        // The cluster when a command last printed what was recorded, and what has been changed since.
        let (mut sure, mut changes): (Sim, Vec<String>) = (sim.clone(), Vec::new());
        for step in steps(&std::fs::read_to_string(&file).unwrap()) {
            if step.background || step.line.starts_with("sleep ") {
                let pause = if step.background { format!("sleep {}", step.watched()) } else { step.line.clone() };
                run(&mut sim, &pause);
                changes.push(pause);
                continue;
            }
            if let Some(file) = step.line.strip_prefix("cat ") {
                let line = format!("cat > {file} <<'FILE'\n{}\nFILE", step.output.trim_end());
                run(&mut sim, &line);
                changes.push(line);
                continue;
            }
            let expected = masks.normal(&step.line, &step.output);
            let attempt = |sim: &Sim, pause: u64| {
                let mut tried = sim.clone();
                tried.advance(tried.now().after((STARTS + pause) * 1_000), usize::MAX);
                let line = masks.renamed(&mut tried, &step.line);
                let found = masks.normal(&step.line, &run(&mut tried, &line));
                (tried, found)
            };
            let (after, found) = attempt(&sim, 0);
            let mut same = (found == expected).then_some(after.clone());
            if same.is_none() {
                same = PAUSES[1..].iter().map(|pause| attempt(&sim, *pause)).find(|(_, found)| *found == expected).map(|(sim, _)| sim);
            }
            if same.is_none() && step.reads() && !changes.is_empty() {
                same = LONGER.iter().find_map(|pause| {
                    let mut slower = sure.clone();
                    for line in &changes {
                        slower.advance(slower.now().after(pause * 1_000), usize::MAX);
                        let line = masks.renamed(&mut slower, line);
                        run(&mut slower, &line);
                    }
                    PAUSES.iter().map(|pause| attempt(&slower, *pause)).find(|(_, found)| *found == expected).map(|(sim, _)| sim)
                });
            }
            let title = step.line.lines().next().unwrap_or("").to_owned();
            let count = seen.entry(title.clone()).or_default();
            *count += 1;
            let title = format!("{name} {count}: {title}");
            all += 1;
            equal += usize::from(same.is_some());
            if same.is_none() {
                writeln!(shown, "=== {title}").unwrap();
                for line in expected.iter().filter(|line| !found.contains(line)).take(12) {
                    writeln!(shown, "  recorded: {line}").unwrap();
                }
                for line in found.iter().filter(|line| !expected.contains(line)).take(12) {
                    writeln!(shown, "  here:     {line}").unwrap();
                }
                different.insert(title);
            }
            let is_same = same.is_some();
            sim = same.unwrap_or(after);
            let shows = ["kubectl get ", "kubectl describe "].iter().any(|start| step.line.starts_with(start));
            if !shows {
                changes.push(step.line.clone());
            } else if is_same {
                (sure, changes) = (sim.clone(), Vec::new());
            }
        }
    }
    println!("{shown}\nsessions: {equal} of {all} outputs equal");
    let new: Vec<&String> = different.iter().filter(|title| !known.contains(title.as_str())).collect();
    let mended: Vec<&&str> = known.iter().filter(|title| !different.contains(**title)).collect();
    assert!(new.is_empty(), "these outputs differ: {new:#?}");
    assert!(mended.is_empty(), "these are equal now, take them out of different.txt: {mended:#?}");
}
