//! Watches: writes since a resourceVersion, sent as they happen.
//!
//! Models `apiserver/pkg/endpoints/handlers/watch.go` and `apiserver/pkg/storage/cacher`.

use super::client_faults;
use super::cluster::{Cluster, OpenRequest};
use super::http_request::HttpRequest;
use super::objects::{RenderedObject, rendered};
use super::show::Representation;
use super::status;
use apiserver::{Op, Watch, WatchEvent};
use cluster::Sim;
use fault::{CallStage, ClientAction, ClientCall};
use k8s_model::{Kind, Time};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Number of events rendered ahead of the reader; a slow reader gets the others from the history.
const BUFFER: usize = 256;
/// Default timeout of a watch.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45 * 60);
/// Interval of bookmarks for clients that request them.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// Message of a watch that has expired, without its full stop (`storage/etcd3/errors.go`).
const EXPIRED: &str = "The resourceVersion for the provided watch is too old";
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// Open watch.
pub struct WatchStream {
    kind: Kind,
    watch: Watch,
    form: Representation,
    sender: Sender<Vec<u8>>,
    until: Instant,
    bookmark: Option<Instant>,
    /// True until the end of the initial events has been marked, for a client that asks for that.
    marks_end: bool,
    /// True if events wait for the reader.
    has_backlog: bool,
    /// Request, for the faults on its client.
    call: ClientCall,
    /// Number of faults on clients that the watch has seen.
    examined: u32,
    /// Event that a fault delays, and the time at which it is due.
    delayed: Option<DelayedEvent>,
}

/// Event that a fault delays.
struct DelayedEvent {
    event: WatchEvent,
    due: Time,
}

impl WatchStream {
    /// Sends the events of a watch of a kind, from now on; returns their stream.
    pub fn open(
        cluster: &mut Cluster,
        request: &HttpRequest,
        kind: Kind,
        watch: Watch,
        form: Representation,
    ) -> (WatchStream, Receiver<Vec<u8>>) {
        // Room for a final error.
        let (sender, receiver) = mpsc::channel(BUFFER + 1);
        let timeout = request
            .option("timeoutSeconds")
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .map_or(DEFAULT_TIMEOUT, Duration::from_secs);
        let bookmarks = request.on("allowWatchBookmarks");
        let now = super::clock::now();
        let bookmark = bookmarks.then(|| now + BOOKMARK_INTERVAL);
        let mut stream = WatchStream {
            kind,
            watch,
            form,
            sender,
            until: now + timeout,
            bookmark,
            marks_end: request.on("sendInitialEvents") && bookmarks,
            has_backlog: false,
            call: client_faults::call(request, CallStage::Event),
            examined: cluster.host.sim.client_faults.ordered(),
            delayed: None,
        };
        stream.catch_up(cluster);
        (stream, receiver)
    }

    /// Sends the events since the last call, as far as the reader has room; returns false once the watch has ended.
    fn catch_up(&mut self, cluster: &mut Cluster) -> bool {
        let mut open = true;
        self.has_backlog = false;
        while open && !self.has_backlog {
            if self.sender.capacity() == 1 {
                self.has_backlog = true;
            } else if let Some(object) = self.watch.initial.as_mut().and_then(Iterator::next) {
                let object = rendered(cluster, object);
                open = self.send_event(&cluster.host.sim, Op::Added, object);
            } else if std::mem::take(&mut self.marks_end) {
                open = self.send_bookmark(&cluster.host.sim, json!({ INITIAL_END: "true" }));
            } else if let Some(event) = self.next_event(cluster) {
                let (sim, managed) = cluster.managed_until(self.kind, self.watch.position());
                let object = RenderedObject::of(sim, managed, event.object);
                open = self.send_event(sim, event.op, object);
            } else {
                break;
            }
        }
        let now = super::clock::now();
        let is_current = !self.has_backlog && self.delayed.is_none();
        if is_current && self.bookmark.is_some_and(|at| at <= now) {
            self.bookmark = Some(now + BOOKMARK_INTERVAL);
            open = open && self.send_bookmark(&cluster.host.sim, Value::Null);
        }
        open && !self.sender.is_closed() && now < self.until
    }

    /// Returns the next event that no fault withholds from the client.
    fn next_event(&mut self, cluster: &mut Cluster) -> Option<WatchEvent> {
        if let Some(delayed) = self.delayed.take() {
            return self.when_due(cluster, delayed);
        }
        loop {
            let event = self.watch.next_event(cluster.host.sim.store())?;
            let call = || ClientCall {
                line: format!("{} {}", event.op.watch_type(), event.object.key()).into(),
                ..self.call.clone()
            };
            match cluster.client_fault(call) {
                Some(ClientAction::Lose) => {}
                Some(ClientAction::Delay(delay)) => {
                    let written = self.watch.position() - 1;
                    let due = cluster.host.sim.journal()[written].time.after(delay);
                    return self.when_due(cluster, DelayedEvent { event, due });
                }
                _ => return Some(event),
            }
        }
    }

    /// Returns a delayed event if it is due, and keeps it otherwise.
    fn when_due(&mut self, cluster: &Cluster, delayed: DelayedEvent) -> Option<WatchEvent> {
        if delayed.due <= cluster.host.sim.now() {
            return Some(delayed.event);
        }
        self.delayed = Some(delayed);
        None
    }

