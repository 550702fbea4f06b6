//! Messages of a diagnosis: the missing condition, the deciding facts, the remedies.

use super::why::Row;
use crate::waits::{
    DecidingFact, FactLabel, GatewayFault, Health, PendingReason, RemedyKind, UnschedulableReason,
    VolumeFit,
};
use apiserver::journal::Op;
use i18n::{Arg, Message, msg};
use k8s_model::Str;

/// Describes the missing condition in one sentence.
pub fn headline(waits: &PendingReason) -> Message {
    use PendingReason::*;
    match waits {
        Gated => msg::wait_gated(),
        OtherScheduler(name) => msg::wait_other_scheduler(name),
        NoNode { nodes: 0 } => msg::wait_no_nodes(),
        NoNode { nodes: 1 } => msg::wait_only_node(),
        NoNode { .. } => msg::wait_no_node_fits(),
        Preempting(node) => msg::wait_preempted_pods(node),
        ClaimMissing(claim) => msg::wait_claim_missing(claim),
        ClaimLeaves(claim) => msg::wait_claim_deleting(claim),
        ClaimLost(claim) => msg::wait_claim_lost(claim),
        ClaimUnbound(claim) => msg::wait_claim_unbound(claim),
        NodeMissing(node) => msg::wait_node_missing(node),
        NodeSilent(node) => msg::wait_kubelet_not_responding(node),
        SourceMissing(of) => msg::wait_source_missing(of),
        KeyMissing { of, key } => msg::wait_key_missing(of, key),
        Image(image) => msg::wait_image(image),
        Crashes { container, code } => msg::wait_container_exits(container, code),
        OutOfMemory { container, limit } => msg::wait_out_of_memory(container, limit),
        ProbePort {
            container,
            probe,
            port,
        } => msg::wait_probe_port(probe, container, port),
        NotReady(container) => msg::wait_not_ready(container),
        Init(container) => msg::wait_init(container),
        PodFailed(reason) => msg::wait_pod_failed(reason),
        Held(by) => msg::wait_finalizer(by),
        SlowLoop { name, each } => msg::wait_slow_queue(name, each),
        SlowPass { name, each } => msg::wait_slow_reconcile(name, each),
        SlowIdle(name) => msg::wait_nothing_to_do(name),
        LateEvent { component, kind } => msg::wait_late_event(kind, component),
        OwnLate {
            component,
            told: Op::Added,
        } => msg::wait_late_creation(component),
        OwnLate {
            component,
            told: Op::Modified,
        } => msg::wait_late_change(component),
        OwnLate { component, .. } => msg::wait_late_deletion(component),
        LostEvent {
            component,
            kind,
            lists: true,
        } => msg::wait_lost_relists(kind, component),
        LostEvent {
            component, kind, ..
        } => msg::wait_lost(kind, component),
        Paused => msg::wait_paused(),
        Refused(_) => msg::wait_pods_rejected(),
        Insecure(level) => msg::wait_insecure(level),
        RefusedBefore => msg::wait_refused_before(),
        Quota {
            name,
            resource,
            used,
            hard,
        } => msg::wait_quota(name, resource, used, hard),
        Deadline(seconds) => msg::wait_deadline(seconds * 1000),
        Rollout { updated, desired } => msg::wait_rollout(updated, desired),
        Pods { ready, desired } => msg::wait_pods(ready, desired),
        Ordinal {
            pod,
            then,
            seconds: 0,
        } => msg::wait_ordinal(then, pod),
        Ordinal { pod, then, seconds } => msg::wait_min_ready(then, pod, *seconds),
        RollbackBlocked(pod) => msg::wait_stays_broken(pod),
        UpdateHeld { pods, because } => msg::wait_old_revision_kept(pods, because),
        NoService(name) => msg::wait_no_service(name),
        NodesLeftOut(nodes) => msg::wait_nodes_without_pod(nodes),
        JobFailed(reason) => msg::wait_job_failed(reason),
        Suspended => msg::wait_suspended(),
        BackOff { failed, limit } => msg::wait_back_off(failed, limit),
        NotDue => msg::wait_not_due(),
        ConcurrencyForbidden(job) => msg::wait_last_run_active(job),
        Zone(name) => msg::wait_unknown_time_zone(name),
        ScalingInactive(_) => msg::wait_cannot_scale(),
        NamespaceContent {
            objects,
            kind,
            name,
        } => msg::wait_namespace_content(objects, kind, name),
        NoDisruption => msg::wait_no_evictions_allowed(),
        EvictionRefused { pod, budget } => msg::wait_eviction_refused(pod, budget),
        NodeNotReady => msg::wait_node_not_ready(),
        NodeSilentUnnoticed => msg::wait_node_silent_unnoticed(),
        NoClass => msg::wait_no_class(),
        ClassMissing(class) => msg::wait_class_missing(class),
        FirstConsumer => msg::wait_first_consumer(),
        NoProvisioner(name) => msg::wait_no_provisioner(name),
        NamedVolume(volume) => msg::wait_named_volume(volume),
        NextLook(volume) => msg::wait_claim_recheck(volume),
        NextLookForClass(class) => msg::wait_class_recheck(class),
        InUse(by) => msg::wait_in_use(by),
        Lost(volume) => msg::wait_lost_volume(volume),
        Released(claim) => msg::wait_released(claim),
        VolumeFailed => msg::wait_volume_failed(),
        OldConfig(pods) => msg::wait_old_config(pods),
        RoleMissing(kind, role) => msg::wait_role_missing(*kind, role),
        ServiceElsewhere { service, namespace } => msg::wait_service_elsewhere(
            service,
            namespace,
            [service.as_str(), ".", namespace].concat(),
        ),
        NoSelector => msg::wait_no_selector(),
        NoPods => msg::wait_no_pods(),
        LabelDiffers { key, value } => msg::wait_label_differs(key, value),
        NoneReady(pods) => msg::wait_none_ready(pods),
        NoPort(name) => msg::wait_no_port(name),
        NotListening(port) => msg::wait_not_listening(port),
        DeniedByPolicy {
            policies,
            direction,
            unanswered,
        } => {
            let denied = msg::wait_isolated(msg::verdict_denied(
                policies.iter().map(Message::name).collect::<Vec<_>>(),
                *direction,
            ));
            match unanswered {
                Some(port) => msg::wait_isolated_and_port(denied, *port),
                None => denied,
            }
        }
        NoIngressClass => msg::wait_no_ingress_class(),
        IngressClassMissing(class) => msg::wait_ingress_class_missing(class),
        BackendMissing { path, service } => msg::wait_backend_missing(path, service),
        BackendPort {
            path,
            service,
            port,
        } => msg::wait_backend_port(path, service, port),
        BackendNotReady { path, service } => msg::wait_backend_not_ready(path, service),
        BackendDenied { path, policies } => msg::wait_backend_denied(
            path,
            msg::verdict_denied(
                policies.iter().map(Message::name).collect::<Vec<_>>(),
                "Ingress",
            ),
        ),
        Gateway(fault) => gateway(fault),
    }
}

