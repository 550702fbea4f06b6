//! Links of each form that earlier versions wrote (`tests/data/links`) open, and stand for what they stood for.

use actions::Action;
use cluster::disk::{FilePlace, place};
use k8s_model::Kind;
use session::permalink::{Link, decode};
use session::{State, history};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a link stands for once its history is repeated.
struct Stands {
    file: &'static str,
    seed: u64,
    view: &'static str,
    /// Nodes of the cluster, and Pods at the newest instant; with a link that has no history, after ten seconds.
    nodes: usize,
    pods: usize,
    /// The instant that is looked at and the newest one, in milliseconds.
    at: u64,
    end: u64,
    /// What was done, each with its milliseconds.
    deeds: &'static [(u64, &'static str)],
}

const APPLY: (u64, &str) = (0, "apply");

const ALL: [Stands; 10] = [
    Stands {
        file: "2026-11-21-manifest",
        seed: 7,
        view: "storage",
        nodes: 3,
        pods: 2,
        at: 10_000,
        end: 10_000,
        deeds: &[],
    },
    Stands {
        file: "2026-11-21-stored",
        seed: 1,
        view: "ownership",
        nodes: 3,
        pods: 2,
        at: 10_000,
        end: 10_000,
        deeds: &[],
    },
    Stands {
        file: "2026-11-23-history",
        seed: 7,
        view: "nodes",
        nodes: 3,
        pods: 3,
        at: 6_000,
        end: 12_000,
        deeds: &[
            APPLY,
            (4_000, "kubectl scale deployment web --replicas=3"),
            (8_000, "fault node-down node-1"),
        ],
    },
    Stands {
        file: "2026-11-24-request",
        seed: 3,
        view: "ownership",
        nodes: 2,
        pods: 1,
        at: 9_000,
        end: 9_000,
        deeds: &[
            (1_000, "request POST /api/v1/namespaces/default/pods"),
            (6_000, "remote"),
        ],
    },
    Stands {
        file: "2026-11-24-counterexample",
        seed: 5,
        view: "ownership",
        nodes: 1,
        pods: 2,
        at: 4_000,
        end: 9_000,
        deeds: &[(100, "beside"), (5_000, "fault node-down small")],
    },
    Stands {
        file: "2026-11-25-record",
        seed: 4,
        view: "ownership",
        nodes: 2,
        pods: 1,
        at: 7_000,
        end: 7_000,
        deeds: &[(2_000, "request POST /api/v1/namespaces/default/pods")],
    },
    Stands {
        file: "2026-11-25-edited",
        seed: 1,
        view: "rollout",
        nodes: 3,
        pods: 5,
        at: 9_000,
        end: 9_000,
        deeds: &[
            APPLY,
            (4_000, "kubectl edit deployment web"),
            (4_000, "edited"),
        ],
    },
    Stands {
        file: "2026-11-25-interrupt",
        seed: 1,
        view: "ownership",
        nodes: 3,
        pods: 0,
        at: 12_000,
        end: 12_000,
        deeds: &[
            APPLY,
            (4_000, "kubectl scale deployment web --replicas=3"),
            (4_000, "kubectl get pods -w"),
            (5_300, "poll"),
            (5_500, "interrupt"),
            (6_000, "kubectl delete deployment web"),
        ],
    },
    Stands {
        file: "2026-11-26-speed",
        seed: 2,
        view: "loops",
        nodes: 3,
        pods: 2,
        at: 5_000,
        end: 5_000,
        deeds: &[APPLY],
    },
    Stands {
        file: "2026-11-26-example",
        seed: 1,
        view: "ownership",
        nodes: 3,
        pods: 1,
        at: 10_000,
        end: 10_000,
        deeds: &[
            APPLY,
            (3_000, "kubectl scale deployment web --replicas=4"),
            (6_000, "kubectl scale deployment web --replicas=1"),
        ],
    },
];

