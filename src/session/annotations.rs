//! What a picture says beside what the objects themselves say.

use super::run::Run;
use crate::api::batch::Job;
use crate::api::storage::PersistentVolumeClaim;
use crate::api::{Kind, Object, ObjectRef, Str, Uid, sources};
use crate::engine::controllers::taint_eviction;
use crate::engine::kubelet::lack;
use crate::engine::{Actor, Entry, Op, Record};
use crate::i18n::{Message, msg};
use crate::projection::adapt;
use crate::projection::model::{Group, Id, Model, PodState, Removed};
use crate::projection::totals;
use std::rc::Rc;

/// Pods of a group, and of a picture, that are asked which sources they lack.
const MISSING_SOURCE_PODS: usize = 24;
/// Entries looked back for the last Pod that was deleted.
const REMOVED_LOOKBACK_ENTRIES: usize = 400;
/// Pods of a Job whose completion indexes are counted one by one.
const INDEXED_JOB_PODS: usize = 2_000;

/// The last Pod of a StatefulSet that somebody deleted: a person, until that person does something else; or who else, while
/// no other is ready in its place.
pub fn removed(run: &Run) -> Option<Removed> {
    let happened = run.journal().first(run.happened());
    let newest = happened.from(happened.len().saturating_sub(REMOVED_LOOKBACK_ENTRIES));
    let deleted = |entry: &Entry| match &entry.record {
        Record::Write { op, object, before: Some(before) } if object.kind == Kind::Pod && !before.meta.is_deleting() => {
            (*op == Op::Deleted || object.meta.is_deleting()).then(|| object.clone())
        }
        _ => None,
    };
    // What its set has made go, with fewer replicas or an update, the set tells of.
    let by_set = |entry: &Entry| entry.actor.name == "statefulset-controller";
    let of_set = |object: &Object| object.meta.controller().is_some_and(|owner| owner.kind == "StatefulSet");
    let mut since = false;
    for entry in newest.iter().rev() {
        let Some(object) = deleted(entry).filter(|object| of_set(object) && !by_set(entry)) else {
            since |= matches!(&entry.record, Record::Command(line) if !crate::kubectl::only_reads(line));
            continue;
        };
        let other = run.get(&object.key()).filter(|now| now.meta.uid != object.meta.uid);
        let back = other.and_then(|now| now.pod()).is_some_and(crate::api::pod::Pod::is_ready);
        let by_user = entry.actor == Actor::USER;
        if since || back && !by_user {
            return None;
        }
        let bound = |claim: &&Str| {
            let found = run.get(&ObjectRef::new(Kind::PersistentVolumeClaim, &object.meta.namespace, claim));
            found
                .filter(|claim| !claim.meta.is_deleting())
                .and_then(|claim| claim.get::<PersistentVolumeClaim>())
                .is_some_and(|claim| claim.status.phase == "Bound")
        };
        let claims: Vec<String> = object.pod()?.spec.claims().filter(bound).map(|claim| claim.to_string()).collect();
        if claims.is_empty() {
            return None;
        }
        return Some(Removed { id: adapt::id(&object), claims, by_user, back });
    }
    None
}

/// A Pod that cannot start for want of a ConfigMap or a Secret names it on its card; those of many are cells.
pub fn label_missing_sources(run: &Run, model: &mut Model) {
    let mut left = MISSING_SOURCE_PODS;
    let creates = |group: &&mut Group| {
        group.pods.len() <= MISSING_SOURCE_PODS && group.pods.counts().iter().any(|(state, _)| *state == PodState::Creating)
    };
    for group in model.roots.iter_mut().flat_map(|root| &mut root.groups).filter(creates) {
        for at in 0..group.pods.len() {
            let Some(pod) = group.pods.get(at).filter(|pod| pod.state == PodState::Creating).cloned() else { continue };
            if left == 0 {
                return;
            }
            left -= 1;
            let object = run.get(&ObjectRef::new(Kind::Pod, &pod.id.namespace, &pod.id.name));
            let Some(object) = object.filter(|object| !sources::of(object).is_empty()) else { continue };
            let Some(lack) = lack(object, run.sim().server()) else { continue };
            let (kind, name) = (lack.source.kind.name(), crate::i18n::format::front(&lack.source.name, 13));
            let word = match lack.only_key {
                true => msg::pod_waits_key(kind, name),
                false => msg::pod_waits_source(kind, name),
            };
            group.pods.replace(at, Rc::new(crate::projection::model::Pod { word, note: Message::default(), ..(*pod).clone() }));
        }
    }
}

