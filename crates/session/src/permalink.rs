//! Links that hold everything: `#pako:` and the base64url of a zlib stream of versioned JSON, so that nothing is sent to a server. All
//! fields but the version are optional; an unknown prefix is rejected with a message.

use super::record::{InitialCluster, SavedRecord};
use actions::{Action, RecordedAction};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use i18n::{Message, msg};
use k8s_model::Time;
use scenario::{Scenario, ScenarioStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Limit of an unpacked link, in bytes: a link is untrusted input.
pub const MAX_UNPACKED_BYTES: usize = 4 << 20;
/// Maximum number of commands read from a link.
pub const MAX_COMMANDS: usize = 10_000;

/// Contents of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Version of this format: 1.
    #[serde(default)]
    pub v: u32,
    /// Text of the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Diagram shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Commands that were run, as a [`LinkHistory`]: decoded after the page has opened, so that the opening does not load the code for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Value>,
    /// Selected object: kind, namespace and name, separated by slashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<String>,
    /// Breakpoints, as entered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<String>,
    /// Virtual seconds per second, if not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// True at the causal pace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_cause: bool,
    /// Instants in milliseconds at which the example's script ran a line: those commands are not a person's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub example: Vec<u64>,
}

impl Link {
    /// Returns the history, if the link has one that can be decoded.
    pub fn history(&self) -> Option<LinkHistory> {
        self.history
            .as_ref()
            .and_then(|history| LinkHistory::deserialize(history).ok())
    }

    /// Drops the instant shown if it is the newest one, so that the clock plays on from there.
    pub fn playing(mut self) -> Link {
        if let Some(history) = self.history.as_mut().and_then(Value::as_object_mut) {
            let end = history
                .get("end")
                .and_then(|end| end[1].as_u64())
                .map(|us| us / 1000);
            if history
                .get("at")
                .and_then(Value::as_u64)
                .is_some_and(|at| Some(at) == end)
            {
                history.remove("at");
            }
        }
        self
    }

    /// Builds a link that repeats the commands of a scenario's run with a seed, up to an end, and shows an instant in milliseconds, or the
    /// end.
    pub fn of_scenario(
        scenario: &Scenario,
        seed: u64,
        commands: &[RecordedAction],
        end: (u64, Time),
        at: Option<u64>,
    ) -> Link {
        let history = LinkHistory::new(
            commands,
            end,
            at,
            Some(InitialCluster::of_scenario(scenario)),
        );
        let applied = |step: &ScenarioStep| {
            if let ScenarioStep::Apply(text) = step {
                Some(text.clone())
            } else {
                None
            }
        };
        let manifest = scenario.steps.iter().rev().find_map(applied);
        Link {
            v: 1,
            manifest,
            seed: Some(seed),
            history: history.held(),
            ..Link::default()
        }
    }

    /// Builds a link that repeats a record; `None` if the record does not fit into a link.
    pub fn of_record(record: &SavedRecord) -> Option<Link> {
        if record.commands.len() > MAX_COMMANDS || !InitialCluster::tells(&record.config) {
            return None;
        }
        let history = LinkHistory::new(
            &record.commands,
            record.end,
            None,
            InitialCluster::of(&record.config),
        );
        let history = Some(history.held()?);
        let link = Link {
            v: 1,
            manifest: Some(String::new()),
            seed: Some(record.seed),
            history,
            ..Link::default()
        };
        (serialized(&link).len() <= MAX_UNPACKED_BYTES).then_some(link)
    }
}

/// Recorded commands with their times. The same build of the engine repeats the run byte for byte, another build as far as its decisions
/// agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkHistory {
    /// Commands: engine tasks run before each, its time in microseconds, and the action.
    pub commands: Vec<(u64, u64, Action)>,
    /// Newest instant: engine tasks and microseconds.
    pub end: (u64, u64),
    /// Instant shown in milliseconds, while the clock is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// Initial cluster, if it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<InitialCluster>,
}

impl LinkHistory {
    /// Creates the history of recorded commands up to an end.
    pub fn new(
        commands: &[RecordedAction],
        end: (u64, Time),
        at: Option<u64>,
        cluster: Option<InitialCluster>,
    ) -> LinkHistory {
        let commands = commands
            .iter()
            .map(|recorded| (recorded.steps, recorded.time.0, recorded.action.clone()))
            .collect();
        LinkHistory {
            commands,
            end: (end.0, end.1.0),
            at,
            cluster,
        }
    }