/// Reason why an object of the Gateway API is not served.
fn gateway(fault: &GatewayFault) -> Message {
    use GatewayFault::*;
    match fault {
        ClassMissing(class) => msg::wait_gateway_class_missing(class),
        ForeignController { class, controller } => msg::wait_foreign_controller(class, controller),
        NotServed { reason, message } => msg::wait_gateway_fails(reason, message),
        Listener { listener, message } => msg::wait_listener_fails(listener, message),
        NoParent => msg::wait_no_gateway(),
        ParentMissing(gateway) => msg::wait_gateway_missing(gateway),
        ParentNotServed(gateway) => msg::wait_gateway_not_served(gateway),
        Refused { gateway, message } => msg::wait_route_refused(gateway, message),
        BackendMissing { path, service } => msg::wait_route_backend_missing(path, service),
        BackendPort {
            path,
            service,
            port,
        } => msg::wait_route_backend_port(path, service, port),
        BackendForbidden {
            path,
            service,
            namespace,
        } => msg::wait_route_backend_forbidden(path, namespace, service),
        BackendKind { path, kind } => msg::wait_route_backend_kind(path, kind),
    }
}

/// Short word for a state.
pub fn health(health: Health) -> Message {
    match health {
        Health::Well => msg::tone_well(),
        Health::Note => msg::tone_note(),
        Health::Waiting => msg::tone_waiting(),
        Health::Stuck => msg::tone_stuck(),
    }
}

/// Formats an amount of a resource: CPU in thousandths, others in bytes.
pub fn amount(what: &str, value: i64) -> String {
    let (whole, tenths, unit) = if what == "cpu" {
        // The second digit matters if there is no other.
        if value % 100 != 0 && value.abs() < 1000 {
            return format!("{value}m");
        }
        (value / 1000, value % 1000 / 100, "")
    } else {
        let (size, unit) = if value >= 1 << 30 || value == 0 {
            (1_i64 << 30, "Gi")
        } else {
            (1 << 20, "Mi")
        };
        (value / size, value % size * 10 / size, unit)
    };
    let mut out = i18n::count(whole);
    if tenths != 0 {
        out.push('.');
        out.push_str(&tenths.abs().to_string());
    }
    out.push_str(unit);
    out
}

