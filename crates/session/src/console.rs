//! The console: its output and the lines that were entered.

use super::effect::Effect;
use super::history;
use super::manifest_file::is_save;
use super::run::Run;
use actions::{Action, Job, OutputLine};
use cluster::Sim;
use i18n::{Message, msg};
use kubectl::BesideAct;
use kubectl::shell::here_words;
use std::rc::Rc;

/// Lines of output kept.
pub const OUTPUT_LINES: usize = 2_000;
/// Entered lines kept.
pub const HISTORY_LINES: usize = 200;

/// Prompt of the console.
pub const PROMPT: &str = "$";
/// Prompt of a program in a container that reads input.
pub const SHELL_PROMPT: &str = "/ #";

/// Commands built into the console.
pub const OWN: [&str; 3] = ["clear", "help", "history"];

/// Returns true if a line, or each command of a printed session, changes nothing in the cluster.
pub fn only_reads(text: &str) -> bool {
    let reads = |line: &str| {
        line.is_empty() || OWN.contains(&line) || is_fault_help(line) || kubectl::only_reads(line)
    };
    commands_of_printed_session(text)
        .map_or_else(|| reads(text), |lines| lines.iter().all(|line| reads(line)))
}

/// Returns true if a line asks for the list of faults.
fn is_fault_help(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("fault")
        && words
            .next()
            .is_none_or(|word| matches!(word, "help" | "--help" | "-h"))
}

/// Injects the fault of a line, or says what is wrong with the line.
fn fault_effects(line: &str) -> Vec<Effect> {
    match line.parse() {
        Ok(fault) => vec![Effect::ExecuteFault(fault)],
        Err(error) => {
            let text = error.printed();
            vec![
                Effect::AnnounceFailure(Message::name(&text)),
                Effect::Print(vec![OutputLine::new(text, true)]),
            ]
        }
    }
}

/// Output of `fault` without arguments: the faults, one per line.
fn fault_usage() -> Vec<OutputLine> {
    let lines = fault::usage().map(|form| ["  fault ", form].concat());
    std::iter::once("Usage:".to_owned())
        .chain(lines)
        .chain(fault::usage_notes())
        .map(|text| OutputLine::new(text, false))
        .collect()
}

/// Output of `help`.
fn help() -> Vec<OutputLine> {
    let lines = [
        msg::console_help_kubectl("kubectl help"),
        msg::console_help_short("get pods"),
        msg::console_help_fault("fault node-down node-1"),
        msg::console_help_history("history"),
        msg::console_help_again("!3", "!!"),
        msg::console_help_clear("clear"),
        msg::console_help_keys(),
    ];
    lines
        .into_iter()
        .map(|said| OutputLine {
            said: Some(said.clone()),
            ..OutputLine::new(said.english(), false)
        })
        .collect()
}

/// Message to the console.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleMsg {
    /// A line was entered.
    Enter(String),
    /// A line was run by a button: it is not input for a program in a container.
    Run(String),
    /// The line of a fault was entered, without the word `fault`.
    Fault(String),
    /// The text of `kubectl edit` was saved.
    Edited(String),
    /// Interrupts the newest command that waits.
    Interrupt,
    /// Interrupts the waiting command with this number.
    Stop(u32),
    /// Prints the output of a command.
    Print(Vec<OutputLine>),
    /// The field descriptions and published files were loaded, or cannot be.
    Described(bool),
}

/// Loading state of the field descriptions, which `kubectl explain` needs, and of the published files that a line names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Descriptions {
    #[default]
    Missing,
    Requested,
    Loaded,
}

/// Waiting command with a block of output of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsoleJob {
    /// Number, that of its lines.
    pub number: u32,
    /// Command.
    pub command: Rc<str>,
    /// True if other commands were entered after it: its block stands beside theirs.
    pub is_aside: bool,
}

/// Console.
#[derive(Default)]
pub struct Console {
    /// Output; the lines of a waiting command follow each other, whatever is printed meanwhile.
    pub lines: Rc<Vec<OutputLine>>,
    /// Number of lines ever printed, those included that were dropped.
    pub printed: usize,
    /// Lines that were entered.
    pub history: Rc<Vec<String>>,
    descriptions: Descriptions,
    /// Lines held until they are loaded, each with the recalled command that it stands for, if any.
    held: Vec<(String, Option<Action>)>,
}

