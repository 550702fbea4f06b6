//! Arbitrary and mutated text: every one ends with objects or diagnostics, never with a panic or a hang.
//!
//! `cargo test --test fuzz` runs a fixed number of rounds; `make fuzz` goes on for ten minutes with each kind of input.

#[path = "fuzz/cel.rs"]
mod cel;
#[path = "fuzz/http.rs"]
mod http;
#[path = "fuzz/program.rs"]
mod program;

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Time;
use kubectl::{Progress, Session};
use scenario::{Finished, Observer};
use session::console::ConsoleMsg;
use session::lesson::LessonMsg;
use session::permalink::{self, Link};
use session::timeline::TimelineMsg;
use session::{State, examples};
use sim_core::rng::Rng;
use std::fs;
use std::path::Path;

const ROUNDS: u64 = 1_500;
/// More than this from one text is a bomb that went off.
const MOST_DIAGNOSTICS: usize = 10_000;

/// Pieces that have made parsers stumble.
const PIECES: [&str; 40] = [
    "\u{feff}",
    "\r\n",
    "\0",
    "\t",
    "---\n",
    "...\n",
    "- ",
    ": ",
    "? ",
    "&a ",
    "*a",
    "!!binary ",
    "!!float ",
    "<<: *a\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "#",
    "%YAML 1.1\n",
    "null",
    "~",
    "true",
    "1e999",
    "-0x7fffffffffffffff",
    ".inf",
    "9999999999999999999999",
    "kind: List\nitems:\n",
    "replicas: 1000000000\n",
    "replicas: -1\n",
    "maxSurge: 1000%\n",
    "generateName: x-\n",
    "storage: 1Ei\n",
    "cpu: 1e-30\n",
    "\u{202e}",
    "𝕏",
];

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/scenarios");
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let scenario = scenario::parse(&fs::read_to_string(path).unwrap()).unwrap();
        for step in scenario.steps {
            if let scenario::ScenarioStep::Apply(text) = step {
                texts.push(text.into_bytes());
            }
        }
    }
    texts
}

/// One text: a seed with some bytes changed, or noise.
fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = if rng.below(10) == 0 {
        (0..rng.below(400)).map(|_| rng.bits() as u8).collect()
    } else {
        seeds[rng.below(seeds.len() as u64) as usize].clone()
    };
    for _ in 0..=rng.below(6) {
        let at = rng.below(text.len() as u64 + 1) as usize;
        match rng.below(7) {
            0 if at < text.len() => text[at] = rng.bits() as u8,
            1 if at < text.len() => {
                text.remove(at);
            }
            2 => {
                let end = (at + rng.below(80) as usize).min(text.len());
                text.drain(at..end);
            }
            3 => {
                let other = &seeds[rng.below(seeds.len() as u64) as usize];
                let from = rng.below(other.len() as u64) as usize;
                let piece = other[from..(from + rng.below(200) as usize).min(other.len())].to_vec();
                text.splice(at..at, piece);
            }
            4 => {
                let end = (at + rng.below(60) as usize).min(text.len());
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            _ => {
                let piece = PIECES[rng.below(PIECES.len() as u64) as usize];
                text.splice(at..at, piece.bytes());
            }
        }
    }
    text
}

/// Reads a text and applies it to a fresh cluster, as a person's paste would be.
fn paste(text: &[u8]) {
    let parsed = manifest::parse(text);
    assert!(
        parsed.diagnostics.len() <= MOST_DIAGNOSTICS,
        "too many diagnostics"
    );
    let Ok(text) = std::str::from_utf8(text) else {
        assert!(
            !parsed.diagnostics.is_empty(),
            "text that is not UTF-8 is told"
        );
        return;
    };
    for document in &parsed.documents {
        let _ = manifest::locate(
            text.as_bytes(),
            document.index,
            "spec.template.spec.containers[0].image",
        );
    }
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let mut session = Session::start(&mut sim, &["apply".into(), "-f".into(), "-".into()], text);
    let ended = session.poll(&mut sim) == Progress::Done;
    assert!(ended, "apply does not wait for anything");
    assert!(
        session.exit != Some(0) || !session.stdout.is_empty(),
        "apply says what it did, or why not"
    );
    sim.advance(Time(3_000_000), 3_000);
}

