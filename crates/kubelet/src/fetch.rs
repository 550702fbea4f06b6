//! Predicted end of a container whose command is a single request: `wget web:80`, `curl http://web`.
//!
//! The outcome is that of the same request in a shell (`crates/cluster-network/src/connectivity`), at the instant at which the container starts.

use apiserver::Store;
use cluster_network::connectivity::{RequestOutcome, connect, host_and_port};
use k8s_model::Object;
use k8s_model::pod::Container;
use k8s_model::time::SECOND;
use std::rc::Rc;

/// Timeout of a query to a name server that does not answer.
const ASKS: u64 = 10 * SECOND;
/// Timeout of a dropped connection: the retries of Linux.
const TRIES: u64 = 127 * SECOND;

/// HTTP client program, with its flags that take a value.
struct Client {
    name: &'static str,
    with_value: &'static str,
    /// Flag of the client's timeout.
    limit: &'static str,
    /// Exit codes: unknown host, connection refused, timeout.
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

/// Returns end time and exit code of a container that only sends a request.
pub(super) fn predicted_exit(
    store: &Store,
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
            // The outcome of several requests is not predicted.
            if url.replace(*word).is_some() {
                return None;
            }
        }
    }
    let (host, port) = host_and_port(url?);
    let (no_name, refused, late) = client.codes;
    Some(
        match connect(store, pod, host, port, store.journal().len()).outcome {
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