impl Console {
    /// Replaces the history by the lines of commands that are repeated, so that each can be entered again.
    pub(super) fn remember<'a>(&mut self, commands: impl Iterator<Item = &'a Action>) {
        let lines = commands.filter_map(|command| match command {
            Action::Kubectl(line) => Some(line.to_string()).filter(|line| !is_save(line)),
            fault @ Action::Fault(_) => Some(fault.to_string()),
            _ => None,
        });
        let lines: Vec<String> = lines.collect();
        self.history = Rc::new(lines[lines.len().saturating_sub(HISTORY_LINES)..].to_vec());
    }

    /// Handles a message.
    pub fn update(&mut self, msg: ConsoleMsg, run: &mut Run) -> Vec<Effect> {
        match msg {
            ConsoleMsg::Enter(line) => return self.enter(line.trim(), run),
            ConsoleMsg::Fault(line) => return fault_effects(&line),
            ConsoleMsg::Run(line) => {
                match kubectl::plain(&line).filter(|_| run.takes_input() && !run.follows()) {
                    Some(words) => {
                        self.print(vec![OutputLine::entered(PROMPT, &line)], run);
                        let start = BesideAct::Start(words, String::new());
                        return vec![Effect::Execute(Action::Beside(
                            run.free_number(),
                            Rc::new(start),
                        ))];
                    }
                    None => return self.enter(line.trim(), run),
                }
            }
            ConsoleMsg::Edited(text) => return vec![Effect::Execute(Action::Edited(text.into()))],
            ConsoleMsg::Interrupt => {
                let newest = run.interruptible();
                let number = newest.and_then(|job| (!job.interactive).then_some(job.number));
                if run.interrupt() {
                    self.print_stop(number, run);
                }
            }
            ConsoleMsg::Stop(number) => {
                if run.stop(number) {
                    self.print_stop(Some(number), run);
                }
            }
            ConsoleMsg::Print(lines) if lines.is_empty() => {}
            ConsoleMsg::Print(lines) => self.print(lines, run),
            ConsoleMsg::Described(there) => {
                self.descriptions = if there {
                    Descriptions::Loaded
                } else {
                    Descriptions::Missing
                };
                let held = std::mem::take(&mut self.held);
                return held
                    .into_iter()
                    .flat_map(|(line, command)| self.run(&line, command, run))
                    .collect();
            }
        }
        Vec::new()
    }

    /// Returns true if the field descriptions are to be loaded now, for a line or for a repeated history; the loader reports back with
    /// [`ConsoleMsg::Described`].
    pub fn requests_descriptions(&mut self, run: &Run) -> bool {
        let requests = self.descriptions == Descriptions::Missing
            && (!self.held.is_empty() || run.waits_for_files());
        if requests {
            self.descriptions = Descriptions::Requested;
        }
        requests
    }

    fn enter(&mut self, line: &str, run: &Run) -> Vec<Effect> {
        if line.is_empty() {
            return Vec::new();
        }
        // As in Bash, `!` before a space negates.
        let event = line
            .strip_prefix('!')
            .filter(|event| !event.starts_with([' ', '\t', '=']));
        let recalled = match event.filter(|_| !run.takes_input()) {
            Some(event) => match history::recalled(run, event) {
                None => {
                    self.print(
                        vec![
                            OutputLine::entered(PROMPT, line),
                            OutputLine::new(format!("{line}: event not found"), true),
                        ],
                        run,
                    );
                    return Vec::new();
                }
                some => some,
            },
            None => None,
        };
        // A recalled command is printed as it was entered.
        let line = recalled.as_ref().map_or(line, |ran| &ran.line);
        // A shell in a container has a prompt of its own.
        let prompt = if run.takes_input() {
            SHELL_PROMPT
        } else {
            PROMPT
        };
        self.print(vec![OutputLine::entered(prompt, line)], run);
        let history = Rc::make_mut(&mut self.history);
        if history.last().is_none_or(|last| last != line) {
            history.push(line.to_string());
            let more = history.len().saturating_sub(HISTORY_LINES);
            history.drain(..more);
        }
        let (line, command) = (
            line.to_owned(),
            recalled.as_ref().map(|ran| ran.command.clone()),
        );
        // While descriptions are being loaded, later lines are held as well.
        let needs = kubectl::explain::is_in(&line) || kubectl::published::is_in(&line);
        let explains = self.descriptions != Descriptions::Loaded && needs && !run.takes_input();
        if explains || !self.held.is_empty() {
            self.held.push((line, command));
            return Vec::new();
        }
        self.run(&line, command, run)
    }

    /// Runs a line that is already printed, and returns its effects.
    fn run(&mut self, line: &str, recalled: Option<Action>, run: &Run) -> Vec<Effect> {
        match line {
            _ if run.takes_input() => {}
            "clear" => {
                let waits = |line: &OutputLine| is_of_any(line, run.jobs());
                Rc::make_mut(&mut self.lines).retain(waits);
                return Vec::new();
            }
            "help" => return vec![Effect::Print(help())],
            "history" => return vec![Effect::Print(history::printed(run))],
            line if is_fault_help(line) => return vec![Effect::Print(fault_usage())],
            _ => {}
        }
        if let Some(manifest @ Action::Apply(_)) = recalled {
            return vec![Effect::Fork, Effect::Execute(manifest)];
        }
        if run.follows() && kubectl::opens_editor(line) {
            let said = msg::edit_elsewhere();
            return vec![
                Effect::Announce(said.clone()),
                Effect::Print(vec![OutputLine {
                    said: Some(said.clone()),
                    ..OutputLine::new(said.english(), true)
                }]),
            ];
        }
        // In a container's shell the word is like any other.
        if let Some(fault) = line.strip_prefix("fault ").filter(|_| !run.takes_input()) {
            return fault_effects(fault);
        }
        if (run.in_past() || run.follows()) && kubectl::only_reads(line) {
            let lines = run.ask(line);
            let notice = lines
                .first()
                .map(|line| Message::name(&line.text))
                .unwrap_or_default();
            return vec![Effect::Announce(notice), Effect::Print(lines)];
        }
        vec![Effect::Fork, Effect::Execute(Action::Kubectl(line.into()))]
    }

    /// Returns the waiting commands that have a block of output.
    pub fn jobs(&self, run: &Run) -> Vec<ConsoleJob> {
        let newest = self.lines.iter().rfind(|line| line.entered.is_some());
        let newest = newest.and_then(|line| line.job);
        let is_block = |job: &&Job| {
            !job.interactive && job.session.edits().is_none() && !job.session.goes_on()
        };
        let jobs = run.jobs().iter().filter(is_block);
        jobs.map(|job| ConsoleJob {
            number: job.number,
            command: job.session.text.clone(),
            is_aside: newest != Some(job.number),
        })
        .collect()
    }

    /// Makes the line with which it was entered the heading of a command that waits.
    pub(super) fn begin_job(&mut self, number: u32, run: &Run) {
        let lines = Rc::make_mut(&mut self.lines);
        let job = run.jobs().iter().find(|job| job.number == number);
        let heading = lines.iter_mut().rfind(|line| {
            line.job.is_none() && job.is_some_and(|job| is_prompt_of(line, &job.session.text))
        });
        if let Some(heading) = heading {
            heading.job = Some(number);
        }
    }

    /// Ends the blocks of commands that do not wait in the history shown, where others may have their numbers.
    pub(super) fn forget_jobs(&mut self, run: &Run) {
        let lines = Rc::make_mut(&mut self.lines);
        let has_block = |job: &&Job| {
            let mut own = lines.iter().filter(|line| line.job == Some(job.number));
            own.any(|line| is_prompt_of(line, &job.session.text))
        };
        let jobs = run.jobs().iter().filter(has_block);
        let numbers: Vec<u32> = jobs.map(|job| job.number).collect();
        for line in lines {
            line.job = line.job.filter(|number| numbers.contains(number));
        }
    }

    /// Prints that a command was interrupted.
    fn print_stop(&mut self, job: Option<u32>, run: &Run) {
        let line = OutputLine::new("^C", false);
        self.print(vec![OutputLine { job, ..line }], run);
    }

    /// Appends lines, those of a waiting command to its block, and drops the oldest.
    fn print(&mut self, lines: Vec<OutputLine>, run: &Run) {
        self.printed += lines.len();
        let output = Rc::make_mut(&mut self.lines);
        for line in lines {
            let Some(number) = line.job else {
                output.push(line);
                continue;
            };
            let block = output.iter().rposition(|other| other.job == line.job);
            // A command of a repeated history was not entered here.
            let unheaded = run.jobs().iter().filter(|_| block.is_none());
            let heading = unheaded
                .filter(|job| job.number == number)
                .map(|job| OutputLine {
                    job: line.job,
                    ..OutputLine::entered(PROMPT, &job.session.text)
                });
            output.extend(heading);
            output.insert(block.map_or(output.len(), |last| last + 1), line);
        }
        if output.len() > OUTPUT_LINES {
            let mut more = output.len() - OUTPUT_LINES * 3 / 4;
            // Blocks that still grow are kept, unless one fills the console.
            for keeps in [run.jobs(), &[]] {
                output.retain(|line| {
                    let drops = more > 0 && !is_of_any(line, keeps);
                    more -= usize::from(drops);
                    !drops
                });
            }
        }
    }
}