/// Runs `ROUNDS` rounds, or as many as fit in `LOOPSCOPE_FUZZ_SECONDS`; the same number has the same input.
fn rounds(one: impl Fn(&mut Rng, u64)) {
    let seconds: Option<u64> = std::env::var("LOOPSCOPE_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    #[allow(clippy::disallowed_methods)] // how long to go on, not what happens
    let start = std::time::Instant::now();
    let mut round = 0;
    while match seconds {
        Some(seconds) => start.elapsed().as_secs() < seconds,
        None => round < ROUNDS,
    } {
        one(&mut Rng::new(round), round);
        round += 1;
    }
    println!("{round} rounds");
}

#[test]
fn any_text_ends_with_objects_or_diagnostics() {
    let seeds = seeds();
    rounds(|rng, round| {
        let text = mutated(rng, &seeds);
        let result = std::panic::catch_unwind(|| paste(&text));
        assert!(
            result.is_ok(),
            "round {round}: {:?}",
            String::from_utf8_lossy(&text)
        );
    });
}

/// Words and signs of a shell.
const SHELL: [&str; 48] = [
    "kubectl ",
    "k ",
    "get ",
    "pods ",
    "-o ",
    "name ",
    "yaml ",
    "exec ",
    "web-0 ",
    "-- ",
    "sh -c ",
    "echo ",
    "grep ",
    "-n ",
    "awk ",
    "'{print $1}' ",
    "sed ",
    "s/a/b/ ",
    "cut ",
    "-d: ",
    "-f1 ",
    "sort ",
    "uniq -c ",
    "head -n1 ",
    "| ",
    "&& ",
    "|| ",
    "; ",
    "\n",
    "> ",
    ">> ",
    "< ",
    "2>&1 ",
    "<<E\n",
    "E\n",
    "for i in ",
    "; do ",
    "done ",
    "while ",
    "if ",
    "then ",
    "fi ",
    "$(",
    ")",
    "$i ",
    "\"",
    "'",
    "\\",
];

#[test]
fn any_line_of_the_terminal_ends() {
    rounds(|rng, round| {
        let pieces = 1 + rng.below(24);
        let mut line = String::new();
        for _ in 0..pieces {
            match rng.below(8) {
                0 => line.push_str(PIECES[rng.below(PIECES.len() as u64) as usize]),
                _ => line.push_str(SHELL[rng.below(SHELL.len() as u64) as usize]),
            }
        }
        let result = std::panic::catch_unwind(|| {
            let mut sim = Sim::new(ClusterConfig::default(), 1);
            let mut session = Session::line(&mut sim, &line, usize::MAX);
            let _ = kubectl::only_reads(&line);
            for _ in 0..20 {
                session.input(&mut sim, Some(&line));
                session.poll(&mut sim);
                sim.advance(sim.now().after(1_000_000), 100);
            }
            session.interrupt();
        });
        assert!(result.is_ok(), "round {round}: {line:?}");
    });
}

/// What follows kubectl's flags: names, numbers, selectors, patches and what is none of them.
const VALUES: [&str; 24] = [
    "web",
    "pod/web",
    "deploy/web",
    "pods",
    "node-1",
    "1",
    "-1",
    "99999999999999999999",
    "app=web",
    "a in (b",
    "",
    "json",
    "yaml",
    "wide",
    "jsonpath={.items[*].spec",
    "go-template={{.x}}",
    "{\"spec\":{\"replicas\":2}}",
    "[{\"op\":\"remove\",\"path\":\"/spec\"}]",
    "-",
    "1s",
    "condition=Ready",
    "default",
    "\u{e9}:\u{4e2d}",
    "x=y",
];

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n  \
                   template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}\n";

