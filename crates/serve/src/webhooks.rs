//! Calls of admission webhooks: HTTPS requests with an `AdmissionReview`, on a thread of their own.
//!
//! Models `apiserver/pkg/admission/plugin/webhook/request/admissionreview.go` and `apiserver/pkg/util/webhook/client.go`.

use super::listen::Call;
use super::tls;
use apiserver::{ServicePort, WebhookCall, WebhookOutcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use ring::rand::{SecureRandom, SystemRandom};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

/// Longest answer of a webhook, in bytes.
const MAX_ANSWER: usize = 3 * 1024 * 1024;
/// Longest timeout that a webhook may have, in seconds.
const MAX_TIMEOUT: u64 = 30;
const GROUP: &str = "admission.k8s.io";

/// Local addresses that stand for ports of Services.
pub type Backends = BTreeMap<ServicePort, SocketAddr>;

/// Caller of webhooks; its thread ends when it is dropped.
pub struct WebhookCaller {
    jobs: UnboundedSender<(u64, WebhookCall)>,
}

impl WebhookCaller {
    /// Starts the thread; outcomes are sent to the cluster's thread.
    pub fn start(outcomes: Sender<Call>, backends: Backends) -> WebhookCaller {
        let (jobs, calls) = unbounded_channel();
        std::thread::spawn(move || run(calls, &outcomes, backends));
        WebhookCaller { jobs }
    }

    /// Makes a call, whose outcome will have its number.
    pub fn call(&self, number: u64, call: WebhookCall) {
        // The thread ends only after the caller.
        let _ = self.jobs.send((number, call));
    }
}

fn run(
    mut calls: UnboundedReceiver<(u64, WebhookCall)>,
    outcomes: &Sender<Call>,
    backends: Backends,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: webhooks cannot be called: {error}");
            return;
        }
    };
    let backends = Rc::new(backends);
    LocalSet::new().block_on(&runtime, async {
        while let Some((number, call)) = calls.recv().await {
            let (outcomes, backends) = (outcomes.clone(), backends.clone());
            tokio::task::spawn_local(async move {
                let outcome = outcome(&call, &backends).await;
                // A cluster that has ended needs no answer.
                let _ = outcomes.send(Call::Answered(number, outcome));
            });
        }
    });
}

async fn outcome(call: &WebhookCall, backends: &Backends) -> WebhookOutcome {
    let Some(version) = call
        .review_versions
        .iter()
        .find(|version| matches!(version.as_str(), "v1" | "v1beta1"))
    else {
        return WebhookOutcome::Failed("could not get admission review objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)".to_owned());
    };
    let uid = random_uid();
    let mut request = call.request.clone();
    request["uid"] = uid.as_str().into();
    let api_version = format!("{GROUP}/{version}");
    let review =
        json!({ "kind": "AdmissionReview", "apiVersion": api_version, "request": request });
    let answer = match post(call, &review.to_string(), backends).await {
        Ok(answer) => answer,
        Err(problem) => {
            return WebhookOutcome::Failed(format!("failed to call webhook: {problem}"));
        }
    };
    match verified(&answer, &uid, version, call.webhook.mutates) {
        Ok(response) => WebhookOutcome::Response(response),
        Err(problem) => {
            WebhookOutcome::Failed(format!("received invalid webhook response: {problem}"))
        }
    }
}

/// Returns a random uid. It identifies a call, not an object: the simulation does not see it.
fn random_uid() -> String {
    let mut bytes = [0_u8; 16];
    // Without randomness the uid is still well formed.
    let _ = SystemRandom::new().fill(&mut bytes);
    uid(bytes)
}

/// Formats random bytes as a uid of version 4.
pub fn uid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let [a, b, c, d, e] = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    format!("{a}-{b}-{c}-{d}-{e}")
}

/// Address that is called.
struct Endpoint {
    /// URL in messages.
    url: String,
    host: String,
    port: u16,
    path: String,
    /// Local address that stands for a Service.
    backend: Option<SocketAddr>,
}

