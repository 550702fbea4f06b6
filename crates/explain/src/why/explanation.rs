//! Explanation of each reason: its words, the facts that decided the write, the line of pseudo-code that executed it and the earlier
//! write that it follows from. A new reason is an arm of `explain`.

use super::words::{rank, sizes};
use apiserver::Why;
use apiserver::why::{DrivingEvent, ProgramCall};
use controller_runtime::descriptor::CodeTag;
use controller_runtime::fact::{Fact, FactId, FactValue};
use i18n::{Message, msg};

/// Explanation of a write by its reason.
#[derive(Clone, Debug)]
pub struct Explanation<'w> {
    /// Reason in words; empty if there is nothing to say.
    pub reason: Message,
    /// Facts that decided the write; the last one is the conclusion. Empty if the reason says everything.
    pub evidence: Vec<Fact>,
    /// Line of pseudo-code that was executed.
    pub line: CodeTag,
    /// Earlier write that the decision follows from.
    pub follows: Follows<'w>,
}

/// Earlier write that a decision follows from: the newest one that changed these inputs of its loop.
#[derive(Clone, Copy, Debug)]
pub enum Follows<'w> {
    /// Event that woke the loop.
    Event,
    /// Load of the target of an autoscaler.
    Load,
    /// Desired size of the owner, or one of its Pods.
    Size {
        /// Desired size.
        want: i32,
        /// True if there were too few Pods.
        too_few: bool,
    },
    /// Failure of a Pod of the owner.
    Failure {
        /// Pod.
        pod: &'w str,
    },
    /// Sizes of the ReplicaSets of the owner.
    Room,
    /// Available Pods of the owner's ReplicaSets.
    Available,
    /// Predecessor of an ordinal, or the previous Pod of its name.
    Ordinal {
        /// Ordinal.
        ordinal: i32,
    },
    /// Replicas that do not need an ordinal.
    Beyond {
        /// Ordinal.
        ordinal: i32,
    },
    /// End of a Pod of a Job.
    EndedPod,
    /// Available Pods of the object.
    Pods,
}

impl<'w> Explanation<'w> {
    /// Creates the explanation of a write that follows from the event that woke its loop.
    fn new(line: CodeTag, reason: Message) -> Self {
        Explanation {
            reason,
            evidence: Vec::new(),
            line,
            follows: Follows::Event,
        }
    }

    fn follows(self, follows: Follows<'w>) -> Self {
        Explanation { follows, ..self }
    }

    fn fact(mut self, id: FactId, value: FactValue) -> Self {
        self.evidence.push(Fact::new(id, value));
        self
    }

    fn count(mut self, id: FactId, count: impl Into<i64>) -> Self {
        self.evidence.push(Fact::count(id, count));
        self
    }

    fn name(mut self, id: FactId, name: impl Into<k8s_model::Str>) -> Self {
        self.evidence.push(Fact::name(id, name));
        self
    }

    fn difference(self, id: FactId, from: i32, minus: i32) -> Self {
        self.fact(id, FactValue::Difference { from, minus })
    }

    fn size_change(self, from: i32, to: i32) -> Self {
        let explanation = self
            .count(FactId::ReplicasBefore, from)
            .count(FactId::ReplicasDesired, to);
        if to < from {
            explanation.difference(FactId::ScaledDownBy, from, to)
        } else {
            explanation.difference(FactId::ScaledUpBy, to, from)
        }
    }
}

/// Maximum length of a line of a program in a reason.
const MAX_LINE: usize = 60;

/// Returns the line of a program that made a request, with the values of the names on it.
fn program_reason(call: &ProgramCall) -> Message {
    let line = i64::from(call.line);
    let text = match call.text.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &call.text[..end]),
        None => call.text.to_string(),
    };
    if call.values.is_empty() {
        return msg::why_program(line, text);
    }
    let value = |(name, value): &(k8s_model::Str, k8s_model::Str)| {
        Message::state(format!("{name} = {value}"))
    };
    let values = Message::list(call.values.iter().map(value).collect());
    msg::why_program_with(line, values, text)
}

