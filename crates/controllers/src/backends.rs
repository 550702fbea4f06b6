//! Selection of the Pods and ports behind a Service, shared by the endpoints and endpointslice controllers.
//!
//! Models `k8s.io/endpointslice` (`utils.go`, `trigger_time_tracker.go`).

use super::{Event, Watch};
use apiserver::journal::Op;
use controller_runtime::descriptor::{CodeLine, CodeTag, CodeValue};
use controller_runtime::informer::Cache;
use controller_runtime::key_state::KeyState;
use k8s_model::network::{EndpointPort, Service, ServicePort, TargetRef};
use k8s_model::pod::Pod;
use k8s_model::selector::contains_all;
use k8s_model::{Kind, Labels, Object, ObjectMeta, ObjectRef, Str, Timestamp};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pseudo-code of a reconcile pass.
pub(super) const CODE: &[CodeLine] = &[
    CodeLine::step("for key := range queue {"),
    CodeLine::step("    svc   := cache.Get(key)"),
    CodeLine::reads("    pods  := cache.List(svc.Selector)", CodeValue::First),
    CodeLine::reads("    ready := filter(pods, Ready)", CodeValue::Last),
    CodeLine::step("    want  := slices(svc, pods)"),
    CodeLine::step("    if have != want {"),
    CodeLine::writes("        write(want)", CodeTag::Write),
    CodeLine::end("    }"),
    CodeLine::end("}"),
];

pub(super) const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";
const HEADLESS: &str = "service.kubernetes.io/headless";
/// Watches of both controllers.
pub(super) const WATCHES: &[Watch] = &[Watch::For(Kind::Service), Watch::Maps(Kind::Pod)];

/// Wakes the Services that select a Pod, or did so before, if the change affects its endpoints.
pub(super) fn services_of(event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
    if event.op != Op::Deleted
        && event
            .before
            .is_some_and(|before| !shows(before, event.object))
    {
        return;
    }
    let namespace = &event.object.meta.namespace;
    let mut services = cache.selecting(Kind::Service, namespace, &event.object.meta.labels);
    if let Some(before) = event
        .before
        .filter(|before| before.meta.labels != event.object.meta.labels)
    {
        services.extend(cache.selecting(Kind::Service, namespace, &before.meta.labels));
        services.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        services.dedup_by(|a, b| Rc::ptr_eq(a, b));
    }
    for service in services {
        let selector = &service.body::<Service>().spec.selector;
        let selects =
            |pod: &Object| !selector.is_empty() && contains_all(&pod.meta.labels, selector);
        if selects(event.object) || event.before.is_some_and(|before| selects(before)) {
            wake(service.key());
        }
    }
}

/// Returns true if two states of a Pod lead to different endpoints. Changed times of a Pod that only waits are picked up with its next
/// change, which determines the trigger time that is written. Models `podEndpointsChanged`.
fn shows(before: &Object, after: &Object) -> bool {
    let (old, new): (&Pod, &Pod) = (before.body(), after.body());
    before.meta.labels != after.meta.labels
        || (&old.spec.hostname, &old.spec.subdomain) != (&new.spec.hostname, &new.spec.subdomain)
        || after.meta.is_deleting()
        || old.is_ready() != new.is_ready()
        || old.status.pod_ip != new.status.pod_ip
}

/// Returns the Pods that a Service selects, by name.
pub(super) fn selected<'a>(
    object: &Object,
    service: &Service,
    cache: &'a Cache,
) -> Vec<&'a Rc<Object>> {
    let wanted = &service.spec.selector;
    cache.pods_selected(&object.meta.namespace, wanted, &|labels| {
        contains_all(labels, wanted)
    })
}

/// Returns true if a Pod can be listed at all: it has an IP and is not in a terminal phase.
pub(super) fn has_address(pod: &Pod) -> bool {
    !pod.is_terminal() && !pod.status.pod_ip.is_empty()
}

