//! Keeps one Pod per ordinal, with a stable name, network identity and claims.
//!
//! Guarantees: never two Pods of one ordinal; in ordered mode no Pod before its predecessor is Running, Ready and
//! available, and none is removed before its successors are gone; claims outlive their Pods unless the retention
//! policy says otherwise.
//! Models `pkg/controller/statefulset/stateful_set.go` and `stateful_set_control.go`.

mod claims;
mod identity;
mod pass;
mod revisions;
mod status;

use super::ownership::claim;
use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, CodeValue, Descriptor};
use controller_runtime::fact::FactId;
use controller_runtime::informer::Cache;
use k8s_model::pod::Pod;
use k8s_model::pod_template::PodTemplate;
use k8s_model::time::SECOND;
use k8s_model::workload::{StatefulSet, StatefulSetStatus};
use k8s_model::{Kind, Object, ObjectRef, Str};
use pass::{Proceed, Roles, StatefulSetPass, is_healthy, is_ready, revision_of};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Maximum number of Pods created in one pass.
const MAX_NEW_PODS: i32 = 500;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for key := range queue {"),
    CodeLine::reads(
        "    set  := cache.Get(key)",
        CodeValue::Fact(FactId::Desired),
    ),
    CodeLine::reads(
        "    for n := range ordinals(set) {",
        CodeValue::Fact(FactId::Ordinals),
    ),
    CodeLine::writes(
        "        claim(n) exists, or create it",
        CodeTag::CreateClaim,
    ),
    CodeLine::writes("        pod(n) exists, or create it", CodeTag::Create),
    CodeLine::reads(
        "        if ordered && !ready(pod(n)) { break }",
        CodeValue::Fact(FactId::Ready),
    ),
    CodeLine::end("    }"),
    CodeLine::writes(
        "    delete(beyond replicas, highest first)",
        CodeTag::Delete,
    ),
    CodeLine::writes("    delete(old revision, highest first)", CodeTag::Update),
    CodeLine::writes("    updateStatus(set)", CodeTag::Status),
    CodeLine::end("}"),
];

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("statefulset-controller")),
    aliases: &[],
    title: "statefulset",
    icon: "i-statefulset",
    lane: "statefulset",
    always_shown: true,
    code: CODE,
};

/// StatefulSet controller.
pub struct StatefulSetController;

impl Controller for StatefulSetController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::StatefulSet),
            Watch::Owns(Kind::StatefulSet, Kind::Pod),
            Watch::Maps(Kind::Pod),
            Watch::Maps(Kind::PersistentVolumeClaim),
        ]
    }

    /// Wakes the sets that could adopt an orphaned Pod; a deleted claim wakes the set whose Pod waits for it.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        if object.kind == Kind::PersistentVolumeClaim && event.op != apiserver::Op::Deleted
            || object.meta.controller().is_some() && object.kind == Kind::Pod
        {
            return;
        }
        for set in cache.selecting(
            Kind::StatefulSet,
            &object.meta.namespace,
            &object.meta.labels,
        ) {
            let body: &StatefulSet = set.body();
            if body.spec.selector.matches(&object.meta.labels) {
                wake(set.key());
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, set)) = view.cache.get::<StatefulSet>(key) else {
            return Ok(Action::AwaitChange);
        };
        // A stale cache would make the pass repeat its own writes.
        if !view.sees_own_writes {
            return Ok(Action::RequeueAfter(k8s_model::time::MS));
        }
        let pods = claim(object, &set.spec.selector, Kind::Pod, view, out, |pod| {
            identity::is_member(object, pod)
        })?;
        let known = claim(
            object,
            &set.spec.selector,
            Kind::ControllerRevision,
            view,
            out,
            |_| true,
        )?;
        let revisions = revisions::sync(object, set, &known, out)?;
        let mut pass = StatefulSetPass {
            object,
            set,
            view,
            out,
            revisions,
        };
        let mut status = pass.count(&pods);
        let acted = pass.act(&pods);
        pass.complete_update(&mut status);
        pass.write_status(&status)?;
        revisions::truncate(object, set, &known, &pods, &pass.revisions, pass.out)?;
        acted?;
        let waits =
            set.spec.min_ready_seconds > 0 && status.available_replicas != status.ready_replicas;
        Ok(if waits {
            Action::RequeueAfter(set.spec.min_ready_seconds as u64 * SECOND)
        } else {
            Action::AwaitChange
        })
    }
}

