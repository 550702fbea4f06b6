//! Recorded terminals of kubectl 1.36, replayed from their first line to the last: what is printed must be what was recorded, apart from
//! ages, times, addresses and random names. How long the person paused between two commands is not recorded: of several pauses the
//! first with which the output is the same counts. What was watched in the background is passed over: its lines depend on moments.
//!
//! Outputs known to differ are named in `data/sessions/different.txt`, which may only shrink. The same lines are then run by the real
//! kubectl against `loopscope serve`, at the same instants; what differs there is in `different-real.txt`.

#[allow(dead_code)]
#[path = "serve/http.rs"]
mod http;

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Time, Timestamp};
use kubectl::{Progress, Session};
use regex::Regex;
use serve::{ClockPace, ServeOptions, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// What was there before a terminal's first line: what led to it is not recorded.
const BEFORE: [(&str, &str); 2] = [
    (
        "04",
        "kubectl apply -f - <<E\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: nginx-deployment, labels: {app: nginx}}, spec: {replicas: 3, selector: {matchLabels: {app: nginx}}, template: {metadata: {labels: {app: nginx}}, spec: {containers: [{name: nginx, image: 'nginx:1.16.1', ports: [{containerPort: 80}]}]}}}}\nE",
    ),
    ("04", "kubectl rollout status deploy/nginx-deployment"),
];

/// When the first line is entered, in microseconds.
const BEGINS: u64 = 5_000_000;

/// A command takes so many milliseconds to start.
const STARTS: u64 = 100;

/// Pauses before each of the commands that change something, if what they led to shows that there were some.
const LONGER: [u64; 4] = [1_500, 4_000, 8_000, 20_000];

/// Pauses before a command, in milliseconds.
const PAUSES: [u64; 16] = [
    0, 50, 150, 400, 600, 700, 850, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000, 12_000, 20_000,
    40_000,
];

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
        let seconds = |line: &str| {
            line.trim_start()
                .split(' ')
                .next()
                .and_then(|word| word.parse::<f64>().ok())
        };
        self.output.lines().filter_map(seconds).fold(0.0, f64::max) as u64
    }

    /// Whether it only looks.
    fn reads(&self) -> bool {
        !self.line.contains(['|', '<']) && kubectl::only_reads(&self.line)
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            let Some(step) = steps.last_mut() else {
                continue;
            };
            if line == "# some seconds later" {
                steps.push(Step {
                    line: "sleep 6".to_owned(),
                    output: String::new(),
                    background: false,
                });
            } else {
                step.output.push_str(&format!("{line}\n"));
            }
            continue;
        };
        let (command, background) = command
            .split_once("        [background")
            .map_or((command, false), |(command, _)| (command, true));
        let mut command = command.to_owned();
        if command.ends_with("<<'MANIFEST'") {
            for line in lines.by_ref() {
                command.push_str(&format!("\n{line}"));
                if line == "MANIFEST" {
                    break;
                }
            }
        }
        steps.push(Step {
            line: command,
            output: String::new(),
            background,
        });
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
    let exit = session
        .exit
        .filter(|code| *code != 0)
        .map_or(String::new(), |code| format!("[exit {code}]\n"));
    let end = if session.stdout.is_empty() || session.stdout.ends_with('\n') {
        ""
    } else {
        "\n"
    };
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
            (
                r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
                "<uid>",
            ),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
            (
                r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}",
                "<time>",
            ),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC", "<time>"),
            (r"containerd://[0-9a-f]{64}", "<container>"),
            // The API servers of some recordings listened elsewhere.
            (r"\b16843\b", "6443"),
            (r"\b(?:10|192|172)\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "<ip>"),
            (r"<ip>:\d{5}\b", "<ip>:<port>"),
            (
                r#"((?:"resourceVersion"|resourceVersion|Resource Version):\s+)"?\d+"?"#,
                "$1<rv>",
            ),
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
            rules: rules
                .into_iter()
                .map(|(rule, with)| (Regex::new(rule).unwrap(), with))
                .collect(),
            age: Regex::new(r"^\(?(?:\d+(?:ms|[smhdy]))+\)?$").unwrap(),
            gap: Regex::new(r"\s{2,}").unwrap(),
            random: Regex::new(
                r"\b(pvc-[0-9a-f]{8}-[0-9a-f-]{27}|[a-z0-9-]+-[bcdfghjklmnpqrstvwxz2456789]{5})\b",
            )
            .unwrap(),
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
        // The kind of loops that are programs is served here alone.
        let own = |row: &&str| !row.contains(k8s_model::kind::LOOP_GROUP) || !line.contains("api-");
        for row in text.trim_end().lines().filter(own) {
            let mut out = String::new();
            for piece in row.split_inclusive(char::is_whitespace) {
                let word = piece.trim_end();
                out.push_str(if self.age.is_match(word) {
                    "<age>"
                } else {
                    word
                });
                out.push_str(&piece[word.len()..]);
            }
            lines.push(self.gap.replace_all(out.trim_end(), "  ").into_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        // Rows are in the order of their random names.
        if matches!(words.get(1), Some(&("get" | "delete" | "drain" | "events")))
            && !line.contains("yaml")
            && !line.contains("json")
        {
            lines.sort();
        }
        if let Some(at) = lines.iter().position(|line| line == "Events:") {
            lines[at + 1..].sort();
        }
        // The Events of the nodes' registration are not simulated.
        let count = lines.len();
        lines.retain(|line| !line.contains("RegisteredNode"));
        if lines.len() < count {
            let empty = |line: &String| {
                ["NAME", "LAST SEEN", "Warning: v1 Endpoints"]
                    .iter()
                    .any(|head| line.starts_with(head))
            };
            if lines.iter().all(empty) {
                return vec!["No resources found in default namespace.".to_owned()];
            }
            if let Some(at) = lines
                .iter()
                .position(|line| line == "Events:")
                .filter(|at| lines.len() == at + 3)
            {
                lines.truncate(at);
                lines.push("Events:  <none>".to_owned());
            }
        }
        lines.dedup();
        lines
    }

    /// A command with the random names of this cluster.
    fn renamed(&self, sim: &mut Sim, line: &str) -> String {
        self.renamed_by(line, |kind| {
            let names = run(&mut sim.clone(), &format!("kubectl get {kind} -o name"));
            names
                .lines()
                .filter_map(|line| line.split('/').nth(1))
                .map(str::to_owned)
                .collect()
        })
    }

    /// The same with the names of a kind: the first that begins alike.
    fn renamed_by(&self, line: &str, names: impl Fn(&str) -> Vec<String>) -> String {
        let mut out = line.to_owned();
        for found in self.random.find_iter(line.lines().next().unwrap_or("")) {
            let name = found.as_str();
            let (kind, prefix) = match name.starts_with("pvc-") {
                true => ("pv", "pvc-"),
                false => ("pod", &name[..name.len() - 5]),
            };
            if let Some(own) = names(kind).into_iter().find(|own| own.starts_with(prefix)) {
                out = out.replace(name, &own);
            }
        }
        out
    }
}

/// A command as it was played in process.
#[derive(Clone)]
struct Played {
    /// What it is called in `different.txt`; nothing if its output was not recorded.
    title: Option<String>,
    /// The recorded line.
    line: String,
    expected: Vec<String>,
    /// The time of the cluster before and after it.
    took: (Time, Time),
}

/// What changed something: its title, its line, and what was recorded of it.
type Change = (Option<String>, String, Vec<String>);

/// A cluster and how it came to be.
#[derive(Clone)]
struct Course {
    sim: Sim,
    played: Vec<Played>,
}

impl Course {
    fn new() -> Course {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        sim.advance(sim.now().after(BEGINS), usize::MAX);
        Course {
            sim,
            played: Vec::new(),
        }
    }

    /// Plays a line as it is, after a pause.
    fn play(
        &mut self,
        masks: &Masks,
        (title, line, expected): (Option<&str>, &str, &[String]),
        pause: u64,
    ) -> Vec<String> {
        self.sim
            .advance(self.sim.now().after(pause * 1_000), usize::MAX);
        let began = self.sim.now();
        let own = masks.renamed(&mut self.sim, line);
        let found = masks.normal(line, &run(&mut self.sim, &own));
        let (title, took) = (title.map(str::to_owned), (began, self.sim.now()));
        self.played.push(Played {
            title,
            line: line.to_owned(),
            expected: expected.to_vec(),
            took,
        });
        found
    }
}

/// What came of the recordings.
#[derive(Default)]
struct Replayed {
    equal: usize,
    all: usize,
    shown: String,
    different: BTreeSet<String>,
    /// The course of each cluster, by the name of its last recording.
    courses: Vec<(String, Vec<Played>)>,
}

impl Replayed {
    fn count(&mut self, title: &str, expected: &[String], found: &[String], same: bool) {
        self.all += 1;
        self.equal += usize::from(same);
        if same {
            return;
        }
        writeln!(self.shown, "=== {title}").unwrap();
        for line in expected
            .iter()
            .filter(|line| !found.contains(line))
            .take(12)
        {
            writeln!(self.shown, "  recorded: {line}").unwrap();
        }
        for line in found
            .iter()
            .filter(|line| !expected.contains(line))
            .take(12)
        {
            writeln!(self.shown, "  here:     {line}").unwrap();
        }
        self.different.insert(title.to_owned());
    }

    /// Differences that are not named in a file, and names there that are none any more.
    fn hold(&self, file: &str) {
        let known = std::fs::read_to_string(folder().join(file)).unwrap_or_default();
        let known: BTreeSet<&str> = known
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        let new: Vec<&String> = self
            .different
            .iter()
            .filter(|title| !known.contains(title.as_str()))
            .collect();
        let mended: Vec<&&str> = known
            .iter()
            .filter(|title| !self.different.contains(**title))
            .collect();
        assert!(new.is_empty(), "these outputs differ: {new:#?}");
        assert!(
            mended.is_empty(),
            "these are equal now, take them out of {file}: {mended:#?}"
        );
    }
}

fn recordings() -> Vec<(String, Vec<Step>)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let named = files.into_iter().map(|file| {
        (
            file.file_stem().unwrap().to_string_lossy().into_owned(),
            file,
        )
    });
    let recorded = named.filter(|(name, _)| name.starts_with(|c: char| c.is_ascii_digit()));
    recorded
        .map(|(name, file)| (name, steps(&std::fs::read_to_string(file).unwrap())))
        .collect()
}

