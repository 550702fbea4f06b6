//! English.

use crate::engine::Why;
use crate::engine::why::DeletionRank;

/// The reason of a write in words; empty where there is nothing to say.
pub fn why(why: &Why) -> String {
    match why {
        Why::Asked | Why::Bootstrap => String::new(),
        Why::Said { reason } => format!("Event {reason}"),
        Why::Observed => "status brought up to date with what the loop saw".into(),
        Why::NewTemplate { hash, replicas } => format!("no ReplicaSet has the Pod template {hash}; it may start with {replicas}"),
        Why::Revision { revision } => format!("revision {revision}"),
        Why::RolloutUp { pods, at_most, from, to } => format!("{pods} replicas of all sets, at most {at_most} Pods allowed: {from} → {to}"),
        Why::RolloutDown { available, at_least, from, to } => {
            format!("{available} available, at least {at_least} must stay: {from} → {to}")
        }
        Why::CleanUnhealthy { unhealthy: 1, from, to } => format!("1 old Pod is not available and goes first: {from} → {to}"),
        Why::CleanUnhealthy { unhealthy, from, to } => format!("{unhealthy} old Pods are not available and go first: {from} → {to}"),
        Why::Scaled { from, to } => format!("scaled {from} → {to}"),
        Why::Recreate { from, to } => format!("strategy Recreate: old Pods end before new ones begin: {from} → {to}"),
        Why::HistoryLimit { limit } => format!("revisionHistoryLimit keeps {limit}"),
        Why::Paused { paused: true } => "the rollout was paused".into(),
        Why::Paused { paused: false } => "the rollout was resumed".into(),
        Why::Retry(of) => format!("{} failed ({}); the back-off of {} s is over", of.pod, of.how, of.back_off),
        Why::TooFew { have, want } => format!("{have} of {want} Pods exist"),
        // Where all have to go, none of them is chosen.
        Why::TooMany { have: 1, want: 0, .. } => "1 Pod, 0 wanted".into(),
        Why::TooMany { have, want: 0, .. } => format!("{have} Pods, 0 wanted"),
        Why::TooMany { have, want, rank, .. } => format!("{have} Pods, {want} wanted; this one goes first: {}", rank_words(*rank)),
        Why::Adopt => "it matches the selector and has no controller: adopted".into(),
        Why::Release => "it no longer matches the selector: released".into(),
        Why::MissingOrdinal { ordinal } => format!("ordinal {ordinal} has no Pod"),
        Why::MissingClaim { ordinal } => format!("ordinal {ordinal} has no claim yet"),
        Why::CondemnedOrdinal { ordinal, replicas } => format!("ordinal {ordinal} is beyond {replicas} replicas"),
        Why::OldRevision { have, want } => format!("it runs {have}, wanted is {want}"),
        Why::EndedPod { phase } => format!("the Pod has {}; a new one of the same name follows", phase.to_ascii_lowercase()),
        Why::NewRevision { revision } => format!("a template not seen before: revision {revision}"),
        Why::Retention { policy } => format!("persistentVolumeClaimRetentionPolicy.{policy}"),
        Why::BestNode { feasible: 0, .. } => "its claims are bound".into(),
        Why::BestNode { feasible, nodes, score, .. } => format!("{feasible} of {nodes} nodes fit; this one scores {score}"),
        Why::NoNode { message } => message.to_string(),
        Why::Bound => "the Pod was bound to this node".into(),
        Why::Sandbox => "its sandbox is up: init containers come first".into(),
        Why::InitDone => "an init container has done its work".into(),
        Why::Sidecar => "a sidecar has started".into(),
        Why::Started => "its containers have started".into(),
        Why::StartedUp => "its startup probe has succeeded".into(),
        Why::BecameReady { probe } if probe.is_empty() => "a container became ready".into(),
        Why::BecameReady { probe } => format!("readiness probe {probe}"),
        Why::BecameUnready => "a container is not ready any more".into(),
        Why::ProbeFailed { probe } => format!("the {probe} probe has failed too often"),
        Why::EvictedByNode => "the node is short of memory and this Pod goes first".into(),
        Why::Exited { code } => format!("a container has ended with code {code}"),
        Why::NewImage { image } => format!("another image is asked for, {image}: the container is stopped and started again"),
        Why::Restarted { count } => format!("a container that ended is started again (restart {count})"),
        Why::ImagePull => "the image cannot be pulled".into(),
        Why::SourceMissing => "a ConfigMap, a Secret or a key that it needs is missing".into(),
        Why::Stopped => "its containers have been stopped".into(),
        Why::Removed => "its containers have stopped: the kubelet deletes it with grace period 0".into(),
        Why::Endpoints { ready, all } => format!("{ready} of {all} addresses are ready"),
        Why::SmallestFit { volume } => format!("{volume} is the smallest volume that fits"),
        Why::Binding => "part of binding the claim and its volume".into(),
        Why::NeedsProvisioning { class } => format!("no volume fits; class {class} has a provisioner"),
        Why::Expanding => "the claim asks for more than its volume has".into(),
        Why::Provisioned { claim } => format!("made for claim {claim}"),
        Why::ClaimGone { policy } => format!("its claim is gone; reclaim policy {policy}"),
        Why::VolumeGone => "its volume is gone".into(),
        Why::Unused => "nothing uses it any more".into(),
        Why::NamespaceNeeds => "every namespace has one".into(),
        Why::OwnerGone { owner } => format!("its owner {owner} is gone"),
        Why::OwnerWaits { owner } => format!("its owner {owner} waits for it to go"),
        Why::DependentsGone => "no dependent is left that blocks the deletion".into(),
        Why::Orphaned { owner } => format!("{owner} is deleted without its dependents"),
        Why::QuotaCharged { object } => format!("{object} counts"),
        // Jobs, CronJobs, autoscalers.
        Why::JobEnds { reason } => format!("the Job ends: {reason}"),
        Why::JobSuspended => "the Job is suspended".into(),
        Why::Counted => "it has ended, and the Job's status names it: it need not be held any more".into(),
        Why::NobodyCounts => "no Job will count it any more".into(),
        Why::Due { at } => format!("a run was due at {}", at.rfc3339()),
        Why::Replaced => "it still runs when the next run is due, and concurrencyPolicy is Replace".into(),
        Why::Expired { seconds } => format!("it ended {seconds} s ago (ttlSecondsAfterFinished)"),
        Why::Autoscaled { reason, from, to } => format!("{reason}: {from} → {to}"),
        // Nodes: DaemonSets, node lifecycle, disruption, preemption.
        Why::NodeWithoutPod { node } => format!("{node} should run a Pod and has none"),
        Why::NodeUnfit { node } => format!("{node} may not run it any more"),
        Why::DaemonEnded { phase } => format!("the Pod has {}; its node gets a new one", phase.to_ascii_lowercase()),
        Why::NodeHasPod { node } => format!("{node} has another Pod that stays"),
        Why::Surge { node, at_most } => format!("the update may add {at_most} Pods; {node} gets one beside its old one"),
        Why::ReplaceDaemon { unavailable, at_most } => {
            format!("it runs an old template; {unavailable} nodes lack an available Pod, at most {at_most} may")
        }
        Why::NodeReport => "what the kubelet says of its node".into(),
        Why::BackAgain => "the kubelet is back and says what it finds".into(),
        Why::NodeSilent { seconds } => format!("its kubelet has been silent for {seconds} s"),
        Why::Conditions => "the taints follow from the conditions of the node".into(),
        Why::OnSilentNode { node } => format!("{node} is not ready"),
        Why::NotTolerated { node, seconds: 0 } => format!("it does not tolerate a NoExecute taint of {node}"),
        Why::NotTolerated { node, seconds } => format!("it tolerates a NoExecute taint of {node} for {seconds} s, and they are over"),
        Why::Budget { healthy, desired } => format!("{healthy} Pods are healthy, {desired} must be"),
        Why::Preempted { by } => format!("Pod {by} has a higher priority and needs the room"),
        Why::NodeGone { node } => format!("its node {node} does not exist"),
        Why::TooManyEnded { ended, kept } => format!("{ended} Pods have ended, {kept} are kept"),
    }
}

fn rank_words(rank: DeletionRank) -> &'static str {
    match rank {
        DeletionRank::Unassigned => "it has no node yet",
        DeletionRank::Pending => "it is still Pending",
        DeletionRank::NotReady => "it is not ready",
        DeletionRank::LowerCost => "its pod-deletion-cost is lower",
        DeletionRank::SharesNode => "its node has more Pods of this Deployment",
        DeletionRank::YoungerReady => "it has been ready for a shorter time",
        DeletionRank::MoreRestarts => "it has restarted more often",
        DeletionRank::Younger => "it is younger",
        DeletionRank::Equal => "all are equal, so chance (its uid) decides",
    }
}
