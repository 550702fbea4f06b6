//! `loopscope serve`: the simulated control plane behind HTTP, with the answers of kube-apiserver, for kubectl, Helm and other clients.
//!
//! The engine stays deterministic and single-threaded, owned by one thread; HTTP only translates. Native only. `docs/serve.md` lists what
//! is supported.

mod authentication;
mod beside;
mod client;
mod client_faults;
mod clock;
mod cluster;
mod control;
mod counts;
mod discovery;
mod environment;
mod exchange;
mod explanation;
mod follow;
mod http_request;
mod issuer;
mod listen;
mod metrics;
mod objects;
mod openapi;
mod openapi_v2;
mod options;
mod page;
mod pretty;
mod prometheus;
mod protobuf;
mod read;
mod record_stream;
mod repeated;
mod reviews;
mod route;
mod show;
mod snapshot;
mod status;
mod subresources;
mod terminal;
mod tls;
mod token;
mod watch;
mod webhooks;
mod websocket;
mod write;

pub use apiserver::ServicePort;
use apiserver::WebhookReach;
use authentication::Authenticator;
pub use authentication::{StaticTokens, static_tokens};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
pub use client::Client;
pub use cluster::ClockPace;
use cluster::{Cluster, Reply};
use controller_runtime::cluster::ClusterConfig;
use exchange::{Attempt, Incoming};
use http_request::HttpRequest;
use issuer::TokenIssuer;
use k8s_model::time::SECOND;
use listen::{Call, Guard};
use session::record::{SavedRecord, Unreadable};
use status::failure;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;
use tls::ServerTls;
use tokio::sync::oneshot;
pub use webhooks::Backends;
use webhooks::WebhookCaller;

/// Requests answered between two slices of the engine.
const BATCH: usize = 64;

/// Options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to listen on; port 0 chooses a free one.
    pub listen: SocketAddr,
    /// Bearer token of the administrator, if any. Without it, users of tokens, or TLS, the address must be a loopback one.
    pub token: Option<String>,
    /// Users of static tokens, for [`static_tokens`].
    pub tokens: StaticTokens,
    /// True for HTTPS, with certificates of an authority that is made for this server.
    pub tls: bool,
    /// Cluster before its first request.
    pub config: ClusterConfig,
    /// Seed from which names and uids are drawn.
    pub seed: u64,
    /// Pace of virtual time.
    pub pace: ClockPace,
    /// Manifests applied before the first request.
    pub setup: Vec<String>,
    /// File of the record, written line by line, for [`session::record`].
    pub record: Option<std::path::PathBuf>,
    /// Folder of a built page, which is served beside the cluster and follows it.
    pub page: Option<std::path::PathBuf>,
    /// Local addresses that stand for ports of Services, by which admission webhooks are called.
    pub backends: Backends,
    /// Record whose history the cluster has before its first request; its nodes and its seed take precedence.
    pub resume: Option<String>,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: None,
            tokens: StaticTokens::new(),
            tls: false,
            config: ClusterConfig::default(),
            seed: 1,
            pace: ClockPace::Real(1.0),
            setup: Vec::new(),
            record: None,
            page: None,
            backends: Backends::new(),
            resume: None,
        }
    }
}

/// Running server; it stops when dropped.
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    calls: mpsc::Sender<Call>,
    tls: Option<Arc<ServerTls>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a server; it accepts requests when this returns.
    pub fn start(options: ServeOptions) -> Result<Server, String> {
        let tls = match options.tls {
            true => Some(Arc::new(ServerTls::new(options.listen.ip())?)),
            false => None,
        };
        Server::start_with(options, tls, TokenIssuer::new()?)
    }

    fn start_with(
        options: ServeOptions,
        tls: Option<Arc<ServerTls>>,
        issuer: TokenIssuer,
    ) -> Result<Server, String> {
        if options.token.as_deref() == Some("") {
            return Err("the token is empty".to_owned());
        }
        let loopback = options.listen.ip().is_loopback();
        let guarded = options.token.is_some() || !options.tokens.is_empty() || tls.is_some();
        if !loopback && !guarded {
            return Err(format!(
                "{} is reached from other machines: it needs --token, --token-auth-file or --tls",
                options.listen.ip()
            ));
        }
        let listener =
            TcpListener::bind(options.listen).map_err(|e| format!("{}: {e}", options.listen))?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let guard = Guard {
            token: options.token.clone(),
            tokens: options.tokens.clone(),
            loopback,
            has_tls: tls.is_some(),
        };
        let authenticator = Authenticator {
            token: options.token.clone(),
            tokens: options.tokens.clone(),
            issuer,
            has_anonymous: tls.is_some(),
        };
        let (calls, requests) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let inbox = Inbox {
            sender: calls.clone(),
            receiver: requests,
        };
        let own_tls = tls.clone();
        let engine = std::thread::spawn(move || {
            let (cluster, begun) = match begin(options, own_tls, authenticator, inbox) {
                Ok(cluster) => (Some(cluster), Ok(())),
                Err(problem) => (None, Err(problem)),
            };
            if ready.send(begun).is_ok()
                && let Some(cluster) = cluster
            {
                drive(cluster);
            }
        });
        started
            .recv()
            .map_err(|_| "the cluster could not be started".to_owned())??;
        let (stop, stopped) = oneshot::channel();
        let from_clients = calls.clone();
        let server_tls = tls.clone();
        let http = std::thread::spawn(move || {
            let tls = server_tls.as_deref();
            if let Err(error) = listen::run(listener, from_clients, guard, tls, stopped) {
                eprintln!("error: {error}");
            }
        });
        Ok(Server {
            address,
            stop: Some(stop),
            calls,
            tls,
            threads: vec![http, engine],
        })
    }

    /// Address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a client in this process.
    pub fn client(&self) -> Client {
        Client::new(self.calls.clone())
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the URL in a kubeconfig: a certificate names no unspecified address.
    fn client_url(&self) -> String {
        match (self.tls.is_some(), self.address.ip()) {
            (true, IpAddr::V4(ip)) if ip.is_unspecified() => {
                format!("https://127.0.0.1:{}", self.address.port())
            }
            (true, IpAddr::V6(ip)) if ip.is_unspecified() => {
                format!("https://[::1]:{}", self.address.port())
            }
            _ => self.url(),
        }
    }

    /// Returns the certificate of the authority that signed the server's, as PEM.
    pub fn certificate_authority(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.ca.as_str())
    }

    /// Returns a kubeconfig for clients: with a token, or else with the administrator's certificate if there is one.
    pub fn kubeconfig(&self, token: Option<&str>) -> String {
        let authority = self.tls.as_ref().map_or(String::new(), |tls| {
            let data = STANDARD.encode(&tls.ca);
            format!(", certificate-authority-data: {data}")
        });
        let user = match (token, &self.tls) {
            (Some(token), _) => format!("{{token: {token:?}}}"),
            (None, Some(tls)) => {
                let certificate = STANDARD.encode(&tls.client_certificate);
                let key = STANDARD.encode(&tls.client_key);
                format!("{{client-certificate-data: {certificate}, client-key-data: {key}}}")
            }
            (None, None) => "{}".to_owned(),
        };
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: loopscope\nclusters:\n- name: loopscope\n  cluster: {{server: {:?}{authority}}}\n\
             contexts:\n- name: loopscope\n  context: {{cluster: loopscope, user: loopscope}}\nusers:\n- name: loopscope\n  user: {user}\n",
            self.client_url()
        )
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            // A panic has already been reported.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = self.calls.send(Call::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Messages to the cluster's thread.
struct Inbox {
    sender: mpsc::Sender<Call>,
    receiver: mpsc::Receiver<Call>,
}

