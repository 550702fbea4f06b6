//! The pill in the head of the diagram: the state of the workloads shown.

use super::drawing::{Drawing, Pill};
use super::run::Run;
use super::selection::Selection;
use explain::diagnose::{diagnose, refused_evictions};
use explain::progress;
use explain::waits::PendingReason;
use i18n::format::middle;
use i18n::{Message, msg};
use k8s_model::network_policy::NetworkPolicySpec;
use k8s_model::{Kind, Object, ObjectRef, Str, Uid};
use projection::model::{Pod, PodBlock, PodState, Service};
use projection::totals::PodTotals;
use std::rc::Rc;
use views::shape::Scene;
use views::view::{Status, Workloads};

impl Pill {
    fn in_state(words: Message, state: PodState) -> Pill {
        Pill {
            words,
            class: state.class(),
            glyph: state.glyph(),
            of: None,
        }
    }
}

/// Limits of Pods, NetworkPolicies and Services above which denied connections to a Service are not checked: a check visits each Pod for
/// each policy.
const MAX_PODS: usize = 100;
const MAX_POLICIES: usize = 8;
const MAX_SERVICES: usize = 4;

impl Drawing {
    /// Returns the state of what is shown; if all Pods are Ready, other problems.
    pub(super) fn pill(
        &self,
        run: &Run,
        selection: &Selection,
        scene: &Scene,
        services: &[Rc<Service>],
    ) -> Option<Pill> {
        let pill = self.workloads_pill(run, selection, scene);
        let all_ready = pill
            .as_ref()
            .is_some_and(|pill| pill.class == PodState::Ready.class());
        let trouble = if all_ready && selection.filter.trim().is_empty() {
            self.trouble(run, selection, services)
        } else {
            None
        };
        trouble.or(pill)
    }

    /// Returns a problem that exists even though all Pods are Ready: a drain refused by a budget, a Service that cannot be reached.
    fn trouble(&self, run: &Run, selection: &Selection, services: &[Rc<Service>]) -> Option<Pill> {
        let (sim, scope) = (run.sim(), self.scope(run, selection));
        let count = |kind| sim.store().count(kind);
        let of = |words, of| {
            Some(Pill {
                of: Some(of),
                ..Pill::in_state(words, PodState::NotReady)
            })
        };
        if count(Kind::PodDisruptionBudget) > 0
            && let Some(refused) =
                refused_evictions(sim, &|pod, _| scope.has(&pod.namespace)).next()
        {
            let budget = ObjectRef::new(
                Kind::PodDisruptionBudget,
                &refused.pod.namespace,
                &refused.budget,
            );
            return of(
                msg::pill_eviction_refused(format!("pdb/{}", refused.budget)),
                budget,
            );
        }
        let key = |service: &Service| {
            ObjectRef::new(Kind::Service, &service.id.namespace, &service.id.name)
        };
        if let Some((service, hint)) = services
            .iter()
            .find_map(|service| Some((service, service.trouble()?)))
        {
            return of(
                msg::progress_named(middle(&service.id.name, 24), hint),
                key(service),
            );
        }
        if !(1..=MAX_POLICIES).contains(&count(Kind::NetworkPolicy)) || count(Kind::Pod) > MAX_PODS
        {
            return None;
        }
        // Addresses outside the cluster may be allowed to connect even if no Pod is.
        let admits_outside = |name: &Str, namespace: &str| {
            let policy = sim
                .store()
                .get(&ObjectRef::new(Kind::NetworkPolicy, namespace, name));
            policy.is_none_or(|policy| {
                let rules = NetworkPolicySpec::of(policy).ingress;
                rules
                    .iter()
                    .flat_map(|rule| &rule.from)
                    .any(|peer| peer.ip_block.is_some())
            })
        };
        let isolated = |key: &ObjectRef| match diagnose(sim, key).map(|found| found.waits) {
            Some(PendingReason::DeniedByPolicy { policies, .. }) => !policies
                .iter()
                .any(|name| admits_outside(name, &key.namespace)),
            _ => false,
        };
        let ready = services
            .iter()
            .filter(|service| service.ready() > 0)
            .take(MAX_SERVICES);
        let key = ready.map(|service| key(service)).find(isolated)?;
        of(msg::pill_isolated(middle(&key.name, 24)), key)
    }

