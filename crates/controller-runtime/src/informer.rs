//! Informers: a component's own copy of the store, fed by a watch that lags behind.

use super::process::Process;
use super::watch_faults::WatchFaults;
use apiserver::journal::{Entry, EntryId, Journal, Op};
use k8s_model::object::Typed;
use k8s_model::time::MS;
use k8s_model::{Duration, Kind, Labels, Object, ObjectRef, Str, Time, Uid};
use sim_core::indexes::{LabelIndex, NodeIndex, ReferenceIndex, whole};
use sim_core::rank_cache::RankCache;
use sim_core::table::{Slot, Tables};
use sim_core::tally::{LabelCounts, Tally};
use sim_core::tree::Tree;
use std::cell::RefCell;
use std::rc::Rc;

/// Component's view of the cluster.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    objects: Tables,
    /// Owned objects by owner uid.
    owned: Tree<Uid, Owned>,
    /// Objects without a controller, by the hash of their kind and namespace, and their uid.
    orphans: Tree<(u64, Uid), Slot>,
    labels: LabelIndex,
    references: ReferenceIndex,
    nodes: NodeIndex,
    /// Deletion ranks of Pods.
    pub known: RefCell<RankCache>,
}

/// Objects of one owner.
#[derive(Clone, Debug, Default)]
struct Owned {
    members: Tree<Uid, (Kind, Slot)>,
    tally: Tally,
}

impl Cache {
    /// Returns the object with this key.
    pub fn object(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.objects.of(key.kind).get(&key.namespace, &key.name)
    }

    /// Returns the object with this key and its typed body.
    pub fn get<T: Typed>(&self, key: &ObjectRef) -> Option<(&Rc<Object>, &T)> {
        let object = self.object(key)?;
        Some((object, object.get::<T>()?))
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.objects.of(kind).iter()
    }

