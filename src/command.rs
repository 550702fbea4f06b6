//! The `loopscope` command: scenarios and kubectl lines without a page. Native only.

mod block;
mod export;
mod handout;
mod mcp;
mod mdbook;
mod page;
mod picture;
mod problem;
mod validate;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, value_parser};
use cluster::Sim;
use cluster::disk::MachineFiles;
use controller_runtime::cluster::ClusterConfig;
use explain::story::Story;
use fault::MAX_DELAY_US;
use i18n::Catalogue;
use k8s_model::Timestamp;
use k8s_model::quantity::Quantity;
use k8s_model::time::{SECOND, duration};
use kubectl::parse::{Args as Words, takes};
use kubectl::{Filenames, VERBS};
use lesson::check::Flaw;
use lesson::format::Tongue;
use problem::{FileProblem, Severity};
use scenario::{Finished, Observer, Scenario, Trace};
use serve::{ClockPace, ServeOptions, Server, ServicePort};
use session::lesson::LessonFile;
use session::permalink::{self, Link};
use session::record::{SavedRecord, Unreadable};
use session::run::Run;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// The exit code when that is not enough.
const FULL: i32 = 3;
/// Interval at which memory is checked.
const WATCH_INTERVAL: std::time::Duration = std::time::Duration::from_millis(10);

/// Virtual time after which a kubectl command that still waits is given up, in microseconds.
const PATIENCE: u64 = 3_600 * SECOND;
/// As many nodes as Kubernetes is built for.
const MAX_NODES: u64 = 5_000;

/// Plays Kubernetes' control loops on a virtual clock.
#[derive(Parser)]
#[command(name = "loopscope", version, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(RunArgs),
    Check(CheckArgs),
    Kubectl(KubectlArgs),
    Serve(ServeArgs),
    Replay(ReplayArgs),
    #[command(subcommand)]
    Lesson(LessonCommand),
    Picture(picture::PictureArgs),
    Export(export::ExportArgs),
    Validate(validate::ValidateArgs),
    Page(page::PageArgs),
    Mcp(mcp::McpArgs),
    Mdbook(mdbook::MdbookArgs),
    /// Prints the completions of a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual as a man page
    #[command(hide = true)]
    Man,
    /// Prints the version
    Version,
}

/// Memory that a command may use.
#[derive(Args)]
struct Memory {
    /// Ends with exit code 3 when more memory is needed, such as 512Mi or 8Gi (on Linux; 0 is no limit)
    #[arg(long, value_name = "SIZE", default_value = "3Gi", value_parser = size)]
    max_memory: u64,
}

/// Runs a scenario file and prints a readable story: time, loop, write, reason
#[derive(Args)]
struct RunArgs {
    /// Scenario file
    scenario: String,
    /// Prints one JSON line for every watch event and for every step instead
    #[arg(long)]
    trace: bool,
    /// Seed of names and uids
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Disturbs watches and loops by the seed, as loopscope check --faults does in its run with this seed
    #[arg(long)]
    faults: bool,
    /// Repeats a schedule that loopscope check --exhaustive has found
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["faults", "jitter"])]
    schedule: Option<check::Schedule>,
    /// Span of the exploration within which tasks were ready together
    #[arg(long, value_name = "TIME", value_parser = span, requires = "schedule")]
    window: Option<u64>,
    /// Delays watch deliveries and orders passes by the seed, as loopscope check --jitter does
    #[arg(long, value_name = "TIME", value_parser = span)]
    jitter: Option<u64>,
    #[command(flatten)]
    memory: Memory,
}

/// Runs a scenario with many seeds and reports the first run that violates each expectation (docs/check.md)
///
/// Exits with 0 if no violation was found, 1 if one was, 2 if the scenario is wrong: it names a fault, a verb or an object that does not
/// exist, or expects something of one.
#[derive(Args)]
struct CheckArgs {
    /// Scenario file
    scenario: String,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
    seeds: u64,
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Disturbs watches and loops at random instants, by the seed; with --exhaustive, the faults that a schedule may have, such as
    /// --faults=lose:1,crash:1
    #[arg(long, value_name = "FAULTS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    faults: Option<String>,
    /// Explores every order of the tasks from the first expectation on, instead of sampling seeds
    #[arg(long)]
    exhaustive: bool,
    #[command(flatten)]
    bounds: Bounds,
    /// Delays watch deliveries by up to this time, and orders passes of the same time, by the seed, such as 20ms
    #[arg(long, value_name = "TIME", value_parser = span, conflicts_with = "exhaustive")]
    jitter: Option<u64>,
    /// Writes the result for a CI system
    #[arg(long, value_name = "FILE", conflicts_with = "exhaustive")]
    junit: Option<String>,
    /// Prints JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: Memory,
}