    /// Serializes the history for [`Link::history`].
    pub fn held(self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// Encodes a link as the fragment of an address, with its `#`.
pub fn encode(link: &Link) -> String {
    fragment(&miniz_oxide::deflate::compress_to_vec_zlib(&json(link), 9))
}

/// Serializes a link to the JSON that is packed; drops the history if it makes the JSON larger than [`MAX_UNPACKED_BYTES`].
pub fn json(link: &Link) -> Vec<u8> {
    let all = serialized(link);
    if all.len() <= MAX_UNPACKED_BYTES || link.history.is_none() {
        all
    } else {
        serialized(&Link {
            history: None,
            ..link.clone()
        })
    }
}

/// Returns true if the link has a history and is small enough to keep it.
pub fn holds_history(link: &Link) -> bool {
    link.history.is_some() && serialized(link).len() <= MAX_UNPACKED_BYTES
}

fn serialized(link: &Link) -> Vec<u8> {
    serde_json::to_vec(link).unwrap_or_default()
}

/// Builds the fragment of zlib data.
pub fn fragment(packed: &[u8]) -> String {
    format!("#pako:{}", URL_SAFE_NO_PAD.encode(packed))
}

/// Decodes a fragment: `Ok(None)` if it is empty; the error is shown to the user.
pub fn decode(fragment: &str) -> Result<Option<Link>, Message> {
    let text = fragment.strip_prefix('#').unwrap_or(fragment);
    if text.is_empty() {
        return Ok(None);
    }
    unpack(text).map(Some)
}

fn unpack(text: &str) -> Result<Link, Message> {
    let Some((prefix, body)) = text.split_once(':') else {
        return Err(msg::link_unknown("pako:"));
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(
            body.trim_end_matches('=')
                .replace('+', "-")
                .replace('/', "_"),
        )
        .map_err(|_| msg::link_not_base64())?;
    let json = match prefix {
        "pako" => {
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, MAX_UNPACKED_BYTES)
                .map_err(|_| msg::link_not_deflate())?
        }
        "base64" if bytes.len() <= MAX_UNPACKED_BYTES => bytes,
        _ => return Err(msg::link_prefix(format!("{prefix}:"))),
    };
    let link: Link = serde_json::from_slice(&json).map_err(|_| msg::link_not_json())?;
    if link.v != 1 {
        return Err(msg::link_version(link.v));
    }
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::selection::SelectionMsg;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, examples, history};
    use k8s_model::Kind;

    #[test]
    fn a_history_that_is_too_long_for_a_link_is_left_out() {
        let line = |length: usize| serde_json::json!({ "commands": [[0, 1, { "kubectl": "x".repeat(length) }]], "end": [0, 1] });
        let of = |length| Link {
            v: 1,
            manifest: Some("kind: Pod".into()),
            history: Some(line(length)),
            ..Link::default()
        };
        let read = |link: &Link| decode(&encode(link)).expect("a link").expect("one");
        assert!(read(&of(100)).history().is_some());
        assert!(holds_history(&of(100)) && !holds_history(&of(MAX_UNPACKED_BYTES)));
        let long = read(&of(MAX_UNPACKED_BYTES));
        assert_eq!(
            (long.manifest.as_deref(), long.history),
            (Some("kind: Pod"), None)
        );
    }

    #[test]
    fn a_link_that_is_to_play_goes_on_from_the_newest_instant_and_from_no_other() {
        let at = |at: u64| {
            let history = serde_json::json!({ "commands": [], "end": [7, 9_000_500], "at": at });
            Link {
                v: 1,
                history: Some(history),
                ..Link::default()
            }
            .playing()
            .history()
            .and_then(|history| history.at)
        };
        assert_eq!((at(9_000), at(4_000)), (None, Some(4_000)));
        for wrong in [
            serde_json::json!("x"),
            serde_json::json!(5),
            serde_json::json!({ "end": 1 }),
        ] {
            assert_eq!(
                Link {
                    history: Some(wrong.clone()),
                    ..Link::default()
                }
                .playing()
                .history,
                Some(wrong)
            );
        }
    }

    #[test]
    fn a_link_round_trips() {
        let link = Link {
            v: 1,
            manifest: Some("kind: Pod\n# 控制器\n".into()),
            seed: Some(7),
            view: Some("storage".into()),
            ..Link::default()
        };
        let text = encode(&link);
        assert!(text.starts_with("#pako:"));
        assert!(!text.contains('=') && !text.contains('+') && !text[1..].contains('#'));
        assert_eq!(decode(&text), Ok(Some(link)));
    }

    /// Links created by earlier pages, and by this one; a later one may have more fields.
    #[test]
    fn links_of_each_form_open() {
        let plain = "eNqrVipTslIw1FFQyk3My0xLLS4BcpWyM_NSrBQC8lNi8pSAUsWpqSlAYXMgsywztRykorgkvygxPVWpFgBszBNQ";
        let told = "eNpdUMtugzAQ_BU0560C6Uv1V-ROOZjsJrVwbAucIIT4966p1EN8Gu2M5uEVD5iGcLPBXWTKMBhcYFOdIn8HECYRhvkkPJzMyk45jvYqyvy4gheYFed4UwOeYNq2pppW2JT88mS2ddQ2R3qv96ei4d7LOXuVXSVXKarBrnmlj3_Nxd59aRUiywvHOVQ7ap6VSNF7dB1BghZujzV9_VF6surwpnAre7xmlk3QVgeWPeAwS6-T-lHskKILuUxRS9a0XOmVF6iPt1lG_a_tF1oSX8U";
        let plain = decode(&format!("#pako:{plain}")).unwrap().unwrap();
        assert_eq!(
            (plain.manifest.as_deref(), plain.seed, plain.view.as_deref()),
            (Some("kind: Pod\n"), Some(7), Some("storage"))
        );
        let told = decode(&format!("#pako:{told}")).unwrap().unwrap();
        assert_eq!(
            (
                told.manifest.as_deref(),
                told.selected.as_deref(),
                told.breakpoints.len()
            ),
            (plain.manifest.as_deref(), Some("Pod/default/web"), 1)
        );
        let history = told.history().unwrap();
        assert_eq!(
            (history.commands.len(), history.end, history.at),
            (4, (20, 9_000_000), Some(4_000))
        );
        assert_eq!(
            history.commands[2],
            (
                13,
                6_000_000,
                Action::Fault("node-down node-1".parse().unwrap())
            )
        );
    }

    #[test]
    fn a_stored_link_is_read_too() {
        let text = format!(
            "#base64:{}",
            URL_SAFE_NO_PAD.encode(r#"{"v":1,"manifest":"a"}"#)
        );
        assert_eq!(
            decode(&text).unwrap().unwrap().manifest.as_deref(),
            Some("a")
        );
    }

    #[test]
    fn what_is_not_a_link_is_refused_with_words() {
        assert_eq!(decode(""), Ok(None));
        assert!(decode("#hello").is_err());
        assert!(decode("#gzip:AAAA").unwrap_err().contains("gzip"));
        assert!(decode("#pako:%%%").unwrap_err().contains("base64url"));
        assert!(decode("#pako:AAAA").is_err());
        let newer = Link {
            v: 9,
            ..Link::default()
        };
        assert!(decode(&encode(&newer)).unwrap_err().contains("version 9"));
    }

    #[test]
    fn a_decompression_bomb_is_not_unpacked() {
        let packed =
            miniz_oxide::deflate::compress_to_vec_zlib(&vec![b' '; MAX_UNPACKED_BYTES + 1], 9);
        assert!(decode(&format!("#pako:{}", URL_SAFE_NO_PAD.encode(packed))).is_err());
    }

    /// Opens the shared link and replays it in slices of `budget` tasks.
    fn opened_again(state: &State, budget: usize) -> State {
        let link = decode(&encode(&state.shared())).unwrap().unwrap();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            again.run_slice(budget);
        }
        again
    }

    fn journal(state: &State) -> Vec<String> {
        state
            .timeline
            .run
            .journal()
            .iter()
            .map(|entry| format!("{entry:?}"))
            .collect()
    }

    fn acted() -> State {
        let mut state = settled((examples::ALL[2].text)());
        let enter = |state: &mut State, line: &str| state.update(ConsoleMsg::Enter(line.into()));
        enter(&mut state, "kubectl scale statefulset web --replicas=4");
        state.update(TimelineMsg::Step);
        enter(&mut state, "kubectl delete pod web-1");
        state.update(TimelineMsg::Seconds(3));
        state.update(Msg::Fault("node-down node-1".parse().unwrap()));
        state.update(TimelineMsg::Seconds(40));
        enter(&mut state, "kubectl drain node-2 --ignore-daemonsets");
        state.update(TimelineMsg::Seconds(40));
        while state.timeline.run_until.is_some() {
            state.run_slice(64);
        }
        state.update(EditorMsg::Edit(
            state
                .editor
                .text
                .replace("nginx-slim:0.24", "nginx-slim:0.25"),
        ));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(20));
        while state.timeline.run_until.is_some() {
            state.run_slice(64);
        }
        state
    }

