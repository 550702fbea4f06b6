//! The `loopscope` command: scenarios and kubectl lines without a page. Native only.

mod export;
mod handout;
mod picture;

use cluster::Sim;
use cluster::disk::MachineFiles;
use controller_runtime::cluster::ClusterConfig;
use explain::story::Story;
use i18n::Catalogue;
use k8s_model::Timestamp;
use k8s_model::quantity::Quantity;
use k8s_model::time::SECOND;
use kubectl::parse::{Args, takes};
use kubectl::{Filenames, VERBS};
use lesson::format::Tongue;
use scenario::{Finished, Observer, Scenario, Trace};
use serve::{ClockPace, ServeOptions, Server};
use session::lesson::LessonFile;
use session::permalink::{self, Link};
use session::record::{SavedRecord, Unreadable};
use session::run::Run;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

const HELP: &str = "\
loopscope plays Kubernetes' control loops on a virtual clock.

Usage:
  loopscope run SCENARIO.yaml [--trace] [--seed N] [--max-memory SIZE]
      Runs a scenario file. Prints a readable story: time, loop, write, reason.
      --trace  prints one JSON line for every watch event and for every step instead
      --seed   draws names and uids from another sequence (default 1)
      --max-memory  ends with exit code 3 when it needs more, such as 512Mi or 8Gi (on Linux)
               (default 3Gi, as much as the page has; 0 is no limit)

  loopscope check SCENARIO.yaml [--seeds N] [--seed N] [--faults] [--junit FILE] [--max-memory SIZE]
      Runs a scenario with many seeds and reports the first run that violates each expectation
      (docs/check.md). Exits with 0 if no violation was found, 1 if one was, 2 if the scenario is wrong:
      it names a fault, a verb or an object that does not exist, or expects something of one.
      --seeds   how many runs (default 20), from --seed on (default 1)
      --faults  disturbs watches and loops at random instants, by the seed
      --junit   writes the result for a CI system

  loopscope kubectl [--setup FILE] [--seed N] [--max-memory SIZE] ARGS…
      Starts a fresh cluster, applies FILE and lets it settle, then runs one kubectl
      command line. Prints and exits as kubectl does; `-f -` reads standard input.

  loopscope serve [--listen ADDRESS:PORT] [--kubeconfig FILE] [--setup FILE]… [--nodes N] [--seed N]
                  [--speed X | --jump] [--record FILE] [--resume RECORD] [--page] [--token TOKEN] [--max-memory SIZE]
      Answers HTTP as kube-apiserver does, for kubectl, Helm and other clients (docs/serve.md).
      --listen      default 127.0.0.1:8001; any address but loopback needs --token
      --kubeconfig  where to write how clients reach it (default loopscope.kubeconfig)
      --speed       virtual seconds in a second (default 1, 0 holds the clock); --jump leaps over
                    time in which nothing happens
      --record      keeps what is done, for loopscope replay and for the page; --resume goes on from it
      --token       what clients must send as their bearer token; without it whoever connects is
                    administrator. kubectl and Helm send none over http: they need a proxy with TLS
      --page        serves the built page too (dist, or --page-from FOLDER), which follows the cluster

  loopscope replay RECORD [--link] [--max-memory SIZE]
      Repeats what loopscope serve has kept, to the byte, and prints its story.
      --link  prints a link instead that opens the page with it, if it fits into one

  loopscope lesson check FILE…
      Plays each lesson to its end: every solution and alternative must do its task, a wrong
      answer must not, each question must have one right answer, and captions must be true.

  loopscope lesson print FILE [--lang en|zh] > out.html
      One page for paper: each step with its diagram, its question and answer, and a way to do its task.

  loopscope picture FILE [--view NAME] [--at TIME] [--size WxH] [--dark] [--lang en|zh] > out.svg
      Draws a manifest, or a link copied with Share, as the page does.
      --view  ownership, nodes, network, storage, rollout or loops (default: the link's, or ownership)
      --at    virtual time, such as 12s (default: when the cluster has settled)
      --from  the picture moves: from this time on, a frame each --step (250ms), at --speed (1)
      --stills FOLDER  writes each frame as a file instead

  loopscope export FILE [--html] [--page single.html] > out.html
      One HTML file with the page and a manifest, a lesson or a scenario in it, which opens
      without a network; a scenario opens at its beginning, and Space plays it.
      --html  is the form of the file, and need not be said
      --page  names the file that a build of the page leaves (default dist/single.html)
";

/// Memory limit in bytes: the same as the page's.
const MAX_MEMORY: u64 = 3 << 30;
/// Exit code when the memory limit is exceeded.
const FULL: i32 = 3;
/// Interval at which memory is checked.
const WATCH_INTERVAL: std::time::Duration = std::time::Duration::from_millis(10);

/// Virtual time after which a kubectl command that still waits is given up, in microseconds.
const PATIENCE: u64 = 3_600 * SECOND;
/// Number of nodes for which Kubernetes is designed.
const MAX_NODES: usize = 5_000;

/// Runs the command line, and returns the exit code.
pub fn main(args: Vec<String>) -> ExitCode {
    let result = match args.first().map(String::as_str) {
        Some("run") => run(&args[1..]),
        Some("check") => check(&args[1..]),
        Some("kubectl") => kubectl(&args[1..]),
        Some("lesson") => lesson(&args[1..]),
        Some("export") => export::export(&args[1..]),
        Some("picture") => picture::picture(&args[1..]),
        Some("serve") => serve(&args[1..]),
        Some("replay") => replay(&args[1..]),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(0)
        }
        Some("version" | "--version" | "-V") => {
            println!("loopscope {}", env!("CARGO_PKG_VERSION"));
            Ok(0)
        }
        Some(other) => Err(format!("unknown command {other:?}; see loopscope --help")),
        None => Err(HELP.trim_end().to_string()),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<u8, String> {
    let (mut file, mut trace, mut seed, mut most) = (None, false, 1, MAX_MEMORY);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--trace" => trace = true,
            "--seed" => seed = number(rest.next())?,
            "--max-memory" => most = size(rest.next())?,
            flag if flag.starts_with("--") => {
                return Err(format!("unknown flag {flag}; see loopscope --help"));
            }
            path if file.is_none() => file = Some(path.to_string()),
            extra => return Err(format!("one scenario at a time: {extra:?} is too much")),
        }
    }
    let (file, scenario) = read_scenario(file)?;
    limit_memory(most);
    let out = BufWriter::new(io::stdout().lock());
    let (mistakes, error) = if trace {
        let mut observer = Trace::new(out);
        (run_scenario(&scenario, seed, &mut observer), observer.error)
    } else {
        let mut observer = Story::new(out);
        (run_scenario(&scenario, seed, &mut observer), observer.error)
    };
    printed(error)?;
    for mistake in &mistakes {
        eprintln!("{file}: {mistake}");
    }
    Ok(if mistakes.is_empty() { 0 } else { 2 })
}