/// Bounds of an exploration.
#[derive(Args)]
struct Bounds {
    /// Maximum number of choices in a row
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2000,
        requires = "exhaustive"
    )]
    depth: usize,
    /// Maximum number of states
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200_000,
        requires = "exhaustive"
    )]
    states: usize,
    /// Maximum time
    #[arg(long, value_name = "N", requires = "exhaustive")]
    minutes: Option<f64>,
    /// Span within which deliveries, passes and steps of kubelets are ready together
    #[arg(long, value_name = "TIME", value_parser = span, requires = "exhaustive")]
    window: Option<u64>,
    /// Explores without reduction, to compare
    #[arg(long, requires = "exhaustive")]
    naive: bool,
    /// Goes on after the first violation
    #[arg(long, requires = "exhaustive")]
    keep_going: bool,
}

/// Starts a fresh cluster and runs kubectl command lines, with ; between them
///
/// Prints and exits as kubectl does; `-f -` reads standard input.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct KubectlArgs {
    /// Applies a file first, and lets the cluster settle
    #[arg(long, value_name = "FILE")]
    setup: Option<String>,
    /// Seed of names and uids
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    memory: Memory,
    /// Arguments of kubectl
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Answers HTTP as kube-apiserver does, for kubectl, Helm and other clients (docs/serve.md)
#[derive(Args)]
struct ServeArgs {
    /// Address and port; any address but loopback needs --tls, --token or --token-auth-file
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8001")]
    listen: SocketAddr,
    /// File that tells clients how to reach the server
    #[arg(long, value_name = "FILE", default_value = "loopscope.kubeconfig")]
    kubeconfig: String,
    /// Applies a file first
    #[arg(long, value_name = "FILE")]
    setup: Vec<String>,
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(..=MAX_NODES))]
    nodes: u64,
    /// Seed of names and uids
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Virtual seconds a second; 0 holds the clock
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Leaps over time in which nothing happens
    #[arg(long, overrides_with = "speed")]
    jump: bool,
    /// Keeps what is done, for loopscope replay and for the page
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Continues a record
    #[arg(long, value_name = "RECORD")]
    resume: Option<String>,
    /// Serves the built page too (dist, or the one installed with the command), which follows the cluster
    #[arg(long)]
    page: bool,
    /// Serves the page of another folder than dist
    #[arg(long, value_name = "FOLDER")]
    page_from: Option<PathBuf>,
    /// Serves HTTPS, with certificates that are made at each start: the kubeconfig has the administrator's
    #[arg(long)]
    tls: bool,
    /// Plain HTTP, to which kubectl and Helm send no token (the default)
    #[arg(long, overrides_with = "tls")]
    insecure_http: bool,
    /// File of static tokens, a line each: token,user,uid,"group1,group2"
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<String>,
    /// Address of a process here that stands for a port of a Service, by which admission webhooks are called; may be repeated
    #[arg(long, value_name = "NAMESPACE/NAME:PORT=ADDRESS:PORT", value_parser = backend)]
    backend: Vec<(ServicePort, SocketAddr)>,
    /// Bearer token of the administrator that clients must send; without it whoever connects over http is administrator. kubectl and Helm
    /// send tokens over --tls alone
    #[arg(long, env = "LOOPSCOPE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    memory: Memory,
}

/// Repeats what loopscope serve has kept, to the byte, and prints its story
#[derive(Args)]
struct ReplayArgs {
    /// Record
    record: String,
    /// Prints a link instead that opens the page with the record, if it fits into one
    #[arg(long)]
    link: bool,
    #[command(flatten)]
    memory: Memory,
}