    #[test]
    fn a_link_repeats_what_was_done_to_the_byte_however_it_is_sliced() {
        let state = acted();
        let whole = journal(&state);
        for budget in [3, 64, 100_000] {
            let again = opened_again(&state, budget);
            assert_eq!(journal(&again), whole);
            assert_eq!(
                (again.timeline.run.now(), again.timeline.playing),
                (state.timeline.run.now(), false)
            );
            assert_eq!(again.editor.text, state.editor.text);
            assert_eq!(
                history::commands(&again.timeline.run),
                history::commands(&state.timeline.run)
            );
        }
        // Commands run after that have the same result.
        let mut both = [state, opened_again(&acted(), 64)];
        for state in &mut both {
            state.update(ConsoleMsg::Enter("kubectl uncordon node-2".into()));
            state.update(TimelineMsg::Seconds(30));
            while state.timeline.run_until.is_some() {
                state.run_slice(64);
            }
        }
        assert_eq!(journal(&both[0]), journal(&both[1]));
        assert!(journal(&both[0]).len() > whole.len());
    }

    #[test]
    fn a_link_keeps_the_instant_the_selection_and_the_breakpoints() {
        let mut state = acted();
        let end = state.timeline.run.end();
        state.update(TimelineMsg::Break("pod not ready".into()));
        state.update(TimelineMsg::Seek(end - 30_000));
        let key = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::StatefulSet)
            .next()
            .unwrap()
            .key();
        state.update(SelectionMsg::Select(Some(key.clone())));
        let again = opened_again(&state, 64);
        assert_eq!(
            (again.timeline.run.now(), again.timeline.run.end()),
            (state.timeline.run.now(), end)
        );
        assert!(again.timeline.run.in_past() && again.timeline.stopped.is_none());
        assert_eq!(again.timeline.run.objects(), state.timeline.run.objects());
        assert_eq!(
            (
                again.selection.selected.clone(),
                again.timeline.breakpoints.all().len()
            ),
            (Some(key), 1)
        );
        // A cluster that nobody has touched needs no history.
        assert_eq!(State::from_link(None).shared().history, None);
    }

    #[test]
    fn who_acts_before_all_is_repeated_goes_on_from_there() {
        let state = acted();
        let link = state.shared();
        for msgs in [
            vec![
                Msg::from(ConsoleMsg::Enter("kubectl get pods".into())),
                ConsoleMsg::Enter("kubectl scale statefulset web --replicas=1".into()).into(),
            ],
            vec![Msg::Apply],
            vec![TimelineMsg::Seek(10_000).into(), TimelineMsg::Branch.into()],
            vec![TimelineMsg::Step.into(), TimelineMsg::Settle.into()],
            vec![
                TimelineMsg::Seek(1_000).into(),
                TimelineMsg::Live.into(),
                TimelineMsg::Seconds(500).into(),
            ],
        ] {
            let mut again = State::from_link(Some(&link));
            again.recall(&link);
            for _ in 0..8 {
                again.run_slice(20);
            }
            assert!(again.timeline.run.is_replaying());
            for msg in msgs {
                again.update(msg);
            }
            while again.timeline.run_until.is_some() {
                again.run_slice(500);
            }
            let now = again.timeline.run.now();
            again.update(TimelineMsg::Seconds(600));
            while again.timeline.run_until.is_some() {
                again.run_slice(500);
            }
            assert!(again.timeline.run.now() >= now + 500_000);
            let (all, listed) = (
                again.timeline.run.command_count(),
                history::commands(&again.timeline.run).len(),
            );
            assert!(listed <= all);
            let times: Vec<u64> = again
                .timeline
                .run
                .commands()
                .iter()
                .map(|did| did.time.0)
                .collect();
            assert!(times.is_sorted());
        }
    }

    #[test]
    fn a_forged_history_does_no_harm() {
        let forged = |commands: Vec<(u64, u64, Action)>, end: (u64, u64)| {
            let link = Link {
                v: 1,
                history: serde_json::to_value(LinkHistory {
                    commands,
                    end,
                    at: Some(u64::MAX),
                    cluster: None,
                })
                .ok(),
                selected: Some("x".into()),
                breakpoints: vec!["".into(), "nonsense".into()],
                ..Link::default()
            };
            let mut state = State::from_link(Some(&link));
            state.recall(&link);
            for _ in 0..50 {
                state.run_slice(200);
            }
            state.update(TimelineMsg::Live);
            state.update(ConsoleMsg::Enter("kubectl run a --image=nginx".into()));
            state.update(TimelineMsg::Seconds(5));
            assert!(state.timeline.run.sim().store().count(Kind::Pod) > 0);
        };
        let line = |line: &str| Action::Kubectl(line.into());
        forged(
            vec![
                (u64::MAX, u64::MAX, line("kubectl get pods")),
                (0, 0, Action::Poll),
                (5, 3, Action::Fault("node-down x".parse().unwrap())),
            ],
            (0, 0),
        );
        forged(
            vec![
                (0, 9, Action::Apply("}{".into())),
                (0, 1, Action::Apply("kind: Pod".into())),
                (1, 1, line("")),
            ],
            (u64::MAX, u64::MAX),
        );
        forged(
            vec![(7, 1_000_000, line("kubectl get pods -w")); 40],
            (9, 2_000_000),
        );
        forged(Vec::new(), (u64::MAX, 1));
    }
}