    fn workloads_pill(&self, run: &Run, selection: &Selection, scene: &Scene) -> Option<Pill> {
        let which = match &selection.view.status {
            Status::Fixed(words) => {
                return Some(Pill {
                    words: words(),
                    class: "plain",
                    ..Pill::default()
                });
            }
            Status::Summary => {
                return Some(Pill {
                    words: scene.summary.clone(),
                    ..Pill::default()
                });
            }
            Status::Of(which) => *which,
        };
        // Storage draws only objects with claims, and Network no workloads; their pill covers all.
        let scope = Some(self.scope(run, selection))
            .filter(|scope| which == Workloads::InScope && scope.filter.trim().is_empty());
        // The rollout chart shows one workload.
        let followed = self
            .memory
            .rollout
            .subject()
            .filter(|_| which == Workloads::Followed && !scene.items.is_empty());
        let mut drawn: Vec<Uid> = match (&scope, &followed) {
            (None, None) => scene
                .items
                .iter()
                .filter_map(|item| Uid::parse(&item.id.uid))
                .collect(),
            _ => Vec::new(),
        };
        drawn.sort();
        let shown = |object: &&Rc<Object>| match &scope {
            _ if followed.is_some() => followed == Some(object.meta.uid),
            Some(scope) => scope.holds(object),
            None => drawn.binary_search(&object.meta.uid).is_ok(),
        };
        // ReplicaSets by owner.
        let owner = |set: &Rc<Object>| Some((set.meta.controller()?.uid, set.meta.uid));
        let mut sets: Vec<(Uid, Uid)> = run
            .sim()
            .store()
            .list(Kind::ReplicaSet)
            .filter_map(owner)
            .collect();
        sets.sort_by_key(|(owner, _)| *owner);
        let pods = |object: &Object| {
            owners(&sets, object)
                .map(|owner| self.pods.pods.totals(owner))
                .sum::<PodTotals>()
        };
        let fails = |block: &PodBlock| block.has(PodState::Failed);
        // Among workloads in progress the one that makes no progress comes first.
        let rank = |state, object: &Object| match worst_first(state) {
            1 if owners(&sets, object).any(|owner| fails(&self.pods.pods.of(owner))) => (1, 0),
            rank => (rank, 1),
        };
        let all: Vec<_> = [
            Kind::Deployment,
            Kind::StatefulSet,
            Kind::ReplicaSet,
            Kind::DaemonSet,
            Kind::Job,
        ]
        .into_iter()
        .flat_map(|kind| run.sim().store().list(kind))
        .filter(|object| {
            object
                .meta
                .controller()
                .is_none_or(|owner| owner.is_kind(Kind::CronJob))
        })
        .filter(shown)
        .filter_map(|object| Some((progress::of(object, pods(object))?, object)))
        .map(|((words, state), object)| (rank(state, object), (words, state), object))
        .collect();
        // Pods without a workload count as well, if their state is worse.
        let (bare, here) = (self.pods.pods.bare(), self.scope(run, selection));
        let is_shown = |pod: &&Rc<Pod>| match selection.filter.trim() {
            "" => here.has(&pod.id.namespace),
            _ => Uid::parse(&pod.id.uid).is_some_and(|uid| drawn.binary_search(&uid).is_ok()),
        };
        let bare = lone(bare.iter().filter(|_| followed.is_none()).filter(is_shown));
        let Some((_, (words, state), of)) = all.iter().min_by_key(|(rank, ..)| *rank) else {
            return bare.map(|(_, pill)| pill);
        };
        if let Some((_, pill)) = bare.filter(|(bare, _)| worst_first(*bare) < worst_first(*state)) {
            return Some(pill);
        }
        // Among several workloads, the words name the one.
        let words = match state {
            _ if all.len() == 1 && *state != PodState::Ready => words.clone(),
            PodState::Succeeded => msg::pill_jobs_complete(all.len()),
            // Nothing is said about the workloads that the filter hides.
            PodState::Ready if !selection.filter.trim().is_empty() => msg::pill_shown_ready(),
            PodState::Ready => words.clone(),
            _ => progress::of_named(of, pods(of)),
        };
        let blocks = || owners(&sets, of).map(|owner| self.pods.pods.of(owner));
        let mut failing = blocks().filter(fails);
        let failed = failing.find_map(|block| {
            block
                .iter()
                .find(|pod| pod.state == PodState::Failed)
                .map(|pod| pod.word.clone())
        });
        let waiting = all.iter().flat_map(|(.., object)| owners(&sets, object));
        let unscheduled: usize = waiting
            .map(|owner| self.pods.pods.of(owner).unscheduled())
            .sum();
        let is_one = all.len() == 1 || worst_first(*state) < worst_first(PodState::Ready);
        let pill = |words, state: PodState| Pill {
            of: is_one.then(|| of.key()),
            ..Pill::in_state(words, state)
        };
        if let (PodState::Creating | PodState::Pending, Some(word), true) =
            (state, failed, of.kind != Kind::Job)
        {
            let words = match all.len() {
                1 => msg::pill_rollout_waiting(word),
                _ => {
                    msg::progress_named(middle(&of.meta.name, 24), msg::pill_rollout_waiting(word))
                }
            };
            return Some(pill(words, PodState::Failed));
        }
        if matches!(state, PodState::Creating | PodState::Pending) && unscheduled > 0 {
            return Some(pill(
                msg::pill_unschedulable(unscheduled),
                PodState::NotReady,
            ));
        }
        Some(pill(words, *state))
    }
}