#[test]
fn any_verb_with_any_flags_ends() {
    use kubectl::VERBS;
    use kubectl::parse::described;
    rounds(|rng, round| {
        let verb = VERBS[rng.below(VERBS.len() as u64) as usize];
        let flags: Vec<String> = described(verb.flags).map(|(flag, _)| flag).collect();
        let mut words = vec![verb.name.to_owned()];
        for _ in 0..rng.below(7) {
            let value = VALUES[rng.below(VALUES.len() as u64) as usize];
            match flags.get(rng.below(1 + 2 * flags.len() as u64) as usize) {
                Some(flag) => {
                    let flag = flag.rsplit(", ").next().unwrap_or(flag);
                    words.push(if flag.ends_with('=') {
                        format!("{flag}{value}")
                    } else {
                        flag.to_owned()
                    });
                }
                None => words.push(value.to_owned()),
            }
        }
        let result = std::panic::catch_unwind(|| {
            let mut sim = Sim::new(ClusterConfig::default(), 1);
            Session::start(&mut sim, &["apply".into(), "-f".into(), "-".into()], WEB);
            sim.advance(sim.now().after(3_000_000), 10_000);
            let mut session =
                Session::start(&mut sim, &words, if round % 2 == 0 { WEB } else { "" });
            for _ in 0..5 {
                session.poll(&mut sim);
                sim.advance(sim.now().after(1_000_000), 10_000);
            }
            session.interrupt();
        });
        assert!(result.is_ok(), "round {round}: {words:?}");
    });
}

/// Changes a text in a few places: lines are lost, repeated or swapped, letters become others.
fn scrambled(rng: &mut Rng, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=rng.below(6) {
        let (at, other) = (
            rng.below(lines.len() as u64) as usize,
            rng.below(lines.len() as u64) as usize,
        );
        match rng.below(5) {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            _ => {
                let mut letters: Vec<char> = lines[at].chars().collect();
                if !letters.is_empty() {
                    let place = rng.below(letters.len() as u64) as usize;
                    letters[place] = [
                        ' ', ':', '-', '(', ')', '{', '}', '\'', '9', 'w', '中', '\t',
                    ][rng.below(12) as usize];
                }
                lines[at] = letters.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

#[test]
fn any_lesson_is_read_or_refused_and_played_to_an_end() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/static/lessons");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    names.sort();
    let lessons: Vec<String> = names
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    rounds(|rng, round| {
        let lesson = &lessons[rng.below(lessons.len() as u64) as usize];
        let text = scrambled(rng, lesson);
        let result = std::panic::catch_unwind(|| {
            let mut state = State::from_link(Some(&Link {
                v: 1,
                manifest: Some(text.clone()),
                ..Link::default()
            }));
            for _ in 0..6 {
                state.update(LessonMsg::Answer(1));
                state.update(LessonMsg::Next);
                for _ in 0..20 {
                    let to = Time(state.timeline.run.sim().now().0 + 500_000);
                    state.advance(to, 40);
                }
            }
        });
        assert!(result.is_ok(), "round {round}: {text}");
    });
}

/// Nothing is looked at while a scenario runs.
struct Blind;

impl Observer for Blind {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, _: &Sim, _: &Finished) {}
}

/// One scenario of so many is not only read, but played.
const PLAYED: u64 = 16;

#[test]
fn any_scenario_is_read_or_refused_and_played_to_an_end() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/scenarios");
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    names.sort();
    let all: Vec<String> = names
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    rounds(|rng, round| {
        let scenario = &all[rng.below(all.len() as u64) as usize];
        let text = scrambled(rng, scenario);
        let result = std::panic::catch_unwind(|| {
            if let Ok(scenario) = scenario::parse(&text)
                && round % PLAYED == 0
            {
                scenario::run(&scenario, 1, 1_000, &mut Blind);
            }
        });
        assert!(result.is_ok(), "round {round}: {text}");
    });
}

/// Base64url.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |bits: u32| char::from(LETTERS[(bits & 63) as usize]);
    let of = |three: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| {
            (bits << 8) | u32::from(three.get(at).copied().unwrap_or(0))
        });
        [18, 12, 6, 0]
            .into_iter()
            .take(three.len() + 1)
            .map(|shift| letter(bits >> shift))
            .collect::<String>()
    };
    bytes.chunks(3).map(of).collect()
}

