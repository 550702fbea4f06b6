//! Store: the objects, their indexes, the journal of all writes, and the clock.
//!
//! Guarantees: `resourceVersion` grows with every write; each write is one journal entry.
//! Models `staging/src/k8s.io/apiserver/pkg/storage`.

use super::ApiError;
use super::addresses::Addresses;
use super::journal::{Entries, Entry, EntryId, Journal, Op, Record, RefusedWrite};
use super::server::Origin;
use super::why::Why;
use k8s_model::network::{EndpointSlice, is_slice_of};
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Timestamp};
use sim_core::indexes::ReferenceIndex;
use sim_core::rng::Rng;
use sim_core::table::{Listing, Tables};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Length of the longest start of a generated name, in bytes (`MaxGeneratedNameLength`).
const MAX_NAME_BASE: usize = 58;

/// Objects of a cluster with their history.
#[derive(Clone, Debug)]
pub struct Store {
    objects: Tables,
    references: ReferenceIndex,
    pub(super) addresses: Addresses,
    journal: Entries,
    version: u64,
    /// Virtual time of the request being served.
    pub now: Time,
    epoch: Timestamp,
    /// Random source of names, uids and tie-breaks.
    pub rng: Rng,
}

impl Store {
    /// Creates an empty store of a cluster whose time 0 is `epoch`.
    pub fn new(epoch: Timestamp, seed: u64) -> Store {
        Store {
            objects: Tables::default(),
            references: ReferenceIndex::default(),
            addresses: Addresses::default(),
            journal: Entries::default(),
            version: 0,
            now: Time::default(),
            epoch,
            rng: Rng::new(seed),
        }
    }

    /// Returns the wall clock of the cluster at the current virtual time.
    pub fn wall(&self) -> Timestamp {
        self.wall_at(self.now)
    }

    /// Returns the wall clock of the cluster at a virtual time.
    pub fn wall_at(&self, time: Time) -> Timestamp {
        Timestamp::new(self.epoch.seconds() + (time.0 / 1_000_000) as i64)
    }

    pub fn entries(&self) -> &Entries {
        &self.journal
    }

    pub fn entries_mut(&mut self) -> &mut Entries {
        &mut self.journal
    }

