//! Verbs that no simulation can run, since they need a tunnel or a port. They check their arguments as kubectl does, and explain the
//! limitation.

use super::client::Client;
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb};

const FORWARD_FLAGS: &str = "~address= ~pod-running-timeout=";

const PROXY_FLAGS: &str = "~port/p= ~address= ~www/w= ~www-prefix/P= ~api-prefix= ~accept-paths= ~reject-paths= ~accept-hosts= ~reject-methods= \
    ~unix-socket/u= ~disable-filter ~keepalive= ~append-server-path";

/// All unavailable verbs.
pub const VERBS: [&Verb; 2] = [&PORT_FORWARD, &PROXY];

/// `kubectl port-forward`.
pub const PORT_FORWARD: Verb = Verb {
    name: "port-forward",
    aliases: &[],
    flags: FORWARD_FLAGS,
    reads: Reads::Yes,
    run: port_forward,
    help: "Forward one or more local ports to a pod",
};

/// `kubectl proxy`.
pub const PROXY: Verb = Verb {
    name: "proxy",
    aliases: &[],
    flags: PROXY_FLAGS,
    reads: Reads::Yes,
    run: proxy,
    help: "Run a proxy to the Kubernetes API server",
};

impl Verb {
    /// Returns true if the verb is simulated; others check their arguments and explain the limitation.
    pub fn is_simulated(&self) -> bool {
        !VERBS.iter().any(|verb| verb.name == self.name)
    }
}

/// Error of a command that requires files.
pub const NO_FILE: &str = "must specify one of -f and -k";

/// Error of a command that requires objects by argument.
pub const NONE_SPECIFIED: &str =
    "one or more resources must be specified as <resource> <name> or <resource>/<name>";

/// Error of a command that requires objects by argument or file.
pub const NO_OBJECTS: &str = "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   \
    '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'";

fn port_forward(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("port-forward", FORWARD_FLAGS, words)?;
    client.use_flags(&args)?;
    if args.words.len() < 2 {
        return Err(Failure::usage(
            "port-forward",
            "TYPE/NAME and list of ports are required for port-forward",
        ));
    }
    super::exec::find(client, &args.words[0], super::exec::ATTACH_TO)?;
    Err(Failure::error(
        "there is no machine here to forward a port to: make the request inside a Pod, with 'kubectl exec POD -- curl …'",
    ))
}

fn proxy(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("proxy", PROXY_FLAGS, words)?;
    client.use_flags(&args)?;
    Err(Failure::error(
        "there is no machine here to listen on: 'kubectl get --raw PATH' asks the API server itself",
    ))
}