/// The links by the names of their files.
fn kept() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/links");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let links = files.filter(|path| path.extension().is_some_and(|ext| ext == "txt"));
    links
        .map(|path| {
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

fn read(name: &str) -> Link {
    decode(kept()[name].trim())
        .unwrap_or_else(|words| panic!("{name}: {}", words.english()))
        .unwrap()
}

/// The page that a link opens, once all of its history is repeated.
fn opened(link: &Link) -> State {
    let mut state = State::from_link(Some(link));
    state.recall(link);
    while state.timeline.run_until.is_some() {
        state.run_slice(1_000);
    }
    state
}

fn told(action: &Action) -> String {
    match action {
        Action::Apply(_) => "apply".to_owned(),
        Action::Kubectl(line) => line.to_string(),
        Action::Edited(_) => "edited".to_owned(),
        Action::Fault(line) => format!("fault {line}"),
        Action::Poll => "poll".to_owned(),
        Action::Request(request) => format!("request {}", request.command),
        Action::Client(call) => format!("client {}", call.line),
        Action::Admission(answers) => format!("admission {}", answers.answers.len()),
        Action::Remote(..) => "remote".to_owned(),
        Action::Beside(..) => "beside".to_owned(),
        Action::Interrupt => "interrupt".to_owned(),
        Action::Stop(number) => format!("stop {number}"),
    }
}

#[test]
fn each_link_that_is_kept_opens_as_what_it_stood_for() {
    let names: Vec<String> = kept().into_keys().collect();
    let mut known: Vec<&str> = ALL.iter().map(|one| one.file).collect();
    known.sort_unstable();
    assert_eq!(names, known, "each file is opened");
    for stands in &ALL {
        let name = stands.file;
        let link = read(name);
        let served = stands
            .deeds
            .first()
            .is_some_and(|(_, action)| action.starts_with("request"));
        let text = link.manifest.as_deref().unwrap();
        assert!(
            if served {
                text.is_empty()
            } else {
                text.starts_with("apiVersion: apps/v1\nkind: Deployment\n")
            },
            "{name}: {text}"
        );
        let deeds = link
            .history()
            .map(|history| history.commands)
            .unwrap_or_default();
        let deeds: Vec<(u64, String)> = deeds
            .iter()
            .map(|(_, at, action)| (at / 1000, told(action)))
            .collect();
        let expected: Vec<(u64, String)> = stands
            .deeds
            .iter()
            .map(|(at, action)| (*at, (*action).to_owned()))
            .collect();
        assert_eq!(deeds, expected, "{name}");
        let mut state = opened(&link);
        if link.history.is_none() {
            while !state.advance(k8s_model::Time(10_000_000), 1_000) {}
        }
        let run = &state.timeline.run;
        let count = |kind: Kind| {
            run.newest()
                .store()
                .list(kind)
                .filter(|object| !object.meta.is_deleting())
                .count()
        };
        assert_eq!(
            (run.seed(), state.selection.view.id),
            (stands.seed, stands.view),
            "{name}"
        );
        assert_eq!(
            (count(Kind::Node), count(Kind::Pod)),
            (stands.nodes, stands.pods),
            "{name}"
        );
        assert_eq!((run.now(), run.end()), (stands.at, stands.end), "{name}");
        assert_eq!(run.in_past(), stands.at < stands.end, "{name}");
        if link.history.is_some() {
            assert_eq!(
                run.command_count(),
                deeds.len(),
                "{name}: all that was done is done again"
            );
        }
    }
}

#[test]
fn what_else_a_form_holds_is_there() {
    let state = opened(&read("2026-11-23-history"));
    let selected = state
        .selection
        .selected
        .clone()
        .map(|key| (key.kind, key.name.to_string()));
    assert_eq!(selected, Some((Kind::Deployment, "web".to_owned())));
    assert_eq!(
        state
            .timeline
            .breakpoints
            .all()
            .iter()
            .map(|one| one.text.as_str())
            .collect::<Vec<_>>(),
        ["pod not ready"]
    );
    let state = opened(&read("2026-11-24-request"));
    let sim = state.timeline.run.newest();
    let pod = sim.store().list(Kind::Pod).next().unwrap();
    let FilePlace::Disk { disk, path } = place(sim.store(), pod, 0, "/told") else {
        panic!("a file of the container")
    };
    let told = sim
        .disks
        .read(&disk, &path)
        .is_some_and(|text| text.trim_end() == "hello");
    assert!(told, "the command in the container has written its file");
    assert_eq!(opened(&read("2026-11-26-speed")).timeline.speed, 10.0);
    // What the example did by itself is no command of a person.
    let state = opened(&read("2026-11-26-example"));
    assert!(state.shared().example == [3_000] && history::commands(&state.timeline.run).len() == 3);
    let own: Vec<String> = state
        .console
        .history
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        own.iter().any(|line| line.contains("--replicas=1"))
            && !own.iter().any(|line| line.contains("--replicas=4")),
        "{own:?}"
    );
}

#[test]
fn what_is_shared_from_an_old_link_is_the_same_history() {
    for stands in ALL
        .iter()
        .filter(|stands| !stands.deeds.is_empty() && stands.file != "2026-11-24-counterexample")
    {
        let link = read(stands.file);
        let again = opened(&link).shared();
        let (old, new) = (link.history().unwrap(), again.history().unwrap());
        assert_eq!(
            (&new.commands, new.end, &new.cluster),
            (&old.commands, old.end, &old.cluster),
            "{}",
            stands.file
        );
    }
}