/// Returns true for a prompt with a command, which may leave out `kubectl`.
fn is_prompt_of(line: &OutputLine, command: &str) -> bool {
    let words = |text: &str| {
        let mut words = text.split_whitespace().peekable();
        words.next_if(|word| matches!(*word, "kubectl" | "k"));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let entered = line.entered.as_deref();
    entered.is_some_and(|entered| words(entered) == words(command))
}

/// Returns true for a line of one of these commands.
fn is_of_any(line: &OutputLine, jobs: &[Job]) -> bool {
    line.job
        .is_some_and(|number| jobs.iter().any(|job| job.number == number))
}

/// Extracts the commands of a session as a terminal prints it, each after its prompt; the output between them is left out. `None` if the
/// first line has no prompt.
pub(super) fn commands_of_printed_session(text: &str) -> Option<Vec<String>> {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .and_then(behind_prompt)?;
    let mut commands: Vec<String> = Vec::new();
    let mut lines = text.lines();
    // The shell prompts for the rest of a command with `>`.
    let rest_of = |line: &str| ["\n", line.strip_prefix("> ").unwrap_or(line)].concat();
    while let Some(line) = lines.next() {
        let Some(first) = behind_prompt(line).filter(|command| !command.is_empty()) else {
            continue;
        };
        let mut command = first.to_owned();
        while command.ends_with('\\')
            && let Some(next) = lines.next()
        {
            command.push_str(&rest_of(next));
        }
        for word in here_words(&command) {
            for next in lines.by_ref().map(rest_of) {
                command.push_str(&next);
                if next.trim() == word {
                    break;
                }
            }
        }
        commands.push(command);
    }
    (!commands.is_empty()).then_some(commands)
}

/// Returns the text after the prompt of a line, also where the prompt was copied more than once.
fn behind_prompt(line: &str) -> Option<&str> {
    let after = |line: &'_ str| -> Option<usize> {
        let prompts = [PROMPT, SHELL_PROMPT].into_iter();
        let rest = prompts
            .filter_map(|prompt| line.strip_prefix(prompt))
            .find_map(|rest| rest.strip_prefix(' '))?;
        Some(line.len() - rest.trim_start().len())
    };
    let mut rest = line.trim_start();
    rest = &rest[after(rest)?..];
    while let Some(at) = after(rest) {
        rest = &rest[at..];
    }
    Some(rest.trim_end())
}