    /// Lets faults that are new act on the watch; returns false if one ends it.
    fn outlasts_faults(&mut self, cluster: &mut Cluster) -> bool {
        let ordered = cluster.host.sim.client_faults.ordered();
        let examined = std::mem::replace(&mut self.examined, ordered);
        if examined == ordered {
            return true;
        }
        let action = cluster.client_fault(|| ClientCall {
            stage: CallStage::OpenWatch { examined },
            ..self.call.clone()
        });
        if action == Some(ClientAction::Expire) {
            self.send(error_event(&format!("{EXPIRED}.")));
        }
        action.is_none()
    }

    fn send_event(&mut self, sim: &Sim, op: Op, object: RenderedObject) -> bool {
        let (event_type, object) = (op.watch_type(), self.form.event(sim, object));
        self.send(format!("{{\"type\":{event_type:?},\"object\":{object}}}\n"))
    }

    fn send_bookmark(&mut self, sim: &Sim, annotations: Value) -> bool {
        let object = self.form.bookmark(sim.store().version(), annotations);
        self.send(json!({ "type": "BOOKMARK", "object": object }).to_string() + "\n")
    }

    /// Sends an event; returns false if the reader is gone.
    fn send(&mut self, event: String) -> bool {
        self.sender.try_send(event.into_bytes()).is_ok()
    }
}

/// Returns the final event of a watch whose client has to relist.
pub fn error_event(message: &str) -> String {
    json!({ "type": "ERROR", "object": status::expired(message) }).to_string() + "\n"
}

impl OpenRequest for WatchStream {
    fn restored(&mut self, cluster: &mut Cluster) -> bool {
        let version = cluster.host.sim.store().version();
        self.send(error_event(&format!(
            "{EXPIRED}: the history now ends at {version}"
        )));
        false
    }

    fn poll(&mut self, cluster: &mut Cluster) -> bool {
        self.outlasts_faults(cluster) && self.catch_up(cluster)
    }

    fn due(&self) -> Option<Time> {
        self.delayed.as_ref().map(|delayed| delayed.due)
    }

    fn has_backlog(&self) -> bool {
        self.has_backlog
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::ClockPace;
    use super::*;
    use apiserver::{Content, Request, RequestOptions, Verb};
    use controller_runtime::cluster::ClusterConfig;
    use k8s_model::ObjectRef;

    fn watch(
        cluster: &mut Cluster,
        namespace: &str,
        options: &str,
    ) -> (WatchStream, Receiver<Vec<u8>>) {
        let request = HttpRequest::new(
            "GET",
            &format!("/api/v1/configmaps?watch=1&resourceVersion=1&{options}"),
        );
        let kind = Kind::ConfigMap;
        let form = Representation::new(&cluster.host.sim, &request, kind, "v1".to_owned());
        let key = ObjectRef::new(kind, namespace, "");
        let response = cluster.send(Request {
            options: RequestOptions {
                list_options: request.list_options(),
                ..RequestOptions::default()
            },
            ..Request::new(Verb::Watch, &key)
        });
        let Ok(Content::Watch(watch)) = response.result else {
            panic!("a watch of a stored kind is served");
        };
        WatchStream::open(cluster, &request, kind, watch, form)
    }

    #[test]
    fn bookmarks_are_sent_to_watches_that_allow_them() {
        let mut cluster = Cluster::new(ClusterConfig::default(), 1, ClockPace::Held);
        let ((mut marked, mut reader), (mut plain, mut other)) = (
            watch(&mut cluster, "nowhere", "allowWatchBookmarks=true"),
            watch(&mut cluster, "nowhere", ""),
        );
        assert!(
            marked.poll(&mut cluster) && reader.try_recv().is_err(),
            "not before its time"
        );
        // A minute later.
        marked.bookmark = Some(super::super::clock::now());
        assert!(marked.poll(&mut cluster) && plain.poll(&mut cluster));
        let event: Value = serde_json::from_slice(&reader.try_recv().unwrap()).unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["kind"]),
            (&json!("BOOKMARK"), &json!("ConfigMap"))
        );
        assert_eq!(
            event["object"]["metadata"]["resourceVersion"],
            cluster.host.sim.store().version().to_string()
        );
        assert!(
            marked
                .bookmark
                .is_some_and(|next| next > super::super::clock::now()),
            "and again a minute later"
        );
        assert!(plain.bookmark.is_none() && other.try_recv().is_err());
    }

    #[test]
    fn events_for_a_slow_reader_stay_in_the_history() {
        let mut cluster = Cluster::new(ClusterConfig::default(), 1, ClockPace::Held);
        let (mut stream, mut reader) = watch(&mut cluster, "default", "");
        let count = BUFFER + 50;
        for number in 0..count {
            let metadata = json!({ "name": format!("c{number}"), "namespace": "default" });
            let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
            let created = cluster.send(Request::of_manifest(Verb::Create, object));
            assert!(created.result.is_ok());
        }
        assert!(stream.poll(&mut cluster) && stream.has_backlog());
        assert_eq!(reader.len(), BUFFER);
        let mut names = Vec::new();
        while let Ok(event) = reader.try_recv() {
            let event: Value = serde_json::from_slice(&event).unwrap();
            names.push(event["object"]["metadata"]["name"].clone());
            assert!(stream.poll(&mut cluster));
        }
        assert!(!stream.has_backlog());
        let created = |name: &Value| name.as_str().is_some_and(|name| name.starts_with('c'));
        names.retain(created);
        let expected = (0..count).map(|number| json!(format!("c{number}")));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }
}