/// Plays all recordings in process, each command with the first pause with which its output is what was recorded.
fn replay(masks: &Masks) -> Replayed {
    let mut replayed = Replayed::default();
    let mut course = Course::new();
    for (name, steps) in recordings() {
        if name != "02-rolling-update" {
            course = Course::new();
        } else {
            replayed.courses.pop();
        }
        for (_, line) in BEFORE.iter().filter(|(of, _)| name.starts_with(of)) {
            course.play(masks, (None, line, &[]), 0);
            course.play(masks, (None, "sleep 6", &[]), 0);
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        // The cluster when a command last printed what was recorded, and what has been changed since.
        let (mut sure, mut changes): (Course, Vec<Change>) = (course.clone(), Vec::new());
        for step in steps {
            if step.background || step.line.starts_with("sleep ") {
                let pause = if step.background {
                    format!("sleep {}", step.watched())
                } else {
                    step.line.clone()
                };
                course.play(masks, (None, &pause, &[]), 0);
                changes.push((None, pause, Vec::new()));
                continue;
            }
            if let Some(file) = step.line.strip_prefix("cat ") {
                let line = format!("cat > {file} <<'FILE'\n{}\nFILE", step.output.trim_end());
                course.play(masks, (None, &line, &[]), 0);
                changes.push((None, line, Vec::new()));
                continue;
            }
            let title = step.line.lines().next().unwrap_or("").to_owned();
            let count = seen.entry(title.clone()).or_default();
            *count += 1;
            let title = format!("{name} {count}: {title}");
            let expected = masks.normal(&step.line, &step.output);
            let attempt = |course: &Course, pause: u64| {
                let mut tried = course.clone();
                let found =
                    tried.play(masks, (Some(&title), &step.line, &expected), STARTS + pause);
                (tried, found)
            };
            let (after, found) = attempt(&course, 0);
            let mut same = (found == expected).then_some(after.clone());
            if same.is_none() {
                same = PAUSES[1..]
                    .iter()
                    .map(|pause| attempt(&course, *pause))
                    .find(|(_, found)| *found == expected)
                    .map(|(course, _)| course);
            }
            if same.is_none() && step.reads() && !changes.is_empty() {
                same = LONGER.iter().find_map(|pause| {
                    let mut slower = sure.clone();
                    for (title, line, expected) in &changes {
                        slower.play(masks, (title.as_deref(), line, expected), *pause);
                    }
                    PAUSES
                        .iter()
                        .map(|pause| attempt(&slower, *pause))
                        .find(|(_, found)| *found == expected)
                        .map(|(course, _)| course)
                });
            }
            replayed.count(&title, &expected, &found, same.is_some());
            let is_same = same.is_some();
            course = same.unwrap_or(after);
            let shows = ["kubectl get ", "kubectl describe "]
                .iter()
                .any(|start| step.line.starts_with(start));
            if !shows {
                changes.push((Some(title), step.line.clone(), expected));
            } else if is_same {
                (sure, changes) = (course.clone(), Vec::new());
            }
        }
        replayed.courses.push((name, course.played.clone()));
    }
    replayed
}

#[test]
fn what_was_recorded_is_printed() {
    let replayed = replay(&Masks::new());
    println!(
        "{}\nsessions: {} of {} outputs equal",
        replayed.shown, replayed.equal, replayed.all
    );
    replayed.hold("different.txt");
}

/// Where the real kubectl is, if it has been fetched.
fn kubectl() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/tools/clients");
    if folder.join("kubectl").exists() {
        return Some(folder);
    }
    eprintln!("left out: kubectl is not there; scripts/clients.sh fetches it");
    None
}