/// A node that is not ready tells when the first of its Pods is driven away.
pub fn label_evictions(run: &Run, model: &mut Model) {
    if model.nodes.iter().all(|node| node.ready) {
        return;
    }
    for node in Rc::make_mut(&mut model.nodes).iter_mut().filter(|node| !node.ready) {
        let Some(object) = run.get(&ObjectRef::new(Kind::Node, "", &node.id.name)) else { continue };
        let taints: Vec<_> = taint_eviction::forcing(object).collect();
        let Some(since) = taints.iter().filter_map(|taint| taint.time_added).min() else { continue };
        let here = run.sim().pods_on(&node.id.name).filter(|pod| !pod.meta.is_deleting()).filter_map(|pod| pod.pod());
        let first =
            here.filter(|pod| !pod.is_terminal()).filter_map(|pod| taint_eviction::tolerated_for(&pod.spec.tolerations, &taints)).min();
        let left = first.map_or(0, |seconds| since.0 + seconds - run.wall() / 1000);
        if left > 0 {
            let left = format!("{:02}:{:02}", left / 60, left % 60);
            Rc::make_mut(node).countdown = Some(msg::node_evicts_in(left));
        }
    }
}

/// The first line of each volume's only file, or how many files it holds.
pub fn label_volumes(run: &Run, model: &mut Model) {
    for volume in &mut model.volumes {
        let disk = format!("volume/{}", volume.id.name);
        let files: Vec<_> = run.sim().disks.list(&disk).collect();
        volume.data = match files[..] {
            [] => Message::default(),
            [(_, text)] if text.lines().next().is_some() => {
                Message::name(crate::i18n::format::middle(text.lines().next().unwrap_or(""), 18))
            }
            ref files => msg::volume_files(files.len()),
        };
    }
}

/// The totals of a workload's Pods that its status is compared with.
pub fn drawn_totals(run: &Run, pods: &adapt::Pods, id: &Id) -> Option<totals::Pods> {
    let mut totals = pods.come_to(Uid::parse(&id.uid)?);
    if id.kind == "Job" {
        let job = run.get(&ObjectRef::new(Kind::Job, &id.namespace, &id.name));
        exclude_uncounted(run, job?, &mut totals);
    }
    Some(totals)
}

/// The same as the loops know them.
pub fn known_totals(run: &Run, id: &Id) -> Option<totals::Pods> {
    let mut all = totals::Pods::default();
    for alike in run.sim().tally_of(Uid::parse(&id.uid)?)? {
        all.all += alike.pods;
        all.active += alike.active;
        all.ready += alike.ready;
        all.leaving += alike.terminating;
    }
    Some(all)
}

