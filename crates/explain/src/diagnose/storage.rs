//! Claims and volumes that are waiting.

use super::finding::{Context, Diagnosis, all_in, line};
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind, VolumeFit};
use actions::Action;
use cluster::settled::is_looked_at_again;
use i18n::msg;
use k8s_model::pod::Pod;
use k8s_model::selector::LabelSelector;
use k8s_model::storage::{PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, StorageClass};
use k8s_model::volume_match::{VolumeMismatch, mismatch, unsatisfied};
use k8s_model::{Kind, Object, ObjectRef, Str};
use serde_json::Value;
use std::rc::Rc;

/// The simulated provisioner, and the one that stands for none.
const OURS: &str = "loopscope.dev/provisioner";
const NONE: &str = "kubernetes.io/no-provisioner";

pub fn claim(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &PersistentVolumeClaim = object.get()?;
    if object.meta.is_deleting() {
        return in_use(sim, object);
    }
    if body.status.phase == "Lost" {
        let mut out = Diagnosis::new(object, PendingReason::Lost(body.spec.volume_name.clone()));
        out.word(FactLabel::Class, body.class());
        // The data are lost in any case; a volume of the same name makes the claim usable again.
        let mut manifest = volume_for(object, body, &body.spec.volume_name);
        manifest.push_str(
            &[
                "  claimRef:\n    kind: PersistentVolumeClaim\n    name: ",
                &object.meta.name,
                "\n    namespace: ",
                &object.meta.namespace,
                "\n    uid: ",
                &object.meta.uid.to_string(),
                "\n",
            ]
            .concat(),
        );
        out.cure(
            RemedyKind::RemakeVolume,
            &size(body),
            "",
            &[Action::apply(manifest)],
        );
        return Some(out);
    }
    if body.status.phase == "Bound" {
        return None;
    }
    let mut facts = Vec::new();
    let mut fits = None;
    for volume in sim.store().list(Kind::PersistentVolume) {
        let lacks = compare(object, body, volume);
        if lacks == VolumeFit::Fits {
            fits = fits.or_else(|| Some(volume.meta.name.clone()));
        }
        if facts.len() < 12 {
            facts.push(DecidingFact::Volume(volume.meta.name.clone(), lacks));
        }
    }
    let class = sim
        .store()
        .get(&ObjectRef::new(Kind::StorageClass, "", body.class()))
        .and_then(|class| class.get::<StorageClass>());
    let consumer = all_in(sim, Kind::Pod, &object.meta.namespace).find(|pod| {
        pod.pod().is_some_and(|body| {
            body.node_name.is_empty() && body.spec.claims().any(|name| *name == object.meta.name)
        })
    });
    let delayed = class.is_some_and(StorageClass::waits_for_first_consumer);
    let waits = match class {
        _ if !body.spec.volume_name.is_empty() => {
            PendingReason::NamedVolume(body.spec.volume_name.clone())
        }
        Some(_) if delayed && object.meta.annotation(SELECTED_NODE).is_none() => {
            PendingReason::FirstConsumer
        }
        _ if fits.is_some() => PendingReason::NextLook(fits.clone().unwrap_or_default()),
        None if body.class().is_empty() => PendingReason::NoClass,
        None => PendingReason::ClassMissing(body.class().into()),
        Some(class) if class.provisioner != OURS && class.provisioner != NONE => {
            PendingReason::NoProvisioner(class.provisioner.clone())
        }
        // The class provisions nothing, and no volume fits.
        Some(class) if class.provisioner == NONE => PendingReason::NoClass,
        Some(_) if is_looked_at_again(sim, object) => {
            PendingReason::NextLookForClass(body.class().into())
        }
        // Being provisioned.
        Some(_) => return None,
    };
    let mut out = Diagnosis::new(object, waits);
    out.word(FactLabel::Requests, &size(body));
    out.facts
        .push(DecidingFact::Word(FactLabel::Class, body.class().into()));
    out.facts.push(DecidingFact::Word(
        FactLabel::Access,
        modes(&body.spec.access_modes).into(),
    ));
    out.since(sim, object.meta.creation_timestamp);
    match &out.waits {
        PendingReason::FirstConsumer => match consumer {
            Some(pod) => {
                let deeper = sim.diagnose(&pod.key());
                out.waits_for = Some(pod.key());
                out.remedies = deeper
                    .filter(|deeper| deeper.waits_for.is_none())
                    .map(|deeper| deeper.remedies)
                    .unwrap_or_default();
            }
            None => {
                let manifest = ["apiVersion: v1\nkind: Pod\nmetadata:\n  name: ", &object.meta.name, "-user\n  namespace: ", &object.meta.namespace,
                    "\nspec:\n  containers:\n  - name: app\n    image: nginx:1.27\n    volumeMounts:\n    - name: data\n      mountPath: /data\n  \
                     volumes:\n  - name: data\n    persistentVolumeClaim:\n      claimName: ", &object.meta.name, "\n"].concat();
                out.cure(
                    RemedyKind::MakePod,
                    &object.meta.name,
                    "",
                    &[Action::apply(manifest)],
                );
            }
        },
        PendingReason::NextLook(_) | PendingReason::NextLookForClass(_) => out.facts.extend(facts),
        _ => {
            out.facts.extend(facts);
            offers(sim, object, body, &mut out);
        }
    }
    Some(out)
}