/// A served cluster, a folder and the real kubectl.
struct Terminal {
    server: Server,
    home: PathBuf,
    clients: PathBuf,
}

impl Terminal {
    fn new(name: &str, clients: PathBuf) -> Terminal {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join("recorded")
            .join(name);
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&home).unwrap();
        // kubectl counts ages by its own clock, which no object may be ahead of.
        #[allow(clippy::disallowed_methods)]
        let wall = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs() as i64;
        let config = ClusterConfig {
            epoch: Timestamp::new(wall - 5 * 3_600),
            ..ClusterConfig::default()
        };
        let server = Server::start(ServeOptions {
            config,
            pace: ClockPace::Held,
            ..ServeOptions::default()
        })
        .unwrap();
        std::fs::write(home.join("config"), server.kubeconfig(None)).unwrap();
        let terminal = Terminal {
            server,
            home,
            clients,
        };
        terminal.until(Time(BEGINS));
        terminal
    }

    fn until(&self, to: Time) {
        let at = self.server.address();
        let now = http::get(at, "/loopscope/time").json()["seconds"]
            .as_f64()
            .unwrap();
        let span = (to.0 as f64 / 1e6 - now).max(0.0);
        assert_eq!(
            http::post(
                at,
                "/loopscope/time",
                &serde_json::json!({ "seconds": span })
            )
            .code,
            200
        );
    }

    /// Runs a line in a shell; time passes meanwhile if it waits for something.
    fn run(&self, line: &str, waits: bool) -> String {
        let path = format!("{}:/usr/bin:/bin", self.clients.display());
        let mut child = Command::new("bash")
            .args(["-c", line])
            .env_clear()
            .envs([
                ("PATH", path.as_str()),
                ("KUBECONFIG", "config"),
                ("HOME", "."),
            ])
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A timeout of kubectl is real time: the cluster's clock must not run ahead of it.
        let look = if line.contains("--timeout") { 50 } else { 10 };
        for round in 0..2_400 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(look));
            // It has begun by now, and listens; one that was not expected to wait, and does, may have begun late.
            if round * look > if waits { 200 } else { 3_000 } {
                assert_eq!(
                    http::post(
                        self.server.address(),
                        "/loopscope/time",
                        &serde_json::json!({ "seconds": 0.05 })
                    )
                    .code,
                    200
                );
            }
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let exit = output
            .status
            .code()
            .filter(|code| *code != 0)
            .map_or(String::new(), |code| format!("[exit {code}]\n"));
        let end = if out.is_empty() || out.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        format!("{out}{end}{err}{exit}")
    }

    /// A command with the random names of this cluster.
    fn renamed(&self, masks: &Masks, line: &str) -> String {
        masks.renamed_by(line, |kind| {
            let target = if kind == "pv" {
                "/api/v1/persistentvolumes"
            } else {
                "/api/v1/namespaces/default/pods"
            };
            let list = http::get(self.server.address(), target).json();
            list["items"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|item| item["metadata"]["name"].as_str().map(str::to_owned))
                .collect()
        })
    }
}