/// Creates the cluster before its first request.
fn begin(
    options: ServeOptions,
    tls: Option<Arc<ServerTls>>,
    authenticator: Authenticator,
    inbox: Inbox,
) -> Result<Cluster, String> {
    let mut cluster = match options.resume {
        Some(text) => {
            let record = SavedRecord::read(&text).map_err(|Unreadable(line, problem)| {
                format!("line {line} of the record: {problem}")
            })?;
            Cluster::resumed(record, options.pace)
        }
        None => {
            let mut cluster = Cluster::new(options.config, options.seed, options.pace);
            cluster.pass(SECOND);
            cluster
        }
    };
    cluster.page = options.page;
    let services = options.backends.keys().cloned().collect();
    let reach = WebhookReach {
        services: Rc::new(services),
    };
    let backends = options.backends.clone();
    let caller = WebhookCaller::start(inbox.sender, options.backends);
    cluster.connect_webhooks(caller, reach, inbox.receiver);
    let (issuer, tokens) = (authenticator.issuer.clone(), options.tokens);
    cluster.authenticator = Some(authenticator);
    cluster.starter = Some(Box::new(move |record, pace| {
        let (resume, token) = (Some(record), options.token.clone());
        let options = ServeOptions {
            resume,
            pace,
            token,
            tokens: tokens.clone(),
            backends: backends.clone(),
            ..ServeOptions::default()
        };
        let server = Server::start_with(options, tls.clone(), issuer.clone())?;
        Ok((server.address(), Box::new(server)))
    }));
    if let Some(path) = options.record {
        record_stream::keep(&mut cluster, &path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    options
        .setup
        .iter()
        .try_for_each(|text| cluster.apply(text))?;
    Ok(cluster)
}

/// Answers a request; one that cannot be recorded is refused, since the client could not rely on it.
fn answer_on_record(cluster: &mut Cluster, request: &HttpRequest) -> Reply {
    let unrecorded = || {
        failure(
            500,
            "InternalError",
            "the record cannot be written: no writes are taken any more",
        )
        .into()
    };
    if cluster.record_failed && !matches!(request.method.as_str(), "GET" | "HEAD") {
        return unrecorded();
    }
    let before = (cluster.record_failed, cluster.log.len());
    let answer = route::answer(cluster, request);
    cluster.keep();
    if cluster.record_failed && before != (true, cluster.log.len()) {
        unrecorded()
    } else {
        answer
    }
}

/// Answers requests and advances time, until told to stop.
fn drive(mut cluster: Cluster) {
    let mut wait = Duration::ZERO;
    loop {
        let mut next = match cluster.receive(wait) {
            Ok(call) => Some(call),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // The clock is advanced first: a request is made now, not at the last tick.
        cluster.tick();
        let mut taken = 0;
        while let Some(call) = next.take() {
            match call {
                Call::Request(request, reply) => cluster.serve(Incoming {
                    request,
                    reply,
                    attempt: Attempt::default(),
                }),
                Call::Answered(number, outcome) => cluster.answered(number, &outcome),
                // Input of terminals is read by the next tick.
                Call::Typed => {}
                Call::Stop => return,
            }
            taken += 1;
            if taken < BATCH {
                next = cluster.try_receive();
            }
        }
        wait = cluster.tick();
    }
}