/// Adds remedies that would give a claim its volume.
fn offers(sim: &Context<'_>, object: &Object, body: &PersistentVolumeClaim, out: &mut Diagnosis) {
    // No class named at all: a default class is applied retroactively too.
    if body.spec.storage_class_name.is_none()
        && let Some(class) = sim.store().list(Kind::StorageClass).find(|class| {
            class
                .get::<StorageClass>()
                .is_some_and(|class| class.provisioner == OURS)
        })
    {
        let rest = " -p '{\"metadata\":{\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}}}'";
        out.cure(
            RemedyKind::DefaultClass,
            &class.meta.name,
            "",
            &[line("patch", &class.key(), rest)],
        );
    }
    if let PendingReason::ClassMissing(class) = &out.waits.clone() {
        let manifest = [
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: ",
            class,
            "\nprovisioner: ",
            OURS,
            "\n",
        ]
        .concat();
        out.cure(RemedyKind::MakeClass, class, "", &[Action::apply(manifest)]);
    }
    // A released volume that would fit otherwise.
    if let Some(volume) = sim
        .store()
        .list(Kind::PersistentVolume)
        .find(|volume| would_fit(object, volume))
    {
        out.cure(
            RemedyKind::FreeVolume,
            &volume.meta.name,
            "",
            &[free(volume)],
        );
    }
    let name = if body.spec.volume_name.is_empty() {
        super::finding::free_name(sim, Kind::PersistentVolume, "", &object.meta.name)
    } else {
        body.spec.volume_name.to_string()
    };
    if sim
        .store()
        .get(&ObjectRef::new(Kind::PersistentVolume, "", &name))
        .is_none()
    {
        out.cure(
            RemedyKind::MakeVolume,
            &size(body),
            &name,
            &[Action::apply(volume_for(object, body, &name))],
        );
    }
}

fn free(volume: &Object) -> Action {
    line(
        "patch",
        &volume.key(),
        " --type=merge -p '{\"spec\":{\"claimRef\":null}}'",
    )
}

/// Returns the manifest of a volume that matches the claim.
fn volume_for(object: &Object, body: &PersistentVolumeClaim, name: &str) -> String {
    let mode = body.mode();
    let mut out = [
        "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: ",
        name,
    ]
    .concat();
    if let Some(selector) = body
        .spec
        .selector
        .as_ref()
        .filter(|selector| !selector.match_labels.is_empty())
    {
        out.push_str("\n  labels:");
        for (key, value) in selector.match_labels.iter() {
            out.push_str(&["\n    ", key, ": \"", value, "\""].concat());
        }
    }
    let modes = if body.spec.access_modes.is_empty() {
        "ReadWriteOnce".into()
    } else {
        modes(&body.spec.access_modes)
    };
    out.push_str(
        &[
            "\nspec:\n  capacity:\n    storage: ",
            &size(body),
            "\n  accessModes: [",
            &modes,
            "]\n  volumeMode: ",
            mode,
            "\n  storageClassName: \"",
            body.class(),
            "\"\n  hostPath:\n    path: /tmp/",
            &object.meta.name,
            "\n",
        ]
        .concat(),
    );
    out
}

fn size(body: &PersistentVolumeClaim) -> String {
    quantity(body.spec.resources.requests.get("storage"))
}

fn quantity(value: Option<&Value>) -> String {
    value
        .map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_string)
        })
        .unwrap_or_default()
}

fn modes(modes: &[Str]) -> String {
    modes.join(", ")
}