/// Checks and prints lessons
#[derive(Subcommand)]
enum LessonCommand {
    /// Plays each lesson to its end
    ///
    /// Every solution and alternative must do its task, a wrong answer must not, each question must have one right answer, and captions
    /// must be true.
    Check {
        /// Lesson files; - is standard input
        #[arg(required = true)]
        files: Vec<String>,
        /// Prints an object of JSON for each mistake instead, one a line: file, line, severity, message
        #[arg(long)]
        json: bool,
    },
    /// Prints one page for paper: each step with its diagram, its question and answer, and a way to do its task
    Print {
        /// Lesson file
        file: String,
        /// Language
        #[arg(long, default_value = "en")]
        lang: Language,
    },
}

/// Language of what is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    En,
    Zh,
}

impl Language {
    fn tongue(self) -> Tongue {
        match self {
            Language::En => Tongue::English,
            Language::Zh => Tongue::Chinese,
        }
    }

    fn catalogue(self) -> Catalogue {
        match self {
            Language::En => Catalogue::ENGLISH,
            Language::Zh => Catalogue::read(picture::CHINESE),
        }
    }
}

/// Runs the command line; returns the exit code.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run(&args),
        Command::Check(args) => check(&args),
        Command::Kubectl(args) => kubectl(&args),
        Command::Lesson(args) => lesson(&args),
        Command::Export(args) => export::export(&args),
        Command::Picture(args) => picture::picture(&args),
        Command::Serve(args) => serve(args),
        Command::Replay(args) => replay(&args),
        Command::Validate(args) => validate::validate(&args),
        Command::Page(args) => page::page(&args),
        Command::Mcp(args) => mcp::mcp(args),
        Command::Mdbook(args) => mdbook::mdbook(&args),
        Command::Completions { shell } => completions(shell),
        Command::Man => manual(),
        Command::Version => {
            println!("loopscope {}", env!("CARGO_PKG_VERSION"));
            Ok(0)
        }
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn completions(shell: clap_complete::Shell) -> Result<u8, String> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loopscope", &mut out);
    printed(io::stdout().write_all(&out).err())?;
    Ok(0)
}

/// Prints one man page: the command, and a section for each of its commands.
fn manual() -> Result<u8, String> {
    let mut cli = Cli::command();
    cli.build();
    let mut out = Vec::new();
    let mut write = || -> io::Result<()> {
        clap_mangen::Man::new(cli.clone()).render(&mut out)?;
        for command in cli.get_subcommands().filter(|it| !it.is_hide_set()) {
            let man = clap_mangen::Man::new(command.clone());
            man.render_synopsis_section(&mut out)?;
            man.render_description_section(&mut out)?;
            man.render_options_section(&mut out)?;
        }
        Ok(())
    };
    write().map_err(|error| error.to_string())?;
    printed(io::stdout().write_all(&out).err())?;
    Ok(0)
}

fn run(args: &RunArgs) -> Result<u8, String> {
    let file = &args.scenario;
    let scenario = read_scenario(file)?;
    args.memory.limit();
    let out = BufWriter::new(io::stdout().lock());
    let (mistakes, error) = if args.trace {
        let mut observer = Trace::new(out);
        (run_scenario(&scenario, args, &mut observer), observer.error)
    } else {
        let mut observer = Story::new(out);
        (run_scenario(&scenario, args, &mut observer), observer.error)
    };
    printed(error)?;
    for mistake in &mistakes {
        eprintln!("{file}: {mistake}");
    }
    Ok(if mistakes.is_empty() { 0 } else { 2 })
}

/// Runs a scenario and collects the errors in its file that only show at run time.
fn run_scenario(scenario: &Scenario, args: &RunArgs, observer: &mut dyn Observer) -> Vec<String> {
    struct Collector<'c> {
        scenario: &'c Scenario,
        observer: &'c mut dyn Observer,
        mistakes: Vec<String>,
    }
    impl Observer for Collector<'_> {
        fn advanced(&mut self, sim: &Sim) {
            self.observer.advanced(sim);
        }
        fn finished(&mut self, sim: &Sim, step: &Finished) {
            self.mistakes.extend(self.scenario.mistake(step));
            self.observer.finished(sim, step);
        }
    }
    let mut collector = Collector {
        scenario,
        observer,
        mistakes: Vec::new(),
    };
    let seed = args.seed;
    if let Some(schedule) = &args.schedule {
        let options = check::ExhaustiveOptions {
            seed,
            window: args.window.unwrap_or(check::WINDOW),
            depth: usize::MAX,
            states: usize::MAX,
            limit: None,
            faults: check::FaultBudget::any(),
            naive: true,
            keep_going: false,
        };
        let mut see = |sim: &Sim| collector.advanced(sim);
        let failed = check::repeat(scenario, options, schedule, &mut see).err();
        collector.mistakes.extend(failed);
        return collector.mistakes;
    }
    let options = check::CheckOptions {
        seed,
        seeds: 1,
        faults: args.faults,
        jitter: args.jitter.unwrap_or(0),
    };
    let cluster = match options.disturbance(seed) {
        Some(disturbance) => scenario::run_disturbed(scenario, seed, disturbance, &mut collector),
        None => scenario::run(scenario, seed, usize::MAX, &mut collector),
    };
    // The process ends soon: freeing the cluster would be wasted time.
    std::mem::forget(cluster);
    collector.mistakes
}

