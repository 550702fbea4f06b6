//! HTTP: connections, bodies, access control. It only translates; the cluster answers.

use super::authentication::{Peer, StaticTokens, bearer};
use super::cluster::Reply;
use super::http_request::HttpRequest;
use super::route::MAX_BODY;
use super::status::{Answer, failure};
use super::tls::{self, ServerTls};
use super::websocket::Upgrade;
use apiserver::WebhookOutcome;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, TcpListener};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;

/// Timeout for the head of a request, and for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Message to the cluster's thread.
pub enum Call {
    /// A request, and the channel for its reply.
    Request(Box<HttpRequest>, oneshot::Sender<Reply>),
    /// A webhook has answered the call with this number.
    Answered(u64, WebhookOutcome),
    /// There is input for an open terminal.
    Typed,
    /// The server stops.
    Stop,
}

/// Access control.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Bearer token that clients must send, if any.
    pub token: Option<String>,
    /// Users of static tokens.
    pub tokens: StaticTokens,
    /// True if the server listens on loopback only.
    pub loopback: bool,
    /// True if clients come over TLS: one without credentials is anonymous.
    pub has_tls: bool,
}

impl Guard {
    /// Returns the refusal of a request: a web page open in a person's browser must not reach the server without the person's knowledge.
    fn refuses(&self, request: &HttpRequest) -> Option<Answer> {
        if !self.admits(request) {
            return Some(failure(401, "Unauthorized", "Unauthorized"));
        }
        let host = request.header("host");
        if self.loopback && self.is_open() && !is_loopback(host) {
            return Some(failure(
                403,
                "Forbidden",
                "the server answers to the names of this machine alone",
            ));
        }
        let origin = request.header("origin");
        let own = origin
            .split_once("://")
            .is_some_and(|(_, name)| name == host);
        (!origin.is_empty() && !own).then(|| {
            failure(
                403,
                "Forbidden",
                "the server answers to no other page than its own",
            )
        })
    }

    /// Returns true if clients need no credentials.
    fn is_open(&self) -> bool {
        self.token.is_none() && self.tokens.is_empty() && !self.has_tls
    }

    /// Returns true if a request needs no token or has it. Tokens of ServiceAccounts are checked later, against the cluster. The page's files hold nothing of the cluster; an `EventSource` cannot send headers.
    fn admits(&self, request: &HttpRequest) -> bool {
        if self.has_tls || self.is_open() {
            return true;
        }
        let is_known = |token: &str| {
            self.token.as_deref() == Some(token)
                || self.tokens.contains_key(token)
                || token.matches('.').count() == 2
        };
        let is_read = request.method == "GET";
        match request.path.as_str() {
            "/loopscope/record" if is_read && is_known(request.option("token")) => true,
            path if is_read && path.starts_with("/page/") => true,
            _ => bearer(request).is_some_and(is_known),
        }
    }
}

/// Returns true if a `Host` header means this machine.
fn is_loopback(host: &str) -> bool {
    let name = if let Some(rest) = host.strip_prefix('[') {
        rest.split(']').next().unwrap_or("")
    } else {
        host.split(':').next().unwrap_or("")
    };
    host.is_empty()
        || name == "localhost"
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Accepts connections until told to stop.
pub fn run(
    listener: TcpListener,
    calls: Sender<Call>,
    guard: Guard,
    tls: Option<&ServerTls>,
    stop: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let guard = Rc::new(guard);
        let acceptor = tls.map(|tls| TlsAcceptor::from(tls.config.clone()));
        let mut stop = stop;
        loop {
            let stream = tokio::select! {
                taken = listener.accept() => taken,
                _ = &mut stop => return Ok(()),
            };
            let Ok((stream, _)) = stream else {
                // Too many open files, or a client that has already gone.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let (calls, guard) = (calls.clone(), guard.clone());
            let acceptor = acceptor.clone();
            tokio::task::spawn_local(async move {
                let Some(acceptor) = acceptor else {
                    return connection(stream, calls, guard, Peer::default()).await;
                };
                let stream = tokio::time::timeout(READ_TIMEOUT, acceptor.accept(stream)).await;
                // A client that does not trust the server has gone.
                let Ok(Ok(stream)) = stream else { return };
                let certificates = stream.get_ref().1.peer_certificates();
                let certificate = certificates.and_then(|all| tls::user(all.first()?));
                connection(stream, calls, guard, Peer { certificate }).await;
            });
        }
    })
}

/// Serves a connection until it ends.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    calls: Sender<Call>,
    guard: Rc<Guard>,
    peer: Peer,
) {
    let service =
        service_fn(move |request| answer(request, calls.clone(), guard.clone(), peer.clone()));
    let mut builder = Builder::new(LocalExecutor);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT);
    // A broken connection is no error of the server.
    let _ = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .await;
}

