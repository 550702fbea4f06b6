//! Names and values of facts, in words.

use super::words::grouped;
use super::{Row, short, sizes};
use apiserver::why::DeletionRank;
use controller_runtime::fact::{Change, Fact, FactId, FactValue};
use i18n::format::front;
use i18n::{Arg, Message, msg};

/// Maximum length of a Pod's name.
const MAX_POD_NAME: usize = 26;

/// Returns the name and the value of a fact, in words.
pub fn row(fact: &Fact) -> Row {
    (label(fact), value(&fact.value))
}

/// Returns the name of a fact.
pub fn label(fact: &Fact) -> Message {
    match fact.id {
        FactId::ResourceVersion => Message::name("resourceVersion"),
        FactId::DeletionTimestamp => Message::name("deletionTimestamp"),
        FactId::TtlSecondsAfterFinished => Message::name("ttlSecondsAfterFinished"),
        FactId::Field => match &fact.value {
            FactValue::FieldChange { field, .. } => Message::state(field),
            _ => msg::row_status(),
        },
        FactId::NodeScore => match &fact.value {
            FactValue::Score { node, .. } => msg::row_score_of(node),
            _ => msg::row_best_score(),
        },
        FactId::Variable => match &fact.value {
            FactValue::Variable { name, .. } => Message::state(name),
            _ => Message::default(),
        },
        FactId::Reason => msg::row_reason(),
        FactId::StatusOutOfDate => msg::row_status(),
        FactId::Difference => msg::row_difference(),
        FactId::Updated => msg::metric_updated(),
        FactId::Available => msg::row_available_short(),
        FactId::Ready => msg::metric_ready(),
        FactId::Ordinals => msg::row_ordinals(),
        FactId::Tie => msg::row_tie(),
        FactId::Addresses => msg::row_addresses(),
        FactId::ReadyEndpoints => msg::row_ready_endpoints(),
        FactId::Slices => msg::row_slices(),
        FactId::ContainersRunning => msg::row_containers_running(),
        FactId::AvailableOfAll => msg::row_available(),
        FactId::MinAvailable => msg::row_min_available(),
        FactId::ThisSet => msg::row_this_set(),
        FactId::Removable => msg::row_removable(),
        FactId::ScaledDownBy => msg::row_scaled_down_by(),
        FactId::ScaledUpBy => msg::row_scaled_up_by(),
        FactId::TotalReplicas => msg::row_total_replicas(),
        FactId::Maximum => msg::row_maximum(),
        FactId::CanBeAdded => msg::row_can_be_added(),
        FactId::NewSize => msg::row_new_size(),
        FactId::Unavailable => msg::row_unavailable(),
        FactId::UnavailableFirst => msg::row_unavailable_first(),
        FactId::ReplicasBefore => msg::row_replicas_before(),
        FactId::ReplicasDesired => msg::row_replicas_desired(),
        FactId::Desired => msg::row_desired(),
        FactId::Actual => msg::row_actual(),
        FactId::LastFailedPod => msg::row_last_failed_pod(),
        FactId::Result => msg::row_result(),
        FactId::BackOff => msg::row_back_off(),
        FactId::Create => msg::row_create(),
        FactId::Delete => msg::row_delete(),
        FactId::RankedFirst => msg::row_ranked_first(),
        FactId::NextInRank => msg::row_next_in_rank(),
        FactId::Nodes => msg::row_nodes(),
        FactId::NodesFit => msg::row_nodes_fit(),
        FactId::BestScore => msg::row_best_score(),
        FactId::PodsMatch => msg::row_pods_match(),
        FactId::PodsReady => msg::row_of_which_ready(),
        FactId::Replicas => msg::row_replicas(),
        FactId::Ordinal => msg::row_ordinal(),
        FactId::DeletedBecause => msg::row_deleted_because(),
        FactId::Healthy => msg::row_healthy(),
        FactId::MinHealthy => msg::row_min_healthy(),
        FactId::EvictionsAllowed => msg::row_evictions_allowed(),
        FactId::Metric => msg::row_metric(),
        FactId::NodesUnavailable => msg::row_nodes_unavailable(),
        FactId::MaxUnavailable => msg::row_max_unavailable(),
        FactId::Node => msg::row_node(),
        FactId::MaxSurge => msg::row_max_surge(),
        FactId::ToleratedFor => msg::row_tolerated_for(),
        FactId::NoHeartbeat => msg::row_no_heartbeat(),
        FactId::PreemptedBy => msg::row_preempted_by(),
        FactId::ExitCode => msg::row_exit_code(),
        FactId::Image => msg::row_image(),
        FactId::Restarts => msg::row_restarts(),
        FactId::SmallestFit => msg::row_smallest_fit(),
        FactId::ReclaimPolicy => msg::row_reclaim_policy(),
        FactId::PodRevision => msg::row_pod_revision(),
        FactId::UpdateRevision => msg::row_update_revision(),
    }
}