    /// Returns the number of objects of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.objects.of(kind).len()
    }

    /// Returns all objects of a kind in a namespace, by name.
    pub fn list_in(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Rc<Object>> {
        self.objects.of(kind).in_namespace(namespace)
    }

    /// Returns the number of objects with the uid as an owner.
    pub fn owned_count(&self, uid: Uid) -> usize {
        self.owned.get(&uid).map_or(0, |owned| owned.members.len())
    }

    /// Returns the objects with the uid as an owner, ordered by their own uid.
    pub fn owned_by(&self, uid: Uid) -> impl Iterator<Item = &Rc<Object>> {
        let members = self
            .owned
            .get(&uid)
            .into_iter()
            .flat_map(|owned| owned.members.values());
        members.filter_map(|(kind, place)| self.objects.of(*kind).at(*place))
    }

    /// Computes up to `most` deletion ranks in advance, if there are very many Pods.
    pub fn read_ahead(&self, most: usize) {
        let pods = self.objects.of(Kind::Pod);
        if pods.len() > most {
            self.known.borrow_mut().read_ahead(pods, most);
        }
    }

    /// Returns the objects of a kind with the uid as an owner.
    pub fn owned_of_kind(&self, uid: Uid, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.members(uid, kind).map(|(.., object)| object)
    }

    /// Returns the Pods with the uid as an owner, ordered by uid, with their slots.
    pub fn owned_pods(&self, uid: Uid) -> impl Iterator<Item = (Uid, Slot, &Rc<Object>)> {
        self.members(uid, Kind::Pod)
    }

    fn members(&self, uid: Uid, kind: Kind) -> impl Iterator<Item = (Uid, Slot, &Rc<Object>)> {
        let members = self
            .owned
            .get(&uid)
            .into_iter()
            .flat_map(|owned| owned.members.iter());
        let table = self.objects.of(kind);
        members
            .filter(move |(_, (of, _))| *of == kind)
            .filter_map(|(uid, (_, place))| Some((*uid, *place, table.at(*place)?)))
    }

    /// Returns the totals of the Pods that the uid controls, by labels; `None` if unknown.
    pub fn tally(&self, uid: Uid) -> Option<&[LabelCounts]> {
        self.owned
            .get(&uid)
            .map_or(Some(&[]), |owned| owned.tally.alike())
    }

    /// Returns the number of ready Pods of an owner that are not terminating.
    pub fn ready_pods(&self, uid: Uid) -> usize {
        let is_ready = |pod: &&Rc<Object>| {
            pod.is_active_pod() && pod.pod().is_some_and(|body| body.is_ready())
        };
        match self.tally(uid) {
            Some(counts) => counts.iter().map(|counts| counts.ready).sum(),
            None => self.owned_of_kind(uid, Kind::Pod).filter(is_ready).count(),
        }
    }

    /// Returns the number of an owner's Pods that are not ready or are terminating; `None` if that is not tracked.
    pub fn unready_pods(&self, uid: Uid) -> Option<usize> {
        let counts = self.tally(uid)?.iter();
        Some(counts.map(|counts| counts.pods - counts.ready).sum())
    }

    /// Returns the objects of a kind in a namespace without a controller, ordered by uid.
    pub fn orphans<'a>(
        &'a self,
        kind: Kind,
        namespace: &Str,
    ) -> impl Iterator<Item = &'a Rc<Object>> + use<'a> {
        let namespace = namespace.clone();
        let hash = whole(kind, &namespace);
        let places = self
            .orphans
            .from(&(hash, Uid::default()))
            .take_while(move |((of, _), _)| *of == hash);
        let table = self.objects.of(kind);
        places
            .filter_map(|(_, place)| table.at(*place))
            .filter(move |o| o.meta.namespace == namespace)
    }

    /// Returns the Pods of a namespace that a selector with these labels selects, by name; Pods without one of the labels are not
    /// visited.
    pub fn pods_selected(
        &self,
        namespace: &Str,
        labels: &Labels,
        passes: &dyn Fn(&Labels) -> bool,
    ) -> Vec<&Rc<Object>> {
        let mut found = Vec::new();
        // Pods of one template share their labels: the last result applies to the next Pod.
        let mut last: Option<(&Labels, bool)> = None;
        for pod in self
            .labels
            .pods(namespace, labels)
            .filter_map(|place| self.objects.of(Kind::Pod).at(place))
        {
            let labels = &pod.meta.labels;
            let known = last
                .filter(|(known, _)| Rc::ptr_eq(known, labels))
                .map(|(_, passed)| passed);
            let passed = known.unwrap_or_else(|| passes(labels));
            last = Some((labels, passed));
            if passed && pod.meta.namespace == *namespace {
                found.push(pod);
            }
        }
        found.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        found
    }

    /// Returns the objects of a kind in a namespace that may select an object with these labels, by name; the caller must check the
    /// selectors.
    pub fn selecting(&self, kind: Kind, namespace: &Str, labels: &Labels) -> Vec<&Rc<Object>> {
        self.labels
            .selecting(kind, namespace, labels, self.objects.of(kind))
    }

    /// Returns the Pods of a namespace that may use a claim, by name.
    pub fn users_of(&self, namespace: &Str, claim: &Str) -> Vec<&Rc<Object>> {
        self.references
            .users(namespace, claim, self.objects.of(Kind::Pod))
    }

    /// Returns the Pods on a node, by namespace and name.
    pub fn pods_on(&self, node: &str) -> Vec<&Rc<Object>> {
        self.nodes.pods(node, self.objects.of(Kind::Pod))
    }

    /// Returns the volumes that may be reserved for a claim, given by namespace and name, or for none, by name.
    pub fn volumes_for(&self, claim: Option<(&str, &str)>) -> Vec<&Rc<Object>> {
        self.references
            .volumes(claim, self.objects.of(Kind::PersistentVolume))
    }

    fn apply(&mut self, op: Op, object: &Rc<Object>) {
        let table = self.objects.of_mut(object.kind);
        let (place, old) = if op == Op::Deleted {
            match table.remove(&object.meta.namespace, &object.meta.name) {
                Some((place, old)) => (place, Some(old)),
                None => return,
            }
        } else {
            table.insert(object)
        };
        if is_indexed(object.kind) {
            let new = (op != Op::Deleted).then_some(object);
            self.index(old.as_ref(), new, place);
            self.labels.change(old.as_ref(), new, place);
            self.references.change(old.as_ref(), new, place);
            self.nodes.change(old.as_ref(), new, place);
        }
    }

    /// Updates the owner index.
    fn index(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, place: Slot) {
        let stays = |a: &Object, b: &Object| {
            a.meta.uid == b.meta.uid && a.meta.owner_references == b.meta.owner_references
        };
        if let (Some(old), Some(new)) = (old, new)
            && stays(old, new)
        {
            for uid in owners(new) {
                self.owned
                    .get_or_insert_with(uid, Owned::default)
                    .tally
                    .change(uid, Some(old), Some(new));
            }
            return;
        }
        let orphaned = |o: &Object| {
            (o.meta.controller().is_none()).then(|| (whole(o.kind, &o.meta.namespace), o.meta.uid))
        };
        if let Some(old) = old {
            if let Some(key) = orphaned(old) {
                self.orphans.remove(&key);
            }
            for uid in owners(old) {
                let Some(owned) = self.owned.get_mut(&uid) else {
                    continue;
                };
                owned.members.remove(&old.meta.uid);
                owned.tally.change(uid, Some(old), None);
                if owned.members.is_empty() {
                    self.owned.remove(&uid);
                }
            }
        }
        if let Some(new) = new {
            if let Some(key) = orphaned(new) {
                self.orphans.insert(key, place);
            }
            for uid in owners(new) {
                let owned = self.owned.get_or_insert_with(uid, Owned::default);
                owned.members.insert(new.meta.uid, (new.kind, place));
                owned.tally.change(uid, None, Some(new));
            }
        }
    }
}