fn quoted(text: &Str) -> Str {
    if text.is_empty() {
        "\"\"".into()
    } else {
        text.clone()
    }
}

/// Reason why a node cannot run a Pod.
pub fn refusal(reason: &UnschedulableReason) -> Message {
    match reason {
        UnschedulableReason::NodeUnschedulable => msg::refusal_cordoned(),
        UnschedulableReason::NodeName => msg::refusal_other_node_named(),
        UnschedulableReason::UntoleratedTaint { key, value, effect } => {
            let equals = if value.is_empty() { "" } else { "=" };
            msg::refusal_taint([key.as_str(), equals, value, ":", effect].concat())
        }
        UnschedulableReason::NodeSelector {
            key,
            want,
            has: Some(has),
        } => msg::refusal_label(key, want, has),
        UnschedulableReason::NodeSelector {
            key,
            want,
            has: None,
        } => msg::refusal_no_label(key, want),
        UnschedulableReason::NodeAffinity => msg::refusal_affinity(),
        UnschedulableReason::NodePorts { port, by } => msg::refusal_port(port, by),
        UnschedulableReason::TooManyPods { most } => msg::refusal_pods(most),
        UnschedulableReason::InsufficientResource {
            resource,
            requested,
            free,
            ..
        } => msg::refusal_insufficient(
            amount(resource, *requested),
            if *resource == "cpu" { "CPU" } else { *resource },
            amount(resource, *free),
        ),
        UnschedulableReason::NominatedPods => msg::refusal_reserved(),
        UnschedulableReason::VolumeNodeAffinity => msg::refusal_volume_node_affinity(),
        UnschedulableReason::NoVolume => msg::refusal_no_volume(),
        UnschedulableReason::ReadWriteOncePod => msg::refusal_claim_taken(),
        UnschedulableReason::TopologySpread {
            domain,
            here,
            fewest,
            most,
            ..
        } => msg::refusal_topology_spread(domain, here, fewest, most),
        UnschedulableReason::MissingTopologyKey { key } => msg::refusal_no_topology_label(key),
        UnschedulableReason::PodAffinity { key } => msg::refusal_pod_affinity(key),
        UnschedulableReason::PodAntiAffinity { pod, .. } => msg::refusal_pod_anti_affinity(pod),
        UnschedulableReason::Message { reason } => Message::state(reason),
    }
}

fn unfit(unfit: &VolumeFit) -> Message {
    match unfit {
        VolumeFit::Small { has, asks } => msg::unfit_small(quoted(has), quoted(asks)),
        VolumeFit::Class { has, asks } => msg::unfit_class(quoted(has), quoted(asks)),
        VolumeFit::Access { has, asks } => msg::unfit_access(quoted(has), quoted(asks)),
        VolumeFit::Mode { has, asks } => msg::unfit_mode(quoted(has), quoted(asks)),
        VolumeFit::Selector => msg::unfit_selector(),
        VolumeFit::Deleting => msg::unfit_deleting(),
        VolumeFit::Taken { by, phase } => msg::unfit_taken(phase, by),
        VolumeFit::Fits => msg::unfit_fits(),
    }
}

