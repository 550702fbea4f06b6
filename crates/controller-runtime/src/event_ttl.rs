//! Expiry of Events: the API server stores them with a TTL of an hour, in leases of etcd.
//!
//! An Event is attached to the newest lease if that was granted within the last minute, otherwise to a new one; for that reason a lease
//! lives a minute longer than an hour. Each write of an Event attaches it anew. So Events expire an hour to an hour and a minute after
//! their last write, those of one minute at the same time.
//!
//! Models `--event-ttl` of kube-apiserver and `storage/etcd3/lease_manager.go` (its limit of keys for a lease is not modelled).

use apiserver::journal::{Actor, Op};
use apiserver::why::Why;
use apiserver::{ApiServer, DeleteOptions, Origin};
use k8s_model::time::SECOND;
use k8s_model::{Kind, Time};

/// Minimum lifetime of an Event, in microseconds.
const TTL_US: u64 = 3_600 * SECOND;
/// Time during which a lease accepts further Events, in microseconds.
const LEASE_REUSE_US: u64 = 60 * SECOND;
/// Journal entries processed in one task.
const BATCH: usize = 512;

/// Newest etcd lease, and the position in the journal up to which expired Events have been handled.
#[derive(Clone, Debug, Default)]
pub struct EventLeases {
    /// Time at which the lease was granted.
    granted: Option<Time>,
    /// First journal entry whose lease has not expired.
    read: usize,
}

impl EventLeases {
    /// Grants a lease to an Event that was just written, if the newest accepts no more; returns its expiry.
    pub fn grant(&mut self, written: Time) -> Option<Time> {
        let accepts = |granted: Time| written <= granted.after(LEASE_REUSE_US);
        if self.granted.is_some_and(accepts) {
            return None;
        }
        self.granted = Some(written);
        Some(written.after(TTL_US + LEASE_REUSE_US))
    }

    /// Deletes the Events of an expired lease. Returns false if more are left for the next task.
    pub fn expire(&mut self, granted: Time, server: &mut ApiServer, pass: u32) -> bool {
        let (ended, store) = (granted.after(LEASE_REUSE_US), &server.store);
        let journal = store.journal();
        let due: Vec<_> = journal
            .from(self.read)
            .iter()
            .take(BATCH)
            .take_while(|entry| entry.time <= ended)
            .collect();
        let (count, all) = (due.len(), due.len() < BATCH);
        // An Event written since then has another lease.
        let newest = |object: &k8s_model::Object| {
            let stored = store.get(&object.key());
            stored
                .is_some_and(|stored| stored.meta.resource_version == object.meta.resource_version)
        };
        let events = due
            .into_iter()
            .filter_map(|entry| entry.write())
            .filter(|(op, object)| *op != Op::Deleted && object.kind == Kind::Event);
        let keys: Vec<_> = events
            .filter(|(_, object)| newest(object))
            .map(|(_, object)| object.key())
            .collect();
        self.read += count;
        let origin = Origin::new(Actor::SERVER, None, pass);
        for key in keys {
            // The Event exists and has no finalizers.
            let _ = server.delete(&origin, &key, DeleteOptions::default(), Why::EventExpired);
        }
        all
    }
}