/// Returns true for kinds that can be owned or adopted, which are the only ones indexed.
fn is_indexed(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Event | Kind::Node | Kind::Namespace | Kind::StorageClass
    )
}

/// Returns the uids under which an object is indexed.
fn owners(object: &Object) -> impl Iterator<Item = Uid> {
    object.meta.owner_references.iter().map(|o| o.uid)
}

/// Cached version of an object; `None` if it is not in the cache.
pub type CachedVersion = Option<Rc<Object>>;

/// Watch and cache of a component.
#[derive(Clone, Debug)]
pub struct Informer {
    /// Process.
    pub process: Process,
    /// Cache.
    pub cache: Cache,
    /// Latency of a watch event.
    pub lag: Duration,
    /// Injected watch faults, if any.
    pub watch_faults: Option<Box<WatchFaults>>,
    /// True if events may have been lost: the cache may then differ from the API server's state before a write.
    pub lossy: bool,
    cursor: usize,
    due: Option<Time>,
}

impl Informer {
    /// Creates an informer with an empty cache.
    pub fn new(process: Process) -> Self {
        Informer {
            process,
            cache: Cache::default(),
            lag: 2 * MS,
            watch_faults: None,
            lossy: false,
            cursor: 0,
            due: None,
        }
    }

    /// Returns the number of journal entries received.
    pub fn seen(&self) -> usize {
        self.cursor
    }

    /// Returns the arrival time of the next event, if it has to be scheduled.
    pub fn next_arrival(&mut self, journal: Journal<'_>) -> Option<Time> {
        if self.due.is_some() {
            return None;
        }
        while let Some(entry) = journal.get(self.cursor) {
            if entry
                .write()
                .is_some_and(|(_, o)| self.process.watches(o.kind))
            {
                self.due = Some(entry.time.after(self.lag));
                return self.due;
            }
            self.cursor += 1;
        }
        None
    }

    /// Pops the next event that has arrived, with the cached version before it, if that may differ from the API server's.
    pub fn pop(
        &mut self,
        journal: Journal<'_>,
        now: Time,
    ) -> Option<(EntryId, Option<CachedVersion>)> {
        while let Some(entry) = journal
            .get(self.cursor)
            .filter(|entry| entry.time.after(self.lag) <= now)
        {
            self.cursor += 1;
            if let Some((op, object)) = entry.write()
                && self.process.watches(object.kind)
            {
                let id = self.cursor as EntryId - 1;
                if self.watch_faults.is_some() && self.withholds(id, entry) {
                    continue;
                }
                let held = self.cached_version(object);
                self.apply(op, object);
                return Some((id, held));
            }
        }
        self.due = None;
        None
    }

    /// Returns the cached version of an object, once events may have been lost. Models `processDeltas` of
    /// `client-go/tools/cache/controller.go`, which compares with its cache alone.
    pub fn cached_version(&self, object: &Object) -> Option<CachedVersion> {
        self.lossy.then(|| self.held_version(object)).flatten()
    }

    /// Returns the cached version of an object; `None` if the process does not cache its kind.
    pub fn held_version(&self, object: &Object) -> Option<CachedVersion> {
        let stores = self.process.stores(object.kind);
        stores.then(|| self.cache.object(&object.key()).cloned())
    }

    /// Applies an event to the cache.
    pub fn apply(&mut self, op: Op, object: &Rc<Object>) {
        if self.process.stores(object.kind) {
            self.cache.apply(op, object);
        }
    }