impl Endpoint {
    fn new(call: &WebhookCall, backends: &Backends) -> Result<Endpoint, String> {
        let config = &call.client_config;
        let timeout = format!("timeout={}s", call.timeout_seconds);
        let service = &config["service"];
        if service.is_object() {
            let text = |field: &str| service[field].as_str().unwrap_or("").to_owned();
            let port = service["port"]
                .as_u64()
                .and_then(|port| port.try_into().ok());
            let key = ServicePort {
                namespace: text("namespace"),
                name: text("name"),
                port: port.unwrap_or(443),
            };
            let host = format!("{}.{}.svc", key.name, key.namespace);
            let path = match text("path") {
                path if path.is_empty() => "/".to_owned(),
                path => path,
            };
            return Ok(Endpoint {
                url: format!("https://{host}:{}{path}?{timeout}", key.port),
                path: format!("{path}?{timeout}"),
                backend: backends.get(&key).copied(),
                port: key.port,
                host,
            });
        }
        let url = config["url"].as_str().unwrap_or("");
        let uri: hyper::Uri = url
            .parse()
            .map_err(|_| format!("parse {url:?}: invalid URL"))?;
        let host = uri.host().unwrap_or("").trim_matches(['[', ']']).to_owned();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let joint = if path.contains('?') { '&' } else { '?' };
        Ok(Endpoint {
            url: format!("{url}{joint}{timeout}"),
            path: format!("{path}{joint}{timeout}"),
            port: uri.port_u16().unwrap_or(443),
            backend: None,
            host,
        })
    }
}

/// Posts a review; returns the answer's body.
///
/// # Errors
/// The problem, in the words of Go's HTTP client.
async fn post(call: &WebhookCall, body: &str, backends: &Backends) -> Result<Bytes, String> {
    let endpoint = Endpoint::new(call, backends)?;
    let of_url = |problem: String| format!("Post {:?}: {problem}", endpoint.url);
    let timeout = Duration::from_secs(call.timeout_seconds.clamp(1, MAX_TIMEOUT));
    let exchange = tokio::time::timeout(timeout, exchange(call, &endpoint, body)).await;
    let (code, answer) = exchange
        .unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
        .map_err(of_url)?;
    match code {
        200 => Ok(answer),
        404 => Err("the server could not find the requested resource".to_owned()),
        500.. => {
            let text = String::from_utf8_lossy(&answer);
            let text = match text.trim() {
                "" => "unknown",
                text => text,
            };
            Err(format!(
                "an error on the server ({text:?}) has prevented the request from succeeding"
            ))
        }
        _ => Err("the server rejected our request for an unknown reason".to_owned()),
    }
}

async fn exchange(
    call: &WebhookCall,
    endpoint: &Endpoint,
    body: &str,
) -> Result<(u16, Bytes), String> {
    let bundle = call.client_config["caBundle"].as_str().unwrap_or("");
    let bundle = STANDARD
        .decode(bundle)
        .map_err(|_| "unable to load root certificates: caBundle is not base64".to_owned())?;
    let config = tls::client_config(&bundle)
        .map_err(|problem| format!("unable to load root certificates: {problem}"))?;
    let stream = connect(endpoint).await?;
    let name = ServerName::try_from(endpoint.host.clone())
        .map_err(|_| format!("tls: invalid server name {:?}", endpoint.host))?;
    let stream = tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .map_err(|error| tls::go_error(&error, &endpoint.host))?;
    let failed = |error: hyper::Error| match error.is_incomplete_message() {
        true => "EOF".to_owned(),
        false => error.to_string(),
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    tokio::task::spawn_local(async move {
        // The error is that of the request.
        let _ = connection.await;
    });
    let request = hyper::Request::post(&endpoint.path)
        .header("host", format!("{}:{}", endpoint.host, endpoint.port))
        .header("content-type", "application/json")
        .header("accept", "application/json, */*")
        .header("user-agent", "kube-apiserver-admission")
        .body(Full::new(Bytes::from(body.to_owned())))
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(failed)?;
    let code = response.status().as_u16();
    let answer = Limited::new(response.into_body(), MAX_ANSWER).collect();
    let answer = answer.await.map_err(|error| error.to_string())?;
    Ok((code, answer.to_bytes()))
}

async fn connect(endpoint: &Endpoint) -> Result<TcpStream, String> {
    let addresses: Vec<SocketAddr> = match endpoint.backend {
        Some(address) => vec![address],
        None => tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port))
            .await
            .map(Iterator::collect)
            .unwrap_or_default(),
    };
    let mut problem = format!("dial tcp: lookup {}: no such host", endpoint.host);
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                let text = match error.kind() {
                    io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
                    io::ErrorKind::HostUnreachable => "no route to host".to_owned(),
                    _ => error.to_string(),
                };
                problem = format!("dial tcp {address}: connect: {text}");
            }
        }
    }
    Err(problem)
}

