//! Lost watch events, and what repairs them.
//!
//! A program that only reacts to events stays wrong for ever when one is lost. A control loop is put right by the next
//! list of everything. Both can be tried out with words, as faults are:
//!
//! | words | what happens |
//! |---|---|
//! | `lose pod/web-0`, `lose pod` | the next watch event about this object, or of this kind, does not reach the loops |
//! | `lose pod/web-0 kube-scheduler` | nor this component: `kube-controller-manager`, `kube-scheduler`, `kubelet` |
//! | `relist 30s` | so long after a loss the component lists everything anew (10 s unless told) |
//! | `relist never` | nobody ever lists anew: events alone |
//! | `restart kube-scheduler` | the component forgets all it knew and lists everything anew |
//! | `conflict replicaset/web` | the next update of this object by a loop is refused, as if somebody had written meanwhile |
//!
//! Models `client-go/tools/cache/reflector.go` and `delta_fifo.go`.

use super::controllers;
use super::informer::{Cache, Lost};
use super::journal::{EntryId, Journal, Op};
use super::sim::{KUBELETS, MANAGER, SCHEDULER, Sim};
use super::store::ApiServer;
use crate::api::time::SECOND;
use crate::api::{Kind, Object, ObjectRef, Str, kind};
use std::rc::Rc;

/// From the loss of an event to the list that repairs it, unless a person says otherwise.
pub(super) const RELIST: u64 = 10 * SECOND;

/// What has to be told to a component: what happened, the object, and how it was known before.
type Difference = (Op, Rc<Object>, Option<Rc<Object>>);

impl Sim {
    /// Whether components list everything anew after a loss: controller mode. Without it they know events alone.
    pub fn lists_anew(&self) -> bool {
        self.relist.is_some()
    }

    /// Does what words of this module's table say; `None` if they are not of it.
    pub(super) fn lose_by_words(&mut self, line: &str, words: &[&str]) -> Option<Result<(), String>> {
        let result = match *words {
            ["lose", what] => target(what).map(|lost| self.lose(MANAGER, lost)),
            ["lose", what, component] => {
                target(what).and_then(|lost| self.component(component).map(|i| (i, lost))).map(|(i, lost)| self.lose(i, lost))
            }
            ["relist", "never"] => {
                self.relist = None;
                Ok(())
            }
            ["relist", span] => match span.strip_suffix('s').and_then(|n| n.parse::<u32>().ok()) {
                Some(seconds) => {
                    self.relist = Some(u64::from(seconds) * SECOND);
                    Ok(())
                }
                None => Err(format!("relist: neither \"never\" nor seconds: {span}")),
            },
            ["restart", component] => self.component(component).map(|i| self.restart(i)),
            ["conflict", what] => target(what).map(|lost| self.server.conflicts.push(lost)),
            _ => return None,
        };
        if result.is_ok() {
            self.command(&format!("fault {line}"));
        }
        Some(result)
    }

    fn component(&self, name: &str) -> Result<usize, String> {
        self.informers.iter().position(|i| i.name == name).ok_or_else(|| format!("no component {name:?}"))
    }

    /// Has a component miss the next watch event that is meant.
    fn lose(&mut self, i: usize, lost: Lost) {
        self.informers[i].losing.push(lost);
    }

    /// A component forgets all it knew, and lists everything anew.
    fn restart(&mut self, i: usize) {
        self.informers[i].cache = Cache::new();
        if i == MANAGER {
            for n in 0..controllers::ALL.len() {
                self.queues[n] = Default::default();
                self.written[n] = Default::default();
                self.memories[n] = Default::default();
            }
            self.recorder = Default::default();
        }
        self.list_anew(i);
        if i == MANAGER {
            // Endpoints whose Service went meanwhile have no owner that says so: the loop looks at all of them once.
            let left: Vec<ObjectRef> = self.list(Kind::Endpoints).map(|o| ObjectRef { kind: Kind::Service, ..o.key() }).collect();
            for key in left {
                self.wake_loop("endpoint-controller", &key, None);
            }
        }
    }

    /// Lists everything: what differs from what the component knew becomes an event.
    #[inline(never)]
    pub(super) fn list_anew(&mut self, i: usize) {
        self.informers[i].catch_up(self.server.journal().len());
        match i {
            SCHEDULER => {
                self.informers[i].cache = Cache::new();
                self.scheduler = Default::default();
            }
            KUBELETS => {
                let server = &self.server;
                self.kubelets.forget_gone(|key, uid| server.get(key).is_some_and(|o| o.meta.uid == uid));
            }
            _ => {}
        }
        for (op, object, before) in self.differences(i) {
            let id = written_by(self.server.journal(), &object);
            self.informers[i].take(op, &object);
            self.dispatch(i, op, &object, before.as_ref(), id);
        }
    }

    fn differences(&self, i: usize) -> Vec<Difference> {
        let informer = &self.informers[i];
        let mut found = Vec::new();
        // Nodes come before Pods, owners before what they own.
        for kind in kind::ALL.iter().copied().filter(|kind| (informer.watches)(*kind)) {
            let gone = |o: &&Rc<Object>| self.server.get(&o.key()).is_none_or(|now| now.meta.uid != o.meta.uid);
            found.extend(informer.cache.list(kind).filter(gone).map(|o| (Op::Deleted, o.clone(), Some(o.clone()))));
            for object in self.server.list(kind) {
                let known = informer.cache.object(&object.key()).filter(|o| o.meta.uid == object.meta.uid);
                match known {
                    Some(known) if known.meta.resource_version == object.meta.resource_version => {}
                    Some(known) => found.push((Op::Modified, object.clone(), Some(known.clone()))),
                    None => found.push((Op::Added, object.clone(), None)),
                }
            }
        }
        found
    }
}

/// `pod/web-0`, or `pod` for any.
fn target(word: &str) -> Result<Lost, String> {
    let (kind, name) = word.split_once('/').unwrap_or((word, ""));
    let kind: Kind = Kind::from_word(kind).ok_or_else(|| format!("no kind {kind:?}"))?;
    Ok((kind, Str::new(name)))
}

/// The write that made the object what it is.
fn written_by(journal: Journal<'_>, object: &Object) -> EntryId {
    let version = object.meta.resource_version;
    let at = journal.iter().rposition(|e| e.write().is_some_and(|(_, o)| o.meta.resource_version <= version));
    at.unwrap_or_default() as EntryId
}

impl ApiServer {
    /// Whether a person has asked for this write to be refused.
    pub(super) fn is_disturbed(&mut self, actor: &'static str, object: &Object) -> bool {
        if self.conflicts.is_empty() || actor == "user" || actor == "kubelet" {
            return false;
        }
        let meant = |(kind, name): &Lost| *kind == object.kind && (name.is_empty() || *name == object.meta.name);
        let at = self.conflicts.iter().position(meant);
        at.map(|at| self.conflicts.remove(at)).is_some()
    }
}