/// Name of a value.
pub fn label(label: FactLabel) -> Message {
    match label {
        FactLabel::Access => msg::label_access_modes(),
        FactLabel::Active => msg::label_active(),
        FactLabel::ArrivesAt => msg::label_arrives_at(),
        FactLabel::AskedAt => msg::label_set_at(),
        FactLabel::AtLeast => msg::row_min_available(),
        FactLabel::AtMost => msg::label_max_pods(),
        FactLabel::Allowed => msg::fact_evictions_allowed(),
        FactLabel::Available => msg::row_available(),
        FactLabel::Class => msg::label_class(),
        FactLabel::Container => msg::label_container(),
        FactLabel::Desired => msg::row_desired(),
        FactLabel::DoneIn => msg::label_done_in(),
        FactLabel::ExitCode => msg::row_exit_code(),
        FactLabel::Failed => msg::label_failed(),
        FactLabel::Gate => msg::label_scheduling_gate(),
        FactLabel::HasLabel => msg::label_pod_label(),
        FactLabel::Healthy => msg::row_healthy(),
        FactLabel::Hostname => msg::label_hostname(),
        FactLabel::Image => msg::row_image(),
        FactLabel::HeardAt => msg::label_heartbeat(),
        FactLabel::DelayLogBy => msg::label_delayed_event(),
        FactLabel::Listener => msg::label_listener(),
        FactLabel::ListsAt => msg::label_relists_at(),
        FactLabel::MarkedAt => msg::label_marked_unknown_at(),
        FactLabel::LooksAgain => msg::label_next_retry(),
        FactLabel::LostOf => msg::label_lost_event(),
        FactLabel::Matching => msg::row_pods_match(),
        FactLabel::Message => msg::label_message(),
        FactLabel::NearestPod => msg::label_nearest_pod(),
        FactLabel::Now => msg::label_current_pods(),
        FactLabel::Old => msg::label_old_pods(),
        FactLabel::Pass => msg::label_this_reconcile(),
        FactLabel::Place => msg::label_queue_position(),
        FactLabel::Ports => msg::label_container_ports(),
        FactLabel::Probe => msg::label_probe(),
        FactLabel::Ready => msg::label_ready(),
        FactLabel::Reason => msg::label_reason(),
        FactLabel::Requests => msg::label_requests(),
        FactLabel::Restarts => msg::row_restarts(),
        FactLabel::RetriesAllowed => Message::name("backoffLimit"),
        FactLabel::RunsAgain => msg::label_next_run(),
        FactLabel::Schedule => msg::label_schedule(),
        FactLabel::Services => msg::label_services(),
        FactLabel::Updated => msg::label_new_pods(),
        FactLabel::Used => msg::label_used(),
        FactLabel::Volume => msg::label_volume(),
        FactLabel::WantsLabel => msg::label_selector(),
    }
}

/// Returns a fact as name and value.
pub fn fact(fact: &DecidingFact) -> Row {
    match fact {
        DecidingFact::Node(node, refuses) => (Message::name(node), refusal(refuses)),
        DecidingFact::Fits(node) => (Message::name(node), msg::fact_node_fits()),
        DecidingFact::Volume(volume, lacks) => (Message::name(volume), unfit(lacks)),
        DecidingFact::Count(name, value) => (label(*name), Message::count(value)),
        DecidingFact::Word(name, value) => (label(*name), Message::name(quoted(value))),
        DecidingFact::Said(name, value) => (label(*name), value.clone()),
        DecidingFact::At(name, ms) => (label(*name), Message::only(Arg::Clock(*ms as i64))),
    }
}

/// Appends the port that is set together with an allowance.
fn with_port(allow: Message, port: &str) -> Message {
    if port.is_empty() {
        allow
    } else {
        msg::cure_with_port(allow, msg::cure_set_port(port))
    }
}

