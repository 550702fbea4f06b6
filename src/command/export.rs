//! `loopscope export`: the page as one HTML file that opens with a manifest, a lesson or a scenario.

use super::{at_lines, print, read};
use actions::Action;
use cluster::Sim;
use k8s_model::Time;
use kubectl::BesideAct;
use lesson::format::Tongue;
use scenario::{Act, Finished, Observer, Scenario};
use session::permalink::{self, Link};
use session::run::Run;
use session::{Recorded, single};
use std::path::Path;

/// Path of the single file that a build of the page leaves.
const PAGE: &str = "dist/single.html";
/// Seed of an exported scenario, the same as that of `loopscope run`.
const SEED: u64 = 1;

pub(super) fn export(args: &[String]) -> Result<u8, String> {
    let (mut file, mut page) = (None, PAGE);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            // The only format.
            "--html" => {}
            "--page" => page = rest.next().ok_or("--page needs a file")?,
            flag if flag.starts_with("--") => {
                return Err(format!("unknown flag {flag}; see loopscope --help"));
            }
            path if file.is_none() => file = Some(path),
            extra => return Err(format!("one file at a time: {extra:?} is too much")),
        }
    }
    let file = file.ok_or("loopscope export needs a file; see loopscope --help")?;
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
    commands: Vec<Recorded>,
    /// Ids of the steps that apply a manifest, each of which is one command.
    applied: Vec<u32>,
}

impl Observer for Done {
    fn advanced(&mut self, _: &Sim) {}

    fn finished(&mut self, _: &Sim, _: &Finished) {}

    fn did(&mut self, tasks: u64, at: Time, act: Act) {
        let command = match act {
            // The page shows the applied text in its editor.
            Act::Command(id, BesideAct::Start(words, text)) if words == ["apply", "-f", "-"] => {
                self.applied.push(id);
                Action::Apply(text.into())
            }
            Act::Command(id, BesideAct::Poll) if self.applied.contains(&id) => return,
            act => act.into(),
        };
        self.commands.push((tasks, at, command));
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
    while run.recalls() {
        run.advance(sim.now(), usize::MAX);
    }
    if run.newest().server().version() != sim.server().version() {
        return Err("the page would repeat the scenario in another way".to_owned());
    }
    // At this instant the first commands have run, without any consequence yet.
    let (commands, end) = run.record_of();
    let began = commands.first().map_or(0, |(_, at, _)| at.0.div_ceil(1000));
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
