//! Reason of a write as a message, and the values that decided it.

use apiserver::Why;
use apiserver::why::DeletionRank;
use i18n::format::{count, front};
use i18n::{Arg, Message, msg};

/// Value seen by a loop, with its name.
pub type Row = (Message, Message);

/// Reason of a write; empty if there is nothing to say.
pub fn reason(why: &Why) -> Message {
    match why {
        Why::Asked | Why::Bootstrap => Message::default(),
        Why::Said { reason } => msg::why_event(*reason),
        Why::EventExpired => msg::why_event_expired(),
        Why::Observed => msg::why_observed(),
        Why::NewTemplate { hash, replicas } => msg::why_new_template(hash, replicas),
        Why::Revision { revision } => msg::why_revision(revision),
        Why::RolloutUp {
            pods,
            at_most,
            from,
            to,
        } => msg::why_rollout_up(pods, at_most, sizes(*from, *to)),
        Why::RolloutDown {
            available,
            at_least,
            from,
            to,
        } => msg::why_rollout_down(available, at_least, sizes(*from, *to)),
        Why::CleanUnhealthy {
            unhealthy,
            from,
            to,
        } => msg::why_clean_unhealthy(unhealthy, sizes(*from, *to)),
        Why::Scaled { from, to } => msg::why_scaled(sizes(*from, *to)),
        Why::Recreate { from, to } => msg::why_recreate(sizes(*from, *to)),
        Why::HistoryLimit { field, limit } => msg::why_history_limit(*field, limit),
        Why::Paused { paused: true } => msg::why_paused(),
        Why::Paused { paused: false } => msg::why_resumed(),
        Why::Retry(of) => msg::why_retry(&of.pod, &of.how, of.back_off * 1000),
        Why::TooFew { have, want } => msg::why_too_few(have, want),
        // If all are deleted, none is chosen.
        Why::TooMany { have, want: 0, .. } => msg::why_none_wanted(have),
        Why::TooMany {
            have, want, rank, ..
        } => msg::why_too_many(have, want, rank_reason(*rank)),
        Why::Adopt => msg::why_adopt(),
        Why::Release => msg::why_release(),
        Why::MissingOrdinal {
            ordinal,
            ready_s: 0,
        } => msg::why_missing_ordinal(ordinal),
        Why::MissingOrdinal { ordinal, ready_s } => {
            msg::why_missing_ordinal_after(ordinal, *ready_s)
        }
        Why::MissingClaim { ordinal } => msg::why_missing_claim(ordinal),
        Why::CondemnedOrdinal { ordinal, replicas } => {
            msg::why_ordinal_not_needed(ordinal, replicas)
        }
        Why::OldRevision { have, want } => msg::why_old_revision(have, want),
        Why::EndedPod { phase } => msg::why_pod_replaced(phase),
        Why::NewRevision { revision } => msg::why_new_revision(revision),
        Why::Retention { policy } => msg::why_retention(*policy),
        Why::BestNode { feasible: 0, .. } => msg::why_claims_bound(),
        Why::BestNode {
            feasible: 1, nodes, ..
        } => msg::why_only_node(nodes),
        Why::BestNode {
            feasible,
            nodes,
            score,
            ..
        } => msg::why_best_node(feasible, nodes, score),
        Why::NoNode { message } => Message::name(message),
        Why::Bound => msg::why_bound(),
        Why::Sandbox => msg::why_sandbox(),
        Why::InitDone => msg::why_init_done(),
        Why::Sidecar => msg::why_sidecar(),
        Why::Started => msg::why_started(),
        Why::StartedUp => msg::why_started_up(),
        Why::BecameReady { probe } if probe.is_empty() => msg::why_ready(),
        Why::BecameReady { probe } => msg::why_ready_probe(probe),
        Why::BecameUnready => msg::why_unready(),
        Why::ProbeFailed { probe } => msg::why_probe_failed(*probe),
        Why::EvictedByNode => msg::why_evicted_by_node(),
        Why::Exited { code } => msg::why_exited(code),
        Why::NewImage { image } => msg::why_new_image(image),
        Why::BackOff { seconds, .. } => msg::why_back_off(seconds * 1000),
        Why::Restarted { count } => msg::why_restarted(count),
        Why::ImagePull => msg::why_image_pull(),
        Why::OutOfMemory => msg::why_out_of_memory(),
        Why::Resized => msg::why_resized(),
        Why::ResizePending { reason } => msg::why_resize_pending(*reason),
        Why::SourceMissing => msg::why_source_missing(),
        Why::Stopped => msg::why_stopped(),
        Why::Removed => msg::why_removed(),
        Why::Endpoints { ready, all } => msg::why_endpoints(ready, all),
        Why::SmallestFit { volume } => msg::why_smallest_fit(volume),
        Why::Binding => msg::why_binding(),
        Why::DefaultClass { class } => msg::why_default_class(class),
        Why::NeedsProvisioning { class } => msg::why_needs_provisioning(class),
        Why::Expanding => msg::why_expanding(),
        Why::Provisioned { claim } => msg::why_provisioned(claim),
        Why::ClaimGone { policy } => msg::why_claim_gone(policy),
        Why::VolumeGone => msg::why_volume_gone(),
        Why::Unused => msg::why_not_in_use(),
        Why::IngressServed { class } => msg::why_ingress_served(class),
        Why::IngressUnserved { class } => msg::why_ingress_unserved(class),
        Why::GatewayServed { class } => msg::why_gateway_served(class),
        Why::GatewayUnserved { class } => msg::why_gateway_unserved(class),
        Why::RouteTaken { gateway } => msg::why_route_taken(gateway),
        Why::RouteRefused { gateway } => msg::why_route_refused(gateway),
        Why::NamespaceNeeds => msg::why_one_per_namespace(),
        Why::RulesJoined => msg::why_rules_joined(),
        Why::CertificateSigned => msg::why_certificate_signed(),
        Why::OwnerGone { owner } => msg::why_owner_gone(owner),
        Why::OwnerWaits { owner } => msg::why_foreground_deletion(owner),
        Why::DependentsGone => msg::why_dependents_gone(),
        Why::Orphaned { owner } => msg::why_orphaned(owner),
        Why::QuotaCharged { object } => msg::why_quota_charged(object),
        // Jobs, CronJobs, autoscalers.
        Why::JobEnds { reason } => msg::why_job_ends(reason),
        Why::JobSuspended => msg::why_job_suspended(),
        Why::Counted => msg::why_counted_by_job(),
        Why::NobodyCounts => msg::why_not_tracked(),
        Why::Due { at } => msg::why_due(at.rfc3339()),
        Why::Replaced => msg::why_replaced(),
        Why::Expired { seconds } => msg::why_expired(seconds * 1000),
        Why::Autoscaled { reason, from, to } => msg::why_autoscaled(reason, sizes(*from, *to)),
        // Nodes: DaemonSets, node lifecycle, disruption, preemption.
        Why::NodeWithoutPod { node } => msg::why_node_without_pod(node),
        Why::NodeUnfit { node } => msg::why_node_unfit(node),
        Why::DaemonEnded { phase } => msg::why_daemon_pod_replaced(phase),
        Why::NodeHasPod { node } => msg::why_node_has_other_pod(node),
        Why::Surge { node, at_most } => msg::why_surge(at_most, node),
        Why::ReplaceDaemon {
            unavailable,
            at_most,
        } => msg::why_replace_daemon(unavailable, at_most),
        Why::NodeReport => msg::why_node_report(),
        Why::BackAgain => msg::why_kubelet_back(),
        Why::NodeSilent { seconds } => msg::why_no_heartbeat(seconds * 1000),
        Why::Conditions => msg::why_taints_follow_conditions(),
        Why::OnSilentNode { node } => msg::why_node_not_ready(node),
        Why::NotTolerated { node, seconds: 0 } => msg::why_not_tolerated(node),
        Why::NotTolerated { node, seconds } => msg::why_toleration_expired(node, seconds * 1000),
        Why::Budget { healthy, desired } => msg::why_budget(healthy, desired),
        Why::Preempted { by } => msg::why_preempted(by),
        Why::NodeGone { node } => msg::why_node_gone(node),
        Why::TooManyEnded { ended, kept } => msg::why_too_many_ended(ended, kept),
    }
}