    /// Completes a relist as of this position in the journal; earlier events are skipped.
    pub fn relist(&mut self, to: usize) {
        self.cursor = to;
        if let Some(watch_faults) = &mut self.watch_faults {
            watch_faults.relist();
            if watch_faults.is_over() {
                self.watch_faults = None;
            }
        }
    }

    fn withholds(&mut self, id: EntryId, entry: &Entry) -> bool {
        let arrived = entry.time.after(self.lag);
        self.watch_faults
            .as_mut()
            .is_some_and(|watch_faults| watch_faults.withholds(self.process, id, entry, arrived))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::pod::Pod;
    use k8s_model::{Body, ObjectMeta, OwnerReference, Timestamp};
    use sim_core::rng::Rng;

    /// Builds a random Pod with or without an owner, as in a watch event.
    fn pod(name: u64, rng: &mut Rng) -> Rc<Object> {
        let mut meta = ObjectMeta {
            name: format!("web-{name}").into(),
            namespace: "default".into(),
            ..Default::default()
        };
        // A new Pod of the same name, whose predecessor's deletion was not delivered, is a different Pod.
        meta.uid = Uid(u128::from(name * 10 + rng.below(2) + 100));
        let owner = rng.below(4);
        if owner > 0 {
            let reference = OwnerReference {
                controller: Some(rng.below(5) > 0),
                uid: Uid(u128::from(owner)),
                ..Default::default()
            };
            Rc::make_mut(&mut meta.owner_references).push(reference);
        }
        Rc::make_mut(&mut meta.labels)
            .insert("app".into(), ["web", "db"][rng.below(2) as usize].into());
        meta.deletion_timestamp = (rng.below(4) == 0).then_some(Timestamp::new(1));
        let mut body = Pod::default();
        body.status.phase = ["Pending", "Running", "Failed"][rng.below(3) as usize].into();
        Rc::new(Object {
            kind: Kind::Pod,
            meta,
            body: Body::Pod(Box::new(body)),
        })
    }

    #[test]
    fn tallies_and_the_owner_index_match_the_objects() {
        let (mut cache, mut rng) = (Cache::default(), Rng::new(3));
        for step in 0..5_000 {
            let object = pod(rng.below(40), &mut rng);
            cache.apply(
                [Op::Added, Op::Modified, Op::Deleted][rng.below(3) as usize],
                &object,
            );
            for uid in (0..4).map(Uid) {
                let is_mine = |o: &&Rc<Object>| owners(o).any(|owner| owner == uid);
                let mut there: Vec<_> = cache
                    .list(Kind::Pod)
                    .filter(is_mine)
                    .map(|o| o.meta.uid)
                    .collect();
                there.sort_unstable();
                let owned: Vec<_> = cache.owned_by(uid).map(|o| o.meta.uid).collect();
                assert_eq!(owned, there, "step {step}, owner {uid}");
                if uid.0 == 0 {
                    let free: Vec<_> = cache
                        .orphans(Kind::Pod, &"default".into())
                        .map(|o| o.meta.uid)
                        .collect();
                    let mut there: Vec<_> = cache
                        .list(Kind::Pod)
                        .filter(|o| o.meta.controller().is_none())
                        .map(|o| o.meta.uid)
                        .collect();
                    there.sort_unstable();
                    assert_eq!(free, there, "step {step}");
                    continue;
                }
                let count = |passes: &dyn Fn(&Object) -> bool| {
                    cache
                        .list(Kind::Pod)
                        .filter(|o| o.meta.is_controlled_by(uid) && passes(o))
                        .count()
                };
                let told = cache.tally(uid).expect("two sets of labels");
                let sum = |of: fn(&LabelCounts) -> usize| told.iter().map(of).sum::<usize>();
                let leaves =
                    |o: &Object| o.meta.is_deleting() && !o.pod().is_some_and(Pod::is_terminal);
                let counted = (
                    count(&|_| true),
                    count(&Object::is_active_pod),
                    count(&leaves),
                );
                assert_eq!(
                    (sum(|a| a.pods), sum(|a| a.active), sum(|a| a.terminating)),
                    counted,
                    "step {step}, owner {uid}"
                );
            }
            let is_web = |labels: &Labels| labels.get("app").is_some_and(|app| app == "web");
            let app = Labels::new([("app".into(), "web".into())].into());
            for asked in [&app, &Labels::default()] {
                let web = cache.pods_selected(&"default".into(), asked, &is_web);
                assert!(
                    cache
                        .list(Kind::Pod)
                        .filter(|o| is_web(&o.meta.labels))
                        .eq(web),
                    "step {step}"
                );
            }
        }
    }
}
