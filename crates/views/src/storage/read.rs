//! Reads of Storage: the last Pod of a StatefulSet that was deleted.

use crate::view::Source;
use apiserver::{Actor, CommandEffect, Entry, Op, Record};
use k8s_model::pod::Pod;
use k8s_model::storage::PersistentVolumeClaim;
use k8s_model::workload::StatefulSet;
use k8s_model::{Kind, Object, ObjectRef, Str};
use projection::adapt;
use projection::model::Removed;

/// Number of entries searched for the last deleted Pod.
const DELETION_LOOKBACK: usize = 400;

/// Returns the last Pod of a StatefulSet that was deleted: by a person, until that person does something else; or by another actor, until
/// its replacement is ready.
pub fn removed(source: &Source) -> Option<Removed> {
    let happened = source.history;
    let newest = happened.from(happened.len().saturating_sub(DELETION_LOOKBACK));
    let deleted = |entry: &Entry| match &entry.record {
        Record::Write {
            op,
            object,
            before: Some(before),
        } if object.kind == Kind::Pod && !before.meta.is_deleting() => {
            (*op == Op::Deleted || object.meta.is_deleting()).then(|| object.clone())
        }
        _ => None,
    };
    // Deletions by its set, for fewer replicas or an update, are shown by the set itself.
    let by_set =
        |entry: &Entry| controllers::is_controller_of(entry.actor.component, Kind::StatefulSet);
    let of_set = |object: &Object| {
        object
            .meta
            .controller()
            .is_some_and(|owner| owner.is_kind(Kind::StatefulSet))
    };
    let mut since = false;
    let acts =
        |entry: &Entry| entry.is_command() && entry.command_effect() != Some(CommandEffect::Reads);
    // The Pods of a deleted set follow it; the person did not delete them one by one.
    if let Some(set) = newest
        .iter()
        .rev()
        .take_while(|entry| !acts(entry))
        .find_map(|entry| set_removed(source, entry))
    {
        return Some(set);
    }
    for entry in newest.iter().rev() {
        let Some(object) = deleted(entry).filter(|object| of_set(object) && !by_set(entry)) else {
            since |= acts(entry);
            continue;
        };
        let other = source
            .sim
            .store()
            .get(&object.key())
            .filter(|now| now.meta.uid != object.meta.uid);
        let back = other.and_then(|now| now.pod()).is_some_and(Pod::is_ready);
        let by_user = entry.actor == Actor::USER;
        if since || back && !by_user {
            return None;
        }
        let bound = |claim: &&Str| {
            let found = source.sim.store().get(&ObjectRef::new(
                Kind::PersistentVolumeClaim,
                &object.meta.namespace,
                claim,
            ));
            found
                .filter(|claim| !claim.meta.is_deleting())
                .and_then(|claim| claim.get::<PersistentVolumeClaim>())
                .is_some_and(|claim| claim.status.phase == "Bound")
        };
        let claims: Vec<String> = object
            .pod()?
            .spec
            .claims()
            .filter(bound)
            .map(|claim| claim.to_string())
            .collect();
        if claims.is_empty() {
            return None;
        }
        return Some(Removed {
            id: adapt::id(&object),
            claims,
            by_user,
            back,
        });
    }
    None
}

/// Returns a StatefulSet that a person deleted by this entry, with the claims created from its template.
fn set_removed(source: &Source, entry: &Entry) -> Option<Removed> {
    let Record::Write {
        object,
        before: Some(before),
        op,
    } = &entry.record
    else {
        return None;
    };
    let begins = !before.meta.is_deleting() && (*op == Op::Deleted || object.meta.is_deleting());
    let set = object
        .get::<StatefulSet>()
        .filter(|_| begins && entry.actor == Actor::USER)?;
    if source
        .sim
        .store()
        .get(&object.key())
        .is_some_and(|now| !now.meta.is_deleting())
    {
        return None;
    }
    let prefixes: Vec<String> = set.claim_prefixes(&object.meta.name).collect();
    let own = |claim: &Object| {
        let ordinal = prefixes
            .iter()
            .find_map(|prefix| claim.meta.name.strip_prefix(prefix.as_str()));
        claim.meta.namespace == object.meta.namespace
            && ordinal.is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    let claims = source
        .sim
        .store()
        .list(Kind::PersistentVolumeClaim)
        .filter(|claim| own(claim) && !claim.meta.is_deleting());
    let claims: Vec<String> = claims.map(|claim| claim.meta.name.to_string()).collect();
    (!claims.is_empty()).then(|| Removed {
        id: adapt::id(object),
        claims,
        by_user: true,
        back: false,
    })
}
