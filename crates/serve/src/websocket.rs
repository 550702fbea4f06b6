//! WebSockets: the handshake, and messages in both directions. Their meaning is defined in `terminal`.

use super::route::MAX_BODY;
use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

/// Supported subprotocols, in order of preference.
const PROTOCOLS: &[&str] = &["v5.channel.k8s.io", "v4.channel.k8s.io"];
/// Time that a client has to close after the server did.
const GOODBYE: Duration = Duration::from_secs(5);

/// Connection that its client wants to upgrade to a WebSocket.
pub struct Upgrade {
    connection: OnUpgrade,
    key: String,
    protocol: &'static str,
}

impl Upgrade {
    /// Returns the upgrade that a request asks for, if its protocol is supported.
    pub fn of(request: &mut Request<Incoming>) -> Option<Upgrade> {
        let text = |name: &HeaderName| {
            request
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or("")
        };
        if !text(&UPGRADE).eq_ignore_ascii_case("websocket") {
            return None;
        }
        let offered: Vec<&str> = text(&SEC_WEBSOCKET_PROTOCOL)
            .split(',')
            .map(str::trim)
            .collect();
        let protocol = *PROTOCOLS.iter().find(|name| offered.contains(name))?;
        let key = derive_accept_key(text(&SEC_WEBSOCKET_KEY).as_bytes());
        Some(Upgrade {
            connection: hyper::upgrade::on(request),
            key,
            protocol,
        })
    }

    /// Accepts the upgrade; messages go both ways from then on. `typed` notifies the cluster of a message.
    pub fn accept(
        self,
        output: Receiver<Vec<u8>>,
        input: Sender<Vec<u8>>,
        typed: impl Fn() -> bool + 'static,
    ) -> Response<()> {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(
            SEC_WEBSOCKET_PROTOCOL,
            HeaderValue::from_static(self.protocol),
        );
        if let Ok(key) = HeaderValue::from_str(&self.key) {
            headers.insert(SEC_WEBSOCKET_ACCEPT, key);
        }
        let connection = self.connection;
        tokio::task::spawn_local(async move {
            // A broken connection is no error of the server.
            let Ok(connection) = connection.await else {
                return;
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(MAX_BODY))
                .max_frame_size(Some(MAX_BODY));
            let socket = WebSocketStream::from_raw_socket(
                TokioIo::new(connection),
                Role::Server,
                Some(config),
            )
            .await;
            pass_messages(socket, output, input, typed).await;
        });
        response
    }
}

async fn pass_messages<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    socket: WebSocketStream<S>,
    mut output: Receiver<Vec<u8>>,
    input: Sender<Vec<u8>>,
    typed: impl Fn() -> bool,
) {
    let (mut out, mut inward) = socket.split();
    loop {
        tokio::select! {
            message = output.recv() => match message {
                Some(message) => if out.send(Message::binary(message)).await.is_err() { break },
                None => {
                    let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
                    let _ = out.send(Message::Close(Some(normal))).await;
                    let rest = async { while let Some(Ok(_)) = inward.next().await {} };
                    let _ = tokio::time::timeout(GOODBYE, rest).await;
                    break;
                }
            },
            message = inward.next() => match message {
                Some(Ok(message @ (Message::Binary(_) | Message::Text(_)))) => {
                    // An ended command reads no more; its result is still to be sent.
                    if input.send(message.into_data().to_vec()).await.is_ok() {
                        typed();
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
        }
    }
    drop(input);
    typed();
}