/// Reads a scenario file.
fn read_scenario(file: &str) -> Result<Scenario, String> {
    scenario::parse(&read(file)?).map_err(|e| format!("{file}: {e}"))
}

/// Reads the text of a file.
fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))
}

/// Reads a file, or standard input for `-`.
fn read_input(file: &str) -> Result<String, String> {
    if file != "-" {
        return read(file);
    }
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("standard input: {error}"))?;
    Ok(text)
}

/// Writes to standard output.
fn print(text: &str) -> Result<(), String> {
    printed(io::stdout().write_all(text.as_bytes()).err())
}

/// Result of writing to standard output. A closed pipe, such as that of `head`, is no failure.
fn printed(error: Option<io::Error>) -> Result<(), String> {
    error
        .filter(|e| e.kind() != io::ErrorKind::BrokenPipe)
        .map_or(Ok(()), |e| Err(e.to_string()))
}

/// Explores every order of a scenario's tasks.
fn explore(args: &CheckArgs, scenario: &Scenario) -> Result<u8, String> {
    let bounds = &args.bounds;
    if args.faults.as_deref() == Some("") {
        return Err(
            "with --exhaustive, --faults needs a number of each, such as --faults=lose:1,crash:1"
                .to_owned(),
        );
    }
    let faults = args.faults.as_deref().unwrap_or_default();
    let options = check::ExhaustiveOptions {
        seed: args.seed,
        window: bounds.window.unwrap_or(check::WINDOW),
        depth: bounds.depth,
        states: bounds.states,
        limit: bounds.minutes.map(|minutes| minutes * 60.0),
        faults: check::FaultBudget::parse(faults)?,
        naive: bounds.naive,
        keep_going: bounds.keep_going,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit of time is of the person who waits"
    )]
    let began = Instant::now();
    let clock = || began.elapsed().as_secs_f64();
    let of = check::explore(scenario, options, &clock)?;
    match args.json {
        true => print(&format!("{}\n", check::exploration_json(&of)))?,
        false => print(&check::exploration_text(&of))?,
    }
    let failed =
        |found: &check::FoundSchedule| matches!(found.violated, check::Violated::Failed(_));
    let is_wrong = of.found.iter().any(failed) || (of.found.is_empty() && !of.undecided.is_empty());
    Ok(match is_wrong {
        true => 2,
        false => u8::from(!of.found.is_empty()),
    })
}

fn check(args: &CheckArgs) -> Result<u8, String> {
    let file = &args.scenario;
    if !args.exhaustive
        && args
            .faults
            .as_deref()
            .is_some_and(|faults| !faults.is_empty())
    {
        return Err("--faults with kinds of faults needs --exhaustive".to_owned());
    }
    let options = check::CheckOptions {
        seed: args.seed,
        seeds: args.seeds,
        faults: args.faults.is_some(),
        jitter: args.jitter.unwrap_or(0),
    };
    let mut scenario = read_scenario(file)?;
    if scenario.name.is_empty() {
        scenario.name.clone_from(file);
    }
    args.memory.limit();
    if args.exhaustive {
        return explore(args, &scenario).map_err(|e| format!("{file}: {e}"));
    }
    let report = check::check(&scenario, options).map_err(|e| format!("{file}: {e}"))?;
    if let Some(path) = &args.junit {
        std::fs::write(path, check::junit(&report)).map_err(|e| format!("{path}: {e}"))?;
    }
    match args.json {
        true => print(&format!("{}\n", check::json(&report)))?,
        false => print(&check::text(&report))?,
    }
    Ok(match (report.is_clean(), report.is_vacuous()) {
        (false, _) => 1,
        (true, true) => 2,
        (true, false) => 0,
    })
}

