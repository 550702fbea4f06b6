//! exec and attach: a command or a shell in a container, with the channel messages of kubectl's protocol.
//!
//! Models `apimachinery/pkg/util/remotecommand`, `kubelet/pkg/cri/streaming/remotecommand` and, for a terminal, the line discipline of a
//! tty.

use super::cluster::{Cluster, OpenRequest, Reply};
use super::http_request::{HttpRequest, Target};
use super::route::MAX_BODY;
use super::status::{Answer, failure};
use super::write::api_request;
use apiserver::{ApiError, StatusReason, Subresource, Verb};
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object};
use kubectl::{Progress, RemoteAct, RemoteStart, Session, Stdin, is_shell, process, reached};
use serde_json::{Value, json};
use std::collections::VecDeque;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Number of messages buffered for a slow reader before its command is ended, and of a fast writer before it has to wait.
const BUFFER: usize = 1_000;
/// Prompt of a shell.
const PROMPT: &[u8] = b"# ";
/// Maximum length of a line, in bytes.
const MOST_TYPED: usize = 64 * 1024;

/// Channels: the first byte of a message.
mod channel {
    pub const STDIN: u8 = 0;
    pub const STDOUT: u8 = 1;
    pub const STDERR: u8 = 2;
    /// Exit status.
    pub const ERROR: u8 = 3;
    /// Closes the channel of the second byte.
    pub const CLOSE: u8 = 255;
}