/// Describes a remedy: the object or value, and further details.
pub fn cure(cure: RemedyKind, name: &str, more: &str) -> Message {
    // Without a value the words that introduce it are left out.
    let bare = more.is_empty();
    match cure {
        RemedyKind::Uncordon if bare => msg::cure_uncordon_bare(name),
        RemedyKind::Uncordon => msg::cure_uncordon(name, more),
        RemedyKind::Untaint if bare => msg::cure_untaint_bare(name),
        RemedyKind::Untaint => msg::cure_untaint(name, more),
        RemedyKind::LabelNode if bare => msg::cure_label_node(name),
        RemedyKind::LabelNode | RemedyKind::LabelPod => msg::cure_label(name, more),
        RemedyKind::AddNode => msg::cure_add_node(name),
        RemedyKind::AddLarger => msg::cure_add_larger(name, more),
        RemedyKind::AddNodes => msg::cure_add_nodes(more, name),
        RemedyKind::NodeUp => msg::cure_power_on(name),
        RemedyKind::MakeRoom if bare => msg::cure_delete(name),
        RemedyKind::MakeRoom => msg::cure_delete_to_free(name, more),
        RemedyKind::ScaleDown if bare => msg::cure_scale_down_bare(name),
        RemedyKind::ScaleDown => msg::cure_scale_down(name, more),
        RemedyKind::Ungate => msg::cure_ungate(name),
        RemedyKind::Undo if bare => msg::cure_roll_back(name),
        RemedyKind::Undo => msg::cure_roll_back_delete(name, more),
        RemedyKind::SetImage => msg::cure_set_image(name),
        RemedyKind::OwnCommand => msg::cure_default_command(name),
        RemedyKind::RaiseMemory => msg::cure_raise_memory(name, more),
        RemedyKind::Secure => msg::cure_secure(name),
        RemedyKind::ProbePort => msg::cure_probe_port(name, more),
        RemedyKind::Restart => msg::cure_restart(name),
        RemedyKind::NoExit => msg::cure_remove_exit_annotation(name),
        RemedyKind::Annotated => msg::cure_remove_unready_annotation(name),
        RemedyKind::MakeReady => msg::cure_make_ready(name),
        RemedyKind::DeletePod => msg::cure_delete_pod(name),
        RemedyKind::ForceDelete => msg::cure_force_delete(name),
        RemedyKind::Resume => msg::cure_resume(name),
        RemedyKind::Unsuspend => msg::cure_unsuspend(name),
        RemedyKind::RaiseQuota if bare => msg::cure_raise_quota_bare(name),
        RemedyKind::RaiseQuota => msg::cure_raise_quota(name, more),
        RemedyKind::ScaleUp => msg::cure_scale_up(name),
        RemedyKind::RelaxBudget => msg::cure_relax_budget(name),
        RemedyKind::LeaveOne if bare => msg::cure_scale_down_bare(name),
        RemedyKind::LeaveOne => msg::cure_scale_down_to_quota(name, more),
        RemedyKind::DropPartition => msg::cure_reset_partition(name),
        RemedyKind::MakeService => msg::cure_create_service(name),
        RemedyKind::RunNow => msg::cure_run_now(name),
        RemedyKind::EndRun => msg::cure_delete_running_job(name),
        RemedyKind::KnownZone => msg::cure_set_time_zone(name),
        RemedyKind::Metrics => msg::cure_cpu_metrics(name),
        RemedyKind::MemoryMetrics => msg::cure_memory_metrics(name),
        RemedyKind::SetRequests if bare => msg::cure_requests_bare(name),
        RemedyKind::SetRequests => msg::cure_requests(name, more),
        RemedyKind::DefaultClass => msg::cure_default_class(name),
        RemedyKind::MakeClass => msg::cure_create_class(name),
        RemedyKind::MakeVolume if bare => msg::cure_create_named_volume(name),
        RemedyKind::MakeVolume => msg::cure_create_volume(name, more),
        RemedyKind::RemakeVolume => msg::cure_recreate_volume(name),
        RemedyKind::MakeClaim => msg::cure_create_claim(name),
        RemedyKind::MakePod => msg::cure_create_pod(name),
        RemedyKind::FreeVolume => msg::cure_free_volume(name),
        RemedyKind::DeleteVolume => msg::cure_delete(name),
        RemedyKind::SetSelector => msg::cure_set_selector(name),
        RemedyKind::SetPort => msg::cure_set_port(name),
        RemedyKind::AllowClient => with_port(msg::cure_allow_client(name), more),
        RemedyKind::AllowNamespace => with_port(msg::cure_allow_namespace(name), more),
        RemedyKind::MakeIngressClass => msg::cure_create_ingress_class(name),
        RemedyKind::MakeGatewayClass => msg::cure_create_gateway_class(name),
        RemedyKind::MakeGrant => msg::cure_create_grant(name),
        RemedyKind::SetGateway => msg::cure_set_gateway(name),
        RemedyKind::SetListener => msg::cure_set_listener(name),
        RemedyKind::SetBackendPort => msg::cure_set_backend_port(name),
        RemedyKind::SetBackendService => msg::cure_set_backend_service(name),
        RemedyKind::MakeSource => msg::cure_create_source(name),
        RemedyKind::AddKey if bare => msg::cure_add_key_bare(name),
        RemedyKind::AddKey => msg::cure_add_key(name, more),
        RemedyKind::FullSpeed => msg::cure_full_speed(name),
        RemedyKind::LetThrough => msg::cure_deliver_events(name),
        RemedyKind::ListAnew => msg::cure_relist(name),
        RemedyKind::Unfinalize => msg::cure_remove_finalizer(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_ports_are_not() {
        assert_eq!(
            headline(&PendingReason::Rollout {
                updated: 999,
                desired: 12_500
            })
            .english(),
            "Rollout waiting: 999 of 12,500 new Pods are ready"
        );
        let (port, by) = (30_080, "web".into());
        assert_eq!(
            refusal(&UnschedulableReason::NodePorts { port, by }).english(),
            "host port 30080 taken by web"
        );
    }
}