/// Reads a size in bytes: `512Mi`, `8Gi`.
fn size(text: &str) -> Result<u64, String> {
    let size = Quantity::parse(text).map_err(|_| "a size such as 512Mi or 8Gi is needed")?;
    u64::try_from(size.as_units()).map_err(|_| "a size is not negative".to_string())
}

/// Reads a time in microseconds: `20ms`, `2s`.
fn span(text: &str) -> Result<u64, String> {
    duration(text)
        .filter(|span| *span < MAX_DELAY_US)
        .ok_or_else(|| "a time such as 20ms or 2s is needed".to_string())
}

/// Reads virtual seconds a second.
fn speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|speed| *speed == 0.0 || (0.01..=10_000.0).contains(speed))
        .ok_or_else(|| "0, or a number from 0.01 to 10000 is needed".to_string())
}

impl Memory {
    fn limit(&self) {
        limit_memory(self.max_memory);
    }
}

/// Ends the process when it needs more memory than `most` bytes (0: no limit), before the system or the allocator does.
///
/// A thread of its own checks the memory, so that the simulation is the same with or without a limit.
fn limit_memory(most: u64) {
    if most == 0 {
        return;
    }
    std::thread::spawn(move || {
        while let Some(used) = memory_used() {
            if used > most {
                let size = if most >> 30 << 30 == most {
                    format!("{}Gi", most >> 30)
                } else {
                    format!("{} bytes", most)
                };
                eprintln!(
                    "error: this needs more memory than {size}. Fewer objects or a shorter time need less; --max-memory allows more."
                );
                std::process::exit(FULL);
            }
            std::thread::sleep(WATCH_INTERVAL);
        }
    });
}

/// Memory that the process holds, in bytes, if the system reports it.
fn memory_used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(
        line.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()?
            * 1024,
    )
}

fn lesson(args: &LessonCommand) -> Result<u8, String> {
    let (files, json) = match args {
        LessonCommand::Check { files, json } => (files, *json),
        LessonCommand::Print { file, lang } => return lesson_page(file, *lang),
    };
    let mut code = 0;
    for file in files {
        let problems = lesson_problems(file, &read_input(file)?);
        code |= u8::from(!problems.is_empty());
        print(&match (json, problems.is_empty()) {
            (true, _) => problem::json_lines(&problems),
            (false, true) => format!("{file}: ok\n"),
            (false, false) => problems.iter().map(FileProblem::located).collect(),
        })?;
    }
    Ok(code)
}

/// Returns what is wrong with a lesson: with its text, or else with its play.
fn lesson_problems<'a>(file: &'a str, text: &str) -> Vec<FileProblem<'a>> {
    let problem = |line, severity, message| FileProblem {
        file,
        line,
        severity,
        message,
    };
    let parsed = match lesson::parse(text) {
        Ok(lesson) => lesson,
        Err(faults) => {
            return faults
                .iter()
                .map(|fault| problem(fault.line, Severity::Error, fault.message().english()))
                .collect();
        }
    };
    let findings = lesson::check::check(&parsed);
    findings
        .iter()
        .map(|finding| {
            // A finding of no step is about the lesson.
            let step = finding
                .step
                .checked_sub(1)
                .and_then(|step| manifest::locate(text.as_bytes(), 0, &format!("steps[{step}]")));
            let severity = match finding.what {
                Flaw::Untranslated => Severity::Warning,
                _ => Severity::Error,
            };
            problem(
                step.map_or(1, |(line, ..)| line),
                severity,
                finding.to_string(),
            )
        })
        .collect()
}

/// Prints a lesson as a page for paper.
fn lesson_page(file: &str, lang: Language) -> Result<u8, String> {
    let lesson =
        lesson::parse(&read(file)?).map_err(|faults| at_lines(file, &faults).join("\n"))?;
    handout::handout(LessonFile::new("", lesson), lang.tongue(), lang.catalogue())
}

/// Formats the errors of a lesson, each with its file and line.
fn at_lines(file: &str, faults: &[lesson::read::LessonError]) -> Vec<String> {
    faults
        .iter()
        .map(|fault| format!("{file}:{}: {}", fault.line, fault.message().english()))
        .collect()
}