/// Opens `exec` or `attach` of a Pod.
pub fn open(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Reply {
    let refused = |error: &ApiError| Answer::error(error, Some((Kind::Pod, &target.name))).into();
    let subresource = match target.part.as_str() {
        "attach" => Subresource::Attach,
        _ => Subresource::Exec,
    };
    let connection = api_request(request, Kind::Pod, target, Verb::Create, subresource);
    let pod = match cluster.connect(connection) {
        Ok(pod) => pod,
        Err(error) => return refused(&error),
    };
    let container = match reached(&pod, request.option("container")) {
        Ok(container) => container,
        // Upstream the connection is already upgraded when the API server gets this error from the kubelet.
        Err(error) if error.reason == StatusReason::InternalError => {
            return ended(&refusal(&error.message));
        }
        Err(error) => return refused(&error),
    };
    let attaches = target.part == "attach";
    let mut command: Vec<String> = request
        .query
        .iter()
        .filter(|(name, _)| name == "command")
        .map(|(_, word)| word.clone())
        .collect();
    if attaches {
        command = process(&cluster.host.sim, &pod, container);
    }
    if command.is_empty() {
        return failure(
            400,
            "BadRequest",
            "you must specify at least one command for the container",
        )
        .into();
    }
    let (output, receiver) = mpsc::channel(BUFFER);
    let (sender, input) = mpsc::channel(BUFFER);
    let (stdin, tty) = (request.on("stdin"), request.on("tty"));
    let streams = Streams {
        output,
        shows_stderr: request.on("stderr"),
        tty,
    };
    let id = cluster.next_remote();
    let mut terminal = Terminal {
        id,
        state: State::Ended,
        streams,
        input,
        line: Line::default(),
        lines: VecDeque::new(),
        prompted: false,
    };
    let start = RemoteStart {
        namespace: target.namespace.clone(),
        pod: target.name.clone(),
        container,
        command,
        stdin: Stdin::Closed,
        attached: attaches,
    };
    // A command's input is complete before it runs, except for an interactive shell.
    match (stdin, tty || is_shell(&start.command)) {
        (false, _) if attaches => {
            terminal.state = State::Listening(Box::new(listening(cluster, &pod, container)))
        }
        (false, _) => terminal.start(cluster, start),
        (true, true) => terminal.start(
            cluster,
            RemoteStart {
                stdin: Stdin::Lines,
                ..start
            },
        ),
        (true, false) => terminal.state = State::Reading(start, Vec::new()),
    }
    if terminal.poll(cluster) {
        cluster.open.push(Box::new(terminal));
    }
    Reply::Socket(receiver, sender)
}

/// Opens a connection that ends at once.
fn ended(status: &Value) -> Reply {
    let ((output, receiver), (sender, _)) = (mpsc::channel(1), mpsc::channel(1));
    Streams {
        output,
        shows_stderr: false,
        tty: false,
    }
    .end(status);
    Reply::Socket(receiver, sender)
}

/// Starts attaching without input: the output of the container from now on is sent.
fn listening(cluster: &mut Cluster, pod: &Object, container: usize) -> Session {
    let name = pod
        .body::<Pod>()
        .spec
        .every_container()
        .nth(container)
        .map_or("", |(_, container)| container.name.as_str());
    let words = [
        "logs",
        &pod.meta.name,
        "--namespace",
        &pod.meta.namespace,
        "--container",
        name,
        "--follow",
        "--tail=0",
    ];
    Session::unnoted(&mut cluster.host.sim, &words.map(str::to_owned))
}

enum State {
    /// Not started: its input is not complete.
    Reading(RemoteStart, Vec<u8>),
    /// Running; the cluster has it under its number.
    Running,
    /// Attached for output only.
    Listening(Box<Session>),
    Ended,
}

/// Open `exec` or `attach`.
pub struct Terminal {
    /// Number of its command.
    id: u32,
    state: State,
    streams: Streams,
    input: Receiver<Vec<u8>>,
    /// Line being typed.
    line: Line,
    /// Lines waiting for the shell; `None` is the end of the input.
    lines: VecDeque<Option<String>>,
    prompted: bool,
}

impl OpenRequest for Terminal {
    fn poll(&mut self, cluster: &mut Cluster) -> bool {
        loop {
            match self.input.try_recv() {
                Ok(message) => {
                    cluster.expect_changes();
                    self.take(cluster, &message);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.act(cluster, RemoteAct::Interrupt);
                    return false;
                }
            }
        }
        self.run(cluster);
        !matches!(self.state, State::Ended)
    }
}

impl Terminal {
    fn start(&mut self, cluster: &mut Cluster, start: RemoteStart) {
        self.state = State::Running;
        self.act(cluster, RemoteAct::Start(start));
    }

    /// Handles a message of the client.
    fn take(&mut self, cluster: &mut Cluster, message: &[u8]) {
        match (message, &mut self.state) {
            ([channel::STDIN, typed @ ..], State::Reading(_, text)) => {
                text.extend_from_slice(typed);
                if text.len() > MAX_BODY {
                    self.end(&refusal(&format!(
                        "stdin is too long: at most {MAX_BODY} bytes"
                    )));
                }
            }
            ([channel::STDIN, typed @ ..], _) => self.typed(cluster, typed),
            ([channel::CLOSE, channel::STDIN, ..], State::Reading(start, text)) => {
                let stdin = Stdin::Text(String::from_utf8_lossy(text).into_owned());
                let start = RemoteStart {
                    stdin,
                    ..start.clone()
                };
                self.start(cluster, start);
            }
            ([channel::CLOSE, channel::STDIN, ..], _) => {
                let rest = self.line.take();
                self.lines.extend((!rest.is_empty()).then_some(Some(rest)));
                self.lines.push_back(None);
            }
            // Window size, and unknown channels.
            _ => {}
        }
    }

    fn typed(&mut self, cluster: &mut Cluster, bytes: &[u8]) {
        for &byte in bytes {
            let (echo, key) = self.line.put(byte, self.streams.tty);
            self.send(channel::STDOUT, &echo);
            match key {
                Key::None => {}
                Key::Line(line) => self.lines.push_back(Some(line)),
                Key::End => self.lines.push_back(None),
                Key::Interrupt => {
                    self.lines.clear();
                    // At its prompt a shell starts a new line; a running command is interrupted.
                    if !std::mem::take(&mut self.prompted) {
                        self.act(cluster, RemoteAct::Interrupt);
                    }
                }
            }
        }
    }

    /// Runs the command as far as it gets.
    fn run(&mut self, cluster: &mut Cluster) {
        match &mut self.state {
            State::Running => {}
            State::Listening(session) => {
                let ended = session.poll(&mut cluster.host.sim) == Progress::Done;
                let out = std::mem::take(&mut session.stdout);
                self.send(channel::STDOUT, out.as_bytes());
                if ended {
                    self.end(&status(0));
                }
                return;
            }
            State::Reading(..) | State::Ended => return,
        }
        while self.act(cluster, RemoteAct::Poll) {
            let Some(line) = self.lines.pop_front() else {
                if self.streams.tty && !self.prompted {
                    self.prompted = true;
                    self.send(channel::STDOUT, PROMPT);
                }
                return;
            };
            self.prompted = false;
            self.act(cluster, RemoteAct::Line(line));
        }
    }

    /// Acts on the command and sends its output; returns true if it then waits for a line.
    fn act(&mut self, cluster: &mut Cluster, act: RemoteAct) -> bool {
        if !matches!(self.state, State::Running) {
            return false;
        }
        let output = cluster.act_remotely(self.id, act);
        self.send(channel::STDOUT, output.out.as_bytes());
        self.send(channel::STDERR, output.err.as_bytes());
        if let Some(code) = output.exit {
            self.end(&status(code));
        }
        output.takes_input
    }

    fn send(&mut self, channel: u8, text: &[u8]) {
        if !self.streams.send(channel, text) {
            // The reader is gone or too slow.
            self.state = State::Ended;
        }
    }

    fn end(&mut self, status: &Value) {
        self.streams.end(status);
        self.state = State::Ended;
    }
}

/// Streams to the client.
struct Streams {
    output: Sender<Vec<u8>>,
    shows_stderr: bool,
    tty: bool,
}

impl Streams {
    /// Sends output on a channel; returns false if the reader is gone or too slow.
    fn send(&self, channel: u8, text: &[u8]) -> bool {
        if text.is_empty() || (channel == channel::STDERR && !self.shows_stderr && !self.tty) {
            return true;
        }
        let mut message = vec![if self.tty { channel::STDOUT } else { channel }];
        for &byte in text {
            // A terminal needs a carriage return to start a line at its left edge.
            if self.tty && byte == b'\n' && message.last() != Some(&b'\r') {
                message.push(b'\r');
            }
            message.push(byte);
        }
        self.output.try_send(message).is_ok()
    }

    fn end(&self, status: &Value) {
        let mut message = vec![channel::ERROR];
        message.extend(status.to_string().into_bytes());
        // The reader may be gone.
        let _ = self.output.try_send(message);
    }
}

/// Status of an exit code for the error channel.
fn status(code: i32) -> Value {
    if code == 0 {
        return json!({ "metadata": {}, "status": "Success" });
    }
    let message = "command terminated with non-zero exit code";
    let causes = json!([{ "reason": "ExitCode", "message": code.to_string() }]);
    json!({ "metadata": {}, "status": "Failure", "message": message, "reason": "NonZeroExitCode", "details": { "causes": causes } })
}

fn refusal(message: &str) -> Value {
    json!({ "metadata": {}, "status": "Failure", "message": message, "reason": "InternalError", "code": 500 })
}

/// Line being typed.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Escape sequence of a key such as an arrow, so far.
    escape: Vec<u8>,
}