/// Runs a scenario and collects the errors in its file that only show at run time.
fn run_scenario(scenario: &Scenario, seed: u64, observer: &mut dyn Observer) -> Vec<String> {
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
    let cluster = scenario::run(scenario, seed, usize::MAX, &mut collector);
    // The process ends soon: freeing the cluster would be wasted time.
    std::mem::forget(cluster);
    collector.mistakes
}

/// Reads a scenario; returns the file's name as well.
fn read_scenario(file: Option<String>) -> Result<(String, Scenario), String> {
    let file = file.ok_or("a scenario file is required; see loopscope --help")?;
    let scenario = scenario::parse(&read(&file)?).map_err(|e| format!("{file}: {e}"))?;
    Ok((file, scenario))
}

/// Reads the text of a file.
fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))
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

fn check(args: &[String]) -> Result<u8, String> {
    let mut options = check::CheckOptions {
        seed: 1,
        seeds: 20,
        faults: false,
    };
    let (mut file, mut junit, mut most) = (None, None, MAX_MEMORY);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--faults" => options.faults = true,
            "--seed" => options.seed = number(rest.next())?,
            "--seeds" => {
                let count = rest
                    .next()
                    .and_then(|word| word.parse().ok())
                    .filter(|count| *count > 0);
                options.seeds = count.ok_or("--seeds needs a number from 1")?;
            }
            "--junit" => junit = Some(rest.next().ok_or("--junit needs a file")?),
            "--max-memory" => most = size(rest.next())?,
            flag if flag.starts_with("--") => {
                return Err(format!("unknown flag {flag}; see loopscope --help"));
            }
            path if file.is_none() => file = Some(path.to_string()),
            extra => return Err(format!("one scenario at a time: {extra:?} is too much")),
        }
    }
    let (file, mut scenario) = read_scenario(file)?;
    if scenario.name.is_empty() {
        scenario.name.clone_from(&file);
    }
    limit_memory(most);
    let report = check::check(&scenario, options).map_err(|e| format!("{file}: {e}"))?;
    if let Some(path) = junit {
        std::fs::write(path, check::junit(&report)).map_err(|e| format!("{path}: {e}"))?;
    }
    print(&check::text(&report))?;
    Ok(match (report.is_clean(), report.is_vacuous()) {
        (false, _) => 1,
        (true, true) => 2,
        (true, false) => 0,
    })
}

