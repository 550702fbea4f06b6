//! A webhook server with HTTPS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Reaction of a webhook to a request.
pub enum Deed {
    /// Answers with a `response`, whose uid is added.
    Answer(Value),
    /// Answers with a status code and a text.
    Fail(u16, &'static str),
    /// Answers with this body.
    Raw(String),
    /// Answers after a while.
    Late(Duration, Value),
}

/// Review that the server has received: its path, and the review.
pub type Received = Arc<Mutex<Vec<(String, Value)>>>;

/// Webhook server; it stops when dropped.
pub struct Hooks {
    pub address: SocketAddr,
    /// `caBundle` for its certificate.
    pub bundle: String,
    received: Received,
    stops: Arc<AtomicBool>,
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Hooks {
    /// Starts a server that does with each request what `judge` says, by path and `request`.
    pub fn start(judge: impl Fn(&str, &Value) -> Deed + Send + Sync + 'static) -> Hooks {
        let names = ["127.0.0.1", "localhost", "judge.hooks.svc"].map(str::to_owned);
        Hooks::with_certificate(CertificateParams::new(names).unwrap(), judge)
    }

    /// Starts a server whose certificate is signed by itself.
    pub fn with_certificate(
        params: CertificateParams,
        judge: impl Fn(&str, &Value) -> Deed + Send + Sync + 'static,
    ) -> Hooks {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let hooks = Hooks {
            address: listener.local_addr().unwrap(),
            bundle: STANDARD.encode(certificate.pem()),
            received: Received::default(),
            stops: Arc::default(),
        };
        let (config, judge) = (Arc::new(config), Arc::new(judge));
        let (received, stops) = (hooks.received.clone(), hooks.stops.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stops.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (config, judge) = (config.clone(), judge.clone());
                let received = received.clone();
                std::thread::spawn(move || {
                    let connection = ServerConnection::new(config).unwrap();
                    let mut stream = StreamOwned::new(connection, stream);
                    // A client that does not trust the certificate leaves.
                    let _ = answer(&mut stream, &*judge, &received);
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                });
            }
        });
        hooks
    }

    /// `clientConfig` with a URL.
    pub fn url(&self, path: &str) -> Value {
        json!({ "url": format!("https://{}{path}", self.address), "caBundle": self.bundle })
    }

    /// `clientConfig` with the Service `hooks/judge`.
    pub fn service(&self, path: &str) -> Value {
        json!({ "service": { "namespace": "hooks", "name": "judge", "path": path }, "caBundle": self.bundle })
    }

    /// Paths and reviews received so far.
    pub fn received(&self) -> Vec<(String, Value)> {
        self.received.lock().unwrap().clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.received().into_iter().map(|(path, _)| path).collect()
    }
}

fn answer(
    stream: &mut (impl Read + Write),
    judge: &dyn Fn(&str, &Value) -> Deed,
    received: &Received,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let (end, length) = loop {
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&piece[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.split("content-length: ").nth(1).unwrap();
            let length = length.lines().next().unwrap().trim();
            break (end + 4, length.parse::<usize>().unwrap());
        }
    };
    while bytes.len() < end + length {
        let count = stream.read(&mut piece)?;
        bytes.extend_from_slice(&piece[..count]);
    }
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let path = target.split('?').next().unwrap();
    let review: Value = serde_json::from_slice(&bytes[end..]).unwrap();
    received
        .lock()
        .unwrap()
        .push((target.clone(), review.clone()));
    let respond = |mut response: Value| {
        response["uid"] = review["request"]["uid"].clone();
        let review = json!({ "apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response });
        (200, review.to_string())
    };
    let (code, body) = match judge(path, &review["request"]) {
        Deed::Answer(response) => respond(response),
        Deed::Fail(code, text) => (code, text.to_owned()),
        Deed::Raw(text) => (200, text),
        Deed::Late(time, response) => {
            std::thread::sleep(time);
            respond(response)
        }
    };
    write!(
        stream,
        "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// `response` with a JSON patch.
pub fn patch(operations: &Value) -> Value {
    let patch = STANDARD.encode(operations.to_string());
    json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch })
}