/// Executor that runs the tasks of a connection on the thread that accepted it.
#[derive(Clone, Copy)]
struct LocalExecutor;

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for LocalExecutor {
    fn execute(&self, task: F) {
        tokio::task::spawn_local(task);
    }
}

/// Error of a request that gets no answer, which closes its connection.
#[derive(Debug)]
struct Dropped;

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request was dropped")
    }
}

impl std::error::Error for Dropped {}

async fn answer(
    mut incoming: hyper::Request<Incoming>,
    calls: Sender<Call>,
    guard: Rc<Guard>,
    peer: Peer,
) -> Result<Response<Content>, Dropped> {
    let upgrade = Upgrade::of(&mut incoming);
    let (head, body) = incoming.into_parts();
    let target = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = HttpRequest::new(head.method.as_str(), target);
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        let text = match *name == CONTENT_TYPE {
            // Media types are not case sensitive.
            true => text(value).to_ascii_lowercase(),
            false => text(value),
        };
        (name.as_str().to_owned(), text)
    };
    request.peer = Some(peer);
    request.headers = head.headers.iter().map(header).collect();
    if request.header("host").is_empty()
        && let Some(authority) = head.uri.authority()
    {
        // In HTTP/2 the host is part of the target.
        request
            .headers
            .push(("host".to_owned(), authority.to_string()));
    }
    if let Some(refusal) = guard.refuses(&request) {
        return Ok(response(refusal.into()));
    }
    match tokio::time::timeout(READ_TIMEOUT, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => request.body = body.to_bytes().to_vec(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {MAX_BODY}");
            return Ok(response(
                failure(413, "RequestEntityTooLarge", &message).into(),
            ));
        }
        Ok(Err(error)) => {
            return Ok(response(
                failure(
                    400,
                    "BadRequest",
                    &format!("the body could not be read: {error}"),
                )
                .into(),
            ));
        }
        Err(_) => {
            return Ok(response(
                failure(408, "Timeout", "the body did not come in time").into(),
            ));
        }
    }
    let (is_pretty, is_yaml) = (super::pretty::is_wanted(&request), request.wants_yaml());
    let (reply, answered) = oneshot::channel();
    let gone = || failure(503, "ServiceUnavailable", "the cluster has ended").into();
    let sent = calls.send(Call::Request(Box::new(request), reply)).is_ok();
    let reply = if sent {
        answered.await.unwrap_or_else(|_| gone())
    } else {
        gone()
    };
    let reply = match reply {
        Reply::Late(delay, reply) => {
            tokio::time::sleep(delay).await;
            *reply
        }
        reply => reply,
    };
    Ok(match (reply, upgrade) {
        (Reply::Dropped, _) => return Err(Dropped),
        (Reply::Socket(output, input), Some(upgrade)) => upgrade
            .accept(output, input, move || calls.send(Call::Typed).is_ok())
            .map(|()| Content::Whole(None)),
        (Reply::Whole(answer), _) if is_yaml && answer.content_type == "application/json" => {
            response(Reply::Whole(super::pretty::as_yaml(answer)))
        }
        (Reply::Whole(mut answer), _) if is_pretty && answer.content_type == "application/json" => {
            answer.body = super::pretty::indented(&answer.body);
            response(Reply::Whole(answer))
        }
        (reply, _) => response(reply),
    })
}

fn response(reply: Reply) -> Response<Content> {
    let (answer, content) = match reply {
        Reply::Whole(mut answer) => {
            let body = std::mem::take(&mut answer.body);
            (answer, Content::Whole(Some(body.into())))
        }
        Reply::Stream(content_type, receiver, warnings) => {
            let answer = Answer {
                code: 200,
                content_type,
                warnings,
                ..Answer::default()
            };
            (answer, Content::Stream(receiver))
        }
        // They were handled before.
        Reply::Late(_, reply) => return response(*reply),
        Reply::Dropped => {
            return response(failure(500, "InternalError", "the request was dropped").into());
        }
        // The client did not request a supported WebSocket.
        Reply::Socket(..) => {
            return response(
                failure(
                    400,
                    "BadRequest",
                    "Upgrade request required: WebSocket with v5.channel.k8s.io",
                )
                .into(),
            );
        }
    };
    let mut response = Response::new(content);
    *response.status_mut() =
        StatusCode::from_u16(answer.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if !answer.content_type.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    }
    if answer.retry_after > 0 {
        headers.insert(RETRY_AFTER, HeaderValue::from(answer.retry_after));
    }
    headers.insert(
        hyper::header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, private"),
    );
    for warning in answer.warnings {
        let text = format!("299 - {}", serde_json::Value::from(warning));
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.append(HeaderName::from_static("warning"), value);
        }
    }
    response
}

/// Body of an answer.
enum Content {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Vec<u8>>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Stream(receiver) => receiver
                .poll_recv(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece.into())))),
        }
    }

    /// The length of a complete body is known.
    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Stream(_) => SizeHint::default(),
        }
    }
}