impl StatefulSetPass<'_, '_, '_> {
    fn is_ordered(&self) -> bool {
        self.set.spec.pod_management_policy != "Parallel"
    }

    fn is_available(&self, pod: &Object) -> bool {
        is_ready(pod)
            && pod
                .body::<Pod>()
                .is_available(self.set.spec.min_ready_seconds, self.view.wall)
    }

    fn roles(&self, pods: &[Rc<Object>]) -> Roles {
        let start = self.set.spec.ordinals.start;
        let end = start.saturating_add(self.set.spec.replicas);
        // More slots than one pass can fill would only cost memory.
        let shown = start
            .saturating_add(pods.len() as i32 + MAX_NEW_PODS)
            .min(end);
        let mut roles = Roles {
            replicas: (start..shown).map(|ordinal| (ordinal, None)).collect(),
            condemned: Vec::new(),
        };
        for pod in pods {
            match identity::ordinal(self.object, pod) {
                Some(n) if (start..shown).contains(&n) => {
                    roles.replicas[(n - start) as usize].1 = Some(pod.clone())
                }
                Some(n) if (shown..end).contains(&n) => roles.replicas.push((n, Some(pod.clone()))),
                Some(n) => roles.condemned.push((n, pod.clone())),
                None => {}
            }
        }
        roles.condemned.sort_by_key(|(ordinal, _)| -ordinal);
        roles
    }

    /// Takes one step: creates missing Pods, removes surplus ones, then updates.
    fn act(&mut self, pods: &[Rc<Object>]) -> Result<(), ApiError> {
        if self.object.meta.is_deleting() {
            return Ok(());
        }
        let roles = self.roles(pods);
        claims::sync_retention(self, &roles)?;
        for (ordinal, pod) in &roles.replicas {
            if self.keep(*ordinal, pod.as_ref())? == Proceed::Wait && self.is_ordered() {
                return Ok(());
            }
        }
        let first_unhealthy = roles
            .replicas
            .iter()
            .filter_map(|(_, pod)| pod.as_ref())
            .chain(roles.condemned.iter().rev().map(|(_, pod)| pod))
            .find(|pod| !is_healthy(pod))
            .map(|pod| pod.meta.uid);
        for (ordinal, pod) in &roles.condemned {
            if self.remove(*ordinal, pod, first_unhealthy)? == Proceed::Wait && self.is_ordered() {
                return Ok(());
            }
        }
        self.update(&roles)
    }

    /// Ensures that an ordinal's Pod exists, runs and has its identity.
    fn keep(&mut self, ordinal: i32, pod: Option<&Rc<Object>>) -> Result<Proceed, ApiError> {
        let Some(pod) = pod else {
            return self.create(ordinal);
        };
        let body: &Pod = pod.body();
        if body.is_terminal() {
            if !pod.meta.is_deleting() {
                self.delete_pod(
                    pod,
                    Why::EndedPod {
                        phase: body.status.phase.to_str(),
                    },
                )?;
            }
            return Ok(Proceed::Wait);
        }
        if body.status.phase == "Pending" {
            claims::create_missing(self, ordinal, &pod.meta.name)?;
        }
        if pod.meta.is_deleting() || !self.is_available(pod) {
            return Ok(if self.is_ordered() {
                Proceed::Wait
            } else {
                Proceed::Continue
            });
        }
        identity::repair(self, ordinal, pod)?;
        Ok(Proceed::Continue)
    }

    fn create(&mut self, ordinal: i32) -> Result<Proceed, ApiError> {
        let name = identity::pod_name(self.object, ordinal);
        if claims::is_stale(self, &name) {
            return Ok(Proceed::Wait);
        }
        let set = self.object.clone();
        if let Err(message) = claims::create_missing_for_new(self, ordinal, &name)? {
            self.out.event(
                &set,
                "Warning",
                "FailedCreate",
                format_smolstr!(
                    "Create Pod {name} in StatefulSet {} failed error: {message}",
                    set.meta.name
                ),
            );
            return Err(ApiError::forbidden(message));
        }
        let (template, revision) = self.template_for(ordinal);
        let pod = identity::new_pod(self.object, self.set, ordinal, &template, &revision);
        let follows = self.is_ordered() && ordinal > self.set.spec.ordinals.start;
        let ready_s = if follows {
            self.set.spec.min_ready_seconds
        } else {
            0
        };
        match self
            .out
            .create(pod, Why::MissingOrdinal { ordinal, ready_s })
        {
            Ok(_) => self.out.event(
                &set,
                "Normal",
                "SuccessfulCreate",
                format_smolstr!(
                    "Create Pod {name} in StatefulSet {} successful",
                    set.meta.name
                ),
            ),
            Err(error) => {
                self.out.event(
                    &set,
                    "Warning",
                    "FailedCreate",
                    format_smolstr!(
                        "Create Pod {name} in StatefulSet {} failed error: {error}",
                        set.meta.name
                    ),
                );
                return Err(error);
            }
        }
        Ok(Proceed::Wait)
    }

    /// Returns the template of an ordinal: the current revision below the partition, the new one otherwise.
    fn template_for(&self, ordinal: i32) -> (Rc<PodTemplate>, Str) {
        let strategy = &self.set.spec.update_strategy;
        let start = self.set.spec.ordinals.start;
        let is_current = strategy.kind == "RollingUpdate"
            && match &strategy.rolling_update {
                None => ordinal < start.saturating_add(self.set.status.current_replicas),
                Some(rolling) => ordinal < start.saturating_add(rolling.partition.unwrap_or(0)),
            };
        if is_current {
            (
                self.revisions.current_template(self.set),
                self.revisions.current.clone(),
            )
        } else {
            (
                self.set.spec.template.clone(),
                self.revisions.update.clone(),
            )
        }
    }

    /// Removes a Pod whose ordinal is no longer needed, the highest first.
    fn remove(
        &mut self,
        ordinal: i32,
        pod: &Rc<Object>,
        first_unhealthy: Option<k8s_model::Uid>,
    ) -> Result<Proceed, ApiError> {
        if pod.meta.is_deleting() {
            return Ok(Proceed::Wait);
        }
        if !self.is_available(pod) && self.is_ordered() && first_unhealthy != Some(pod.meta.uid) {
            return Ok(Proceed::Wait);
        }
        self.delete_pod(
            pod,
            Why::CondemnedOrdinal {
                ordinal,
                replicas: self.set.spec.replicas,
            },
        )?;
        Ok(Proceed::Wait)
    }

    /// Replaces Pods of an old revision from the highest ordinal down to the partition, as long as not too many are unavailable.
    fn update(&mut self, roles: &Roles) -> Result<(), ApiError> {
        let strategy = &self.set.spec.update_strategy;
        if strategy.kind == "OnDelete" {
            return Ok(());
        }
        let rolling = strategy.rolling_update.as_ref();
        let first = (self.set.spec.ordinals.start)
            .saturating_add(rolling.and_then(|r| r.partition).unwrap_or(0));
        let Some(at_most) = rolling.and_then(|r| r.max_unavailable.as_ref()) else {
            return self.replace_first(roles, first);
        };
        let at_most = at_most
            .resolve(i64::from(self.set.spec.replicas), false)
            .max(1);
        let missing = |pod: &Rc<Object>| pod.meta.is_deleting() || !self.is_available(pod);
        let unavailable = roles
            .replicas
            .iter()
            .filter(|(_, pod)| pod.as_ref().is_none_or(missing))
            .count() as i64;
        let old =
            |pod: &Rc<Object>| revision_of(pod) != self.revisions.update && !pod.meta.is_deleting();
        let targets = roles
            .replicas
            .iter()
            .rev()
            .take_while(|(ordinal, _)| *ordinal >= first);
        let targets = targets
            .filter_map(|(_, pod)| pod.as_ref())
            .filter(|pod| old(pod))
            .take((at_most - unavailable).max(0) as usize);
        for pod in targets.cloned().collect::<Vec<_>>() {
            self.delete_old(&pod)?;
        }
        Ok(())
    }

    /// Replaces one Pod at a time without `maxUnavailable`: the first of an old revision, or waits for one that is not healthy.
    fn replace_first(&mut self, roles: &Roles, first: i32) -> Result<(), ApiError> {
        for (ordinal, pod) in roles.replicas.iter().rev() {
            let Some(pod) = pod else { return Ok(()) };
            if *ordinal < first {
                return Ok(());
            }
            if revision_of(pod) != self.revisions.update && !pod.meta.is_deleting() {
                return self.delete_old(pod);
            }
            if !self.is_available(pod) || pod.meta.is_deleting() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn delete_old(&mut self, pod: &Rc<Object>) -> Result<(), ApiError> {
        let why = Why::OldRevision {
            have: revision_of(pod).into(),
            want: (&self.revisions.update).into(),
        };
        self.delete_pod(pod, why)
    }

    fn delete_pod(&mut self, pod: &Rc<Object>, why: Why) -> Result<(), ApiError> {
        let (set, name) = (self.object.clone(), pod.meta.name.clone());
        self.out
            .delete(&pod.key(), DeleteOptions::of_uid(pod.meta.uid), why)?;
        self.out.event(
            &set,
            "Normal",
            "SuccessfulDelete",
            format_smolstr!(
                "Delete Pod {name} in StatefulSet {} successful",
                set.meta.name
            ),
        );
        Ok(())
    }

    fn count(&self, pods: &[Rc<Object>]) -> StatefulSetStatus {
        status::count(self, pods)
    }
}
