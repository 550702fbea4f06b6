//! Calls of the HTTP clients `wget` and `curl`, as far as they decide about requests.

use crate::connectivity::RequestOutcome;
use k8s_model::Duration;
use k8s_model::time::SECOND;

/// Time that a query to a name server takes that does not answer.
const NAME_SERVER_TIMEOUT_US: Duration = 10 * SECOND;
/// Time until a dropped connection is given up without a limit of the client: the retries of Linux.
const CONNECTION_TIMEOUT_US: Duration = 127 * SECOND;
/// Longest time limit of a client.
const MAX_LIMIT_US: Duration = 3_600 * SECOND;

/// Returns the time after which a request ends that is not answered; `limit` is the time limit of the client.
pub fn failure_time(outcome: RequestOutcome, limit: Option<Duration>) -> Duration {
    match outcome {
        RequestOutcome::Answered | RequestOutcome::NoName | RequestOutcome::Refused => 0,
        RequestOutcome::NoNameServer => NAME_SERVER_TIMEOUT_US,
        RequestOutcome::TimedOut => limit.unwrap_or(CONNECTION_TIMEOUT_US),
    }
}

/// HTTP client program, with its flags that take a value.
struct Client {
    name: &'static str,
    with_value: &'static str,
    long_with_value: &'static [&'static str],
    /// Flags of the client's timeout.
    limits: &'static [&'static str],
    /// Exit codes: unknown host, connection refused, timeout.
    codes: (i32, i32, i32),
}

const CLIENTS: [Client; 2] = [
    Client {
        name: "wget",
        with_value: "TOtoUPH",
        long_with_value: &[
            "--timeout",
            "--tries",
            "--output-document",
            "--header",
            "--user-agent",
            "--post-data",
        ],
        limits: &["-T", "--timeout"],
        codes: (1, 1, 1),
    },
    Client {
        name: "curl",
        with_value: "TmoHXdwAut",
        long_with_value: &[
            "--max-time",
            "--connect-timeout",
            "--header",
            "--write-out",
            "--output",
            "--request",
            "--data",
            "--user",
            "--user-agent",
            "--resolve",
            "--retry",
        ],
        limits: &["-m", "--max-time", "--connect-timeout"],
        codes: (6, 7, 28),
    },
];

/// Call of an HTTP client.
pub struct ClientCall<'w> {
    client: &'static Client,
    /// Addresses of the requests.
    pub urls: Vec<&'w str>,
    /// Time limit, if one is given.
    pub limit: Option<Duration>,
}

impl<'w> ClientCall<'w> {
    /// Parses a command; `None` for other programs.
    pub fn of(words: &[&'w str]) -> Option<ClientCall<'w>> {
        let (name, rest) = words.split_first()?;
        let name = name.rsplit('/').next().unwrap_or("");
        let client = CLIENTS.iter().find(|client| client.name == name)?;
        let mut call = ClientCall {
            client,
            urls: Vec::new(),
            limit: None,
        };
        let mut rest = rest.iter().copied();
        while let Some(word) = rest.next() {
            if word.starts_with("--") {
                match word.split_once('=') {
                    Some((flag, value)) => call.flag(flag, value),
                    None if client.long_with_value.contains(&word) => {
                        call.flag(word, rest.next()?);
                    }
                    None => {}
                }
            } else if let Some(letters) = word.strip_prefix('-') {
                let Some(at) = letters.find(|letter| client.with_value.contains(letter)) else {
                    continue;
                };
                // Flags with a value are ASCII.
                let (flag, value) = (&letters[at..=at], &letters[at + 1..]);
                let value = if value.is_empty() {
                    rest.next()?
                } else {
                    value
                };
                call.flag(&["-", flag].concat(), value);
            } else {
                call.urls.push(word);
            }
        }
        Some(call)
    }

    /// Returns the exit code of the client after a request with this outcome.
    pub fn exit_code(&self, outcome: RequestOutcome) -> i32 {
        let (no_name, refused, late) = self.client.codes;
        match outcome {
            RequestOutcome::Answered => 0,
            RequestOutcome::NoName | RequestOutcome::NoNameServer => no_name,
            RequestOutcome::Refused => refused,
            RequestOutcome::TimedOut => late,
        }
    }

    fn flag(&mut self, flag: &str, value: &str) {
        if !self.client.limits.contains(&flag) {
            return;
        }
        let seconds: Option<f64> = value.parse().ok().filter(|seconds| *seconds > 0.0);
        let span = seconds.map(|seconds| ((seconds * SECOND as f64) as u64).min(MAX_LIMIT_US));
        self.limit = self.limit.or(span);
    }
}