/// Compares a volume with a claim.
fn compare(object: &Object, body: &PersistentVolumeClaim, volume: &Object) -> VolumeFit {
    let has: &PersistentVolume = volume.body();
    match mismatch(volume, object) {
        None => VolumeFit::Fits,
        Some(VolumeMismatch::Taken) => VolumeFit::Taken {
            by: has
                .spec
                .claim_ref
                .as_ref()
                .map_or_else(Str::default, |by| by.name.clone()),
            phase: has.status.phase.clone(),
        },
        Some(VolumeMismatch::Deleting) => VolumeFit::Deleting,
        Some(VolumeMismatch::Size) => VolumeFit::Small {
            has: quantity(has.spec.capacity.get("storage")).into(),
            asks: size(body).into(),
        },
        Some(VolumeMismatch::Class) => VolumeFit::Class {
            has: has.spec.storage_class_name.clone(),
            asks: body.class().into(),
        },
        Some(VolumeMismatch::AttributesClass) => VolumeFit::Class {
            has: has.spec.volume_attributes_class_name.clone(),
            asks: body.spec.volume_attributes_class_name.clone(),
        },
        Some(VolumeMismatch::Mode) => VolumeFit::Mode {
            has: has.mode().into(),
            asks: body.mode().into(),
        },
        Some(VolumeMismatch::AccessMode(asks)) => VolumeFit::Access {
            has: modes(&has.spec.access_modes).into(),
            asks,
        },
        Some(VolumeMismatch::Selector) => VolumeFit::Selector,
    }
}

/// Returns true if the claim could have a released volume, once nothing is reserved for the earlier claim.
fn would_fit(object: &Object, volume: &Object) -> bool {
    let body: &PersistentVolumeClaim = object.body();
    let selects = |selector: &LabelSelector| selector.matches(&volume.meta.labels);
    volume.body::<PersistentVolume>().status.phase == "Released"
        && unsatisfied(volume, body).is_none()
        && body.spec.selector.as_ref().is_none_or(selects)
}

/// Diagnoses a deleted claim that a Pod still uses.
fn in_use(sim: &Context<'_>, object: &Rc<Object>) -> Option<Diagnosis> {
    let uses = |pod: &&Rc<Object>| {
        let body: &Pod = pod.body();
        !body.is_terminal() && body.spec.claims().any(|name| *name == object.meta.name)
    };
    let users: Vec<&Rc<Object>> = all_in(sim, Kind::Pod, &object.meta.namespace)
        .filter(uses)
        .collect();
    let pod = users.first()?;
    let mut out = Diagnosis::new(object, PendingReason::InUse(pod.meta.name.clone()));
    out.word(FactLabel::Message, "kubernetes.io/pvc-protection");
    out.since(sim, object.meta.deletion_timestamp);
    out.waits_for = Some(pod.key());
    let steps: Vec<Action> = users
        .iter()
        .take(20)
        .map(|pod| line("delete", &pod.key(), " --wait=false"))
        .collect();
    out.cure(RemedyKind::MakeRoom, &pod.meta.name, "", &steps);
    Some(out)
}

pub fn volume(object: &Rc<Object>) -> Option<Diagnosis> {
    let body: &PersistentVolume = object.get()?;
    let claim = body.spec.claim_ref.as_ref();
    if object.meta.is_deleting() {
        let claim = claim.filter(|_| body.status.phase == "Bound")?;
        // Deleting the claim would end the wait, but also delete the data: it is not a remedy.
        let mut out = Diagnosis::new(
            object,
            PendingReason::InUse(["claim ", &claim.name].concat().into()),
        );
        out.waits_for = Some(ObjectRef::new(
            Kind::PersistentVolumeClaim,
            &claim.namespace,
            &claim.name,
        ));
        return Some(out);
    }
    let mut out = match body.status.phase.as_str() {
        "Released" => Diagnosis::new(object, PendingReason::Released(claim?.name.clone())),
        "Failed" => Diagnosis::new(object, PendingReason::VolumeFailed),
        _ => return None,
    };
    out.word(FactLabel::Message, &body.status.message);
    if body.status.phase == "Released" && body.spec.persistent_volume_reclaim_policy == "Retain" {
        out.unaffected = Some(msg::data_retained());
        out.cure(
            RemedyKind::FreeVolume,
            &object.meta.name,
            "",
            &[free(object)],
        );
    }
    out.cure(
        RemedyKind::DeleteVolume,
        &object.meta.name,
        "",
        &[line("delete", &object.key(), " --wait=false")],
    );
    Some(out)
}
