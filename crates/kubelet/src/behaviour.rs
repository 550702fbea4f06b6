//! Modelled behaviour of containers, since nothing runs here.
//!
//! Set by `loopscope.dev/…` annotations, and otherwise derived from image names and commands with a predictable outcome.

use super::registry::{PullFault, can_be_pulled};
use crate::registry;
use k8s_model::pod::Container;
use k8s_model::time::SECOND;
use k8s_model::{ObjectMeta, image};

/// Modelled run of a container; times are in microseconds from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Behaviour {
    /// True if the image can be pulled.
    pub pulls: bool,
    /// Time at which the container counts as started; `None` if its startup probe fails.
    pub started_after: Option<u64>,
    /// Time at which the container becomes ready; `None` if never.
    pub ready_after: Option<u64>,
    /// Time and exit code of the container's end; `None` if it keeps running.
    pub exits: Option<(u64, i32)>,
}

/// Returns the value of `loopscope.dev/NAME`, in microseconds.
pub(super) fn seconds(meta: &ObjectMeta, name: &str) -> Option<u64> {
    let value: f64 = annotation(meta, name)?.trim_end_matches('s').parse().ok()?;
    (0.0..1e9)
        .contains(&value)
        .then_some((value * SECOND as f64) as u64)
}

fn annotation<'a>(meta: &'a ObjectMeta, name: &str) -> Option<&'a str> {
    meta.annotation(&format!("loopscope.dev/{name}"))
        .map(|v| v.as_str())
}

impl Behaviour {
    /// Derives the behaviour; `delays` are the times from the start until the probes count it as started, and as ready.
    pub(super) fn of(container: &Container, meta: &ObjectMeta, delays: (u64, u64)) -> Behaviour {
        let annotated = !meta.annotations.is_empty();
        let say = |name: &str| {
            if annotated {
                annotation(meta, name)
            } else {
                None
            }
        };
        let (started, probe) = delays;
        let ready_after = match say("never-ready") {
            Some("true") => None,
            _ if annotated => seconds(meta, "ready-after").or(Some(probe)),
            _ => Some(probe),
        };
        let exit_code = || exit_code(meta);
        let exits = match if annotated {
            seconds(meta, "exit-after")
        } else {
            None
        } {
            Some(after) => Some((after, exit_code())),
            None => predicted_exit(container),
        };
        Behaviour {
            pulls: can_be_pulled(&container.image),
            started_after: Some(started),
            ready_after,
            exits,
        }
    }
}

/// Returns `exit-code`, or the value in `exit-code-by-index` for this Pod's completion index.
fn exit_code(meta: &ObjectMeta) -> i32 {
    let index = meta.annotation("batch.kubernetes.io/job-completion-index");
    let by_index = annotation(meta, "exit-code-by-index").and_then(|list| {
        list.split(',')
            .filter_map(|pair| pair.split_once('='))
            .find(|(i, _)| index.is_some_and(|x| x == i.trim()))
            .map(|(_, code)| code)
    });
    by_index
        .or_else(|| annotation(meta, "exit-code"))
        .and_then(|code| code.trim().parse().ok())
        .unwrap_or(0)
}

/// Returns reason and message of the waiting state of a container whose image cannot be pulled.
pub(super) fn pull_failure(image: &str) -> (&'static str, String) {
    match invalid_name(image) {
        Some(message) => ("InvalidImageName", message),
        None => ("ErrImagePull", pull_error(image)),
    }
}

/// Returns the kubelet's message for an invalid image name, to which it tries to add the default tag.
pub(super) fn invalid_name(image: &str) -> Option<String> {
    let fault = image::normalized_fault(image)?;
    Some(format!(
        "Failed to apply default image tag {image:?}: couldn't parse image name {image:?}: {fault}"
    ))
}

/// Returns the runtime's error message for an image that cannot be pulled.
pub(super) fn pull_error(image: &str) -> String {
    let first = image.split('/').next().unwrap_or("");
    let full = if !image.contains('/') {
        format!("docker.io/library/{image}")
    } else if first.contains(['.', ':']) || first == "localhost" {
        image.to_string()
    } else {
        format!("docker.io/{image}")
    };
    match registry::fault(image) {
        Some(PullFault::NoRepository) => format!(
            "rpc error: code = Unknown desc = failed to pull and unpack image {full:?}: failed to resolve image: pull access denied, \
            repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"
        ),
        _ => format!(
            "rpc error: code = NotFound desc = failed to pull and unpack image {full:?}: failed to resolve image: {full}: not found"
        ),
    }
}

/// Returns end time and exit code of a container with a predictable command: `sleep 30`, `exit 1`, `false`, a shell without input.
pub(super) fn predicted_exit(container: &Container) -> Option<(u64, i32)> {
    let words = words(container);
    // An interactive shell waits for input.
    if container.stdin
        && matches!(
            words[..],
            [] | ["sh" | "/bin/sh" | "bash" | "/bin/bash" | "ash"]
        )
    {
        return None;
    }
    if words.is_empty() {
        let name = program(&container.image).split([':', '@']).next();
        return matches!(
            name.unwrap_or(""),
            "busybox" | "alpine" | "ubuntu" | "debian" | "hello-world"
        )
        .then_some((0, 0));
    }
    match script(container) {
        Some(script) => predicted_script(script),
        None => predicted_command(&words),
    }
}

