//! Predicted end of a container whose command is a single request: `wget web:80`, `curl http://web`.
//!
//! The outcome is that of the same request in a shell (`crates/cluster-network/src/connectivity`), at the instant at which the container starts.

use apiserver::Store;
use cluster_network::connectivity::{connect, host_and_port};
use cluster_network::http_client::{ClientCall, failure_time};
use k8s_model::Object;
use k8s_model::pod::Container;
use std::rc::Rc;

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
    let call = ClientCall::of(words)?;
    // The outcome of several requests is not predicted.
    let [url] = call.urls[..] else {
        return None;
    };
    let (host, port) = host_and_port(url);
    let outcome = connect(store, pod, host, port, store.journal().len()).outcome;
    Some((failure_time(outcome, call.limit), call.exit_code(outcome)))
}
