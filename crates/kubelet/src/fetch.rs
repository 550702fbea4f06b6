//! When a container ends whose command is one request: `wget web:80`, `curl http://web`.
//!
//! The request is decided as it is in a shell (`engine/connectivity`), at the instant at which the container starts.

use apiserver::ApiServer;
use cluster_network::connectivity::{RequestOutcome, connect, host_and_port};
use k8s_model::Object;
use k8s_model::pod::Container;
use k8s_model::time::SECOND;
use std::rc::Rc;

/// How long a name server that does not answer is asked.
const ASKS: u64 = 10 * SECOND;
/// How long a connection that is dropped is tried: the retries of Linux.
const TRIES: u64 = 127 * SECOND;

/// A program that sends a request, and its flags that take a value.
struct Client {
    name: &'static str,
    with_value: &'static str,
    /// The flag of its time limit.
    limit: &'static str,
    /// Exit codes: no such name, refused, no answer in time.
    codes: (i32, i32, i32),
}

const CLIENTS: [Client; 2] = [
    Client {
        name: "wget",
        with_value: "TOtoUPH",
        limit: "-T",
        codes: (1, 1, 1),
    },
    Client {
        name: "curl",
        with_value: "TmoHXdwAut",
        limit: "-m",
        codes: (6, 7, 28),
    },
];

/// When and how a container ends that only sends a request.
pub(super) fn predicted_exit(
    server: &ApiServer,
    pod: &Rc<Object>,
    container: &Container,
) -> Option<(u64, i32)> {
    let words: Vec<&str> = container
        .command
        .iter()
        .chain(&container.args)
        .map(|word| word.as_str())
        .collect();
    let script: Vec<&str>;
    let words = match words[..] {
        ["sh" | "/bin/sh" | "bash" | "/bin/bash", "-c", text]
            if !text.contains(['|', '$', '`', ';', '&', '(', '{', '<', '>', '\n', '\'', '"']) =>
        {
            script = text.split_whitespace().collect();
            &script[..]
        }
        _ => &words[..],
    };
    let (name, mut rest) = words.split_first()?;
    let client = CLIENTS
        .iter()
        .find(|client| client.name == name.rsplit('/').next().unwrap_or(""))?;
    let (mut url, mut limit) = (None, None);
    while let [word, after @ ..] = rest {
        rest = after;
        let takes =
            word.len() == 2 && word.starts_with('-') && client.with_value.contains(&word[1..]);
        if takes {
            let (value, after) = rest.split_first()?;
            limit = limit.or_else(|| value.parse::<u64>().ok().filter(|_| *word == client.limit));
            rest = after;
        } else if !word.starts_with('-') {
            // Several requests are none that is foreseen.
            if url.replace(*word).is_some() {
                return None;
            }
        }
    }
    let (host, port) = host_and_port(url?);
    let (no_name, refused, late) = client.codes;
    Some(
        match connect(server, pod, host, port, server.journal().len()).outcome {
            RequestOutcome::Answered => (0, 0),
            RequestOutcome::NoName => (0, no_name),
            RequestOutcome::NoNameServer => (ASKS, no_name),
            RequestOutcome::Refused => (0, refused),
            RequestOutcome::TimedOut => (
                limit.map_or(TRIES, |seconds| seconds.min(3_600) * SECOND),
                late,
            ),
        },
    )
}