/// Resolves the ports of a Service for a Pod; a named port that the Pod lacks is left out.
pub(super) fn ports_for(service: &Service, pod: &Pod, keep_empty_name: bool) -> Vec<EndpointPort> {
    let mut ports: Vec<EndpointPort> = service
        .spec
        .ports
        .iter()
        .filter_map(|port| {
            let name = (keep_empty_name || !port.name.is_empty()).then(|| port.name.clone());
            Some(EndpointPort {
                app_protocol: port.app_protocol.clone(),
                name,
                port: number(port, pod)?,
                protocol: port.protocol.clone(),
            })
        })
        .collect();
    ports.sort();
    ports
}

fn number(port: &ServicePort, pod: &Pod) -> Option<i32> {
    if let Some(n) = port.target_port.as_i64() {
        return Some(if n == 0 { port.port } else { n as i32 });
    }
    let name = port.target_port.as_str()?;
    let ports = pod.spec.serving_containers().flat_map(|c| &c.ports);
    ports
        .filter(|p| p.protocol == port.protocol)
        .find(|p| p.name == name)
        .map(|p| p.container_port)
}

/// Returns the hostname of a Pod in the DNS of a headless Service, or an empty string.
pub(super) fn hostname(object: &Object, pod: &Object) -> Str {
    let spec = &pod.body::<Pod>().spec;
    if !spec.hostname.is_empty() && spec.subdomain == object.meta.name {
        spec.hostname.clone()
    } else {
        Str::default()
    }
}

pub(super) fn target(pod: &Object) -> TargetRef {
    TargetRef {
        kind: "Pod".into(),
        name: pod.meta.name.clone(),
        namespace: pod.meta.namespace.clone(),
        uid: pod.meta.uid,
    }
}

/// Returns the labels of a Service plus those of its endpoints.
pub(super) fn labels(object: &Object, service: &Service, own: &[(&'static str, &str)]) -> Labels {
    let mut labels = (*object.meta.labels).clone();
    labels.remove(HEADLESS);
    if service.is_headless() {
        labels.insert(Str::new_static(HEADLESS), Str::default());
    }
    labels.extend(own.iter().map(|(k, v)| (Str::new_static(k), (*v).into())));
    Rc::new(labels)
}

/// Times of the last processed change of each Pod, by name, and of the Service, under an empty name, in seconds
/// (`TriggerTimeTracker`).
type TriggerTimes = BTreeMap<Str, i64>;

/// Returns the time of the earliest change that the controller has not processed yet; kept between passes.
pub(super) fn trigger_time(
    object: &Object,
    pods: &[&Rc<Object>],
    state: &mut KeyState,
) -> Option<Timestamp> {
    let mut times: TriggerTimes = state.take();
    let (mut earliest, mut count): (Option<i64>, usize) = (None, 0);
    let mut seen: Vec<(&Str, i64)> = Vec::new();
    let none = Str::default();
    let pod_times = pods.iter().filter_map(|pod| {
        let since = pod
            .body::<Pod>()
            .status
            .condition("Ready")?
            .last_transition_time?;
        Some((&pod.meta.name, since.seconds()))
    });
    let service = object.meta.creation_timestamp.map(|t| (&none, t.seconds()));
    for (name, time) in pod_times.chain(service) {
        let known = times.get(name);
        if known.is_none_or(|known| time > *known) {
            earliest = Some(earliest.map_or(time, |e| e.min(time)));
        }
        count += usize::from(known.is_some());
        seen.push((name, time));
    }
    // Most passes see almost the same Pods as the previous one.
    if count < times.len() {
        times.clear();
    }
    for (name, time) in seen {
        match times.get_mut(name) {
            Some(known) => *known = time,
            None => drop(times.insert(name.clone(), time)),
        }
    }
    state.set(times);
    earliest.map(Timestamp::new)
}

/// Sets or removes the trigger time annotation.
pub(super) fn annotate(meta: &mut ObjectMeta, trigger: Option<Timestamp>) {
    match trigger {
        Some(time) => {
            meta.annotate(TRIGGER, &time.rfc3339());
        }
        None if meta.annotation(TRIGGER).is_some() => {
            Rc::make_mut(&mut meta.annotations).remove(TRIGGER);
        }
        None => {}
    }
}