fn serve(args: ServeArgs) -> Result<u8, String> {
    let mut options = ServeOptions {
        listen: args.listen,
        setup: args
            .setup
            .iter()
            .map(|file| read(file))
            .collect::<Result<_, _>>()?,
        resume: args.resume.as_deref().map(read).transpose()?,
        record: args.record,
        page: args.page_from.or(args.page.then(page::page_folder)),
        token: args.token,
        tokens: args
            .token_auth_file
            .as_deref()
            .map(|file| serve::static_tokens(&read(file)?).map_err(|e| format!("{file}: {e}")))
            .transpose()?
            .unwrap_or_default(),
        tls: args.tls && !args.insecure_http,
        backends: args.backend.into_iter().collect(),
        pace: match args.speed {
            _ if args.jump => ClockPace::Leap,
            0.0 => ClockPace::Held,
            speed => ClockPace::Real(speed),
        },
        ..ServeOptions::default()
    };
    if let Some(seed) = args.seed {
        options.seed = seed;
    }
    let file = args.kubeconfig;
    args.memory.limit();
    // Clients count ages by their own clock: the cluster's begins with it.
    options.config = ClusterConfig {
        epoch: wall(),
        ..ClusterConfig::with_nodes(args.nodes as usize)
    };
    let (token, page) = (options.token.clone(), options.page.is_some());
    let access = match (options.tls, token.is_some() || !options.tokens.is_empty()) {
        (true, _) => Access::Tls,
        (false, true) => Access::Token,
        (false, false) => Access::Open,
    };
    if page && options.tls && token.is_none() {
        return Err("the page has no client certificate: with --tls it needs --token".to_string());
    }
    if options
        .page
        .as_ref()
        .is_some_and(|folder| !folder.join("index.html").exists())
    {
        return Err("the page is not built: make dist builds it, --page-from names another folder than dist".to_string());
    }
    let server = Server::start(options)?;
    write_private(&file, &server.kubeconfig(token.as_deref()))
        .map_err(|e| format!("{file}: {e}"))?;
    let path = std::fs::canonicalize(&file).map_err(|e| format!("{file}: {e}"))?;
    let mut told = format!(
        "serving at {}\nexport KUBECONFIG={}\n",
        server.url(),
        path.display()
    );
    if page {
        let token = token.as_ref().map(|token| {
            let token: String = form_urlencoded::byte_serialize(token.as_bytes()).collect();
            format!("&token={token}")
        });
        told += &format!(
            "page:      {}/page/?follow{}\n",
            server.url(),
            token.unwrap_or_default()
        );
    }
    eprintln!("{}", access_note(access));
    // A reader that has read the address may close the pipe.
    let _ = io::stdout().write_all(told.as_bytes());
    server.wait();
    Ok(0)
}

/// Writes a file that holds credentials: a new one is for its owner alone.
fn write_private(file: &str, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Credentials that a server asks its clients for.
#[derive(Clone, Copy)]
enum Access {
    /// None, over HTTP.
    Open,
    /// A token, over HTTP.
    Token,
    /// A certificate or a token, over HTTPS.
    Tls,
}

/// Note about the clients that a server admits, and about those that cannot send its token.
fn access_note(access: Access) -> &'static str {
    match access {
        Access::Tls => {
            "note: the kubeconfig has the credentials of the administrator; clients without any are anonymous, and RBAC decides about them"
        }
        Access::Token => {
            "note: kubectl and Helm send no token over plain http: the kubeconfig lets in clients that send it (curl, client libraries). \
             For kubectl and Helm add --tls; see docs/serve.md"
        }
        Access::Open => {
            "note: whoever connects from this machine without a token is administrator of the cluster; --tls asks for a certificate, \
             --token for a token"
        }
    }
}

/// Reads a backend: `hooks/judge:443=127.0.0.1:9443`.
fn backend(text: &str) -> Result<(ServicePort, SocketAddr), String> {
    let read = || {
        let (service, address) = text.split_once('=')?;
        let (namespace, rest) = service.split_once('/')?;
        let (name, port) = rest.split_once(':').unwrap_or((rest, "443"));
        let service = ServicePort {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            port: port.parse().ok()?,
        };
        let is_named = !namespace.is_empty() && !name.is_empty();
        is_named.then_some((service, address.parse().ok()?))
    };
    read().ok_or_else(|| "a backend such as hooks/judge:443=127.0.0.1:9443 is needed".to_string())
}

