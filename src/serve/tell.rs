//! What is done to the cluster, told as it is done: to pages that follow it, and into a file.

use super::cluster::{Cluster, OpenRequest, Reply};
use super::status::Answer;
use crate::api::Time;
use crate::api::time::MS;
use crate::session::record;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use tokio::sync::mpsc::{self, Sender};

/// Messages that wait for a slow reader before it has to begin again.
const BUFFER: usize = 10_000;
/// How often the clock is told while nothing is done.
const CLOCK: u64 = 100 * MS;

/// Someone who is told.
struct Teller {
    to: Listener,
    /// Commands that have been told.
    told: usize,
    /// The time that has been told.
    at: Time,
}

enum Listener {
    Page(Sender<Vec<u8>>),
    File(File),
}

/// Tells a page what has been done so far and what is done then, as server-sent events.
pub fn follow(cluster: &mut Cluster) -> Reply {
    let (sender, receiver) = mpsc::channel(BUFFER + cluster.log.len());
    let mut teller = Teller { to: Listener::Page(sender), told: 0, at: Time(0) };
    if teller.send(&record::head(cluster.seed, &cluster.sim.config)) && teller.feed(cluster) {
        cluster.open.push(Box::new(teller));
    }
    Reply::Stream("text/event-stream", receiver, Vec::new())
}

/// What has been done so far.
pub fn whole(cluster: &Cluster) -> Answer {
    let mut lines = vec![record::head(cluster.seed, &cluster.sim.config)];
    lines.extend(cluster.log.iter().map(record::did));
    lines.push(record::clock(cluster.tasks, cluster.sim.now()) + "\n");
    Answer::text(lines.join("\n"))
}

/// Keeps what is done in a file.
pub fn keep(cluster: &mut Cluster, path: &Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    writeln!(file, "{}", record::head(cluster.seed, &cluster.sim.config))?;
    cluster.open.push(Box::new(Teller { to: Listener::File(file), told: 0, at: Time(0) }));
    Ok(())
}

impl OpenRequest for Teller {
    fn restored(&mut self, cluster: &mut Cluster) -> bool {
        (self.told, self.at) = (0, Time(0));
        if let Listener::File(file) = &mut self.to
            && file.set_len(0).and_then(|()| file.rewind()).is_err()
        {
            return false;
        }
        self.send(&record::head(cluster.seed, &cluster.sim.config)) && self.feed(cluster)
    }

    fn keep(&mut self, cluster: &Cluster) {
        if matches!(self.to, Listener::File(_)) && self.told < cluster.log.len() {
            // One that cannot be written ends with the next feed.
            self.tell(cluster);
        }
    }

    fn feed(&mut self, cluster: &mut Cluster) -> bool {
        self.tell(cluster)
    }
}

impl Teller {
    /// Tells what has been done since, or what time it is.
    fn tell(&mut self, cluster: &Cluster) -> bool {
        let new = &cluster.log[self.told.min(cluster.log.len())..];
        self.told = cluster.log.len();
        if !new.iter().all(|command| self.send(&record::did(command))) {
            return false;
        }
        let now = cluster.sim.now();
        if new.is_empty() && now < self.at.after(CLOCK) {
            return !matches!(&self.to, Listener::Page(sender) if sender.is_closed());
        }
        self.at = now;
        self.send(&record::clock(cluster.tasks, now))
    }

    fn send(&mut self, line: &str) -> bool {
        match &mut self.to {
            Listener::Page(sender) => sender.try_send(format!("data: {line}\n\n").into_bytes()).is_ok(),
            Listener::File(file) => writeln!(file, "{line}").inspect_err(|error| eprintln!("error: the record ends here: {error}")).is_ok(),
        }
    }
}
