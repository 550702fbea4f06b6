//! Commands that were run: by lines of the console, by buttons, which enter such lines, and by the editor.

use super::console::only_reads;
use super::manifest_file::is_save;
use super::run::Run;
use actions::{Action, OutputLine};
use apiserver::Op;
use apiserver::journal::{Actor, Entry, EntryId, Record};
use explain::effect::effect;
use i18n::format::clock;
use i18n::{Message, msg};
use kubectl::{BesideAct, RemoteAct};
use std::rc::Rc;

/// Console line equivalent to the editor's Apply.
const APPLY: &str = "kubectl apply -f -";

/// Command of the history shown, from its beginning to its newest instant.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryCommand {
    /// Number from 1; `!3` runs the third again.
    pub number: usize,
    /// Index of the action in the history.
    pub index: usize,
    /// Time in milliseconds.
    pub at: u64,
    /// Line as entered in the console.
    pub line: Rc<str>,
    /// Action that runs it again.
    pub command: Action,
}

/// Returns all commands, oldest first.
pub fn commands(run: &Run) -> Vec<HistoryCommand> {
    let lines = run
        .commands()
        .iter()
        .enumerate()
        .filter_map(|(index, recorded)| {
            let command = &recorded.action;
            let line = match command {
                Action::Apply(_) => APPLY.into(),
                // Part of the line that reads it.
                Action::Kubectl(line) if is_save(line) => return None,
                Action::Kubectl(line) => line.clone(),
                Action::Fault(_) => command.to_string().into(),
                // Part of the command that waits.
                Action::Poll
                | Action::Edited(_)
                | Action::Client(_)
                | Action::Admission(_)
                | Action::Interrupt
                | Action::Stop(_) => {
                    return None;
                }
                Action::Request(request) => request.command.as_str().into(),
                Action::Beside(_, act) => match &**act {
                    BesideAct::Start(words, _) => ["kubectl ", &words.join(" ")].concat().into(),
                    BesideAct::Poll | BesideAct::Interrupt => return None,
                },
                Action::Remote(_, act) => match &**act {
                    RemoteAct::Start(start) => [
                        "kubectl exec ",
                        &start.pod,
                        " -- ",
                        &start.command.join(" "),
                    ]
                    .concat()
                    .into(),
                    RemoteAct::Line(_) | RemoteAct::Poll | RemoteAct::Interrupt => return None,
                },
            };
            Some((index, recorded.time.0 / 1000, line, command.clone()))
        });
    lines
        .enumerate()
        .map(|(number, (index, at, line, command))| HistoryCommand {
            number: number + 1,
            index,
            at,
            line,
            command,
        })
        .collect()
}

/// Describes the first change of a command and the number of others. A line that creates or deletes says so itself, unless it is a
/// manifest.
pub fn did(run: &Run, ran: &HistoryCommand) -> Message {
    let manifest = matches!(ran.command, Action::Apply(_)) || ran.line.contains('\n');
    let of = entries(run, ran);
    let mut writes = writes(run, &of, ran.at).filter(|entry| {
        manifest
            || matches!(entry.write(), Some((Op::Modified, object)) if !object.meta.is_deleting())
    });
    match (writes.next().map(effect), writes.count()) {
        (Some(first), 0) => first,
        (Some(first), more) => msg::effect_and_more(first, more),
        (None, _) => Message::default(),
    }
}

/// Maximum number of entries searched for a command's consequences, and of loops named.
const MAX_FOLLOWED: usize = 2_000;
const MAX_LOOPS_NAMED: usize = 3;
/// Time within which loops at full speed act on a command, in milliseconds.
const LOOPS_ACT_MS: u64 = 1_000;

/// Returns the journal entries of a command.
fn entries(run: &Run, ran: &HistoryCommand) -> Vec<EntryId> {
    let journal = run.journal();
    let start = journal.partition_point(|entry| entry.time.0 / 1000 < ran.at);
    let here = journal
        .from(start)
        .iter()
        .take_while(|entry| entry.time.0 / 1000 == ran.at);
    here.enumerate()
        .filter(|(_, entry)| match (&entry.record, &ran.command) {
            (Record::Command(command), _) => command.action as usize == ran.index,
            (Record::Fault(injected), Action::Fault(fault)) => **injected == *fault,
            _ => false,
        })
        .map(|(at, _)| (start + at) as EntryId)
        .collect()
}