/// Leaves out of what the Pods of a Job come to what the Job does not count.
fn exclude_uncounted(run: &Run, object: &Object, pods: &mut totals::Pods) {
    let Some(job) = object.get::<Job>() else { return };
    // Where a policy may let a failure pass, not every one of them is to be counted.
    if job.spec.pod_failure_policy.is_some() {
        pods.failed = 0;
    }
    let counted = usize::try_from(job.status.succeeded).unwrap_or(0);
    if job.spec.completion_mode != "Indexed" || pods.succeeded <= counted {
        return;
    }
    // Of very many it is not looked at each.
    pods.succeeded = if pods.all > INDEXED_JOB_PODS {
        counted
    } else {
        let succeeded = |pod: &&Rc<Object>| pod.pod().is_some_and(|pod| pod.status.phase == "Succeeded");
        let index = |pod: &Rc<Object>| pod.meta.annotation("batch.kubernetes.io/job-completion-index")?.parse().ok();
        let all = run.sim().owned(object.meta.uid, Kind::Pod).filter(succeeded).filter_map(index);
        totals::indexes(all, job.spec.completions.map_or(0, i64::from))
    };
}

#[cfg(test)]
mod tests {
    use crate::api::Kind;
    use crate::api::batch::Job;
    use crate::i18n::Message;
    use crate::session::Msg;
    use crate::session::State;
    use crate::session::examples;
    use crate::session::tests::settled;
    use crate::session::view::View;
    use crate::views::shape::Body;
    use std::rc::Rc;

    /// A Job made smaller does not count the indexes that it has no more: it does not lag for ever.
    #[test]
    fn an_indexed_job_made_smaller_does_not_lag() {
        let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {completions: 5, parallelism: 5, completionMode: Indexed, \
                        backoffLimit: 20, template: {metadata: {annotations: {loopscope.dev/exit-after: 4s, \
                        loopscope.dev/exit-code-by-index: '0=1,1=1,2=1'}}, spec: {restartPolicy: Never, containers: [{name: c, image: \
                        busybox}]}}}\n";
        let mut state = State::new(manifest, 1);
        let marks = |state: &mut State| {
            while !state.read(usize::MAX) {}
            let picture = state.picture();
            let job = picture.scene.items.iter().find_map(|item| match &item.body {
                Body::Controller { of, .. } if of.id.kind == "Job" => Some(of.clone()),
                _ => None,
            });
            let counters = job.expect("a Job").counters.clone();
            (counters[0].value.clone(), counters[0].lags.to_string())
        };
        state.update(Msg::Seconds(30));
        assert_eq!(marks(&mut state), ("2/5".into(), String::new()));
        let patch = "kubectl patch job x --type=merge -p '{\"spec\":{\"completions\":3,\"parallelism\":3}}'";
        state.update(Msg::Kubectl(patch.into()));
        state.update(Msg::Seconds(30));
        assert_eq!(marks(&mut state), ("0/3".into(), String::new()));
    }

