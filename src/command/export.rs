//! `loopscope export`: the page as one HTML file that opens with a manifest, a lesson or a scenario.

use super::page::page_folder;
use super::{at_lines, print, read};
use actions::Action;
use actions::RecordedAction;
use cluster::Sim;
use k8s_model::Time;
use kubectl::BesideAct;
use lesson::format::Tongue;
use scenario::{ActionSource, Finished, Observer, Scenario};
use session::permalink::{self, Link};
use session::run::Run;
use session::single;
use std::path::Path;

/// Writes one HTML file with the page and a manifest, a lesson or a scenario in it, which opens without a network
///
/// A scenario opens at its beginning, and Space plays it.
#[derive(clap::Args)]
pub(super) struct ExportArgs {
    /// Manifest, lesson or scenario
    file: String,
    /// Form of the file: the only one
    #[arg(long)]
    html: bool,
    /// File that a build of the page leaves (dist/single.html, or the one installed with the command)
    #[arg(long, value_name = "FILE")]
    page: Option<String>,
}

/// A scenario is exported as it runs with this seed, as `loopscope run` does.
const SEED: u64 = 1;

pub(super) fn export(args: &ExportArgs) -> Result<u8, String> {
    let file = args.file.as_str();
    let installed = || page_folder().join("single.html");
    let page = &args
        .page
        .clone()
        .unwrap_or_else(|| installed().to_string_lossy().into_owned());
    let text = read(file)?;
    let stem = || {
        Path::new(file)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let (link, title) = if lesson::is_lesson(&text) {
        let lesson = lesson::parse(&text).map_err(|faults| at_lines(file, &faults).join("\n"))?;
        (of_text(&text), lesson.title.plain(Tongue::English))
    } else if is_scenario(&text) {
        let scenario = scenario::parse(&text).map_err(|error| format!("{file}: {error}"))?;
        let title = if scenario.name.is_empty() {
            stem()
        } else {
            scenario.name.clone()
        };
        (
            of_scenario(&scenario).map_err(|words| format!("{file}: {words}"))?,
            title,
        )
    } else {
        (of_text(&text), stem())
    };
    let out = single::fill(&read(page)?, &link, &title)
        .ok_or_else(|| format!("{page}: not the single file of a build of the page"))?;
    print(&out)?;
    Ok(0)
}

fn of_text(text: &str) -> Link {
    Link {
        v: 1,
        manifest: Some(text.to_owned()),
        ..Link::default()
    }
}

/// Returns true if a text is a scenario: it has steps, and is neither an object nor a lesson.
fn is_scenario(text: &str) -> bool {
    let read = manifest::parse(text.as_bytes());
    read.documents.first().is_some_and(|document| {
        document.value.get("steps").is_some() && document.value.get("kind").is_none()
    })
}

/// Commands that a scenario runs.
#[derive(Default)]
struct Done {
    commands: Vec<RecordedAction>,
    /// Ids of the steps that apply a manifest, each of which is one command.
    applied: Vec<u32>,
}

impl Observer for Done {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, _: &Sim, _: &Finished) {}

    fn acted(&mut self, tasks: u64, at: Time, action: Action, _: ActionSource) {
        let command = match action {
            // The page shows in its editor what was applied.
            Action::Beside(id, act) => match &*act {
                BesideAct::Start(words, text) if words == &["apply", "-f", "-"] => {
                    self.applied.push(id);
                    Action::apply(text.as_str())
                }
                BesideAct::Poll if self.applied.contains(&id) => return,
                _ => Action::Beside(id, act),
            },
            action => action,
        };
        self.commands.push(RecordedAction {
            steps: tasks,
            time: at,
            action: command,
        });
    }
}

/// Builds a link with the whole history of a scenario, shown from its beginning: the page plays it.
fn of_scenario(scenario: &Scenario) -> Result<Link, String> {
    let mut done = Done::default();
    let sim = scenario::run(scenario, SEED, usize::MAX, &mut done);
    let mut run = Run::recalled(
        scenario.cluster.clone(),
        SEED,
        done.commands,
        (u64::MAX, sim.now()),
    );
    while run.is_replaying() {
        run.advance(sim.now(), usize::MAX);
    }
    if run.newest().store().version() != sim.store().version() {
        return Err("the page would repeat the scenario in another way".to_owned());
    }
    // At this instant the first commands have run, without any consequence yet.
    let (commands, end) = run.record_of();
    let began = commands
        .first()
        .map_or(0, |first| first.time.0.div_ceil(1000));
    let mut link = Link::of_scenario(scenario, SEED, commands, end, Some(began));
    // Without a manifest the page would open with its own.
    link.manifest.get_or_insert_default();
    let fits = commands.len() <= permalink::MAX_COMMANDS && permalink::holds_history(&link);
    if fits {
        Ok(link)
    } else {
        Err(
            "the scenario does too much for one file, which holds 10,000 commands and 4 MiB"
                .to_owned(),
        )
    }
}