/// Returns the writes of a command until an instant: also later than its start, if it retries or waits.
fn writes<'a>(run: &'a Run, of: &'a [EntryId], until: u64) -> impl Iterator<Item = &'a Entry> + 'a {
    let after = of.first().map_or(usize::MAX, |first| *first as usize);
    let own = |entry: &&Entry| {
        entry.actor == Actor::USER
            && !entry.is_event()
            && entry.write().is_some()
            && entry.cause.is_some_and(|cause| of.contains(&cause))
    };
    run.journal()
        .from(after.min(run.journal().len()))
        .iter()
        .take_while(move |entry| entry.time.0 / 1000 <= until)
        .filter(own)
}

/// Time at which the next command wrote, after all writes of the given one: changes until then follow from it.
pub fn next_write(run: &Run, at: u64) -> Option<u64> {
    let all = commands(run);
    let own = all
        .iter()
        .filter(|ran| ran.at == at)
        .flat_map(|ran| entries(run, ran))
        .collect::<Vec<_>>();
    let last = writes(run, &own, run.end())
        .last()
        .map_or(at, |last| at.max(last.time.0 / 1000));
    let wrote = |ran: &HistoryCommand| writes(run, &entries(run, ran), run.end()).next().is_some();
    // Commands that only read are skipped.
    let mut later = all
        .iter()
        .filter(|ran| ran.at > last && !only_reads(&ran.line));
    later
        .find(|ran| matches!(ran.command, Action::Fault(_)) || wrote(ran))
        .map(|ran| ran.at)
}

/// Describes the consequences of a command's writes: the loops that acted on them and for how long, or that it took effect at once. Empty
/// for a command without a write.
pub fn followed(run: &Run, ran: &HistoryCommand) -> Message {
    let journal = run.journal();
    let (own, mut of_it) = (entries(run, ran), Vec::new());
    let Some(start) = own.first().map(|first| *first as usize) else {
        return Message::default();
    };
    let (mut loops, mut last, mut wrote, mut refused) = (Vec::new(), None, false, (0, 0));
    for (at, entry) in journal
        .from(start)
        .iter()
        .take(MAX_FOLLOWED)
        .enumerate()
        .filter(|(_, entry)| !entry.is_event())
    {
        if entry
            .cause
            .is_none_or(|cause| !own.contains(&cause) && of_it.binary_search(&cause).is_err())
        {
            continue;
        }
        if matches!(entry.record, Record::Refused(_)) && entry.actor == Actor::USER {
            refused = (refused.0 + 1, entry.time.0 / 1000);
        }
        if entry.write().is_none() {
            continue;
        }
        of_it.push((start + at) as EntryId);
        if [Actor::USER, Actor::SERVER].contains(&entry.actor) {
            wrote = true;
            continue;
        }
        last = Some(entry.time.0 / 1000);
        if !loops.contains(&entry.actor.component) {
            loops.push(entry.actor.component);
        }
    }
    let refused = (refused.0 > 0).then(|| msg::history_refused(refused.0, refused.1));
    let Some(last) = last else {
        return match refused {
            Some(refused) => refused,
            None if !wrote => Message::default(),
            // A loop may still act on it.
            None if run.end() < ran.at + LOOPS_ACT_MS
                || run
                    .sim()
                    .manager
                    .queues()
                    .any(|(_, queue)| !queue.is_empty()) =>
            {
                msg::history_not_yet()
            }
            None => msg::history_at_once(),
        };
    };
    let more = loops.len().saturating_sub(MAX_LOOPS_NAMED);
    let mut names: Vec<Message> = loops
        .into_iter()
        .take(MAX_LOOPS_NAMED)
        .map(|component| Message::name(component.name()))
        .collect();
    if more > 0 {
        names.push(msg::summary_more(more));
    }
    // There may be more consequences than were searched.
    let more = journal.len() - start > MAX_FOLLOWED;
    let loops = if more {
        msg::history_loops_begun(names)
    } else {
        msg::history_loops(names, last - ran.at)
    };
    match refused {
        Some(refused) => msg::history_also(loops, refused),
        None => loops,
    }
}