/// Reads the answer of a webhook; returns its response with the decoded patch and without what only this call has.
/// Models `VerifyAdmissionResponse`.
fn verified(answer: &[u8], uid: &str, version: &str, mutates: bool) -> Result<Value, String> {
    let review: Value =
        serde_json::from_slice(answer).map_err(|error| format!("json parse error: {error}"))?;
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let response = &review["response"];
    if !response.is_object() {
        return Err("webhook response was absent".to_owned());
    }
    let (api_version, kind) = (text(&review["apiVersion"]), text(&review["kind"]));
    let is_strict = version == "v1";
    if is_strict && text(&response["uid"]) != uid {
        let found = text(&response["uid"]);
        return Err(format!("expected response.uid={uid:?}, got {found:?}"));
    }
    if is_strict && (api_version != format!("{GROUP}/{version}") || kind != "AdmissionReview") {
        return Err(format!(
            "expected webhook response of {GROUP}/{version}, Kind=AdmissionReview, got {api_version}, Kind={kind}"
        ));
    }
    let (patch, patch_type) = (&response["patch"], &response["patchType"]);
    let has_patch = patch.as_str().is_some_and(|patch| !patch.is_empty());
    let problem = match (mutates, has_patch, patch_type.as_str()) {
        (true, true, None) if is_strict => {
            "webhook returned response.patch but not response.patchType"
        }
        (true, false, Some(_)) if is_strict => {
            "webhook returned response.patchType but not response.patch"
        }
        (true, _, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (true, _, Some(other)) if other != "JSONPatch" => {
            return Err(format!("unsupported patch type {other:?}"));
        }
        (false, true, _) => "validating webhook may not return response.patch",
        (false, _, Some(_)) => "validating webhook may not return response.patchType",
        _ => "",
    };
    if !problem.is_empty() {
        return Err(problem.to_owned());
    }
    let mut kept = json!({ "allowed": response["allowed"] == true });
    if has_patch {
        let text = text(patch);
        let bytes = STANDARD
            .decode(text)
            .map_err(|_| "illegal base64 data in response.patch".to_owned())?;
        kept["patch"] = serde_json::from_slice(&bytes)
            .map_err(|error| format!("response.patch is no JSON patch: {error}"))?;
    }
    for field in ["status", "warnings", "auditAnnotations"] {
        if !response[field].is_null() {
            kept[field] = response[field].clone();
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_verified_as_upstream_does() {
        let review = |response: Value| {
            json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response }).to_string()
        };
        let verify = |text: &str, mutates| verified(text.as_bytes(), "u", "v1", mutates);
        assert_eq!(
            verify(&review(json!({ "uid": "u", "allowed": true })), true),
            Ok(json!({ "allowed": true }))
        );
        let patch = STANDARD.encode("[]");
        for (response, mutates, problem) in [
            (
                json!({ "uid": "v", "allowed": true }),
                false,
                "expected response.uid=\"u\", got \"v\"",
            ),
            (
                json!({ "uid": "u", "patch": patch }),
                true,
                "webhook returned response.patch but not response.patchType",
            ),
            (
                json!({ "uid": "u", "patch": patch }),
                false,
                "validating webhook may not return response.patch",
            ),
            (
                json!({ "uid": "u", "patch": patch, "patchType": "Merge" }),
                true,
                "unsupported patch type \"Merge\"",
            ),
        ] {
            assert_eq!(verify(&review(response), mutates), Err(problem.to_owned()));
        }
        assert_eq!(
            verify("{}", true),
            Err("webhook response was absent".to_owned())
        );
    }

    #[test]
    fn uids_of_calls_are_random_and_well_formed() {
        let (one, two) = (random_uid(), random_uid());
        assert_ne!(one, two);
        assert_eq!((one.len(), one.as_bytes()[14]), (36, b'4'));
    }
}