/// Plays a course with the real kubectl: each title with what was printed, and what was recorded.
fn play_for_real(
    masks: &Masks,
    clients: &Path,
    name: &str,
    played: &[Played],
) -> Vec<(String, Vec<String>, Vec<String>)> {
    let terminal = Terminal::new(name, clients.to_owned());
    let mut found = Vec::new();
    for one in played {
        terminal.until(one.took.0);
        let line = terminal.renamed(masks, &one.line);
        if one.title.is_none() && line.starts_with("sleep ") {
            terminal.until(one.took.1);
            continue;
        }
        let text = terminal.run(&line, one.took.1 > one.took.0);
        terminal.until(one.took.1);
        found.extend(
            one.title
                .clone()
                .map(|title| (title, masks.normal(&one.line, &text), one.expected.clone())),
        );
    }
    found
}

/// What the real kubectl prints depends on moments as well: a course with an unknown difference is played again.
const TRIES: usize = 3;

#[test]
fn the_real_kubectl_prints_what_was_recorded() {
    let Some(clients) = kubectl() else { return };
    let masks = Masks::new();
    let known = std::fs::read_to_string(folder().join("different-real.txt")).unwrap_or_default();
    let (queue, found) = (Mutex::new(replay(&masks).courses), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((name, played)) = { queue.lock().unwrap().pop() } {
                    let once = || play_for_real(&masks, &clients, &name, &played);
                    let surprises = |all: &Vec<(String, Vec<String>, Vec<String>)>| {
                        all.iter()
                            .filter(|(title, found, expected)| {
                                found != expected && !known.lines().any(|line| line == title)
                            })
                            .count()
                    };
                    let mut best = once();
                    for _ in 1..TRIES {
                        if surprises(&best) > 0 {
                            let again = once();
                            best = if surprises(&again) < surprises(&best) {
                                again
                            } else {
                                best
                            };
                        }
                    }
                    found.lock().unwrap().extend(best);
                }
            });
        }
    });
    let (mut replayed, mut found) = (Replayed::default(), found.into_inner().unwrap());
    found.sort();
    for (title, found, expected) in &found {
        replayed.count(title, expected, found, found == expected);
    }
    println!(
        "{}\nthe real kubectl: {} of {} outputs equal",
        replayed.shown, replayed.equal, replayed.all
    );
    let new: Vec<&String> = replayed
        .different
        .iter()
        .filter(|title| !known.lines().any(|line| line == title.as_str()))
        .collect();
    assert!(new.is_empty(), "these outputs differ: {new:#?}");
}
