//! Logs: read once, or followed while the container writes.

use super::cluster::{Cluster, OpenRequest};
use kubectl::{Progress, Session};
use tokio::sync::mpsc::{self, Receiver, Sender};

const BUFFER: usize = 1_000;

/// Log that is followed.
pub struct Follow {
    session: Session,
    sent: usize,
    sender: Sender<Vec<u8>>,
}

impl Follow {
    /// Follows the output of a command.
    pub fn open(session: Session) -> (Follow, Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(BUFFER);
        (
            Follow {
                session,
                sent: 0,
                sender,
            },
            receiver,
        )
    }
}

impl OpenRequest for Follow {
    fn poll(&mut self, cluster: &mut Cluster) -> bool {
        let ended = self.session.poll(&mut cluster.host.sim) == Progress::Done;
        let new = &self.session.stdout[self.sent.min(self.session.stdout.len())..];
        if !new.is_empty() && self.sender.try_send(new.as_bytes().to_vec()).is_err() {
            return false;
        }
        self.sent = self.session.stdout.len();
        !ended && !self.sender.is_closed()
    }
}