    /// Returns the whole journal.
    pub fn journal(&self) -> Journal<'_> {
        self.journal.all()
    }

    /// Returns the number of journal entries when the store was at a resourceVersion.
    pub fn entries_until(&self, version: u64) -> usize {
        let entries = self.journal();
        // Not every entry is a write; the next write gives the version.
        let newer = |at: usize| {
            let next = entries.from(at).iter().find_map(Entry::write);
            next.is_none_or(|(_, object)| object.meta.resource_version > version)
        };
        let (mut from, mut to) = (0, entries.len());
        while from < to {
            let middle = from.midpoint(to);
            if newer(middle) {
                to = middle
            } else {
                from = middle + 1
            }
        }
        from
    }

    /// Returns the writes of a live object since its creation, in order.
    pub fn writes_of(&self, key: &ObjectRef) -> Vec<&Entry> {
        let mut writes = Vec::new();
        let mut version = self.get(key).map(|object| object.meta.resource_version);
        while let Some(current) = version.take() {
            let entries = self.journal().from(self.entries_until(current - 1));
            let is_write = |entry: &&Entry| entry.write().is_some();
            let is_of_version = |entry: &&Entry| {
                let write = entry.write();
                write.is_some_and(|(_, object)| object.meta.resource_version == current)
            };
            let write = entries.iter().find(is_write).filter(is_of_version);
            let Some(entry) = write else { break };
            writes.push(entry);
            if let Record::Write {
                op: Op::Modified,
                before: Some(before),
                ..
            } = &entry.record
            {
                version = Some(before.meta.resource_version);
            }
        }
        writes.reverse();
        writes
    }

    /// Returns the resource version of the last write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the object with this key.
    pub fn get(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.objects.of(key.kind).get(&key.namespace, &key.name)
    }

    /// Returns true if this is the current version of an object.
    pub fn is_newest(&self, object: &Object) -> bool {
        let now = self
            .objects
            .of(object.kind)
            .get(&object.meta.namespace, &object.meta.name);
        now.is_some_and(|now| now.meta.resource_version == object.meta.resource_version)
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.objects.of(kind).iter()
    }

    /// Returns all objects of a kind, in unspecified order.
    pub fn each(&self, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.objects.of(kind).each()
    }

    /// Returns the objects at up to `most` places starting at `from`; `None` beyond the last place.
    pub fn some(
        &self,
        kind: Kind,
        from: usize,
        most: usize,
    ) -> Option<impl Iterator<Item = &Rc<Object>>> {
        self.objects.of(kind).some(from, most)
    }

    /// Returns a snapshot of a list, of all objects or those of a namespace, for later iteration.
    pub fn listing(&self, kind: Kind, namespace: Option<&str>) -> Listing {
        self.objects.of(kind).listing(namespace)
    }

    /// Sorts up to `most` new objects in advance.
    pub fn settle(&mut self, most: usize) {
        for table in self.objects.each_mut() {
            if table.settle(most) {
                return;
            }
        }
    }

    /// Returns the number of objects of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.objects.of(kind).len()
    }

    /// Returns the Pods of a namespace that may use a claim, by name.
    pub fn users_of(&self, namespace: &str, claim: &str) -> Vec<&Rc<Object>> {
        self.references
            .users(namespace, claim, self.objects.of(Kind::Pod))
    }

    /// Returns the volumes that may be reserved for a claim of this namespace and name, or for none, by name.
    pub fn volumes_for(&self, claim: Option<(&str, &str)>) -> Vec<&Rc<Object>> {
        self.references
            .volumes(claim, self.objects.of(Kind::PersistentVolume))
    }

    /// Returns the EndpointSlices of a Service.
    pub fn slices_of<'a>(&'a self, service: &'a Object) -> impl Iterator<Item = &'a EndpointSlice> {
        let found = self.references.slices(
            &service.meta.namespace,
            &service.meta.name,
            self.objects.of(Kind::EndpointSlice),
        );
        found
            .into_iter()
            .filter(|slice| is_slice_of(slice, service))
            .filter_map(|slice| slice.get::<EndpointSlice>())
    }

    /// Generates a name of at most 63 bytes: the start of `base` and a random suffix of five.
    ///
    /// Models `SimpleNameGenerator` of `staging/src/k8s.io/apiserver/pkg/storage/names/generate.go`.
    pub(super) fn generate_name(&mut self, base: &str) -> Str {
        let mut ends = (0..=base.len().min(MAX_NAME_BASE)).rev();
        let end = ends
            .find(|end| base.is_char_boundary(*end))
            .unwrap_or_default();
        format_smolstr!("{}{}", &base[..end], self.rng.suffix())
    }

    /// Stores an object, new or in place of its earlier version, with the next resourceVersion.
    pub(super) fn put(
        &mut self,
        origin: &Origin,
        op: Op,
        mut object: Object,
        before: Option<&Rc<Object>>,
        why: Why,
    ) -> Rc<Object> {
        self.version += 1;
        object.meta.resource_version = self.version;
        let object = Rc::new(object);
        if op == Op::Deleted {
            if let Some((place, old)) = self
                .objects
                .of_mut(object.kind)
                .remove(&object.meta.namespace, &object.meta.name)
            {
                self.references.change(Some(&old), None, place);
                self.addresses.change(Some(&old), None);
            }
        } else {
            let (place, old) = self.objects.of_mut(object.kind).insert(&object);
            self.references.change(old.as_ref(), Some(&object), place);
            self.addresses.change(old.as_ref(), Some(&object));
        }
        let record = Record::Write {
            op,
            object: object.clone(),
            before: before.cloned(),
        };
        self.record(origin, record, why);
        object
    }

    /// Records a refused write.
    pub fn refuse(&mut self, origin: &Origin, key: ObjectRef, error: &ApiError, why: Why) {
        let refused = RefusedWrite {
            key,
            error: error.clone(),
        };
        self.record(origin, Record::Refused(Box::new(refused)), why);
    }

    /// Appends an entry to the journal.
    pub fn record(&mut self, origin: &Origin, record: Record, why: Why) -> EntryId {
        let id = self.journal.len() as EntryId;
        // A program's request has its own reason.
        let why = match (&origin.call, why) {
            (Some(call), Why::Asked) => Why::Program(call.clone()),
            (_, why) => why,
        };
        self.journal.push(Entry {
            time: self.now,
            actor: origin.actor.clone(),
            record,
            why,
            cause: origin.cause,
            pass: origin.pass,
            manager: origin.manager.clone(),
        });
        id
    }
}