/// Input completed by a byte.
#[derive(Debug, PartialEq)]
enum Key {
    None,
    Line(String),
    End,
    Interrupt,
}

impl Line {
    fn take(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.bytes)).into_owned()
    }

    /// Handles the next byte: returns the echo of the tty, and the completed input.
    fn put(&mut self, byte: u8, tty: bool) -> (Vec<u8>, Key) {
        if !tty {
            return match byte {
                b'\n' => (Vec::new(), Key::Line(self.take())),
                _ => (Vec::new(), self.keep(byte)),
            };
        }
        if !self.escape.is_empty() {
            self.escape.push(byte);
            // `ESC [ … letter`, `ESC O letter`, `ESC letter`.
            let goes_on = matches!((self.escape.len(), byte), (2, b'[' | b'O'))
                || (self.escape.len() > 2 && !(0x40..=0x7e).contains(&byte));
            if !goes_on {
                self.escape.clear();
            }
            return (Vec::new(), Key::None);
        }
        match byte {
            b'\r' | b'\n' => (b"\r\n".to_vec(), Key::Line(self.take())),
            0x03 => {
                self.bytes.clear();
                (b"^C\r\n".to_vec(), Key::Interrupt)
            }
            0x04 if self.bytes.is_empty() => (Vec::new(), Key::End),
            0x15 => {
                let shown = String::from_utf8_lossy(&std::mem::take(&mut self.bytes))
                    .chars()
                    .count();
                (b"\x08 \x08".repeat(shown), Key::None)
            }
            0x08 | 0x7f => {
                // A character may have several bytes.
                while self.bytes.pop().is_some_and(|gone| gone & 0xc0 == 0x80) {}
                (b"\x08 \x08".to_vec(), Key::None)
            }
            0x1b => {
                self.escape.push(byte);
                (Vec::new(), Key::None)
            }
            0x00..=0x1f => (Vec::new(), Key::None),
            _ => (vec![byte], self.keep(byte)),
        }
    }

    fn keep(&mut self, byte: u8) -> Key {
        if self.bytes.len() < MOST_TYPED {
            self.bytes.push(byte);
        }
        Key::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, tty: bool) -> (String, Vec<Key>) {
        let (mut line, mut shown, mut keys) = (Line::default(), Vec::new(), Vec::new());
        for byte in text.bytes() {
            let (echo, key) = line.put(byte, tty);
            shown.extend(echo);
            keys.extend((key != Key::None).then_some(key));
        }
        (String::from_utf8(shown).unwrap(), keys)
    }

    #[test]
    fn a_tty_edits_its_line() {
        let line = |text: &str| Key::Line(text.to_owned());
        assert_eq!(lines("ls\r", true), ("ls\r\n".to_owned(), vec![line("ls")]));
        assert_eq!(lines("lé\x7f\x7fok\r", true).1, [line("ok")]);
        assert_eq!(lines("a\x1b[A\x1bOB\x1bxb\r", true).1, [line("ab")]);
        assert_eq!(
            lines("abc\x15d\x03e\r\x04", true).1,
            [Key::Interrupt, line("e"), Key::End]
        );
        assert_eq!(lines("a\x04\r", true).1, [line("a")]);
    }

    #[test]
    fn without_a_tty_only_line_breaks_count() {
        assert_eq!(
            lines("a\x03b\r\nc", false),
            (String::new(), vec![Key::Line("a\x03b\r".to_owned())])
        );
    }
}
