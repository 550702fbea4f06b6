//! Publishing of the record as it grows: to pages that follow the cluster, and into a file.

use super::cluster::{Cluster, OpenRequest, Reply};
use super::status::Answer;
use k8s_model::Time;
use k8s_model::time::MS;
use session::record;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use tokio::sync::mpsc::{self, Sender};

/// Number of messages buffered for a slow reader before it has to start again.
const BUFFER: usize = 10_000;
/// Interval at which the clock is sent while no command runs.
const CLOCK: u64 = 100 * MS;

/// Subscriber of the growing record: a page that follows it, or its file.
struct RecordSubscriber {
    sink: Sink,
    /// Number of commands sent.
    sent: usize,
    /// Time sent last.
    at: Time,
}

enum Sink {
    Page(Sender<Vec<u8>>),
    File(File),
}

/// Streams the record so far, and its additions, to a page as server-sent events.
pub fn follow(cluster: &mut Cluster) -> Reply {
    let (sender, receiver) = mpsc::channel(BUFFER + cluster.log.len());
    let mut subscriber = RecordSubscriber {
        sink: Sink::Page(sender),
        sent: 0,
        at: Time(0),
    };
    if subscriber.send(&record::head(cluster.seed, &cluster.host.sim.config))
        && subscriber.poll(cluster)
    {
        cluster.open.push(Box::new(subscriber));
    }
    Reply::Stream("text/event-stream", receiver, Vec::new())
}

/// Returns the record so far.
pub fn whole(cluster: &Cluster) -> Answer {
    let mut lines = vec![record::head(cluster.seed, &cluster.host.sim.config)];
    lines.extend(cluster.log.iter().map(record::did));
    lines.push(record::clock(cluster.host.steps, cluster.host.sim.now()) + "\n");
    Answer::text(lines.join("\n"))
}

/// Writes the record to a file.
pub fn keep(cluster: &mut Cluster, path: &Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    writeln!(
        file,
        "{}",
        record::head(cluster.seed, &cluster.host.sim.config)
    )?;
    cluster.open.push(Box::new(RecordSubscriber {
        sink: Sink::File(file),
        sent: 0,
        at: Time(0),
    }));
    Ok(())
}

impl OpenRequest for RecordSubscriber {
    fn restored(&mut self, cluster: &mut Cluster) -> bool {
        (self.sent, self.at) = (0, Time(0));
        let emptied = match &mut self.sink {
            Sink::Page(_) => true,
            Sink::File(file) => {
                !cluster.record_failed && file.set_len(0).and_then(|()| file.rewind()).is_ok()
            }
        };
        let head = record::head(cluster.seed, &cluster.host.sim.config);
        let goes_on = emptied && self.send(&head) && self.send_new(cluster);
        self.goes_on(goes_on, cluster)
    }

    fn keep(&mut self, cluster: &mut Cluster) {
        if matches!(self.sink, Sink::File(_))
            && !cluster.record_failed
            && self.sent < cluster.log.len()
        {
            let goes_on = self.send_new(cluster);
            self.goes_on(goes_on, cluster);
        }
    }

    fn poll(&mut self, cluster: &mut Cluster) -> bool {
        if cluster.record_failed && matches!(self.sink, Sink::File(_)) {
            return false;
        }
        let goes_on = self.send_new(cluster);
        self.goes_on(goes_on, cluster)
    }
}

impl RecordSubscriber {
    /// Notes that the file is closed for good once a write failed: a record with a gap is useless.
    fn goes_on(&self, goes_on: bool, cluster: &mut Cluster) -> bool {
        cluster.record_failed |= !goes_on && matches!(self.sink, Sink::File(_));
        goes_on
    }

    /// Sends the commands since the last one sent, or the time if there are none.
    fn send_new(&mut self, cluster: &Cluster) -> bool {
        let new = &cluster.log[self.sent.min(cluster.log.len())..];
        self.sent = cluster.log.len();
        if !new.iter().all(|command| self.send(&record::did(command))) {
            return false;
        }
        let now = cluster.host.sim.now();
        if new.is_empty() && now < self.at.after(CLOCK) {
            return !matches!(&self.sink, Sink::Page(sender) if sender.is_closed());
        }
        self.at = now;
        self.send(&record::clock(cluster.host.steps, now))
    }

    fn send(&mut self, line: &str) -> bool {
        match &mut self.sink {
            Sink::Page(sender) => sender
                .try_send(format!("data: {line}\n\n").into_bytes())
                .is_ok(),
            Sink::File(file) => writeln!(file, "{line}")
                .inspect_err(|error| eprintln!("error: the record ends here: {error}"))
                .is_ok(),
        }
    }
}