/// Returns the script that a container's command passes to a shell.
fn script(container: &Container) -> Option<&str> {
    let words = words(container);
    match words[..] {
        [shell, flags, script] if is_shell(shell) && is_script_flag(flags) => Some(script),
        _ => None,
    }
}

fn words(container: &Container) -> Vec<&str> {
    let words = container.command.iter().chain(&container.args);
    words.map(|word| word.as_str()).collect()
}

fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_shell(word: &str) -> bool {
    matches!(program(word), "sh" | "bash" | "ash" | "dash")
}

/// Returns true for `-c`, also beside other flags: `-ec`.
fn is_script_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

/// Stop of a container by the kubelet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stop {
    /// Time from SIGTERM to the end, in microseconds.
    pub after: u64,
    pub code: i32,
}

impl Stop {
    /// Derives the stop of a container that takes `usual` to stop after SIGTERM, if it handles it, and is killed after `grace`.
    ///
    /// The first process of a container gets only the signals that it handles: the kernel ignores the others.
    pub(super) fn of(container: &Container, usual: u64, grace: u64) -> Stop {
        let grace = grace.max(MIN_GRACE_US);
        match on_sigterm(container) {
            OnSigterm::Exits(code) if usual <= grace => Stop { after: usual, code },
            _ => Stop {
                after: grace,
                code: KILLED,
            },
        }
    }
}

/// Least time that a container gets to stop: `minimumGracePeriodInSeconds` of `pkg/kubelet/kuberuntime/kuberuntime_container.go`.
const MIN_GRACE_US: u64 = 2 * SECOND;

/// Exit code of a process that is killed by SIGKILL.
pub(super) const KILLED: i32 = 137;

/// Reaction of a container's first process to SIGTERM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OnSigterm {
    /// Exits in time, with a code.
    Exits(i32),
    /// Runs on until it is killed.
    Ignores,
}

fn on_sigterm(container: &Container) -> OnSigterm {
    let words = words(container);
    match script(container) {
        Some(script) => script_on_sigterm(script),
        // A shell that waits for input.
        None if words.is_empty() && container.stdin => OnSigterm::Ignores,
        None => command_on_sigterm(&words),
    }
}

/// A shell runs its script as children, to which it does not pass the signal; but a single command takes the place of the shell.
fn script_on_sigterm(script: &str) -> OnSigterm {
    let script = script.trim();
    let last = script
        .rsplit([';', '\n', '&', '|'])
        .map(str::trim)
        .find(|command| !command.is_empty())
        .unwrap_or("");
    let is_single = last == script;
    match last.strip_prefix("exec ") {
        Some(command) => command_on_sigterm(&command.split_whitespace().collect::<Vec<_>>()),
        None if is_single => command_on_sigterm(&last.split_whitespace().collect::<Vec<_>>()),
        None if script.contains("trap ") => OnSigterm::Exits(0),
        None => OnSigterm::Ignores,
    }
}

/// Programs that are not known are assumed to handle the signal.
fn command_on_sigterm(words: &[&str]) -> OnSigterm {
    match words.first().map_or("", |word| program(word)) {
        "java" => OnSigterm::Exits(143),
        "sleep" | "tail" | "cat" | "yes" | "ping" | "nc" | "while" | "until" | "for" | "node"
        | "python" | "python3" => OnSigterm::Ignores,
        word if is_shell(word) => OnSigterm::Ignores,
        _ => OnSigterm::Exits(0),
    }
}

/// Returns the times, from the container's start, at which a file that its script creates and removes starts or stops missing.
pub(super) fn file_missing(container: &Container, file: &str) -> Option<Vec<(u64, bool)>> {
    let script = script(container)?;
    let mut time = 0;
    let mut missing = vec![(0, true)];
    for command in script
        .split([';', '\n', '&'])
        .map(str::trim)
        .filter(|c| !c.is_empty())
    {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["touch", path] if path == file => missing.push((time, false)),
            ["rm", path] | ["rm", _, path] if path == file => missing.push((time, true)),
            _ => time += predicted_command(&words).map_or(0, |(after, _)| after),
        }
    }
    // A container that never creates the file may have it in its image.
    (missing.len() > 1).then_some(missing)
}

/// Returns the duration and exit code of a probe's or hook's command, if predictable.
pub(super) fn predicted_words(words: &[&str]) -> Option<(u64, i32)> {
    match words {
        [shell, flags, script] if is_shell(shell) && is_script_flag(flags) => {
            predicted_script(script)
        }
        words => predicted_command(words),
    }
}

