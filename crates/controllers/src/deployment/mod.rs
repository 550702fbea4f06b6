//! Keeps one ReplicaSet per Pod template, and moves replicas from old ones to the newest.
//!
//! Guarantees: a rolling update never requests more Pods than `replicas + maxSurge`, and scales old ReplicaSets
//! down only while `replicas - maxUnavailable` Pods stay available.
//! Models `pkg/controller/deployment/deployment_controller.go`.

mod progress;
mod recreate;
mod revision;
mod rolling;
mod scale;
mod status;

use super::ownership::claim;
use super::{Controller, Event, Watch};
use apiserver::ApiError;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, CodeValue, Descriptor};
use controller_runtime::fact::FactId;
use controller_runtime::informer::Cache;
use k8s_model::workload::{Deployment, ReplicaSet};
use k8s_model::{Kind, Object, ObjectRef, Timestamp};
use std::rc::Rc;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for key := range queue {"),
    CodeLine::reads(
        "    d     := cache.Get(key)",
        CodeValue::Fact(FactId::Desired),
    ),
    CodeLine::reads(
        "    newRS := find(d.Template)",
        CodeValue::Fact(FactId::Updated),
    ),
    CodeLine::writes(
        "    if newRS == nil { create(newRS) }",
        CodeTag::CreateReplicaSet,
    ),
    CodeLine::reads(
        "    room  := min(maxTotal - pods, want - new)",
        CodeValue::Room,
    ),
    CodeLine::writes("    if room > 0 { scale(newRS, +room) }", CodeTag::ScaleUp),
    CodeLine::reads(
        "    spare := min(available - minAvailable, old)",
        CodeValue::Spare,
    ),
    CodeLine::writes(
        "    if spare > 0 { scale(oldRS, -spare) }",
        CodeTag::ScaleDown,
    ),
    CodeLine::writes("    updateStatus(d)", CodeTag::Status),
    CodeLine::end("}"),
];

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("deployment-controller")),
    aliases: &[],
    title: "deployment",
    icon: "i-deployment",
    lane: "deployment",
    always_shown: true,
    code: CODE,
};

/// Deployment controller.
pub struct DeploymentController;

impl Controller for DeploymentController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::Deployment),
            Watch::Owns(Kind::Deployment, Kind::ReplicaSet),
            Watch::Maps(Kind::ReplicaSet),
            Watch::Maps(Kind::Pod),
        ]
    }

    /// Wakes the Deployments that could adopt an orphaned ReplicaSet; the end of the last old Pod wakes a Recreate Deployment.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        if object.kind == Kind::ReplicaSet && object.meta.controller().is_none() {
            for deployment in cache.selecting(
                Kind::Deployment,
                &object.meta.namespace,
                &object.meta.labels,
            ) {
                if deployment
                    .get::<Deployment>()
                    .is_some_and(|d| d.spec.selector.matches(&object.meta.labels))
                {
                    wake(deployment.key());
                }
            }
        }
        if object.kind == Kind::Pod && event.op == apiserver::Op::Deleted {
            wake_recreate(object, cache, wake);
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, deployment)) = view.cache.get::<Deployment>(key) else {
            return Ok(Action::AwaitChange);
        };
        if deployment.spec.selector.is_empty() {
            return Ok(Action::AwaitChange);
        }
        let sets = claim(
            object,
            &deployment.spec.selector,
            Kind::ReplicaSet,
            view,
            out,
            |_| true,
        )?;
        let mut pass = DeploymentPass {
            object: object.clone(),
            wall: view.wall,
            view,
            out,
        };
        if object.meta.is_deleting() {
            return pass.sync_status_only(&sets);
        }
        pass.check_paused()?;
        if pass.deployment().spec.paused || pass.is_scaling(&sets)? {
            return pass.sync(&sets);
        }
        match pass.deployment().spec.strategy.kind.as_str() {
            "Recreate" => pass.recreate(&sets),
            _ => pass.roll(&sets),
        }
    }
}

fn wake_recreate(pod: &Object, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
    let set = pod
        .meta
        .controller()
        .map(|o| ObjectRef::new(Kind::ReplicaSet, &pod.meta.namespace, &o.name));
    let Some(owner) = set
        .and_then(|key| cache.object(&key))
        .and_then(|set| set.meta.controller().cloned())
    else {
        return;
    };
    let key = ObjectRef::new(Kind::Deployment, &pod.meta.namespace, &owner.name);
    if cache
        .get::<Deployment>(&key)
        .is_some_and(|(_, d)| d.spec.strategy.kind == "Recreate")
    {
        wake(key);
    }
}

/// Reconcile pass over one Deployment; works on its own copy, which its writes update.
struct DeploymentPass<'p, 'v, 'o> {
    object: Rc<Object>,
    wall: Timestamp,
    view: &'p PassView<'v>,
    out: &'p mut LoopClient<'o>,
}

/// ReplicaSets of a Deployment: that of its current template, and the others.
struct Sets {
    new: Option<Rc<Object>>,
    old: Vec<Rc<Object>>,
}

impl Sets {
    fn all(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.old.iter().chain(&self.new)
    }
}

/// Returns the body of a ReplicaSet; the lists hold no other kind.
fn set_of(object: &Object) -> &ReplicaSet {
    object.body()
}

fn replicas(object: &Object) -> i32 {
    set_of(object).spec.replicas
}

fn total<'a>(sets: impl Iterator<Item = &'a Rc<Object>>) -> i32 {
    sets.map(|set| replicas(set)).fold(0, i32::saturating_add)
}

fn available<'a>(sets: impl Iterator<Item = &'a Rc<Object>>) -> i32 {
    sets.map(|set| set_of(set).status.available_replicas).sum()
}

impl DeploymentPass<'_, '_, '_> {
    fn deployment(&self) -> &Deployment {
        self.object.body()
    }

    fn wanted(&self) -> i32 {
        self.deployment().spec.replicas
    }

    fn max_surge(&self) -> i32 {
        self.deployment().limits().0 as i32
    }

    fn max_unavailable(&self) -> i32 {
        (self.deployment().limits().1 as i32).min(self.wanted())
    }
}
