//! Shortening the history: what the journal knows of objects that are gone makes room.
//!
//! Entries keep their places, so that every id stays valid. Of those before an instant, writes of short-lived kinds are forgotten if the
//! object no longer existed at that instant, and so are refusals; commands, and all writes of other objects, stay. Since nothing that the
//! simulation reads is forgotten (field managers and mounted files are read off the writes of objects that exist), it goes on as if nothing
//! had been.

use super::journal::{Actor, Entries, Entry, Record};
use super::sim::Sim;
use super::why::Why;
use crate::api::{Kind, Time};
use std::ops::Range;

/// Kinds of which many come and go.
const SHORT_LIVED: [Kind; 6] = [Kind::Pod, Kind::Event, Kind::Job, Kind::ReplicaSet, Kind::ControllerRevision, Kind::EndpointSlice];
/// Chunks of the journal rewritten at a time; few in tests, so that they go through several parts.
const CHUNKS_PER_STEP: usize = if cfg!(test) { 2 } else { 64 };

/// A journal while its older part is forgotten.
#[derive(Clone, Debug)]
pub struct Forgetting {
    entries: Entries,
    /// The chunks rewritten last; those before are done.
    part: Range<usize>,
    chunks: usize,
    /// From when on everything is kept.
    pub from: Time,
}

impl Forgetting {
    /// Whether all that is to be forgotten is.
    pub fn is_done(&self) -> bool {
        self.part.end == self.chunks
    }
}

impl Sim {
    /// Begins to forget what is older than this instant. Nothing is while events are held back: they may be about any entry.
    pub fn begin_forgetting(&self) -> Forgetting {
        let seen = self.informers.iter().map(super::informer::Informer::seen).min().unwrap_or(0);
        let entries = self.server.entries().clone();
        let chunks = if self.is_held_up() { 0 } else { entries.full_chunks(seen) };
        Forgetting { entries, part: 0..0, chunks, from: self.now() }
    }

    /// Goes on with the next part, which all simulations of the history are to take over ([`Sim::forget`]): what they let go is
    /// released before the next part. A run that was copied before keeps what it has.
    pub fn forget_next(&self, forgetting: &mut Forgetting) {
        let end = (forgetting.part.end + CHUNKS_PER_STEP).min(forgetting.chunks);
        forgetting.part = forgetting.part.end..end;
        forgetting.entries.rewrite(forgetting.part.clone(), |entry| self.is_forgotten(entry).then(|| forgotten(entry.time)));
    }

    /// Takes over the part of the journal that was shortened last. This simulation has come from the one that it is of, or is that one.
    pub fn forget(&mut self, forgetting: &Forgetting) {
        self.server.entries_mut().share(&forgetting.entries, forgetting.part.clone());
    }

    fn is_forgotten(&self, entry: &Entry) -> bool {
        match &entry.record {
            Record::Command(_) | Record::Forgotten => false,
            Record::Refused(_) => entry.actor != Actor::USER,
            Record::Write { object, .. } => {
                let stays = |kept: &std::rc::Rc<crate::api::Object>| kept.meta.uid == object.meta.uid;
                SHORT_LIVED.contains(&object.kind) && !self.get(&object.key()).is_some_and(stays)
            }
        }
    }
}

/// What is left of an entry: when it was.
fn forgotten(time: Time) -> Entry {
    Entry { time, actor: Actor::SERVER, record: Record::Forgotten, why: Why::Bootstrap, cause: None, pass: 0, manager: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::time::SECOND;
    use crate::engine::cluster::ClusterConfig;
    use crate::kubectl::Session;
    use crate::kubectl::parse::split;

    /// A cluster whose Pods have been replaced some times.
    fn rolled() -> Sim {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let mut run = |line: &str, seconds: u64| {
            sim.advance(sim.now().after(seconds * SECOND), usize::MAX);
            Session::start(&mut sim, &split(line), "");
        };
        run("create configmap conf --from-literal=a=b", 1);
        run("create deployment web --image=nginx --replicas=20", 1);
        for _ in 0..20 {
            run("rollout restart deployment web", 30);
        }
        sim
    }

    /// Forgets all that can be forgotten now.
    fn shorten(sim: &mut Sim) {
        let mut forgetting = sim.begin_forgetting();
        while !forgetting.is_done() {
            sim.forget_next(&mut forgetting);
            sim.forget(&forgetting);
        }
    }

    #[test]
    fn what_is_gone_is_forgotten_and_everything_goes_on_alike() {
        let plain = rolled();
        let mut short = plain.clone();
        shorten(&mut short);
        let count = |sim: &Sim| sim.journal().iter().filter(|entry| matches!(entry.record, Record::Forgotten)).count();
        assert_eq!((short.journal().len(), count(&plain)), (plain.journal().len(), 0));
        assert!(count(&short) * 5 > short.journal().len() * 2, "{} of {}", count(&short), short.journal().len());
        // Entries keep their time, and commands stay.
        assert!(short.journal().iter().map(|entry| entry.time).eq(plain.journal().iter().map(|entry| entry.time)));
        let commands = |sim: &Sim| sim.journal().iter().filter(|entry| matches!(entry.record, Record::Command(_))).count();
        assert_eq!(commands(&short), commands(&plain));

        let (mut plain, from) = (plain, short.journal().len());
        for sim in [&mut plain, &mut short] {
            for line in [
                "scale deployment web --replicas=3",
                "get deployment web -o yaml --show-managed-fields",
                "get pods -o yaml --show-managed-fields",
            ] {
                Session::start(sim, &split(line), "");
                sim.advance(sim.now().after(60 * SECOND), usize::MAX);
            }
        }
        assert_eq!(
            format!("{:?}", short.journal().from(from).iter().collect::<Vec<_>>()),
            format!("{:?}", plain.journal().from(from).iter().collect::<Vec<_>>())
        );
        let shown = |sim: &mut Sim, line: &str| Session::start(sim, &split(line), "").stdout;
        for line in [
            "get deployment web -o yaml --show-managed-fields",
            "get pods -o yaml --show-managed-fields",
            "get rs -o yaml --show-managed-fields",
        ] {
            assert_eq!(shown(&mut short, line), shown(&mut plain, line), "{line}");
        }
    }

    #[test]
    fn nothing_is_forgotten_while_an_event_is_held_back() {
        let mut sim = rolled();
        sim.fault("delay pod 1h").unwrap();
        shorten(&mut sim);
        assert!(!sim.journal().iter().any(|entry| matches!(entry.record, Record::Forgotten)));
    }
}