/// Returns the uids of the owners of a workload's Pods: its ReplicaSets, or itself.
fn owners(sets: &[(Uid, Uid)], object: &Object) -> impl Iterator<Item = Uid> {
    let uid = object.meta.uid;
    let own = &sets[sets.partition_point(|(owner, _)| *owner < uid)..];
    let own = &own[..own.partition_point(|(owner, _)| *owner == uid)];
    own.iter()
        .map(|(_, set)| *set)
        .chain(own.is_empty().then_some(uid))
}

/// Sort rank of a state, worst first.
fn worst_first(state: PodState) -> u8 {
    match state {
        PodState::Failed => 0,
        PodState::Ready | PodState::Succeeded => 2,
        _ => 1,
    }
}

/// Returns the pill of Pods without a workload, and the worst state among them.
fn lone<'a>(pods: impl Iterator<Item = &'a Rc<Pod>>) -> Option<(PodState, Pill)> {
    let pods: Vec<&Rc<Pod>> = pods.collect();
    let worst = pods.iter().min_by_key(|pod| worst_first(pod.state))?;
    let alike = pods.iter().filter(|pod| pod.state == worst.state).count();
    let (words, is_one) = match worst.state {
        PodState::Ready => (msg::progress_all_ready(), alike == 1),
        _ => (msg::pill_bare(alike, worst.word.clone()), true),
    };
    let of = ObjectRef::new(Kind::Pod, &worst.id.namespace, &worst.id.name);
    Some((
        worst.state,
        Pill {
            of: is_one.then_some(of),
            ..Pill::in_state(words, worst.state)
        },
    ))
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::settled;
    use crate::timeline::TimelineMsg;
    use explain::progress;
    use k8s_model::Kind;
    use projection::model::PodState;

    #[test]
    fn the_pill_tells_of_the_job_that_is_worst() {
        let job = |name: &str, command: &str| {
            format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\nspec: {{backoffLimit: 1, template: {{spec: {{restartPolicy: \
                 Never, containers: [{{name: c, image: busybox, command: [sh, -c, {command}]}}]}}}}}}\n---\n"
            )
        };
        let pill = |jobs: &[(&str, &str)], seconds: i64| {
            let mut state = State::new(
                &jobs
                    .iter()
                    .map(|(name, command)| job(name, command))
                    .collect::<String>(),
                1,
            );
            state.update(TimelineMsg::Seconds(seconds));
            state.picture().pill.clone().expect("words").words
        };
        let (quick, slow, fails) = (
            ("quick", "exit 0"),
            ("slow", "sleep 60"),
            ("fails", "exit 1"),
        );
        assert_eq!(pill(&[quick], 20), "Job complete");
        assert_eq!(
            pill(&[quick, slow], 20),
            "Job slow: running, 0 of 1 complete"
        );
        assert_eq!(
            pill(&[quick, fails], 8),
            "Job fails: waiting to retry, 1 failed"
        );
        assert_eq!(
            pill(&[quick, slow, fails], 50),
            "Job fails: failed: BackoffLimitExceeded"
        );
        assert_eq!(pill(&[quick, slow], 80), "2 Jobs complete");
    }

    #[test]
    fn a_job_tries_again_only_while_it_will() {
        use projection::totals::PodTotals;
        let says = |spec: &str, pods: PodTotals| {
            let text = format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: x}}\nspec: {{{spec}template: {{spec: {{restartPolicy: Never, \
                 containers: [{{name: c, image: busybox}}]}}}}}}\n"
            );
            let mut state = State::new(&text, 1);
            state.update(TimelineMsg::Seconds(0));
            let job = state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::Job)
                .next()
                .unwrap()
                .clone();
            progress::of(&job, pods).unwrap().0
        };
        let pods = |active, succeeded, failed| PodTotals {
            all: active + succeeded + failed,
            active,
            succeeded,
            failed,
            ..PodTotals::default()
        };
        assert_eq!(
            says("backoffLimit: 1, ", pods(0, 0, 1)),
            "Job waiting to retry, 1 failed"
        );
        assert_eq!(
            says("backoffLimit: 1, ", pods(1, 0, 1)),
            "Job running, 0 of 1 complete"
        );
        assert_eq!(
            says("backoffLimit: 1, ", pods(0, 1, 1)),
            "Job running, 1 of 1 complete"
        );
        assert_eq!(
            says("backoffLimit: 0, ", pods(0, 0, 1)),
            "Job failing, 1 failed"
        );
        assert_eq!(
            says("parallelism: 0, completions: 3, ", pods(0, 0, 1)),
            "Job paused, parallelism 0"
        );
        assert_eq!(says("suspend: true, ", pods(0, 0, 1)), "Job suspended");
    }

    #[test]
    fn pods_that_have_failed_for_good_are_called_failed() {
        let pods = |policy: &str| {
            let manifest = format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{restartPolicy: {policy}, containers: [{{name: c, image: \
                 busybox, command: [sh, -c, exit 1]}}]}}\n"
            );
            let mut state = State::new(&manifest, 1);
            state.update(TimelineMsg::Seconds(30));
            state.picture().scene.word(PodState::Failed)
        };
        assert_eq!(pods("Never"), "Failed");
        assert_eq!(pods("Always"), "Failing");
    }

    #[test]
    fn over_a_rollout_it_is_said_how_it_stands() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(SelectionMsg::View(&views::rollout::VIEW));
        let pill = |state: &mut State| {
            state
                .picture()
                .pill
                .clone()
                .map(|pill| pill.words)
                .unwrap_or_default()
        };
        assert_eq!(pill(&mut state), "All Pods are Ready");
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:1.9.1".into(),
        ));
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(pill(&mut state), "Rolling update in progress");
        state.update(ConsoleMsg::Enter(
            "kubectl rollout pause deployment/nginx-deployment".into(),
        ));
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(pill(&mut state), "Rollout paused");
        state.update(ConsoleMsg::Enter(
            "kubectl rollout resume deployment/nginx-deployment".into(),
        ));
        state.update(TimelineMsg::Seconds(30));
        assert_eq!(pill(&mut state), "All Pods are Ready");
        let mut state = settled((examples::ALL[2].text)());
        state.update(SelectionMsg::View(&views::rollout::VIEW));
        state.update(ConsoleMsg::Enter(
            "kubectl set image statefulset/web nginx=nginx:1.27".into(),
        ));
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(pill(&mut state), "Rolling update in progress");
        state.update(TimelineMsg::Seconds(120));
        assert_eq!(pill(&mut state), "All Pods are Ready");
    }

    #[test]
    fn a_stuck_rollout_is_called_so_over_every_diagram() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:nonexistent".into(),
        ));
        state.update(TimelineMsg::Seconds(30));
        for view in [
            &views::ownership::VIEW,
            &views::rollout::VIEW,
            &views::network::VIEW,
        ] {
            state.update(SelectionMsg::View(view));
            let words = state
                .picture()
                .pill
                .clone()
                .expect("words")
                .words
                .to_string();
            assert!(
                words.starts_with("Rollout stuck: ") && words.contains("ImagePull"),
                "{}: {words}",
                view.id
            );
            let of = state
                .picture()
                .pill
                .clone()
                .and_then(|pill| pill.of)
                .expect("the workload");
            assert_eq!(
                (of.kind, of.name.as_str()),
                (Kind::Deployment, "nginx-deployment")
            );
        }
    }

    #[test]
    fn what_keeps_requests_or_a_drain_waiting_is_said_though_all_pods_are_ready() {
        let text = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: nginx}, ports: [{port: 80, targetPort: 8080}]}\n---\n\
                    apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: shut}\nspec: {podSelector: {matchLabels: {app: nginx}}}\n---\n\
                    apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all}\nspec: {minAvailable: 2, selector: {matchLabels: {app: nginx}}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: client}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: busybox, command: [sleep, '9999']}]}}";
        let mut state = settled(&[(examples::ALL[0].text)(), text].join("\n---\n"));
        let mut after = |line: &str, seconds: i64| {
            state.update(ConsoleMsg::Enter(line.into()));
            state.update(TimelineMsg::Seconds(seconds));
            let pill = state.picture().pill.clone().expect("words");
            (pill.words.to_string(), pill.of.map(|of| of.kind))
        };
        let unanswered = (
            "web: no Pod listens on port 8080".to_owned(),
            Some(Kind::Service),
        );
        assert_eq!(after("kubectl get pods", 1), unanswered);
        let patch = "kubectl patch service web -p '{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":80}]}}'";
        assert_eq!(
            after(patch, 3),
            ("No Pod can connect to web".to_owned(), Some(Kind::Service))
        );
        assert_eq!(
            after("kubectl delete networkpolicy shut", 3),
            ("All Pods are Ready".to_owned(), Some(Kind::Deployment))
        );
        let node = "kubectl drain node-1 node-2 node-3 --ignore-daemonsets --force";
        assert_eq!(
            after(node, 3),
            (
                "Eviction refused by pdb/all".to_owned(),
                Some(Kind::PodDisruptionBudget)
            )
        );
    }

    #[test]
    fn a_pod_without_a_workload_that_fails_is_said_beside_workloads_that_are_ready() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter("kubectl run x --image=nginx:foo".into()));
        state.update(TimelineMsg::Seconds(5));
        let pill = |state: &mut State| state.picture().pill.clone().expect("words");
        let told = pill(&mut state);
        assert!(
            told.words.to_string().starts_with("1 Pod: ") && told.class == PodState::Failed.class(),
            "{told:?}"
        );
        assert_eq!(told.of.map(|of| of.name.to_string()).as_deref(), Some("x"));
        state.update(SelectionMsg::Filter("kind:deployment".into()));
        assert_eq!(pill(&mut state).words, "All shown Pods are Ready");
    }

    #[test]
    fn a_rollout_that_no_node_has_room_for_is_not_in_progress() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl set resources deployment/nginx-deployment --requests=cpu=5".into(),
        ));
        state.update(TimelineMsg::Seconds(5));
        let pill = state.picture().pill.clone().expect("words");
        assert_eq!(
            (pill.words.to_string().as_str(), pill.class),
            ("1 Pod cannot be scheduled", PodState::NotReady.class())
        );
        // The pill covers all workloads shown.
        state.update(ConsoleMsg::Enter(
            "kubectl create deployment big --image=nginx --replicas=2".into(),
        ));
        state.update(ConsoleMsg::Enter(
            "kubectl set resources deployment/big --requests=cpu=5".into(),
        ));
        state.update(TimelineMsg::Seconds(5));
        let unscheduled = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .filter(|pod| pod.to_value()["spec"]["nodeName"].is_null())
            .count();
        assert!(unscheduled > 1);
        assert_eq!(
            state
                .picture()
                .pill
                .clone()
                .expect("words")
                .words
                .to_string(),
            format!("{unscheduled} Pods cannot be scheduled")
        );
    }

    #[test]
    fn not_all_is_well_where_what_storage_does_not_draw_is_not() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
        let workload = |name: &str, volumes: &str| {
            let pod = format!(
                "{{metadata: {{labels: {{a: {name}}}}}, spec: {{containers: [{{name: c, image: i}}], volumes: [{volumes}]}}}}"
            );
            let spec = format!(
                "{{replicas: 1, selector: {{matchLabels: {{a: {name}}}}}, template: {pod}}}"
            );
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {spec}}}"
            )
        };
        let holds = workload("db", "{name: v, persistentVolumeClaim: {claimName: c}}");
        let waits = workload("web", "{name: v, secret: {secretName: missing}}");
        let pill = |text: &str, view: &'static views::view::View| {
            let mut state = settled(text);
            state.drawing.stage = (1200.0, 700.0);
            state.update(SelectionMsg::View(view));
            let picture = state.picture();
            let drawn = picture
                .scene
                .items
                .iter()
                .filter(|item| item.id.kind == "Deployment")
                .count();
            (
                picture.pill.clone().expect("words").words.to_string(),
                drawn,
            )
        };
        let (alone, both) = (
            [claim, &holds].join("\n---\n"),
            [claim, &holds, &waits].join("\n---\n"),
        );
        assert_eq!(
            pill(&alone, &views::storage::VIEW),
            ("All Pods are Ready".into(), 1)
        );
        assert_eq!(
            pill(&both, &views::storage::VIEW),
            ("web: 0 of 1 Pods are Ready".into(), 1)
        );
        assert_eq!(pill(&both, &views::ownership::VIEW).1, 2);
    }
}