/// Returns the lines of a text that is a list of commands, one per line, as copied from a page: each is entered by itself. Any other text
/// of several lines is for the shell.
pub(super) fn listed(text: &str) -> Option<Vec<String>> {
    let is_command = |line: &&str| {
        let is_own =
            OWN.contains(line) || line.starts_with("kubectl ") || line.starts_with("fault ");
        is_own && !line.ends_with('\\') && here_words(line).is_empty()
    };
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    (lines.len() > 1 && lines.iter().all(is_command))
        .then(|| lines.into_iter().map(str::to_owned).collect())
}

/// Returns the completions of a word: kinds, and names of objects with that prefix.
pub fn completions(sim: &Sim, start: &str) -> Vec<String> {
    let kinds = k8s_model::kind::all();
    let plurals = kinds
        .clone()
        .map(|kind| kind.info().plural)
        .filter(|word| word.starts_with(start));
    let objects = kinds
        .filter(|kind| kind.info().is_controlled())
        .flat_map(|kind| sim.store().each(kind));
    let names = objects
        .map(|object| object.meta.name.as_str())
        .filter(|name| name.starts_with(start));
    plurals.chain(names).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::{HISTORY_LINES, OUTPUT_LINES};
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;
    use k8s_model::{Kind, ObjectRef, Time};

    #[test]
    fn a_question_in_the_past_is_answered_about_that_instant_and_forks_nothing() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(TimelineMsg::Seek(500));
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        assert!(state.timeline.run.in_past());
        assert!(
            state
                .console
                .lines
                .iter()
                .any(|line| line.text.contains("ContainerCreating")),
            "{:?}",
            state.console.lines
        );
        state.update(TimelineMsg::Live);
        assert_eq!(state.timeline.run.branches(), (1, vec![]));
    }

    fn requests(state: &mut State) -> bool {
        state.console.requests_descriptions(&state.timeline.run)
    }

    #[test]
    fn a_line_that_names_a_published_file_waits_for_it() {
        let mut state = settled((examples::ALL[0].text)());
        enter(&mut state, kubectl::published::GATEWAY_INSTALL);
        enter(&mut state, "kubectl get crd -o name");
        assert!(
            requests(&mut state) && printed(&state).ends_with("$ kubectl get crd -o name"),
            "{}",
            printed(&state)
        );
        state.update(ConsoleMsg::Described(true));
        assert!(
            printed(&state).contains("httproutes.gateway.networking.k8s.io created"),
            "{}",
            printed(&state)
        );
        assert!(
            printed(&state).ends_with("/referencegrants.gateway.networking.k8s.io"),
            "{}",
            printed(&state)
        );
    }

    #[test]
    fn an_explanation_waits_for_the_descriptions_and_what_follows_waits_for_it() {
        let mut state = settled((examples::ALL[0].text)());
        let shown = |state: &crate::State| {
            state
                .console
                .lines
                .iter()
                .map(|line| line.text.clone())
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert!(!requests(&mut state));
        state.update(ConsoleMsg::Enter(
            "kubectl explain deployment.spec.replicas | head -2".into(),
        ));
        state.update(ConsoleMsg::Enter("kubectl get nodes".into()));
        assert!(requests(&mut state) && !requests(&mut state));
        assert!(
            shown(&state).ends_with("| head -2\n$ kubectl get nodes"),
            "{}",
            shown(&state)
        );
        // If they cannot be loaded, there is an answer, and they are requested again.
        state.update(ConsoleMsg::Described(false));
        assert!(
            shown(&state)
                .contains("$ kubectl get nodes\nGROUP:      apps\nKIND:       Deployment\nNAME "),
            "{}",
            shown(&state)
        );
        state.update(ConsoleMsg::Enter("explain pod.spec".into()));
        assert!(requests(&mut state) && !shown(&state).contains("FIELD: spec"));
        state.update(ConsoleMsg::Described(true));
        assert!(shown(&state).contains("FIELD: spec"));
        state.update(ConsoleMsg::Enter("explain pod.metadata".into()));
        assert!(shown(&state).contains("FIELD: metadata") && !requests(&mut state));
    }

    const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n  \
         template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers: [{name: web, image: nginx}]\n---\napiVersion: policy/v1\nkind: \
         PodDisruptionBudget\nmetadata: {name: web}\nspec:\n  minAvailable: 2\n  selector: {matchLabels: {app: web}}\n";

    fn printed(state: &State) -> String {
        state
            .console
            .lines
            .iter()
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn enter(state: &mut State, line: &str) {
        state.update(ConsoleMsg::Enter(line.into()));
    }

    fn pass(state: &mut State, seconds: u64) {
        for _ in 0..seconds {
            let to = Time((state.timeline.run.now() + 1_000) * 1_000);
            while !state.advance(to, 1_000) {}
            state.poll();
        }
    }

    #[test]
    fn a_drain_goes_on_while_other_commands_remove_what_it_waits_for() {
        let mut state = settled(WEB);
        let node = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .pod()
            .unwrap()
            .node_name
            .to_string();
        enter(
            &mut state,
            &format!("kubectl drain {node} --ignore-daemonsets"),
        );
        // Errors are printed where they occurred, not after all output.
        let text = printed(&state);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{text}"));
        assert!(
            at("cordoned") < at("evicting pod") && at("evicting pod") < at("error when evicting"),
            "{text}"
        );
        pass(&mut state, 6);
        assert!(
            printed(&state)
                .contains("Cannot evict pod as it would violate the pod's disruption budget"),
            "{}",
            printed(&state)
        );
        assert_eq!(
            state.timeline.run.waiting().map(str::to_owned),
            Some(format!("kubectl drain {node} --ignore-daemonsets"))
        );
        enter(&mut state, "kubectl delete pdb web");
        assert!(state.timeline.run.waits() && !printed(&state).contains("^C"));
        // Also in one go: the command polls at its own interval, not when the session happens to poll.
        state.update(TimelineMsg::Seconds(60));
        assert!(
            printed(&state).contains(&format!("node/{node} drained\n$ kubectl delete pdb web")),
            "{}",
            printed(&state)
        );
        assert!(!state.timeline.run.waits());
    }

    #[test]
    fn a_warning_stands_before_what_follows_it_and_a_failure_at_the_end() {
        let mut state = settled(WEB);
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .clone();
        enter(
            &mut state,
            &format!("kubectl delete pod {pod} missing --force"),
        );
        let text = printed(&state);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{text}"));
        assert!(
            at("Warning: Immediate deletion") < at("force deleted")
                && at("force deleted") < at("Error from server (NotFound)"),
            "{text}"
        );
    }

    #[test]
    fn a_watch_goes_on_beside_every_later_command() {
        let mut state = settled(WEB);
        let watch = "kubectl get pods -w";
        enter(&mut state, watch);
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .clone();
        enter(&mut state, &format!("kubectl delete pod {pod}"));
        assert_eq!(
            state.timeline.run.waiting(),
            Some(&*format!("kubectl delete pod {pod}"))
        );
        pass(&mut state, 60);
        // The watch shows the Pod's end and the start of its replacement, and continues.
        let text = printed(&state);
        let row = |state: &str| {
            text.lines()
                .any(|line| line.starts_with("web-") && line.contains(state))
        };
        assert!(
            row("Terminating")
                && row("ContainerCreating")
                && text.contains(&format!("pod \"{pod}\" deleted")),
            "{text}"
        );
        assert_eq!(
            state.timeline.run.waiting(),
            Some(watch),
            "the deletion has ended, the watch has not"
        );
        for line in [
            "kubectl scale deployment web --replicas=3",
            "kubectl get nodes",
            "kubectl rollout status deployment web",
        ] {
            enter(&mut state, line);
        }
        pass(&mut state, 20);
        assert!(printed(&state).contains("deployment \"web\" successfully rolled out"));
        assert_eq!(state.timeline.run.waiting(), Some(watch));
        for line in [
            "kubectl wait deployment web --for=condition=Missing --timeout=1h",
            "kubectl get deployments -w",
        ] {
            enter(&mut state, line);
        }
        // Ctrl+C ends the newest command first.
        let mut waiting = Vec::new();
        while let Some(line) = state.timeline.run.waiting().map(str::to_owned) {
            waiting.push(line);
            state.update(ConsoleMsg::Interrupt);
        }
        assert_eq!(waiting[0], "kubectl get deployments -w");
        assert!(
            waiting[1].starts_with("kubectl wait") && waiting[2] == watch && waiting.len() == 3,
            "{waiting:?}"
        );
        // Each at the end of its block.
        for line in waiting {
            let block = block(&state, &line);
            assert_eq!(block.last().map(String::as_str), Some("^C"), "{block:?}");
        }
    }

    /// Returns the lines after a prompt up to the next one.
    fn block(state: &State, command: &str) -> Vec<String> {
        let lines = state.console.lines.iter();
        let after = lines.skip_while(|line| line.entered.as_deref() != Some(command));
        let block = after.skip(1).take_while(|line| line.entered.is_none());
        block.map(|line| line.text.clone()).collect()
    }

    fn jobs(state: &State) -> Vec<(String, bool)> {
        let jobs = state.console.jobs(&state.timeline.run);
        jobs.iter()
            .map(|job| (job.command.to_string(), job.is_aside))
            .collect()
    }

    fn a_pod(state: &State) -> String {
        let mut pods = state.timeline.run.sim().store().list(Kind::Pod);
        pods.next()
            .map(|pod| pod.meta.name.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn each_waiting_command_prints_into_its_own_block() {
        let mut state = settled(WEB);
        let (watch, delete) = (
            "kubectl get pods -w",
            format!("kubectl delete pod {}", a_pod(&state)),
        );
        enter(&mut state, watch);
        assert_eq!(jobs(&state), [(watch.to_owned(), false)]);
        let rows = block(&state, watch).len();
        enter(&mut state, &delete);
        assert_eq!(
            jobs(&state),
            [(watch.to_owned(), true), (delete.clone(), false)]
        );
        enter(&mut state, "kubectl get nodes -o name");
        pass(&mut state, 60);
        assert_eq!(jobs(&state), [(watch.to_owned(), true)]);
        let watched = block(&state, watch);
        assert!(watched.len() > rows + 4, "{watched:?}");
        assert!(
            watched[rows..].iter().all(|line| line.starts_with("web-")),
            "{watched:?}"
        );
        assert_eq!(block(&state, &delete).len(), 1);
        assert_eq!(block(&state, "kubectl get nodes -o name").len(), 3);
        // Clearing the output keeps what still grows.
        enter(&mut state, "clear");
        assert_eq!(block(&state, watch), watched);
        assert_eq!(state.console.lines.len(), watched.len() + 1);
    }

    #[test]
    fn a_command_is_stopped_by_its_number_also_when_the_history_is_repeated() {
        let mut state = settled(WEB);
        for line in [
            "kubectl get pods -w",
            "kubectl get deployments -w",
            "kubectl wait deployment web --for=condition=Missing --timeout=1h",
        ] {
            enter(&mut state, line);
        }
        let second = state.console.jobs(&state.timeline.run)[1].clone();
        state.update(ConsoleMsg::Stop(second.number));
        assert_eq!(
            block(&state, &second.command).last().map(String::as_str),
            Some("^C")
        );
        state.update(ConsoleMsg::Stop(second.number));
        let commands: Vec<String> = jobs(&state)
            .into_iter()
            .map(|(command, _)| command)
            .collect();
        assert_eq!(commands.len(), 2);
        assert!(!commands.contains(&second.command.to_string()));
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            again.run_slice(50);
        }
        assert!(again.console.lines.is_empty());
        // A command that was not entered here has its block too, and not that of another's prompt.
        enter(&mut again, "kubectl scale deployment web --replicas=5");
        pass(&mut again, 10);
        let repeated: Vec<String> = jobs(&again)
            .into_iter()
            .map(|(command, _)| command)
            .collect();
        assert_eq!(repeated, commands);
        assert!(block(&again, &commands[0]).len() > 3, "{}", printed(&again));
        assert_eq!(
            block(&again, "kubectl scale deployment web --replicas=5"),
            ["deployment.apps/web scaled"]
        );
    }

    #[test]
    fn lines_that_were_held_get_their_own_blocks() {
        let mut state = settled(WEB);
        for line in [
            "kubectl explain pod.spec",
            "k get pods -w",
            "kubectl get nodes -o name",
        ] {
            enter(&mut state, line);
        }
        state.update(ConsoleMsg::Described(false));
        assert_eq!(
            block(&state, "k get pods -w").len(),
            3,
            "{}",
            printed(&state)
        );
        assert_eq!(jobs(&state), [("kubectl get pods -w".to_owned(), true)]);
    }

    #[test]
    fn a_watch_that_goes_on_and_on_keeps_its_block_within_the_bounds() {
        let mut state = settled(WEB);
        let watch = "kubectl get pods -w";
        enter(&mut state, watch);
        for at in 0..OUTPUT_LINES {
            enter(&mut state, &format!("kubectl get pods -n none-{at}"));
        }
        assert_eq!(block(&state, watch).len(), 3);
        let mut line = actions::OutputLine::new("row", false);
        line.job = Some(state.console.jobs(&state.timeline.run)[0].number);
        state.update(ConsoleMsg::Print(vec![line; OUTPUT_LINES + 1]));
        assert!(state.console.lines.len() <= OUTPUT_LINES);
        assert!(state.console.lines.iter().any(|line| line.text == "row"));
    }

    #[test]
    fn a_branch_does_not_print_into_blocks_of_another() {
        let mut state = settled(WEB);
        pass(&mut state, 2);
        let past = state.timeline.run.now() - 1_000;
        enter(&mut state, "kubectl get pods -w");
        state.update(TimelineMsg::Seek(past));
        assert_eq!(jobs(&state), []);
        enter(&mut state, "kubectl scale deployment web --replicas=3");
        let rows = block(&state, "kubectl get pods -w").len();
        enter(&mut state, "kubectl get deployments -w");
        pass(&mut state, 20);
        assert_eq!(block(&state, "kubectl get pods -w").len(), rows);
        assert!(block(&state, "kubectl get deployments -w").len() > 3);
    }

    #[test]
    fn the_command_that_is_told_to_wait_is_the_one_that_an_interrupt_ends() {
        let mut state = settled(WEB);
        let watch = "kubectl get pods -w";
        enter(&mut state, watch);
        enter(&mut state, "kubectl edit deployment web");
        assert_eq!(
            (
                state.timeline.run.edits().is_some(),
                state.timeline.run.waiting()
            ),
            (true, None)
        );
        state.update(ConsoleMsg::Interrupt);
        assert_eq!(
            (state.timeline.run.edits(), state.timeline.run.waiting()),
            (None, Some(watch))
        );
        pass(&mut state, 2);
        // A command waiting at the newest instant is not interrupted from the past.
        state.update(TimelineMsg::Seek(500));
        state.update(ConsoleMsg::Interrupt);
        assert!(
            state.timeline.run.in_past()
                && state.timeline.run.waiting().is_none()
                && !printed(&state).ends_with("^C\n^C")
        );
        state.update(TimelineMsg::Live);
        assert_eq!(state.timeline.run.waiting(), Some(watch));
    }

    #[test]
    fn ninth_waiting_command_ends_the_oldest() {
        let mut state = settled(WEB);
        (0..9).for_each(|at| enter(&mut state, &format!("kubectl get pods -n n{at} -w")));
        assert!(
            printed(&state).contains("“kubectl get pods -n n0 -w” was ended"),
            "{}",
            printed(&state)
        );
        (0..8).for_each(|_| state.update(ConsoleMsg::Interrupt));
        assert!(state.timeline.run.waiting().is_none());
    }

    #[test]
    fn an_interrupted_shell_stays_interrupted_when_the_history_is_repeated() {
        let mut state = settled(WEB);
        enter(&mut state, "kubectl exec -it deployment/web -- sh");
        assert!(state.timeline.run.takes_input());
        state.update(ConsoleMsg::Interrupt);
        enter(&mut state, "kubectl scale deployment web --replicas=4");
        pass(&mut state, 20);
        state.update(TimelineMsg::Seek(state.timeline.run.now() - 1));
        assert!(state.timeline.run.in_past());
        assert_eq!(state.timeline.run.sim().store().count(Kind::Pod), 4);
    }

    #[test]
    fn a_button_is_not_typed_into_a_shell() {
        let mut state = settled(WEB);
        enter(&mut state, "kubectl exec -it deployment/web -- sh");
        state.update(ConsoleMsg::Run(
            "kubectl scale deployment web --replicas=3".into(),
        ));
        assert!(
            printed(&state).ends_with("deployment.apps/web scaled"),
            "{}",
            printed(&state)
        );
        assert!(state.timeline.run.takes_input());
        enter(&mut state, "echo still $((1+1)) here || echo still here");
        assert!(printed(&state).ends_with("here"), "{}", printed(&state));
        let told = crate::history::commands(&state.timeline.run);
        assert!(
            told.iter()
                .any(|ran| &*ran.line == "kubectl scale deployment web --replicas=3")
        );
        // A waiting command continues beside the shell.
        state.update(ConsoleMsg::Run(
            "kubectl rollout status deployment web".into(),
        ));
        pass(&mut state, 20);
        assert!(
            printed(&state).ends_with("deployment \"web\" successfully rolled out"),
            "{}",
            printed(&state)
        );
    }

    #[test]
    fn the_manifest_of_a_fix_is_a_command_and_not_typed_into_a_shell_either() {
        let closed = "cat <<'E' | kubectl apply -f -\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: \
            80}]}\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: wall}\nspec: {podSelector: {matchLabels: {app: \
            web}}, policyTypes: [Ingress]}\nE";
        for shell in [false, true] {
            let mut state = settled(WEB);
            enter(&mut state, closed);
            enter(&mut state, "kubectl run client --image=nginx:1.27");
            pass(&mut state, 20);
            state.update(SelectionMsg::Select(Some(ObjectRef::new(
                Kind::Service,
                "default",
                "web",
            ))));
            let fix = state
                .selection
                .diagnosis(&state.timeline.run)
                .iter()
                .flat_map(|found| found.remedies.clone())
                .next()
                .expect("a fix");
            if shell {
                enter(&mut state, "kubectl exec -it deployment/web -- sh");
            }
            state.update(SelectionMsg::Remedy(fix));
            assert_eq!(state.timeline.run.takes_input(), shell);
            assert_eq!(
                state.timeline.run.sim().store().count(Kind::NetworkPolicy),
                2
            );
            assert!(
                printed(&state).contains("networkpolicy.networking.k8s.io/allow-web-1 created"),
                "{}",
                printed(&state)
            );
            assert_eq!(state.selection.diagnosis(&state.timeline.run).len(), 0);
        }
    }

    #[test]
    fn a_list_of_commands_is_entered_line_by_line() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        let before = state.console.lines.len();
        state.update(ConsoleMsg::Enter(
            "# both\nkubectl create namespace a\n\n  kubectl create namespace b\nhistory\n".into(),
        ));
        let lines: Vec<&str> = state.console.lines[before..]
            .iter()
            .map(|line| line.text.as_str())
            .collect();
        let start = [
            "$ kubectl create namespace a",
            "namespace/a created",
            "$ kubectl create namespace b",
            "namespace/b created",
            "$ history",
        ];
        assert_eq!(lines[..5], start);
        // A loop is passed to the shell.
        assert_eq!(
            super::listed("for i in 1 2\ndo kubectl get pods\ndone"),
            None
        );
        assert_eq!(
            super::listed("kubectl apply -f - <<EOF\nkind: Pod\nEOF"),
            None
        );
        assert_eq!(super::listed("kubectl get pods"), None);
    }

    #[test]
    fn fault_typed_into_a_container_is_a_word_of_its_shell() {
        let mut state = settled(WEB);
        enter(&mut state, "kubectl exec -it deployment/web -- sh");
        let before = state.console.lines.len();
        enter(&mut state, "fault node-down node-1");
        let said = &state.console.lines[before..];
        assert!(
            said.iter().any(|line| line.text == "sh: fault: not found"),
            "{said:?}"
        );
    }

    #[test]
    fn a_fault_by_itself_prints_which_faults_there_are() {
        let mut state = settled(WEB);
        for line in ["fault", "fault --help"] {
            let before = state.console.lines.len();
            enter(&mut state, line);
            let told = &state.console.lines[before + 1..];
            assert!(
                told.len() > 15 && told.iter().all(|line| !line.error),
                "{told:?}"
            );
            assert!(
                told.iter()
                    .any(|line| line.text == "  fault node-down NODE"),
                "{told:?}"
            );
        }
        assert!(!state.replacing.acted, "it changes nothing");
    }

    #[test]
    fn a_printed_session_is_entered_without_its_prompts_and_output() {
        let mut state = settled(WEB);
        let entered = |state: &State, from: usize| {
            state.console.lines[from..]
                .iter()
                .filter_map(|line| line.entered.clone())
                .collect::<Vec<_>>()
        };
        let before = state.console.lines.len();
        enter(&mut state, "$ kubectl get deployments");
        assert_eq!(entered(&state, before), ["kubectl get deployments"]);
        assert!(
            printed(&state).contains("web    2/2"),
            "{}",
            printed(&state)
        );
        let before = state.console.lines.len();
        enter(
            &mut state,
            "$ kubectl scale deployment web --replicas=3\ndeployment.apps/web scaled\n\n$ kubectl apply -f - <<EOF\n> apiVersion: v1\n> kind: \
             ConfigMap\n> metadata: {name: notes}\n> EOF\nconfigmap/notes created\n$ kubectl get \\\n> configmap notes -o name\nconfigmap/notes",
        );
        let lines = entered(&state, before);
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[2].as_str()),
            (
                3,
                "kubectl scale deployment web --replicas=3",
                "kubectl get \\\nconfigmap notes -o name"
            )
        );
        assert!(
            printed(&state).ends_with("configmap/notes"),
            "{}",
            printed(&state)
        );
        assert_eq!(
            state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::ConfigMap)
                .filter(|map| map.meta.name == "notes")
                .count(),
            1
        );
        // Also as input of a program in a container.
        enter(&mut state, "kubectl exec -it deployment/web -- sh");
        enter(&mut state, "/ # echo one\none\n/ # exit");
        assert!(
            printed(&state).contains("/ # echo one\none") && !state.timeline.run.takes_input(),
            "{}",
            printed(&state)
        );
        assert_eq!(super::commands_of_printed_session("echo $(date)"), None);
        assert_eq!(super::commands_of_printed_session("$HOME"), None);
    }

    #[test]
    fn a_prompt_within_a_manifest_is_no_command() {
        let mut state = settled(WEB);
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .clone();
        enter(
            &mut state,
            &format!(
                "kubectl apply -f - <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: notes}}\ndata:\n  readme: |\n    $ kubectl delete \
                 pod {pod}\nEOF"
            ),
        );
        assert!(
            printed(&state).ends_with("configmap/notes created"),
            "{}",
            printed(&state)
        );
        assert!(
            state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::Pod)
                .all(|one| one.meta.deletion_timestamp.is_none())
        );
        assert!(!super::only_reads(
            "kubectl apply -f - <<EOF\n  $ kubectl get pods\nEOF"
        ));
    }

    #[test]
    fn a_printed_command_ends_where_the_shell_ends_it() {
        let commands = |text: &str| super::commands_of_printed_session(text).unwrap_or_default();
        assert_eq!(
            commands("$ grep '<<EOF' notes\nfound\n$ date"),
            ["grep '<<EOF' notes", "date"]
        );
        assert_eq!(
            commands("$ cat <<<EOF\nEOF\n$ date"),
            ["cat <<<EOF", "date"]
        );
        assert_eq!(
            commands("$ echo $((1<<2)) # <<EOF\n4\n$ date"),
            ["echo $((1<<2)) # <<EOF", "date"]
        );
        assert_eq!(
            commands("$ cat <<'A' <<-B\n$ one\nA\ntwo\n\tB\nout\n$ date"),
            ["cat <<'A' <<-B\n$ one\nA\ntwo\n\tB", "date"]
        );
        assert_eq!(
            commands("$ cat \\\n> - <<A\n> one\n> A\none\n$ date"),
            ["cat \\\n- <<A\none\nA", "date"]
        );
        assert_eq!(
            commands("\n$ kubectl get pods\nNAME READY\n"),
            ["kubectl get pods"]
        );
    }

    #[test]
    fn a_prompt_is_stripped_however_often_it_is_repeated() {
        let line = ["$ ".repeat(200_000).as_str(), "kubectl get nodes"].concat();
        assert!(super::only_reads(&line));
        let mut state = settled(WEB);
        enter(&mut state, &line);
        assert!(
            state
                .console
                .lines
                .iter()
                .any(|line| line.entered.as_deref() == Some("kubectl get nodes"))
        );
    }

    #[test]
    fn the_console_and_its_history_are_bounded() {
        let mut state = settled((examples::ALL[0].text)());
        for at in 0..700 {
            state.update(ConsoleMsg::Enter(format!("kubectl get pods -n none-{at}")));
            state.update(ConsoleMsg::Enter("kubectl get nodes".into()));
        }
        assert!(
            state.console.lines.len() <= OUTPUT_LINES
                && state.console.history.len() == HISTORY_LINES,
            "{} {}",
            state.console.lines.len(),
            state.console.history.len()
        );
        assert_eq!(
            state.console.history.last().map(String::as_str),
            Some("kubectl get nodes")
        );
    }
}
