//! Managed fields of every version of every object, for views of many objects.
//!
//! Guarantees: each write is processed once, however often its object is shown, and only for kinds that are requested. Field sets are
//! kept as interned text: those of Pods of one template are equal.

use super::super::store::Store;
use super::{FieldWrite, Managed};
use crate::journal::{Op, Record};
use k8s_model::kind::Subresource;
use k8s_model::{Kind, Object, Str, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Managed fields of every version of every object of some kinds.
#[derive(Default, Debug)]
pub struct ManagedHistory {
    kinds: BTreeMap<Kind, KindHistory>,
    texts: BTreeSet<Rc<str>>,
}

#[derive(Default, Debug)]
struct KindHistory {
    /// Number of journal entries processed.
    read: usize,
    /// Managers by the versions of the objects, in ascending order.
    versions: Vec<(u64, Rc<[Kept]>)>,
}

/// Manager of an object.
#[derive(Clone, Debug)]
struct Kept {
    manager: Str,
    subresource: Subresource,
    applies: bool,
    time: Time,
    fields: Rc<str>,
}

impl ManagedHistory {
    /// Processes the writes to objects of a kind, up to `until` entries of the journal.
    pub fn catch_up(&mut self, store: &Store, kind: Kind, until: usize) {
        let history = self.kinds.entry(kind).or_default();
        if history.read >= until {
            return;
        }
        let journal = store.journal().first(until);
        for entry in journal.from(history.read).iter() {
            let Record::Write { op, object, before } = &entry.record else {
                continue;
            };
            if object.kind != kind {
                continue;
            }
            let kept = before
                .as_ref()
                .and_then(|before| history.at(before.meta.resource_version).cloned());
            let kept = match (op, kept) {
                // The last state of an object keeps its managers.
                (Op::Deleted, Some(kept)) => kept,
                (_, kept) => {
                    let Some(write) = FieldWrite::of(entry, *op, object, before.as_deref()) else {
                        history
                            .versions
                            .push((object.meta.resource_version, kept.unwrap_or_default()));
                        continue;
                    };
                    let old = kept
                        .iter()
                        .flat_map(|kept| kept.iter())
                        .filter(|_| *op == Op::Modified);
                    let (affected, others): (Vec<&Kept>, Vec<&Kept>) =
                        old.partition(|kept| kept.is_affected(&write));
                    let mut all: Vec<Managed> = affected.into_iter().map(Kept::read).collect();
                    write.apply(&mut all);
                    let all = all
                        .into_iter()
                        .map(|managed| Kept::of(managed, &mut self.texts));
                    all.chain(others.into_iter().cloned()).collect()
                }
            };
            history.versions.push((object.meta.resource_version, kept));
        }
        history.read = journal.len();
    }

    /// Returns `metadata.managedFields` of an object at its version as JSON, in the server's order, empty if there are none; the kind
    /// must have been caught up.
    pub fn text(&self, store: &Store, object: &Object) -> String {
        let kept = self
            .kinds
            .get(&object.kind)
            .and_then(|history| history.at(object.meta.resource_version));
        let mut all: Vec<&Kept> = kept.iter().flat_map(|kept| kept.iter()).collect();
        if all.is_empty() {
            return String::new();
        }
        all.sort_by_key(|m| (!m.applies, m.time, m.manager.clone(), m.subresource.word()));
        let entry = |m: &&Kept| {
            let part = if m.subresource.is_main() {
                String::new()
            } else {
                format!(",\"subresource\":{:?}", m.subresource.word())
            };
            format!(
                "{{\"apiVersion\":{:?},\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{},\"manager\":{},\"operation\":{:?}{part},\"time\":{:?}}}",
                object.kind.api_version(),
                m.fields,
                Value::from(m.manager.as_str()),
                if m.applies { "Apply" } else { "Update" },
                store.wall_at(m.time).rfc3339(),
            )
        };
        format!("[{}]", all.iter().map(entry).collect::<Vec<_>>().join(","))
    }
}

impl KindHistory {
    fn at(&self, version: u64) -> Option<&Rc<[Kept]>> {
        let place = self
            .versions
            .binary_search_by_key(&version, |(version, _)| *version)
            .ok()?;
        Some(&self.versions[place].1)
    }
}

impl Kept {
    fn of(managed: Managed, texts: &mut BTreeSet<Rc<str>>) -> Kept {
        let Managed {
            manager,
            subresource,
            applies,
            time,
            fields,
        } = managed;
        let text = Value::Object(fields).to_string();
        let fields = texts.get(text.as_str()).cloned().unwrap_or_else(|| {
            let text: Rc<str> = text.into();
            texts.insert(text.clone());
            text
        });
        Kept {
            manager,
            subresource,
            applies,
            time,
            fields,
        }
    }

    /// Returns true if a write may change the managed fields of this entry: it has the same manager, or touches the same part of the
    /// object.
    fn is_affected(&self, write: &FieldWrite) -> bool {
        let shares = |part: &String| {
            self.fields
                .contains(&format!("{}:", Value::from(part.as_str())))
        };
        write.applies
            || write.given().is_some()
            || self.manager == write.name && self.subresource == write.subresource
            || write.touched.keys().any(shares)
    }

    fn read(&self) -> Managed {
        let Kept {
            manager,
            subresource,
            applies,
            time,
            fields,
        } = self.clone();
        Managed {
            manager,
            subresource,
            applies,
            time,
            fields: serde_json::from_str(&fields).unwrap_or_default(),
        }
    }
}
