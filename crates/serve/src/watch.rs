//! Watches: writes since a resourceVersion, sent as they happen.
//!
//! Models `apiserver/pkg/endpoints/handlers/watch.go` and `apiserver/pkg/storage/cacher`.

use super::cluster::{Cluster, OpenRequest};
use super::objects::{RenderedObject, entries_until};
use super::request::Request;
use super::show::Representation;
use super::status;
use apiserver::journal::Op;
use cluster::Sim;
use k8s_model::{Kind, Object};
use kubectl::ObjectSelector;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Number of events buffered for a slow reader before its watch is ended.
const BUFFER: usize = 10_000;
/// Default timeout of a watch.
const LASTS: Duration = Duration::from_secs(45 * 60);
/// Interval of bookmarks for clients that request them.
const BOOKMARKS: Duration = Duration::from_secs(60);
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// Open watch.
pub struct WatchStream {
    kind: Kind,
    namespace: String,
    name: String,
    selection: ObjectSelector,
    form: Representation,
    /// Number of journal entries seen.
    seen: usize,
    sender: Sender<Vec<u8>>,
    until: Instant,
    bookmark: Option<Instant>,
}

impl WatchStream {
    /// Opens a watch of a kind in a namespace (empty: all), and returns its stream.
    pub fn open(
        cluster: &mut Cluster,
        request: &Request,
        (kind, namespace, name): (Kind, &str, &str),
        selection: ObjectSelector,
        form: Representation,
    ) -> (WatchStream, Receiver<Vec<u8>>) {
        let asked: u64 = request.option("resourceVersion").parse().unwrap_or(0);
        let initial = request.on("sendInitialEvents")
            || (asked == 0 && request.option("sendInitialEvents").is_empty());
        let objects = if initial {
            super::objects::objects(cluster, (kind, namespace, name), &selection)
        } else {
            Vec::new()
        };
        // Room for all initial events and a final error: they are sent before anybody can read.
        let (sender, receiver) = mpsc::channel(BUFFER + objects.len() + 1);
        let lasts = request
            .option("timeoutSeconds")
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .map_or(LASTS, Duration::from_secs);
        let bookmarks = request.on("allowWatchBookmarks");
        let seen = if initial {
            cluster.sim.journal().len()
        } else {
            entries_until(&cluster.sim, asked)
        };
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let now = super::clock::now();
        let bookmark = bookmarks.then(|| now + BOOKMARKS);
        let mut watch = WatchStream {
            kind,
            namespace,
            name,
            selection,
            form,
            seen,
            sender,
            until: now + lasts,
            bookmark,
        };
        for object in objects {
            watch.tell(&cluster.sim, "ADDED", object);
        }
        if request.on("sendInitialEvents") && bookmarks {
            watch.mark(&cluster.sim, json!({ INITIAL_END: "true" }));
        }
        watch.catch_up(cluster);
        (watch, receiver)
    }

    /// Sends the events since the last call; returns false once the watch has ended.
    fn catch_up(&mut self, cluster: &mut Cluster) -> bool {
        let mut open = true;
        while let (true, Some(entry)) = (open, cluster.sim.journal().get(self.seen)) {
            self.seen += 1;
            let apiserver::journal::Record::Write { op, object, before } = &entry.record else {
                continue;
            };
            if object.kind != self.kind || !self.is_about(object) {
                continue;
            }
            let value = object.to_value();
            let (is, was) = (
                self.selection.matches(&value),
                before
                    .as_deref()
                    .is_some_and(|old| self.selection.matches(&old.to_value())),
            );
            // An object that is no longer selected is deleted for this client, and one newly selected is added.
            let what = match (op, is, was) {
                (Op::Deleted, _, true) | (Op::Modified, false, true) => "DELETED",
                (Op::Deleted, true, false) => "DELETED",
                (Op::Added, true, _) | (Op::Modified, true, false) => "ADDED",
                (Op::Modified, true, true) => "MODIFIED",
                _ => continue,
            };
            let object = object.clone();
            let (sim, managed) = cluster.managed_until(self.kind, self.seen);
            open = self.tell(sim, what, RenderedObject::of(sim, managed, &object, value));
        }
        let now = super::clock::now();
        if self.bookmark.is_some_and(|at| at <= now) {
            self.bookmark = Some(now + BOOKMARKS);
            open = open && self.mark(&cluster.sim, Value::Null);
        }
        open && !self.sender.is_closed() && now < self.until
    }