fn replay(args: &ReplayArgs) -> Result<u8, String> {
    let file = &args.record;
    let record = SavedRecord::read(&read(file)?)
        .map_err(|Unreadable(line, problem)| format!("{file}:{line}: {problem}"))?;
    if args.link {
        let link = Link::of_record(&record)
            .ok_or("the record is too long for a link, which holds 10,000 commands and 2 MiB")?;
        println!("index.html{}", permalink::encode(&link));
        return Ok(0);
    }
    args.memory.limit();
    let mut run = Run::recalled(record.config, record.seed, record.commands, record.end);
    while run.is_replaying() {
        run.advance(record.end.1, usize::MAX);
    }
    let mut story = Story::new(BufWriter::new(io::stdout().lock()));
    story.advanced(run.sim());
    printed(story.error)?;
    Ok(0)
}

/// Wall clock of this machine.
#[allow(clippy::disallowed_methods)]
fn wall() -> Timestamp {
    let passed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp::new(
        passed
            .ok()
            .and_then(|passed| i64::try_from(passed.as_secs()).ok())
            .unwrap_or(0),
    )
}

fn kubectl(args: &KubectlArgs) -> Result<u8, String> {
    args.memory.limit();
    let mut sim = kubectl::new_cluster(ClusterConfig::default(), args.seed);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    if let Some(file) = &args.setup {
        let text = read(file)?;
        if !text.trim().is_empty() {
            let session = scenario::finish(
                &mut sim,
                &["apply".into(), "-f".into(), "-".into()],
                &text,
                PATIENCE,
            );
            if session.exit != Some(0) {
                return Err(format!("{file}: {}", session.stderr.trim_end()));
            }
        }
        scenario::settle(&mut sim);
    }
    let read = |path: &str| std::fs::read_to_string(path).ok();
    sim.disks.machine = Some(MachineFiles {
        read,
        list: files_below,
    });
    let mut code = 0;
    for line in args.args.split(|word| word == ";") {
        let mut stdin = String::new();
        let files = Filenames::among(line.to_vec(), true).0;
        if files.stdin() || reads_stdin(line) && !io::stdin().is_terminal() {
            io::stdin()
                .read_to_string(&mut stdin)
                .map_err(|_| "error: error parsing STDIN: the text is not UTF-8")?;
        }
        let session = scenario::finish(&mut sim, line, &stdin, PATIENCE);
        // Output to a closed pipe is dropped.
        let _ = io::stdout().write_all(session.stdout.as_bytes());
        let _ = io::stderr().write_all(session.stderr.as_bytes());
        code = session.exit.unwrap_or(0).clamp(0, 255) as u8;
    }
    Ok(code)
}

/// Returns true if a command reads standard input.
fn reads_stdin(line: &[String]) -> bool {
    let end = line
        .iter()
        .position(|word| word == "--")
        .unwrap_or(line.len());
    let verb = |word: &String| VERBS.iter().find(|verb| verb.name == word);
    let Some(at) = line[..end].iter().position(|word| verb(word).is_some()) else {
        return false;
    };
    let Some(verb) = verb(&line[at]).filter(|verb| takes(verb.flags, "stdin")) else {
        return false;
    };
    Words::parse(verb.name, verb.flags, &line[at + 1..end]).is_ok_and(|args| args.on("stdin"))
}

/// Lists the files in a folder and its subfolders, by relative path, in the order in which kubectl walks them.
fn files_below(folder: &str) -> Option<Vec<String>> {
    if !std::path::Path::new(folder).is_dir() {
        return None;
    }
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(below) = left.pop() {
        let entries = std::fs::read_dir(std::path::Path::new(folder).join(&below))
            .into_iter()
            .flatten()
            .flatten();
        for entry in entries {
            let name = [
                &*below,
                if below.is_empty() { "" } else { "/" },
                &*entry.file_name().to_string_lossy(),
            ]
            .concat();
            // A link to a folder is not followed: it may form a cycle.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(name),
                Ok(_) => found.push(name),
                Err(_) => {}
            }
        }
    }
    found.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    Some(found)
}