    /// How often a Job may still try: the further try that its back-off holds up is one.
    #[test]
    fn the_retries_of_a_job_are_counted_until_they_begin() {
        let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: fails}\nspec: {backoffLimit: 2, template: {spec: {restartPolicy: \
                        Never, containers: [{name: c, image: busybox, command: [sh, -c, 'sleep 1; exit 1']}]}}}\n";
        let mut state = State::new(manifest, 1);
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..80 {
            state.update(Msg::Seconds(1));
            let picture = state.picture();
            let chip = picture.scene.items.iter().find_map(|item| match &item.body {
                Body::Controller { of, .. } if of.id.name == "fails" => Some(of.chip.to_string()),
                _ => None,
            });
            seen.extend(chip.filter(|chip| !chip.is_empty() && seen.last() != Some(chip)));
        }
        assert_eq!(seen, ["2 retries left", "1 retry left", "0 retries left", "Failed"]);
    }

    /// Of every instant a counter of a Job is as its Pods are, or marked.
    #[test]
    fn a_job_that_has_not_counted_its_pods_yet_is_marked() {
        let mut state = State::new((examples::ALL.iter().find(|of| of.file.starts_with("jobs")).unwrap().text)(), 1);
        let mut marked = 0;
        for _ in 0..400 {
            state.update(Msg::Step);
            for item in &state.picture().scene.items {
                let Body::Controller { of, .. } = &item.body else { continue };
                let Some(job) = state.timeline.run.sim().list(Kind::Job).find(|job| job.meta.uid.to_string() == item.id.uid) else {
                    continue;
                };
                let mine = || state.timeline.run.sim().list(Kind::Pod).filter(|pod| pod.meta.is_controlled_by(job.meta.uid));
                let phase = |phase: &str| mine().filter(|pod| pod.pod().is_some_and(|pod| pod.status.phase == phase)).count();
                let active = mine().filter(|pod| pod.is_active_pod()).count();
                let status = &job.get::<Job>().unwrap().status;
                let lags = [
                    (status.succeeded as usize) < phase("Succeeded"),
                    status.active as usize != active,
                    (status.failed as usize) < phase("Failed"),
                ];
                assert_eq!(of.counters.iter().map(|counter| !counter.lags.is_empty()).collect::<Vec<_>>(), lags, "{status:?}");
                marked += usize::from(lags.contains(&true));
            }
        }
        assert!(marked > 20, "{marked}");
    }

    #[test]
    fn a_pod_that_cannot_start_names_what_it_waits_for() {
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, \
                   secret: {secretName: tls}}]}}";
        let mut state = settled(pod);
        let told = |state: &mut State| {
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Pod { word, .. } => Some(word.clone()),
                _ => None,
            };
            state.picture().scene.items.iter().find_map(of)
        };
        assert_eq!(told(&mut state).as_deref(), Some("waiting for Secret tls"));
        state.update(Msg::Kubectl("kubectl create secret generic tls --from-literal=a=b".into()));
        state.update(Msg::Seconds(300));
        assert_eq!(told(&mut state).as_deref(), Some("Ready"));
    }

    #[test]
    fn a_silent_node_counts_down_to_the_eviction_of_its_pods() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(Msg::View(View::Nodes));
        let node = state.timeline.run.sim().list(Kind::Pod).find_map(|pod| Some(pod.pod()?.node_name.clone())).expect("a node");
        state.update(Msg::Fault(format!("node-down {node}")));
        let note = |state: &mut State| {
            let picture = state.picture();
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Node(body) if *item.id.name == *node => Some(body.note.iter().map(Message::to_string).collect::<Vec<_>>().join("\n")),
                _ => None,
            };
            picture.scene.items.iter().find_map(of).unwrap_or_default()
        };
        state.update(Msg::Seconds(90));
        let left = |note: &str| note.split_once("\nPods are evicted in ").map(|(_, left)| left.to_string());
        let first = left(&note(&mut state)).expect("a countdown");
        assert!(first.starts_with("04:"), "{first}");
        // It ticks although nothing is written, and ends with the eviction.
        state.update(Msg::Seconds(10));
        assert_ne!(left(&note(&mut state)), Some(first));
        state.update(Msg::Seconds(300));
        assert_eq!(left(&note(&mut state)), None);
    }

    #[test]
    fn a_claim_that_outlives_its_pod_is_told_of_until_something_else_is_done() {
        let mut state = settled((examples::ALL[2].text)());
        state.selection.view = View::Storage;
        let told = |state: &mut State| {
            let scene = state.picture().scene.clone();
            scene.labels.iter().find(|label| label.class == "kept").map(|label| label.text.clone())
        };
        assert_eq!(told(&mut state), None);
        state.update(Msg::Kubectl("kubectl delete pod web-1".into()));
        let words = told(&mut state).expect("a note");
        assert!(words.starts_with("You deleted Pod web-1, not its claim: www-web-1 keeps its "), "{words}");
        state.update(Msg::Seconds(60));
        assert_eq!(told(&mut state).as_deref(), Some("You deleted Pod web-1, not its claim: the new Pod has www-web-1 again"));
        state.update(Msg::Kubectl("kubectl get pods".into()));
        assert!(told(&mut state).is_some());
        state.update(Msg::Kubectl("kubectl scale statefulset web --replicas=3".into()));
        assert_eq!(told(&mut state), None);
    }
}
