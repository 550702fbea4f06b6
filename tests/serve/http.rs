//! A small HTTP client, so that the tests need none.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
pub struct Reply {
    pub code: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }
}

/// Connects and sends a request; the answer is still to be read.
pub fn open(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(300)))
        .unwrap();
    let mut head = format!(
        "{method} {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    headers
        .iter()
        .for_each(|(key, value)| head.push_str(&format!("{key}: {value}\r\n")));
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    // A server that refuses a long body may close before it is sent.
    let _ = stream.write_all(body);
    BufReader::new(stream)
}

/// Reads status and headers.
pub fn head(stream: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let code = line
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or_else(|| panic!("no status: {line:?}"));
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((key, value)) => headers.push((key.to_owned(), value.to_owned())),
            None => return (code, headers),
        }
    }
}

/// Sends a request and reads the whole answer.
pub fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let mut stream = open(address, method, target, headers, body);
    let (code, headers) = head(&mut stream);
    let mut body = Vec::new();
    if headers
        .iter()
        .any(|(key, value)| key == "transfer-encoding" && value == "chunked")
    {
        while let Some(piece) = chunk(&mut stream) {
            body.extend(piece);
        }
    } else {
        stream.read_to_end(&mut body).unwrap();
    }
    Reply {
        code,
        headers,
        body,
    }
}

/// The next piece of an answer that comes in pieces.
pub fn chunk(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let size = usize::from_str_radix(line.trim(), 16)
        .ok()
        .filter(|size| *size > 0)?;
    let mut piece = vec![0; size + 2];
    stream.read_exact(&mut piece).ok()?;
    piece.truncate(size);
    Some(piece)
}

pub fn get(address: SocketAddr, target: &str) -> Reply {
    send(address, "GET", target, &[], b"")
}

pub fn post(address: SocketAddr, target: &str, body: &Value) -> Reply {
    send(
        address,
        "POST",
        target,
        &[("content-type", "application/json")],
        body.to_string().as_bytes(),
    )
}

/// Moves the clock of the cluster.
pub fn pass(address: SocketAddr, seconds: u64) {
    assert_eq!(
        post(
            address,
            "/loopscope/time",
            &serde_json::json!({ "seconds": seconds })
        )
        .code,
        200
    );
}