/// Explains a reason.
pub fn explain(why: &Why) -> Explanation<'_> {
    use CodeTag::{Create, Delete, ScaleDown, ScaleUp, Start, Status, Write};
    let new = Explanation::new;
    match why {
        Why::Asked | Why::Bootstrap => new(Write, Message::default()),
        Why::Event { reason } => new(Write, msg::why_event(*reason)),
        Why::EventExpired => new(Write, msg::why_event_expired()),
        Why::Observed => new(Status, msg::why_observed()).follows(Follows::Pods),

        Why::Program(call) => {
            let reason = program_reason(call);
            let explanation = new(Write, reason);
            call.values
                .iter()
                .fold(explanation, |explanation, (name, value)| {
                    let (name, value) = (name.clone(), value.clone());
                    explanation.fact(FactId::Variable, FactValue::Variable { name, value })
                })
        }

        // Deployments.
        Why::NewTemplate { hash, replicas } => new(
            CodeTag::CreateReplicaSet,
            msg::why_new_template(hash, replicas),
        ),
        Why::Revision { revision } => new(CodeTag::CreateReplicaSet, msg::why_revision(revision)),
        Why::RolloutUp {
            pods,
            at_most,
            from,
            to,
        } => {
            let growth = FactValue::Growth {
                from: *from,
                allowed: at_most - pods,
                wished: to - from,
            };
            new(
                ScaleUp,
                msg::why_rollout_up(pods, at_most, sizes(*from, *to)),
            )
            .follows(Follows::Room)
            .count(FactId::TotalReplicas, *pods)
            .count(FactId::Maximum, *at_most)
            .difference(FactId::CanBeAdded, *at_most, *pods)
            .count(FactId::ThisSet, *from)
            .fact(FactId::NewSize, growth)
        }
        Why::RolloutDown {
            available,
            at_least,
            from,
            to,
        } => {
            let (spare, removed) = (available - at_least, from - to);
            let explanation = new(
                ScaleDown,
                msg::why_rollout_down(available, at_least, sizes(*from, *to)),
            )
            .follows(Follows::Available)
            .count(FactId::AvailableOfAll, *available)
            .count(FactId::MinAvailable, *at_least)
            .count(FactId::ThisSet, *from)
            .difference(FactId::Removable, *available, *at_least);
            if removed == spare {
                return explanation;
            }
            // The ReplicaSet has fewer, or another one has taken some.
            let least = FactValue::Least {
                allowed: spare,
                wished: removed,
            };
            explanation.fact(FactId::ScaledDownBy, least)
        }
        Why::CleanUnhealthy {
            unhealthy,
            from,
            to,
        } => {
            let change = FactValue::CountChange {
                from: i64::from(*from),
                to: i64::from(*to),
            };
            new(
                ScaleDown,
                msg::why_clean_unhealthy(unhealthy, sizes(*from, *to)),
            )
            .follows(Follows::Available)
            .count(FactId::Unavailable, *unhealthy)
            .count(FactId::ThisSet, *from)
            .fact(FactId::UnavailableFirst, change)
        }
        Why::Scaled { from, to } => new(ScaleUp, msg::why_scaled(sizes(*from, *to)))
            .follows(Follows::Room)
            .size_change(*from, *to),
        Why::Recreate { from, to } => {
            new(ScaleDown, msg::why_recreate(sizes(*from, *to))).size_change(*from, *to)
        }
        Why::HistoryLimit { field, limit } => new(Write, msg::why_history_limit(*field, limit)),
        Why::Paused { paused: true } => new(Write, msg::why_paused()),
        Why::Paused { paused: false } => new(Write, msg::why_resumed()),

        // Owners of Pods.
        Why::Retry(retry) => new(
            Create,
            msg::why_retry(&retry.pod, &retry.how, retry.back_off * 1000),
        )
        .follows(Follows::Failure { pod: &retry.pod })
        .count(FactId::Desired, retry.want)
        .count(FactId::Actual, retry.have)
        .fact(FactId::LastFailedPod, FactValue::Pod(retry.pod.clone()))
        .fact(FactId::Result, FactValue::State(retry.how.clone()))
        .fact(
            FactId::BackOff,
            FactValue::Span(retry.back_off as i64 * 1000),
        )
        .difference(FactId::Create, retry.want, retry.have),
        Why::EventDriven { event } => {
            let line = if event.pods() < 0 { Delete } else { Create };
            match *event {
                DrivingEvent::Added { replicas } => new(line, msg::why_event_added(replicas)),
                DrivingEvent::Scaled { from, to } => {
                    new(line, msg::why_event_scaled(sizes(from, to))).size_change(from, to)
                }
                DrivingEvent::PodDeleted => new(line, msg::why_event_pod_deleted()),
            }
        }
        Why::TooFew { have, want } => new(Create, msg::why_too_few(have, want))
            .follows(Follows::Size {
                want: *want,
                too_few: true,
            })
            .count(FactId::Desired, *want)
            .count(FactId::Actual, *have)
            .difference(FactId::Create, *want, *have),
        Why::TooMany {
            have,
            want,
            rank: ranked,
            stays,
        } => {
            // If all are deleted, none is chosen.
            let reason = if *want == 0 {
                msg::why_none_wanted(have)
            } else {
                msg::why_too_many(have, want, rank(*ranked))
            };
            let mut explanation = new(Delete, reason)
                .follows(Follows::Size {
                    want: *want,
                    too_few: false,
                })
                .count(FactId::Desired, *want)
                .count(FactId::Actual, *have);
            if !stays.is_empty() {
                explanation = explanation
                    .fact(FactId::RankedFirst, FactValue::Rank(*ranked))
                    .fact(FactId::NextInRank, FactValue::Pod(stays.to_str()));
            }
            explanation.difference(FactId::Delete, *have, *want)
        }
        Why::Adopt => new(Write, msg::why_adopt()),
        Why::Release => new(Write, msg::why_release()),

        // StatefulSets.
        Why::MissingOrdinal { ordinal, ready_s } => {
            let reason = match ready_s {
                0 => msg::why_missing_ordinal(ordinal),
                seconds => msg::why_missing_ordinal_after(ordinal, *seconds),
            };
            new(Create, reason).follows(Follows::Ordinal { ordinal: *ordinal })
        }
        Why::MissingClaim { ordinal } => new(CodeTag::CreateClaim, msg::why_missing_claim(ordinal)),
        Why::CondemnedOrdinal { ordinal, replicas } => {
            let beyond = FactValue::Beyond {
                ordinal: *ordinal,
                replicas: *replicas,
            };
            new(Delete, msg::why_ordinal_not_needed(ordinal, replicas))
                .follows(Follows::Beyond { ordinal: *ordinal })
                .count(FactId::Replicas, *replicas)
                .fact(FactId::Ordinal, FactValue::Number(i64::from(*ordinal)))
                .fact(FactId::DeletedBecause, beyond)
        }
        Why::OldRevision { have, want } => new(CodeTag::Update, msg::why_old_revision(have, want))
            .name(FactId::PodRevision, have.to_str())
            .name(FactId::UpdateRevision, want.to_str()),
        Why::EndedPod { phase } => new(Delete, msg::why_pod_replaced(phase)),
        Why::NewRevision { revision } => new(Write, msg::why_new_revision(revision)),
        Why::Retention { policy } => new(Write, msg::why_retention(*policy)),

        // Scheduler.
        Why::BestNode { feasible: 0, .. } => new(CodeTag::Bind, msg::why_claims_bound()),
        Why::BestNode {
            feasible,
            nodes,
            score,
            next,
            next_score,
        } => {
            let reason = match feasible {
                1 => msg::why_only_node(nodes),
                _ => msg::why_best_node(feasible, nodes, score),
            };
            let mut explanation = new(CodeTag::Bind, reason)
                .count(FactId::Nodes, *nodes)
                .count(FactId::NodesFit, *feasible);
            if !next.is_empty() {
                let next = FactValue::Score {
                    node: next.to_str(),
                    score: *next_score,
                };
                explanation = explanation.fact(FactId::NodeScore, next);
            }
            explanation.count(FactId::BestScore, *score)
        }
        Why::NoNode { message } => new(CodeTag::Unschedulable, Message::name(message)),

        // Kubelets.
        Why::Bound => new(Start, msg::why_bound()),
        Why::Sandbox => new(Start, msg::why_sandbox()),
        Why::InitDone => new(Start, msg::why_init_done()),
        Why::Sidecar => new(Start, msg::why_sidecar()),
        Why::Started => new(Start, msg::why_started()),
        Why::SourceMissing => new(Start, msg::why_source_missing()),
        Why::NewImage { image } => {
            new(Start, msg::why_new_image(image)).name(FactId::Image, image.clone())
        }
        Why::Restarted { count } => {
            new(Start, msg::why_restarted(count)).count(FactId::Restarts, *count)
        }
        Why::StartedUp => new(Status, msg::why_started_up()),
        Why::BecameReady { probe } if probe.is_empty() => new(Status, msg::why_ready()),
        Why::BecameReady { probe } => new(Status, msg::why_ready_probe(probe)),
        Why::BecameUnready => new(Status, msg::why_unready()),
        Why::ProbeFailed { probe } => new(Status, msg::why_probe_failed(*probe)),
        Why::EvictedByNode => new(Status, msg::why_evicted_by_node()),
        Why::Exited { code } => new(Status, msg::why_exited(code))
            .fact(FactId::ExitCode, FactValue::Number(i64::from(*code))),
        Why::BackOff { count, seconds } => {
            new(Status, msg::why_back_off(seconds * 1000)).count(FactId::Restarts, *count)
        }
        Why::ImagePull => new(Status, msg::why_image_pull()),
        Why::OutOfMemory => new(Status, msg::why_out_of_memory()),
        Why::Resized => new(Status, msg::why_resized()),
        Why::ResizePending { reason } => new(Status, msg::why_resize_pending(*reason)),
        Why::Stopped => new(CodeTag::Stop, msg::why_stopped()),
        Why::Removed => new(Delete, msg::why_removed()),

        // Services.
        Why::Endpoints { ready, all } => new(Write, msg::why_endpoints(ready, all))
            .count(FactId::PodsMatch, *all)
            .count(FactId::PodsReady, *ready),
        Why::IngressServed { class } => new(Write, msg::why_ingress_served(class)),
        Why::IngressUnserved { class } => new(Write, msg::why_ingress_unserved(class)),
        Why::GatewayServed { class } => new(Write, msg::why_gateway_served(class)),
        Why::GatewayUnserved { class } => new(Write, msg::why_gateway_unserved(class)),
        Why::RouteTaken { gateway } => new(Write, msg::why_route_taken(gateway)),
        Why::RouteRefused { gateway } => new(Write, msg::why_route_refused(gateway)),

        // Storage.
        Why::SmallestFit { volume } => new(CodeTag::SmallestFit, msg::why_smallest_fit(volume))
            .name(FactId::SmallestFit, volume.clone()),
        Why::Binding => new(CodeTag::BindVolume, msg::why_binding()),
        Why::DefaultClass { class } => new(Write, msg::why_default_class(class)),
        Why::NeedsProvisioning { class } => {
            new(CodeTag::Provision, msg::why_needs_provisioning(class))
        }
        Why::Expanding => new(CodeTag::Provision, msg::why_expanding()),
        Why::Provisioned { claim } => new(CodeTag::Provision, msg::why_provisioned(claim)),
        Why::ClaimGone { policy } => new(CodeTag::CheckVolume, msg::why_claim_gone(policy))
            .fact(FactId::ReclaimPolicy, FactValue::State(policy.clone())),
        Why::VolumeGone => new(CodeTag::CheckVolume, msg::why_volume_gone()),
        Why::Unused => new(Write, msg::why_not_in_use()),

        // Namespaces, garbage collection and the cluster.
        Why::NamespaceNeeds => new(Write, msg::why_one_per_namespace()),
        Why::RulesJoined => new(Write, msg::why_rules_joined()),
        Why::CertificateSigned => new(Write, msg::why_certificate_signed()),
        Why::OwnerGone { owner } => new(Delete, msg::why_owner_gone(owner)),
        Why::OwnerWaits { owner } => new(Delete, msg::why_foreground_deletion(owner)),
        Why::DependentsGone => new(CodeTag::RemoveFinalizer, msg::why_dependents_gone()),
        Why::Orphaned { owner } => new(CodeTag::RemoveFinalizer, msg::why_orphaned(owner)),
        Why::QuotaCharged { object } => new(Write, msg::why_quota_charged(object)),
        Why::TooManyEnded { ended, kept } => new(Write, msg::why_too_many_ended(ended, kept)),

        // Jobs, CronJobs, autoscalers.
        Why::JobEnds { reason } => new(Write, msg::why_job_ends(reason)).follows(Follows::EndedPod),
        Why::JobSuspended => new(Write, msg::why_job_suspended()),
        Why::Counted => new(Write, msg::why_counted_by_job()),
        Why::NobodyCounts => new(Write, msg::why_not_tracked()),
        Why::Due { at } => new(Write, msg::why_due(at.rfc3339())),
        Why::Replaced => new(Write, msg::why_replaced()),
        Why::Expired { seconds } => new(Write, msg::why_expired(seconds * 1000)).fact(
            FactId::TtlSecondsAfterFinished,
            FactValue::Span(seconds * 1000),
        ),
        Why::Autoscaled { reason, from, to } => {
            new(Write, msg::why_autoscaled(reason, sizes(*from, *to)))
                .follows(Follows::Load)
                .count(FactId::ReplicasBefore, *from)
                .name(FactId::Metric, reason.to_str())
                .count(FactId::ReplicasDesired, *to)
        }

        // Nodes: DaemonSets, node lifecycle, disruption, preemption.
        Why::NodeWithoutPod { node } => {
            new(Write, msg::why_node_without_pod(node)).name(FactId::Node, node.clone())
        }
        Why::NodeUnfit { node } => {
            new(Write, msg::why_node_unfit(node)).name(FactId::Node, node.clone())
        }
        Why::DaemonEnded { phase } => new(Write, msg::why_daemon_pod_replaced(phase)),
        Why::NodeHasPod { node } => new(Write, msg::why_node_has_other_pod(node)),
        Why::Surge { node, at_most } => new(Write, msg::why_surge(at_most, node))
            .name(FactId::Node, node.clone())
            .count(FactId::MaxSurge, *at_most),
        Why::ReplaceDaemon {
            unavailable,
            at_most,
        } => new(Write, msg::why_replace_daemon(unavailable, at_most))
            .count(FactId::NodesUnavailable, *unavailable)
            .count(FactId::MaxUnavailable, *at_most),
        Why::NodeReport => new(Write, msg::why_node_report()),
        Why::BackAgain => new(Write, msg::why_kubelet_back()),
        Why::NodeSilent { seconds } => new(Write, msg::why_no_heartbeat(seconds * 1000))
            .fact(FactId::NoHeartbeat, FactValue::Span(*seconds as i64 * 1000)),
        Why::Conditions => new(Write, msg::why_taints_follow_conditions()),
        Why::OnSilentNode { node } => {
            new(Write, msg::why_node_not_ready(node)).name(FactId::Node, node.clone())
        }
        Why::NotTolerated { node, seconds } => {
            let reason = match seconds {
                0 => msg::why_not_tolerated(node),
                seconds => msg::why_toleration_expired(node, seconds * 1000),
            };
            new(Write, reason)
                .name(FactId::Node, node.clone())
                .fact(FactId::ToleratedFor, FactValue::Span(seconds * 1000))
        }
        Why::Budget { healthy, desired } => {
            let surplus = FactValue::Surplus {
                from: *healthy,
                minus: *desired,
            };
            new(Write, msg::why_budget(healthy, desired))
                .count(FactId::Healthy, *healthy)
                .count(FactId::MinHealthy, *desired)
                .fact(FactId::EvictionsAllowed, surplus)
        }
        Why::Preempted { by } => {
            new(Write, msg::why_preempted(by)).fact(FactId::PreemptedBy, FactValue::Pod(by.clone()))
        }
        Why::NodeGone { node } => {
            new(Write, msg::why_node_gone(node)).name(FactId::Node, node.clone())
        }
    }
}
