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

/// HTTP client program.
struct Client {
    name: &'static str,
    /// Short flags with a value.
    with_value: &'static str,
    /// Flags of the client's timeout.
    limits: &'static [&'static str],
    /// Exit codes: unknown host, connection refused, timeout.
    codes: (i32, i32, i32),
}

const CLIENTS: [Client; 2] = [
    Client {
        name: "wget",
        with_value: "TOtoUPH",
        limits: &["T", "--timeout"],
        codes: (1, 1, 1),
    },
    Client {
        name: "curl",
        with_value: "TmoHXdwAut",
        limits: &["m", "--max-time", "--connect-timeout"],
        codes: (6, 7, 28),
    },
];

impl Client {
    fn find(name: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.name == name)
    }
}

/// Long flags of the clients with a value, which is the next word or follows `=`.
const LONG_WITH_VALUE: [&str; 15] = [
    "--connect-timeout",
    "--data",
    "--header",
    "--max-time",
    "--output",
    "--output-document",
    "--post-data",
    "--request",
    "--resolve",
    "--retry",
    "--timeout",
    "--tries",
    "--user",
    "--user-agent",
    "--write-out",
];

/// Arguments of an HTTP client.
#[derive(Default)]
pub struct ClientArgs<'w> {
    /// Short flags, grouped ones included.
    pub letters: String,
    /// Long flags without a value.
    pub switches: Vec<&'w str>,
    /// Flags with their values; a short flag is its letter.
    pub values: Vec<(&'w str, &'w str)>,
    /// Addresses of the requests.
    pub urls: Vec<&'w str>,
    /// True if the value of the last flag is missing: it is empty.
    pub is_incomplete: bool,
}

impl<'w> ClientArgs<'w> {
    /// Parses the arguments of `wget` or `curl`; `None` for other programs.
    pub fn parse(
        program: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Option<ClientArgs<'w>> {
        Some(ClientArgs::of(Client::find(program)?, words))
    }

    fn of(client: &Client, words: impl IntoIterator<Item = &'w str>) -> ClientArgs<'w> {
        let mut args = ClientArgs::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word.starts_with("--") {
                match word.split_once('=') {
                    Some(given) => args.values.push(given),
                    None if LONG_WITH_VALUE.contains(&word) => args.take_value(word, words.next()),
                    None => args.switches.push(word),
                }
            } else if let Some(flags) = word.strip_prefix('-') {
                for (at, letter) in flags.char_indices() {
                    args.letters.push(letter);
                    if client.with_value.contains(letter) {
                        let (flag, value) = flags[at..].split_at(letter.len_utf8());
                        let is_next = value.is_empty();
                        args.take_value(flag, if is_next { words.next() } else { Some(value) });
                        break;
                    }
                }
            } else {
                args.urls.push(word);
            }
        }
        args
    }

    fn take_value(&mut self, flag: &'w str, value: Option<&'w str>) {
        self.is_incomplete |= value.is_none();
        self.values.push((flag, value.unwrap_or("")));
    }
}

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
        let client = Client::find(name.rsplit('/').next().unwrap_or(""))?;
        let args = ClientArgs::of(client, rest.iter().copied());
        if args.is_incomplete {
            return None;
        }
        let limits = args.values.iter();
        let mut limits = limits.filter(|(flag, _)| client.limits.contains(flag));
        Some(ClientCall {
            client,
            limit: limits.find_map(|(_, value)| limit(value)),
            urls: args.urls,
        })
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
}

/// Parses a time limit in seconds.
fn limit(value: &str) -> Option<Duration> {
    let seconds: f64 = value.parse().ok().filter(|seconds| *seconds > 0.0)?;
    Some(((seconds * SECOND as f64) as u64).min(MAX_LIMIT_US))
}
