//! A small HTTP client, with TLS or without.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;
use serve::Server;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub code: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or("").to_owned()
    }

    pub fn warnings(&self) -> Vec<String> {
        let lines = self.head.lines();
        let values = lines.filter_map(|line| line.strip_prefix("warning: 299 - "));
        values
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    }
}

/// Client of a server.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    name: String,
    pub headers: Vec<(String, String)>,
}

impl Client {
    pub fn http(server: &Server) -> Client {
        Client {
            address: server.address(),
            tls: None,
            name: "127.0.0.1".to_owned(),
            headers: Vec::new(),
        }
    }

    /// Client that trusts the authority in a kubeconfig, and has the certificate in it if there is one.
    pub fn of_kubeconfig(server: &Server, text: &str) -> Client {
        let field = |name: &str| {
            let rest = text.split_once(&format!("{name}: "))?.1;
            let end = rest.find([',', '}', '\n'])?;
            Some(rest[..end].trim_matches('"').to_owned())
        };
        let decode = |name: &str| {
            use base64::Engine as _;
            let data = field(name)?;
            base64::engine::general_purpose::STANDARD.decode(data).ok()
        };
        let mut client = Client::http(server);
        if let Some(authority) = decode("certificate-authority-data") {
            let mut roots = RootCertStore::empty();
            roots
                .add(CertificateDer::from_pem_slice(&authority).unwrap())
                .unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots);
            let certificate = decode("client-certificate-data");
            let config = match (certificate, decode("client-key-data")) {
                (Some(certificate), Some(key)) => builder
                    .with_client_auth_cert(
                        vec![CertificateDer::from_pem_slice(&certificate).unwrap()],
                        PrivateKeyDer::from_pem_slice(&key).unwrap(),
                    )
                    .unwrap(),
                _ => builder.with_no_client_auth(),
            };
            client.tls = Some(Arc::new(config));
        }
        match field("token") {
            Some(token) => client.with_token(&token),
            None => client,
        }
    }

    pub fn with_token(mut self, token: &str) -> Client {
        let header = ("authorization".to_owned(), format!("Bearer {token}"));
        self.headers.push(header);
        self
    }

    pub fn send(&self, method: &str, target: &str, content_type: &str, body: &str) -> Reply {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut text = format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("\r\n{body}");
        let mut bytes = Vec::new();
        match &self.tls {
            None => exchange(stream, &text, &mut bytes),
            Some(config) => {
                let name = ServerName::try_from(self.name.clone()).unwrap();
                let connection = ClientConnection::new(config.clone(), name).unwrap();
                exchange(StreamOwned::new(connection, stream), &text, &mut bytes);
            }
        }
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(&bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Reply {
            code: code.unwrap(),
            body: bytes[end + 4..].to_vec(),
            head,
        }
    }

    pub fn get(&self, target: &str) -> Reply {
        self.send("GET", target, "application/json", "")
    }

    pub fn post(&self, target: &str, body: &Value) -> Reply {
        self.send("POST", target, "application/json", &body.to_string())
    }

    pub fn merge(&self, target: &str, body: &Value) -> Reply {
        self.send(
            "PATCH",
            target,
            "application/merge-patch+json",
            &body.to_string(),
        )
    }

    pub fn delete(&self, target: &str) -> Reply {
        self.send("DELETE", target, "application/json", "")
    }

    /// Moves the clock of the cluster.
    pub fn pass(&self, seconds: u64) {
        let body = serde_json::json!({ "seconds": seconds });
        assert_eq!(self.post("/loopscope/time", &body).code, 200);
    }
}

fn exchange(mut stream: impl Read + Write, text: &str, bytes: &mut Vec<u8>) {
    stream.write_all(text.as_bytes()).unwrap();
    // A server may close without saying so.
    let _ = stream.read_to_end(bytes);
}