/// Returns a value in words.
pub fn value(value: &FactValue) -> Message {
    match value {
        FactValue::Count(count) => Message::count(*count),
        FactValue::Number(number) => Message::only(Arg::Number(*number)),
        FactValue::Name(name) => Message::name(name),
        FactValue::Pod(name) => Message::name(front(name, MAX_POD_NAME)),
        FactValue::State(state) | FactValue::Variable { value: state, .. } => Message::state(state),
        FactValue::Span(millis) => Message::only(Arg::Span(*millis)),
        FactValue::Set(true) => msg::field_set(),
        FactValue::Set(false) => msg::field_not_set(),
        FactValue::Part { part, total } => msg::n_of_m(*part, *total),
        FactValue::Difference { from, minus } => difference(*from, *minus, from - minus),
        FactValue::Surplus { from, minus } => difference(*from, *minus, (from - minus).max(0)),
        FactValue::Least { allowed, wished } => {
            let wished = grouped((*wished).max(0));
            terms(format!(
                "min({}; {wished}) = {wished}",
                grouped((*allowed).max(0))
            ))
        }
        FactValue::Growth {
            from,
            allowed,
            wished,
        } => {
            let (before, after) = (grouped(*from), grouped(from + wished));
            let room = grouped((*allowed).max(0));
            terms(if wished == allowed {
                format!("{before} + {} = {after}", grouped(*allowed))
            } else {
                // More would be allowed than are desired.
                let wished = grouped((*wished).max(0));
                format!("{before} + min({room}; {wished}) = {after}")
            })
        }
        FactValue::CountChange { from, to } => counts(*from, *to),
        FactValue::FieldChange { change, .. } => match change {
            Change::Counts { from, to } => counts(*from, *to),
            Change::Values { from, to } => terms(format!("{from} → {to}")),
            Change::Added(value) => Message::state(value),
        },
        FactValue::Addresses { added, addresses } => {
            let sign = if *added { '+' } else { '−' };
            terms(match &addresses[..] {
                [one] => format!("{sign} {one}"),
                all => format!("{sign} {}", i18n::format::count(all.len())),
            })
        }
        FactValue::Ordinals(Some((first, last))) => msg::ordinals_range(*first, *last),
        FactValue::Ordinals(None) => msg::none(),
        FactValue::Beyond { ordinal, replicas } => msg::row_ordinal_beyond(ordinal, replicas),
        FactValue::Rank(rank) => rank_short(*rank),
        FactValue::Score { score, .. } => Message::count(*score),
        FactValue::Because(why) => short(why),
        FactValue::FirstByName => msg::row_first_by_name(),
        FactValue::OutOfDate => msg::row_out_of_date(),
    }
}

/// Sum, difference or change with its terms.
fn terms(text: String) -> Message {
    Message::only(Arg::Change(text.into()))
}

/// Formats a change of a number: `3 → 2`.
fn counts(from: i64, to: i64) -> Message {
    terms(sizes(from, to))
}

/// Formats a difference: `3 − 2 = 1`.
fn difference(from: i32, minus: i32, result: i32) -> Message {
    let result = grouped(result).replace('-', "−");
    terms(format!("{} − {} = {result}", grouped(from), grouped(minus)))
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