/// Formats a change of size: `3 → 2`.
pub fn sizes(from: i32, to: i32) -> String {
    format!("{} → {}", grouped(from), grouped(to))
}

fn grouped(n: i32) -> String {
    i18n::count(i64::from(n))
}

fn rank_reason(rank: DeletionRank) -> Message {
    match rank {
        DeletionRank::Unassigned => msg::rank_unassigned(),
        DeletionRank::Pending => msg::rank_pending(),
        DeletionRank::NotReady => msg::rank_not_ready(),
        DeletionRank::LowerCost => msg::rank_lower_cost(),
        DeletionRank::SharesNode => msg::rank_more_pods_on_node(),
        DeletionRank::YoungerReady => msg::rank_ready_last(),
        DeletionRank::MoreRestarts => msg::rank_more_restarts(),
        DeletionRank::Younger => msg::rank_younger(),
        DeletionRank::Equal => msg::rank_equal(),
    }
}

/// Reason why a Pod ranked before the others for deletion, in two or three words.
fn rank_short(rank: DeletionRank) -> Message {
    match rank {
        DeletionRank::Unassigned => msg::rank_short_unassigned(),
        DeletionRank::Pending => Message::state("Pending"),
        DeletionRank::NotReady => msg::rank_short_not_ready(),
        DeletionRank::LowerCost => msg::rank_short_cost(),
        DeletionRank::SharesNode => msg::rank_short_more_pods_on_node(),
        DeletionRank::YoungerReady => msg::rank_short_ready_last(),
        DeletionRank::MoreRestarts => msg::rank_short_restarts(),
        DeletionRank::Younger => msg::rank_short_younger(),
        DeletionRank::Equal => msg::rank_short_equal(),
    }
}