fn size(word: Option<&String>) -> Result<u64, String> {
    let bytes = word
        .and_then(|word| Quantity::parse(word).ok())
        .and_then(|size| u64::try_from(size.as_units()).ok());
    bytes.ok_or_else(|| "--max-memory needs a size, such as 512Mi or 8Gi".to_string())
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

fn number(word: Option<&String>) -> Result<u64, String> {
    word.and_then(|w| w.parse().ok())
        .ok_or_else(|| "--seed needs a number".to_string())
}

fn lesson(args: &[String]) -> Result<u8, String> {
    let files = match args.split_first() {
        Some((word, files)) if word == "check" && !files.is_empty() => files,
        Some((word, rest)) if word == "print" => return lesson_page(rest),
        _ => {
            return Err(
                "loopscope lesson needs check or print, and a file; see loopscope --help"
                    .to_string(),
            );
        }
    };
    let mut code = 0;
    for file in files {
        let text = read(file)?;
        let wrong: Vec<String> = match lesson::parse(&text) {
            Err(faults) => at_lines(file, &faults),
            Ok(lesson) => lesson::check::check(&lesson)
                .iter()
                .map(|finding| format!("{file}: {finding}"))
                .collect(),
        };
        if wrong.is_empty() {
            println!("{file}: ok");
        } else {
            println!("{}", wrong.join("\n"));
            code = 1;
        }
    }
    Ok(code)
}

/// Prints a lesson as a page for paper.
fn lesson_page(args: &[String]) -> Result<u8, String> {
    let (file, lang) = match args {
        [file] => (file, "en"),
        [file, flag, lang] | [flag, lang, file] if flag == "--lang" => (file, lang.as_str()),
        _ => return Err("loopscope lesson print needs a file; see loopscope --help".to_string()),
    };
    let (tongue, words) = match lang {
        "en" => (Tongue::English, Catalogue::ENGLISH),
        "zh" => (Tongue::Chinese, Catalogue::read(picture::CHINESE)),
        other => return Err(format!("--lang {other}: en and zh are there")),
    };
    let lesson =
        lesson::parse(&read(file)?).map_err(|faults| at_lines(file, &faults).join("\n"))?;
    handout::handout(LessonFile::new("", lesson), tongue, words)
}

/// Formats the errors of a lesson, each with its file and line.
fn at_lines(file: &str, faults: &[lesson::read::LessonError]) -> Vec<String> {
    faults
        .iter()
        .map(|fault| format!("{file}:{}: {}", fault.line, fault.message().english()))
        .collect()
}

fn serve(args: &[String]) -> Result<u8, String> {
    let mut options = ServeOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], 8001)),
        ..ServeOptions::default()
    };
    let (mut file, mut nodes, mut most) = ("loopscope.kubeconfig".to_string(), 3, MAX_MEMORY);
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let mut value = || {
            rest.next()
                .ok_or_else(|| format!("{flag} needs a value; see loopscope --help"))
        };
        match flag.as_str() {
            "--jump" => options.pace = ClockPace::Leap,
            "--listen" => {
                options.listen = value()?
                    .parse()
                    .map_err(|_| "--listen needs an address, such as 127.0.0.1:8001")?
            }
            "--kubeconfig" => file = value()?.clone(),
            "--setup" => {
                let path = value()?;
                options.setup.push(read(path)?);
            }
            "--nodes" => {
                let count = value()?.parse().ok().filter(|count| *count <= MAX_NODES);
                nodes = count.ok_or_else(|| format!("--nodes needs a number up to {MAX_NODES}"))?;
            }
            "--speed" => {
                let speed = value()?
                    .parse()
                    .ok()
                    .filter(|speed| *speed == 0.0 || (0.01..=10_000.0).contains(speed));
                let speed = speed.ok_or("--speed needs 0, or a number from 0.01 to 10000")?;
                options.pace = if speed == 0.0 {
                    ClockPace::Held
                } else {
                    ClockPace::Real(speed)
                };
            }
            "--seed" => options.seed = number(Some(value()?))?,
            "--resume" => {
                let path = value()?;
                options.resume = Some(read(path)?);
            }
            "--record" => options.record = Some(value()?.into()),
            "--page" => options.page = Some("dist".into()),
            "--page-from" => options.page = Some(value()?.into()),
            "--token" => options.token = Some(value()?.clone()),
            "--max-memory" => most = size(Some(value()?))?,
            other => return Err(format!("unknown flag {other}; see loopscope --help")),
        }
    }
    limit_memory(most);
    // Clients compute ages from their own clock: the cluster's clock starts at the current time.
    options.config = ClusterConfig {
        epoch: wall(),
        ..ClusterConfig::with_nodes(nodes)
    };
    let (token, page) = (options.token.clone(), options.page.is_some());
    if options
        .page
        .as_ref()
        .is_some_and(|folder| !folder.join("index.html").exists())
    {
        return Err("the page is not built: make dist builds it, --page-from names another folder than dist".to_string());
    }
    if page && token.is_some() {
        return Err("a page cannot show a token: --page goes without --token".to_string());
    }
    let server = Server::start(options)?;
    std::fs::write(&file, server.kubeconfig(token.as_deref()))
        .map_err(|e| format!("{file}: {e}"))?;
    let path = std::fs::canonicalize(&file).map_err(|e| format!("{file}: {e}"))?;
    let mut told = format!(
        "serving at http://{}\nexport KUBECONFIG={}\n",
        server.address(),
        path.display()
    );
    if page {
        told += &format!("page:      http://{}/page/?follow\n", server.address());
    }
    eprintln!("{}", access_note(token.is_some()));
    // A reader that has read the address may close the pipe.
    let _ = io::stdout().write_all(told.as_bytes());
    server.wait();
    Ok(0)
}