    fn is_about(&self, object: &Object) -> bool {
        (self.namespace.is_empty() || object.meta.namespace == self.namespace)
            && (self.name.is_empty() || object.meta.name == self.name)
    }

    fn tell(&mut self, sim: &Sim, what: &str, object: RenderedObject) -> bool {
        let object = self.form.event(sim, object);
        self.send(format!("{{\"type\":{what:?},\"object\":{object}}}"))
    }

    fn mark(&mut self, sim: &Sim, annotations: Value) -> bool {
        let object = self.form.bookmark(sim.server().version(), annotations);
        self.send(json!({ "type": "BOOKMARK", "object": object }).to_string())
    }

    /// Sends an event; returns false if the reader is gone, or so slow that it must relist, which the last event says.
    fn send(&mut self, event: String) -> bool {
        let slow = self.sender.capacity() == 1;
        let text = if slow {
            expired("the client has not read the events that came before")
        } else {
            event
        };
        self.sender.try_send((text + "\n").into_bytes()).is_ok() && !slow
    }
}

/// Final event of a watch whose client has to relist.
fn expired(problem: &str) -> String {
    let message = format!("The resourceVersion for the provided watch is too old: {problem}");
    json!({ "type": "ERROR", "object": status::expired(&message) }).to_string()
}

impl OpenRequest for WatchStream {
    fn restored(&mut self, cluster: &mut Cluster) -> bool {
        self.send(expired(&format!(
            "the history now ends at {}",
            cluster.sim.server().version()
        )));
        false
    }

    fn feed(&mut self, cluster: &mut Cluster) -> bool {
        self.catch_up(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::ClockPace;
    use super::*;
    use controller_runtime::cluster::ClusterConfig;

    fn watch(cluster: &mut Cluster, options: &str) -> (WatchStream, Receiver<Vec<u8>>) {
        let request = Request::new(
            "GET",
            &format!("/api/v1/configmaps?watch=1&resourceVersion=1&{options}"),
        );
        let form = Representation::new(&cluster.sim, &request, Kind::ConfigMap, "v1".to_owned());
        WatchStream::open(
            cluster,
            &request,
            (Kind::ConfigMap, "nowhere", ""),
            ObjectSelector::default(),
            form,
        )
    }

    #[test]
    fn who_asks_for_bookmarks_hears_how_far_the_cluster_is() {
        let mut cluster = Cluster::new(ClusterConfig::default(), 1, ClockPace::Held);
        let ((mut marked, mut reader), (mut plain, mut other)) = (
            watch(&mut cluster, "allowWatchBookmarks=true"),
            watch(&mut cluster, ""),
        );
        assert!(
            marked.feed(&mut cluster) && reader.try_recv().is_err(),
            "not before its time"
        );
        // A minute later.
        marked.bookmark = Some(super::super::clock::now());
        assert!(marked.feed(&mut cluster) && plain.feed(&mut cluster));
        let told: Value = serde_json::from_slice(&reader.try_recv().unwrap()).unwrap();
        assert_eq!(
            (&told["type"], &told["object"]["kind"]),
            (&json!("BOOKMARK"), &json!("ConfigMap"))
        );
        assert_eq!(
            told["object"]["metadata"]["resourceVersion"],
            cluster.sim.server().version().to_string()
        );
        assert!(
            marked
                .bookmark
                .is_some_and(|next| next > super::super::clock::now()),
            "and again a minute later"
        );
        assert!(plain.bookmark.is_none() && other.try_recv().is_err());
    }
}
