//! Client of a server in the same process.

use super::cluster::Reply;
use super::http_request::HttpRequest;
use super::listen::Call;
use std::sync::mpsc::Sender;
use tokio::sync::oneshot;

/// Client that sends requests to the cluster of a [`Server`](super::Server) without a connection.
#[derive(Clone, Debug)]
pub struct Client {
    calls: Sender<Call>,
}

impl Client {
    pub(super) fn new(calls: Sender<Call>) -> Client {
        Client { calls }
    }

    /// Sends a request; returns the status code and the body. Streams and terminals need a connection.
    ///
    /// # Errors
    /// The server has stopped, or the answer is a stream.
    pub async fn request(
        &self,
        method: &str,
        target: &str,
        body: impl Into<Vec<u8>>,
    ) -> Result<(u16, Vec<u8>), &'static str> {
        let mut request = HttpRequest::new(method, target);
        request.body = body.into();
        let (reply, answer) = oneshot::channel();
        self.calls
            .send(Call::Request(Box::new(request), reply))
            .map_err(|_| "the server has stopped")?;
        match answer.await {
            Ok(Reply::Whole(answer)) => Ok((answer.code, answer.body)),
            Ok(_) => Err("the answer is a stream"),
            Err(_) => Err("the server has stopped"),
        }
    }
}
