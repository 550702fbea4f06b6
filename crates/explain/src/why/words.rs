//! Words that the sentences of several reasons share.

use apiserver::why::DeletionRank;
use i18n::{Message, msg};

/// Formats a change of size: `3 → 2`.
pub fn sizes(from: impl Into<i64>, to: impl Into<i64>) -> String {
    format!("{} → {}", grouped(from), grouped(to))
}

/// Formats a count with its thousands apart.
pub(super) fn grouped(count: impl Into<i64>) -> String {
    i18n::count(count.into())
}

/// Returns the rule by which a Pod was ranked first for deletion.
pub(super) fn rank(rank: DeletionRank) -> Message {
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