/// Note about the clients that a server admits, and about those that cannot send its token.
fn access_note(guarded: bool) -> &'static str {
    if guarded {
        "note: kubectl and Helm send no token over plain http, and the server has no TLS: the kubeconfig lets in clients that send it \
         (curl, client libraries). For kubectl and Helm put a proxy with TLS in front and name its https address in the kubeconfig, or \
         leave out --token and reach 127.0.0.1 through a tunnel (ssh -L); see docs/serve.md"
    } else {
        "note: whoever connects from this machine is administrator of the cluster, whatever token is sent; --token asks for one"
    }
}

fn replay(args: &[String]) -> Result<u8, String> {
    let (file, mut flags) = match args {
        [file, flags @ ..] if !file.starts_with("--") => (file, flags.iter()),
        _ => return Err("loopscope replay needs a record; see loopscope --help".to_string()),
    };
    let (mut link, mut most) = (false, MAX_MEMORY);
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--link" => link = true,
            "--max-memory" => most = size(flags.next())?,
            other => return Err(format!("unknown flag {other}; see loopscope --help")),
        }
    }
    let record = SavedRecord::read(&read(file)?)
        .map_err(|Unreadable(line, problem)| format!("{file}:{line}: {problem}"))?;
    if link {
        let link = Link::of_record(&record)
            .ok_or("the record is too long for a link, which holds 10,000 commands and 2 MiB")?;
        println!("index.html{}", permalink::encode(&link));
        return Ok(0);
    }
    limit_memory(most);
    let mut run = Run::recalled(record.config, record.seed, record.commands, record.end);
    while run.recalls() {
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

fn kubectl(args: &[String]) -> Result<u8, String> {
    let (mut setup, mut seed, mut most, mut at) = (None, 1, MAX_MEMORY, 0);
    while let Some(flag) = args
        .get(at)
        .filter(|a| ["--setup", "--seed", "--max-memory"].contains(&a.as_str()))
    {
        let value = args.get(at + 1);
        match flag.as_str() {
            "--setup" => setup = Some(value.ok_or("--setup needs a file")?.clone()),
            "--seed" => seed = number(value)?,
            _ => most = size(value)?,
        }
        at += 2;
    }
    limit_memory(most);
    let mut sim = Sim::new(ClusterConfig::default(), seed);
    sim.advance(sim.now().after(SECOND), usize::MAX);
    if let Some(file) = setup {
        let text = read(&file)?;
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
    for line in args[at..].split(|word| word == ";") {
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
    Args::parse(verb.name, verb.flags, &line[at + 1..end]).is_ok_and(|args| args.on("stdin"))
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