/// Returns the command that `!3`, `!!` or a prefix after `!` stands for.
pub fn recalled(run: &Run, event: &str) -> Option<HistoryCommand> {
    let mut all = commands(run);
    match (event, event.parse::<usize>()) {
        ("!", _) => all.pop(),
        (_, Ok(number)) => (number > 0 && number <= all.len()).then(|| all.swap_remove(number - 1)),
        _ => all
            .into_iter()
            .rfind(|ran| !event.is_empty() && ran.line.starts_with(event)),
    }
}

/// Output of `history`.
pub fn printed(run: &Run) -> Vec<OutputLine> {
    let line = |ran: HistoryCommand| OutputLine {
        enters: Some(format!("!{}", ran.number)),
        ..OutputLine::new(
            format!("{:>4}  {}  {}", ran.number, clock(ran.at), ran.line),
            false,
        )
    };
    commands(run).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::history::commands;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, examples};

    fn enter(state: &mut State, line: &str) {
        state.update(ConsoleMsg::Enter(line.into()));
    }

    fn replicas(state: &State) -> i32 {
        let mut all = state
            .timeline
            .run
            .sim()
            .store()
            .list(k8s_model::Kind::Deployment);
        all.find_map(|object| explain::handles::Handles::of(object).replicas)
            .expect("a Deployment")
    }

    #[test]
    fn of_a_manifest_it_is_told_what_it_changed() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(EditorMsg::Edit(
            state.editor.text.replace("nginx:1.7.9", "nginx:1.27"),
        ));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(5));
        let all = commands(&state.timeline.run);
        let told: Vec<String> = all
            .iter()
            .map(|ran| super::did(&state.timeline.run, ran).to_string())
            .collect();
        assert_eq!(
            told,
            [
                "Deployment nginx-deployment created",
                "nginx-deployment image nginx:1.7.9 → nginx:1.27"
            ]
        );
    }

    #[test]
    fn of_a_command_it_is_told_which_loops_acted_on_it() {
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}";
        let mut state = settled(&[map, (examples::ALL[0].text)(), map].join("\n---\n"));
        enter(
            &mut state,
            "kubectl scale deployment/nginx-deployment --replicas=3",
        );
        state.update(TimelineMsg::Seconds(10));
        // Three commands at one instant, as while the clock is paused.
        enter(&mut state, "kubectl create configmap settings");
        enter(&mut state, "kubectl get pods");
        enter(
            &mut state,
            "kubectl scale deployment/nginx-deployment --replicas='4'",
        );
        let told = |state: &State| {
            let all = commands(&state.timeline.run);
            all.iter()
                .map(|ran| super::followed(&state.timeline.run, ran).to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(&state)[4],
            "No loop has acted on it yet",
            "the clock stands"
        );
        state.update(TimelineMsg::Seconds(10));
        let (all, told) = (commands(&state.timeline.run), told(&state));
        // Also for a manifest of several documents, of which only some are for loops.
        let acted = "deployment-controller, replicaset-controller, default-scheduler, 1 more acted on it, the last after ";
        assert!(
            told[0].starts_with(acted) && told[1].starts_with(acted) && told[4].starts_with(acted),
            "{told:#?}"
        );
        assert_eq!(told[2..4], ["In effect at once: no loop had to act", ""]);
        // A line that creates or deletes says so itself.
        let did: Vec<String> = all
            .iter()
            .map(|ran| super::did(&state.timeline.run, ran).to_string())
            .collect();
        assert_eq!(
            did[1..],
            [
                "nginx-deployment scaled 2 → 3",
                "",
                "",
                "nginx-deployment scaled 3 → 4"
            ]
        );
    }

    #[test]
    fn a_command_that_tries_again_is_told_until_its_last_write() {
        let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all}\nspec: {minAvailable: 2, selector: {matchLabels: {app: nginx}}}";
        let mut state = settled(&[(examples::ALL[0].text)(), budget].join("\n---\n"));
        let node = state
            .timeline
            .run
            .sim()
            .store()
            .list(k8s_model::Kind::Pod)
            .find_map(|pod| Some(pod.pod()?.node_name.clone()))
            .expect("a node");
        let line = format!("kubectl drain {node} --ignore-daemonsets");
        enter(&mut state, &line);
        state.update(TimelineMsg::Seconds(19));
        let told = commands(&state.timeline.run);
        let told = super::followed(&state.timeline.run, &told[1]).to_string();
        assert!(
            told.ends_with("4 requests refused, the last at 00:45.000"),
            "{told}"
        );
        enter(&mut state, "kubectl get pods");
        enter(&mut state, "kubectl delete pdb all");
        state.update(TimelineMsg::Seconds(20));
        let (run, all) = (&state.timeline.run, commands(&state.timeline.run));
        let drain = all
            .iter()
            .find(|ran| *ran.line == *line)
            .expect("the drain");
        let loops = super::followed(run, drain).to_string();
        assert!(loops.contains("replicaset-controller"), "{loops}");
        assert_eq!(
            super::next_write(run, drain.at),
            None,
            "what allowed the eviction came before it"
        );
        // The reason of a Pod's deletion has the time of the deletion.
        let of = super::entries(run, drain);
        let evicted = super::writes(run, &of, run.end())
            .last()
            .expect("an eviction");
        assert!(evicted.time.0 / 1000 > drain.at + 15_000);
        let journal = run.journal();
        let at = journal
            .iter()
            .position(|entry| std::ptr::eq(entry, evicted))
            .expect("its place");
        let chain = explain::words::chain_of(journal, &run.sim().delays, at as super::EntryId);
        assert_eq!(
            (chain[0].at, chain[1].at),
            (evicted.time.0 / 1000, drain.at),
            "{chain:#?}"
        );
    }

    #[test]
    fn every_command_is_listed_with_its_time_and_can_be_run_again() {
        let mut state = settled((examples::ALL[0].text)());
        enter(
            &mut state,
            "kubectl scale deployment/nginx-deployment --replicas=3",
        );
        state.update(TimelineMsg::Seconds(5));
        enter(&mut state, "kubectl get pods");
        state.update(Msg::Fault("node-down node-1".parse().unwrap()));
        state.update(Msg::Apply);
        let told: Vec<(usize, u64, String)> = commands(&state.timeline.run)
            .into_iter()
            .map(|ran| (ran.number, ran.at, ran.line.to_string()))
            .collect();
        let line = |number: usize, at: u64, line: &str| (number, at, line.to_owned());
        assert_eq!(
            told,
            [
                line(1, 0, "kubectl apply -f -"),
                line(
                    2,
                    30_000,
                    "kubectl scale deployment/nginx-deployment --replicas=3"
                ),
                line(3, 35_000, "kubectl get pods"),
                line(4, 35_000, "fault node-down node-1"),
                line(5, 35_000, "kubectl apply -f -"),
            ]
        );
        assert_eq!(replicas(&state), 2, "the manifest has taken effect again");
        enter(&mut state, "!2");
        assert_eq!(replicas(&state), 3);
        assert!(state.console.lines.iter().any(|line| line.text == "$ kubectl scale deployment/nginx-deployment --replicas=3"));
        enter(&mut state, "!1");
        assert_eq!(replicas(&state), 2, "a manifest is applied again as it was");
        enter(&mut state, "!kubectl scale");
        enter(&mut state, "!!");
        assert_eq!(
            (replicas(&state), commands(&state.timeline.run).len()),
            (3, 9)
        );
        enter(&mut state, "!99");
        assert_eq!(
            state
                .console
                .lines
                .last()
                .map(|line| (line.text.as_str(), line.error)),
            Some(("!99: event not found", true))
        );
    }

    #[test]
    fn history_and_help_are_answered_by_the_page_also_in_the_past() {
        let mut state = settled((examples::ALL[0].text)());
        enter(&mut state, "kubectl get nodes");
        let written = state.timeline.run.journal().len();
        state.update(TimelineMsg::Seek(500));
        enter(&mut state, "history");
        let told: Vec<(&str, Option<&str>)> = state
            .console
            .lines
            .iter()
            .rev()
            .take(2)
            .map(|line| (line.text.as_str(), line.enters.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("   2  00:30.000  kubectl get nodes", Some("!2")),
                ("   1  00:00.000  kubectl apply -f -", Some("!1"))
            ]
        );
        enter(&mut state, "help");
        assert!(
            state
                .console
                .lines
                .iter()
                .filter(|line| line.said.is_some())
                .count()
                > 3
        );
        assert!(state.timeline.run.in_past() && state.timeline.run.journal().len() == written);
        assert!(
            !state.console.lines.iter().any(|line| line.error),
            "{:?}",
            state.console.lines
        );
    }
}