/// Returns the outcome of a script if all its commands are predictable.
fn predicted_script(script: &str) -> Option<(u64, i32)> {
    // A command in the background goes on beside the next.
    if script.contains(['|', '$', '`', '(', '{', '<', '>'])
        || script.replace("&&", "").contains('&')
        || script.contains("while")
        || script.contains("for ")
    {
        return None;
    }
    let mut total = 0;
    let mut code = 0;
    for chain in script.split([';', '\n']) {
        for command in chain.split("&&").map(str::trim).filter(|c| !c.is_empty()) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let (after, status) = predicted_command(&words)?;
            total += after;
            code = status;
            if words[0] == "exit" {
                return Some((total, code));
            }
            if code != 0 {
                break;
            }
        }
    }
    Some((total, code))
}

fn predicted_command(words: &[&str]) -> Option<(u64, i32)> {
    match words {
        ["true" | "/bin/true"] => Some((0, 0)),
        ["echo" | "date" | "hostname" | "printf", ..] => Some((0, 0)),
        ["touch" | "rm" | "mkdir", ..] => Some((0, 0)),
        ["false" | "/bin/false"] => Some((0, 1)),
        ["exit"] => Some((0, 0)),
        ["exit", code] => Some((0, code.parse().ok()?)),
        ["sleep", time] => {
            let (number, unit) = match time.as_bytes().last()? {
                b's' => (&time[..time.len() - 1], 1.0),
                b'm' => (&time[..time.len() - 1], 60.0),
                b'h' => (&time[..time.len() - 1], 3600.0),
                b'd' => (&time[..time.len() - 1], 86400.0),
                _ => (*time, 1.0),
            };
            let seconds = number.parse::<f64>().ok()? * unit;
            (0.0..1e9)
                .contains(&seconds)
                .then_some(((seconds * SECOND as f64) as u64, 0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(image: &str, command: &[&str]) -> Container {
        Container {
            image: image.into(),
            command: command.iter().map(|w| (*w).into()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn program_that_does_not_handle_sigterm_is_killed_after_the_grace_period() {
        let stop = |image: &str, command: &[&str]| {
            let stop = Stop::of(&container(image, command), SECOND, 30 * SECOND);
            (stop.after / SECOND, stop.code)
        };
        let cases: [(&[&str], (u64, i32)); 14] = [
            (&["sleep", "3600"], (30, 137)),
            (&["/bin/sleep", "infinity"], (30, 137)),
            (&["tail", "-f", "/dev/null"], (30, 137)),
            (&["python3", "-m", "http.server"], (30, 137)),
            (&["java", "-jar", "app.jar"], (1, 143)),
            (&["nginx", "-g", "daemon off;"], (1, 0)),
            (&["sh", "-c", "sleep 3600"], (30, 137)),
            (
                &["sh", "-c", "while true; do date; sleep 5; done"],
                (30, 137),
            ),
            (&["bash", "-ec", "setup\nserve"], (30, 137)),
            (&["sh", "-c", "serve"], (1, 0)),
            (&["sh", "-c", "setup && exec serve"], (1, 0)),
            (&["sh", "-c", "setup; exec sleep 60"], (30, 137)),
            (&["sh", "-c", "trap 'exit 0' TERM; sleep 60 & wait"], (1, 0)),
            (&["sh"], (30, 137)),
        ];
        for (command, expected) in cases {
            assert_eq!(stop("app", command), expected, "{command:?}");
        }
        assert_eq!(stop("nginx:1.27", &[]), (1, 0));
        let shell = Container {
            stdin: true,
            ..container("busybox:1.36", &[])
        };
        assert_eq!(Stop::of(&shell, SECOND, 30 * SECOND).code, KILLED);
    }

    #[test]
    fn commands_that_can_be_predicted_end_when_they_say() {
        type Case = (&'static [&'static str], Option<(u64, i32)>);
        let cases: [Case; 9] = [
            (&["sleep", "30"], Some((30 * SECOND, 0))),
            (&["sh", "-c", "exit 1"], Some((0, 1))),
            (&["false"], Some((0, 1))),
            (
                &["sh", "-c", "echo hi; sleep 2 && exit 3"],
                Some((2 * SECOND, 3)),
            ),
            (&["sh", "-c", "false && sleep 100"], Some((0, 1))),
            (&["sh", "-c", "work"], None),
            (&["sleep", "infinity"], None),
            (&["sh", "-c", "while true; do sleep 1; done"], None),
            (&["nginx", "-g", "daemon off;"], None),
        ];
        for (command, expected) in cases {
            assert_eq!(
                predicted_exit(&container("nginx", command)),
                expected,
                "{command:?}"
            );
        }
        assert_eq!(
            file_missing(
                &container(
                    "busybox",
                    &[
                        "/bin/sh",
                        "-c",
                        "touch /tmp/h; sleep 30; rm -f /tmp/h; sleep 600"
                    ]
                ),
                "/tmp/h"
            ),
            Some(vec![(0, true), (0, false), (30 * SECOND, true)])
        );
        assert_eq!(
            file_missing(&container("busybox", &["sh", "-c", "sleep 30"]), "/tmp/h"),
            None
        );
        assert_eq!(
            predicted_exit(&container("busybox:1.36", &[])),
            Some((0, 0))
        );
        assert_eq!(predicted_exit(&container("nginx:1.27", &[])), None);
    }
}