#[test]
fn any_link_is_read_or_refused_and_repeated_to_an_end() {
    let words = [
        "scale deployment nginx-deployment --replicas=5",
        "delete pods --all",
        "get pods -w",
        "drain node-1 --ignore-daemonsets --force",
        "rollout status deployment/nginx-deployment",
        "exec x -- sh",
        "",
    ];
    rounds(|rng, round| {
        let mut commands = Vec::new();
        for _ in 0..rng.below(8) {
            let action = match rng.below(5) {
                0 => serde_json::json!("poll"),
                1 => serde_json::json!({"apply": (examples::ALL[rng.below(3) as usize].text)()}),
                2 => serde_json::json!({"fault": "node-down node-1"}),
                3 => serde_json::json!({"none": 1}),
                _ => serde_json::json!({"kubectl": words[rng.below(words.len() as u64) as usize]}),
            };
            // Mostly in order, sometimes from anywhere.
            let at = if rng.below(6) == 0 {
                u64::MAX >> rng.below(64)
            } else {
                rng.below(400)
            };
            commands.push(serde_json::json!([at, at.saturating_mul(20_000), action]));
        }
        let end = rng.below(2_000);
        let json = serde_json::json!({"v": 1, "history": {"commands": commands, "end": [end, end * 30_000], "at": rng.below(90_000)}, "selected": "Pod/default/x", "breakpoints": ["pod not ready"]});
        let mut packed = serde_json::to_vec(&json).unwrap();
        if rng.below(4) == 0 {
            let place = rng.below(packed.len() as u64) as usize;
            packed[place] = rng.below(256) as u8;
        }
        let text = format!("#base64:{}", base64(&packed));
        let result = std::panic::catch_unwind(|| {
            let Ok(Some(link)) = permalink::decode(&text) else {
                return;
            };
            let mut state = State::from_link(Some(&link));
            state.recall(&link);
            for _ in 0..60 {
                state.run_slice(60);
                state.poll();
            }
            state.update(TimelineMsg::Live);
            state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        });
        assert!(result.is_ok(), "round {round}: {json}");
    });
}

#[test]
fn bombs_are_defused() {
    let mut aliases = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for i in 1..30 {
        aliases += &format!(
            "a{i}: &a{i} [{}]\n",
            vec![format!("*a{}", i - 1); 9].join(",")
        );
    }
    let cases: [(&str, Vec<u8>); 8] = [
        ("aliases", aliases.into_bytes()),
        (
            "depth in flow",
            [vec![b'['; 10_000], vec![b']'; 10_000]].concat(),
        ),
        (
            "depth in blocks",
            (0..10_000)
                .map(|i| format!("{}a:\n", " ".repeat(i % 200 + i / 200)))
                .collect::<String>()
                .into_bytes(),
        ),
        (
            "depth in JSON",
            format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)).into_bytes(),
        ),
        ("10 MB of one line", vec![b'a'; 10 << 20]),
        ("10 MB of documents", b"---\na: 1\n".repeat((10 << 20) / 9)),
        ("NUL", b"kind: Pod\0\n".to_vec()),
        ("not UTF-8", b"kind: \xff\xfe\n".to_vec()),
    ];
    for (name, text) in cases {
        let parsed = manifest::parse(&text);
        assert!(
            !parsed.diagnostics.is_empty() || !parsed.documents.is_empty(),
            "{name}: something is said"
        );
        assert!(parsed.diagnostics.len() <= MOST_DIAGNOSTICS, "{name}");
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let text = "\u{feff}apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\n";
    let parsed = manifest::parse(text.as_bytes());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(parsed.documents.len(), 1);
}