/// Sum or difference with its terms, as the value of a row.
fn sum(text: String) -> Message {
    Message::only(Arg::Change(text.into()))
}

/// Formats a difference: `3 − 2 = 1`.
fn difference(more: i32, less: i32) -> Message {
    sum(format!(
        "{} − {} = {}",
        grouped(more),
        grouped(less),
        grouped(more - less).replace('-', "−")
    ))
}

fn number(n: impl Into<i18n::Int>) -> Message {
    Message::count(n)
}

/// Values seen by the loop, with their names. The last one is the conclusion. Empty if the sentence says everything.
pub fn evidence(why: &Why) -> Vec<Row> {
    match why {
        Why::RolloutDown {
            available,
            at_least,
            from,
            to,
        } => {
            let (spare, goes) = (available - at_least, from - to);
            let mut rows = vec![
                (msg::row_available(), number(available)),
                (msg::row_min_available(), number(at_least)),
                (msg::row_this_set(), number(from)),
                (msg::row_removable(), difference(*available, *at_least)),
            ];
            if goes != spare {
                // It has fewer, or another ReplicaSet has taken some.
                let least = |n: i32| count(n.max(0) as usize);
                rows.push((
                    msg::row_scaled_down_by(),
                    sum(format!(
                        "min({}; {}) = {}",
                        least(spare),
                        least(goes),
                        least(goes)
                    )),
                ));
            }
            rows
        }
        Why::RolloutUp {
            pods,
            at_most,
            from,
            to,
        } => {
            let room = at_most - pods;
            let new = match to - from {
                more if more == room => {
                    format!("{} + {} = {}", grouped(*from), grouped(room), grouped(*to))
                }
                // More would be allowed than are desired.
                more => format!(
                    "{} + min({}; {}) = {}",
                    grouped(*from),
                    grouped(room.max(0)),
                    grouped(more.max(0)),
                    grouped(*to)
                ),
            };
            vec![
                (msg::row_total_replicas(), number(pods)),
                (msg::row_maximum(), number(at_most)),
                (msg::row_can_be_added(), difference(*at_most, *pods)),
                (msg::row_this_set(), number(from)),
                (msg::row_new_size(), sum(new)),
            ]
        }
        Why::CleanUnhealthy {
            unhealthy,
            from,
            to,
        } => vec![
            (msg::row_unavailable(), number(unhealthy)),
            (msg::row_this_set(), number(from)),
            (msg::row_unavailable_first(), sum(sizes(*from, *to))),
        ],
        Why::Scaled { from, to } | Why::Recreate { from, to } => vec![
            (msg::row_replicas_before(), number(from)),
            (msg::row_replicas_desired(), number(to)),
            if to < from {
                (msg::row_scaled_down_by(), difference(*from, *to))
            } else {
                (msg::row_scaled_up_by(), difference(*to, *from))
            },
        ],
        Why::Retry(of) => vec![
            (msg::row_desired(), number(of.want)),
            (msg::row_actual(), number(of.have)),
            (
                msg::row_last_failed_pod(),
                Message::name(front(&of.pod, 26)),
            ),
            (msg::row_result(), Message::state(&of.how)),
            (
                msg::row_back_off(),
                Message::only(Arg::Span(of.back_off as i64 * 1000)),
            ),
            (msg::row_create(), difference(of.want, of.have)),
        ],
        Why::TooFew { have, want } => {
            vec![
                (msg::row_desired(), number(want)),
                (msg::row_actual(), number(have)),
                (msg::row_create(), difference(*want, *have)),
            ]
        }
        Why::TooMany {
            have,
            want,
            rank,
            stays,
        } => {
            let mut rows = vec![
                (msg::row_desired(), number(want)),
                (msg::row_actual(), number(have)),
            ];
            if !stays.is_empty() {
                rows.push((msg::row_ranked_first(), rank_short(*rank)));
                rows.push((msg::row_next_in_rank(), Message::name(front(stays, 26))));
            }
            rows.push((msg::row_delete(), difference(*have, *want)));
            rows
        }
        Why::BestNode { feasible: 0, .. } => Vec::new(),
        Why::BestNode {
            feasible,
            nodes,
            score,
            next,
            next_score,
        } => {
            let mut rows = vec![
                (msg::row_nodes(), number(nodes)),
                (msg::row_nodes_fit(), number(feasible)),
            ];
            if !next.is_empty() {
                rows.push((msg::row_score_of(next), number(next_score)));
            }
            rows.push((msg::row_best_score(), number(score)));
            rows
        }
        Why::Endpoints { ready, all } => {
            vec![
                (msg::row_pods_match(), number(all)),
                (msg::row_of_which_ready(), number(ready)),
            ]
        }
        Why::CondemnedOrdinal { ordinal, replicas } => vec![
            (msg::row_replicas(), number(replicas)),
            (
                msg::row_ordinal(),
                Message::only(Arg::Number(i64::from(*ordinal))),
            ),
            (
                msg::row_deleted_because(),
                msg::row_ordinal_beyond(ordinal, replicas),
            ),
        ],
        Why::Budget { healthy, desired } => vec![
            (msg::row_healthy(), number(healthy)),
            (msg::row_min_healthy(), number(desired)),
            (
                msg::row_evictions_allowed(),
                sum(format!(
                    "{} − {} = {}",
                    grouped(*healthy),
                    grouped(*desired),
                    grouped((healthy - desired).max(0))
                )),
            ),
        ],
        Why::Autoscaled { reason, from, to } => vec![
            (msg::row_replicas_before(), number(from)),
            (msg::row_metric(), Message::name(reason)),
            (msg::row_replicas_desired(), number(to)),
        ],
        Why::ReplaceDaemon {
            unavailable,
            at_most,
        } => {
            vec![
                (msg::row_nodes_unavailable(), number(unavailable)),
                (msg::row_max_unavailable(), number(at_most)),
            ]
        }
        Why::Surge { node, at_most } => {
            vec![
                (msg::row_node(), Message::name(node)),
                (msg::row_max_surge(), number(at_most)),
            ]
        }
        Why::NotTolerated { node, seconds } => {
            vec![
                (msg::row_node(), Message::name(node)),
                (
                    msg::row_tolerated_for(),
                    Message::only(Arg::Span(seconds * 1000)),
                ),
            ]
        }
        Why::NodeSilent { seconds } => {
            vec![(
                msg::row_no_heartbeat(),
                Message::only(Arg::Span(*seconds as i64 * 1000)),
            )]
        }
        Why::OnSilentNode { node }
        | Why::NodeWithoutPod { node }
        | Why::NodeUnfit { node }
        | Why::NodeGone { node } => {
            vec![(msg::row_node(), Message::name(node))]
        }
        Why::Preempted { by } => vec![(msg::row_preempted_by(), Message::name(front(by, 26)))],
        Why::Expired { seconds } => vec![(
            Message::name("ttlSecondsAfterFinished"),
            Message::only(Arg::Span(seconds * 1000)),
        )],
        Why::Exited { code } => vec![(
            msg::row_exit_code(),
            Message::only(Arg::Number(i64::from(*code))),
        )],
        Why::NewImage { image } => vec![(msg::row_image(), Message::name(image))],
        Why::Restarted { count } | Why::BackOff { count, .. } => {
            vec![(msg::row_restarts(), number(count))]
        }
        Why::SmallestFit { volume } => vec![(msg::row_smallest_fit(), Message::name(volume))],
        Why::ClaimGone { policy } => vec![(msg::row_reclaim_policy(), Message::state(policy))],
        Why::OldRevision { have, want } => {
            vec![
                (msg::row_pod_revision(), Message::name(have)),
                (msg::row_update_revision(), Message::name(want)),
            ]
        }
        Why::Asked
        | Why::Bootstrap
        | Why::EventExpired
        | Why::Said { .. }
        | Why::Observed
        | Why::NewTemplate { .. }
        | Why::Revision { .. }
        | Why::HistoryLimit { .. }
        | Why::Paused { .. }
        | Why::Adopt
        | Why::Release
        | Why::MissingOrdinal { .. }
        | Why::MissingClaim { .. }
        | Why::EndedPod { .. }
        | Why::NewRevision { .. }
        | Why::Retention { .. }
        | Why::NoNode { .. }
        | Why::Bound
        | Why::Sandbox
        | Why::InitDone
        | Why::Sidecar
        | Why::Started
        | Why::StartedUp
        | Why::BecameReady { .. }
        | Why::BecameUnready
        | Why::ProbeFailed { .. }
        | Why::EvictedByNode
        | Why::ImagePull
        | Why::OutOfMemory
        | Why::Resized
        | Why::ResizePending { .. }
        | Why::SourceMissing
        | Why::Stopped
        | Why::Removed
        | Why::Binding
        | Why::DefaultClass { .. }
        | Why::NeedsProvisioning { .. }
        | Why::Expanding
        | Why::Provisioned { .. }
        | Why::VolumeGone
        | Why::Unused
        | Why::IngressServed { .. }
        | Why::IngressUnserved { .. }
        | Why::GatewayServed { .. }
        | Why::GatewayUnserved { .. }
        | Why::RouteTaken { .. }
        | Why::RouteRefused { .. }
        | Why::NamespaceNeeds
        | Why::RulesJoined
        | Why::CertificateSigned
        | Why::OwnerGone { .. }
        | Why::OwnerWaits { .. }
        | Why::DependentsGone
        | Why::Orphaned { .. }
        | Why::QuotaCharged { .. }
        | Why::JobEnds { .. }
        | Why::JobSuspended
        | Why::Counted
        | Why::NobodyCounts
        | Why::Due { .. }
        | Why::Replaced
        | Why::DaemonEnded { .. }
        | Why::NodeHasPod { .. }
        | Why::NodeReport
        | Why::BackAgain
        | Why::Conditions
        | Why::TooManyEnded { .. } => Vec::new(),
    }
}
