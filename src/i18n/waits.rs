//! English for what has not happened: what is missing, what decides, what would help.

use crate::api::Str;
use crate::engine::journal::Op;
use crate::engine::waits::{Cure, Fact, Label, Refuses, Unfit, Waits};

/// A count, its thousands marked.
fn n(number: impl Into<i64>) -> String {
    super::count(number.into())
}

/// A number that names something, or that is worked on: a port, an instant.
fn plain(number: impl Into<i64>) -> String {
    let number: i64 = number.into();
    number.to_string()
}

/// What is missing, in one sentence.
pub fn waits(waits: &Waits) -> String {
    use Waits::*;
    match waits {
        Gated => "Scheduling gates hold it back".into(),
        OtherScheduler(name) => ["It is for the scheduler ", name, ", which does not exist here"].concat(),
        NoNode { nodes: 0 } => "There is no node".into(),
        NoNode { nodes: 1 } => "The only node refuses it".into(),
        NoNode { nodes } => ["None of the ", &n(*nodes as i64), " nodes takes it"].concat(),
        Preempting(node) => ["Less important Pods leave ", node, " to make room for it"].concat(),
        ClaimMissing(claim) => ["Its claim ", claim, " does not exist"].concat(),
        ClaimLeaves(claim) => ["Its claim ", claim, " is being deleted"].concat(),
        ClaimLost(claim) => ["Its claim ", claim, " has lost its volume"].concat(),
        ClaimUnbound(claim) => ["Its claim ", claim, " is not bound"].concat(),
        NodeMissing(node) => ["Its node ", node, " does not exist"].concat(),
        NodeSilent(node) => ["The kubelet of ", node, " is silent, so nobody acts on the Pod"].concat(),
        SourceMissing(of) => [of, " does not exist, and a container or volume is made of it"].concat(),
        KeyMissing { of, key } => [of, " has no key ", key, ", and a container or volume is made of it"].concat(),
        Image(image) => ["The image ", image, " cannot be pulled"].concat(),
        Crashes { container, code } => ["Container ", container, " ends with code ", &n(*code), " each time it is started"].concat(),
        NotReady(container) => ["Container ", container, " runs and is not ready"].concat(),
        Init(container) => ["Init container ", container, " has not ended well, and the others start after it"].concat(),
        PodFailed(reason) => ["It has failed for good: ", reason].concat(),
        Held(by) => ["It is deleted and held by ", by].concat(),
        SlowLoop { name, each } => [name.as_str(), " takes ", each, " for each pass, and others are before it"].concat(),
        SlowPass { name, each } => [name.as_str(), " works on it, and takes ", each, " for each pass"].concat(),
        SlowIdle(name) => ["It waits for a pass of ", name, ", which has nothing to do for it"].concat(),
        LateEvent { component, kind } => ["A watch event of a ", kind, " has not reached ", component, " yet"].concat(),
        OwnLate { component, told: Op::Added } => ["Its creation has not reached ", component, " yet"].concat(),
        OwnLate { component, told: Op::Modified } => ["A change of it has not reached ", component, " yet"].concat(),
        OwnLate { component, .. } => ["Its deletion has not reached ", component, " yet"].concat(),
        LostEvent { component, kind, lists: true } => {
            ["A watch event of a ", kind, " was lost on its way to ", component, ", which will list everything anew"].concat()
        }
        LostEvent { component, kind, .. } => {
            ["A watch event of a ", kind, " was lost on its way to ", component, ", and nothing tells it again"].concat()
        }
        Paused => "The rollout is paused: the new template has no Pods yet".into(),
        Refused(_) => "The API server refuses new Pods".into(),
        Deadline(seconds) => ["No progress within ", &n(*seconds), " s; nothing is rolled back by itself"].concat(),
        Rollout { updated, desired } => ["The rollout waits: ", &n(*updated), " of ", &n(*desired), " new Pods are ready"].concat(),
        Pods { ready, desired } => [&n(*ready), " of ", &n(*desired), " Pods are ready"].concat(),
        Ordinal { pod, then } => [then.as_str(), " comes only when ", pod, " is ready"].concat(),
        KeepsOld { pods, because } => [&n(*pods), " Pods keep the old revision: ", because].concat(),
        NoService(name) => ["Its Pods have no names in DNS: Service ", name, " does not exist"].concat(),
        NodesLeftOut(1) => "One node gets no Pod of it".into(),
        NodesLeftOut(nodes) => [&n(*nodes as i64), " nodes get no Pod of it"].concat(),
        JobFailed(reason) => ["The Job has failed: ", reason].concat(),
        Suspended => "It is suspended".into(),
        BackOff { failed, limit } => {
            let times = if *failed == 1 { " failure, " } else { " failures, " };
            ["It waits before it tries again: ", &n(*failed), times, &n(*limit), " allowed"].concat()
        }
        NotDue => "Its next run is not due yet".into(),
        StillRuns(job) => ["Its last run ", job, " has not ended, and concurrencyPolicy is Forbid"].concat(),
        Zone(name) => ["The time zone ", name, " is not known, so it never runs"].concat(),
        NoScaling(_) => "It cannot scale its target".into(),
        NoDisruption => "It lets no Pod be evicted".into(),
        NodeNotReady => "Its kubelet has not been heard of, or says that it is not ready".into(),
        NoClass => "No volume fits, and without a class none is made".into(),
        ClassMissing(class) => ["No volume fits, and class ", class, " does not exist"].concat(),
        FirstConsumer => "Its class waits for the first Pod that uses it".into(),
        NoProvisioner(name) => ["Nobody answers for the provisioner ", name].concat(),
        NamedVolume(volume) => ["It asks for volume ", volume, ", which is not to be had"].concat(),
        NextLook(volume) => ["Volume ", volume, " fits; claims are looked at every 15 s"].concat(),
        InUse(by) => ["It is deleted, and goes when ", by, " no longer uses it"].concat(),
        Lost(volume) => ["Its volume ", volume, " is gone, and the data with it"].concat(),
        Released(claim) => ["Its claim ", claim, " is gone; the volume is kept for nobody else"].concat(),
        VolumeFailed => "It could not be deleted".into(),
        NoSelector => "It has no selector: nobody writes its addresses".into(),
        NoPods => "It reaches nothing: the namespace has no Pod".into(),
        LabelDiffers { key, value } => ["It reaches nothing: no Pod has ", key, "=", value].concat(),
        NoneReady(1) => "It reaches nothing: the Pod that matches is not ready".into(),
        NoneReady(pods) => ["It reaches nothing: of ", &n(*pods as i64), " Pods that match none is ready"].concat(),
        NoPort(name) => ["It reaches nothing: no container has a port named ", name].concat(),
    }
}

/// A short word for the state.
pub fn tone(waits: &Waits) -> &'static str {
    use Waits::*;
    match waits {
        NodesLeftOut(_) | NoService(_) | KeepsOld { .. } | NoSelector | Released(_) | NoDisruption | NotDue | SlowIdle(_) => "Note",
        waits if waits.is_bad() => "Stuck",
        _ => "Waits",
    }
}

/// An amount of a resource: thousandths of cpu, bytes of the others.
pub fn amount(what: &str, value: i64) -> String {
    let (whole, tenths, unit) = if what == "cpu" {
        // The second digit counts where it is all there is.
        if value % 100 != 0 && value.abs() < 1000 {
            return [&plain(value), "m"].concat();
        }
        (value / 1000, value % 1000 / 100, "")
    } else {
        let (size, unit) = if value >= 1 << 30 || value == 0 { (1_i64 << 30, "Gi") } else { (1 << 20, "Mi") };
        (value / size, value % size * 10 / size, unit)
    };
    let mut out = n(whole);
    if tenths != 0 {
        out.push('.');
        out.push_str(&n(tenths.abs()));
    }
    out.push_str(unit);
    out
}

fn quoted(text: &str) -> &str {
    if text.is_empty() { "\"\"" } else { text }
}

/// What a node has against a Pod.
pub fn refusal(refuses: &Refuses) -> String {
    match refuses {
        Refuses::Cordoned => "cordoned".into(),
        Refuses::Elsewhere => "the Pod is for another node".into(),
        Refuses::Taint { key, value, effect } => {
            let equals = if value.is_empty() { "" } else { "=" };
            ["taint ", key, equals, value, ":", effect, " not tolerated"].concat()
        }
        Refuses::Label { key, want, has: Some(has) } => ["wants ", key, "=", want, ", has ", has].concat(),
        Refuses::Label { key, want, has: None } => ["wants ", key, "=", want, ", has no such label"].concat(),
        Refuses::Affinity => "node affinity does not match".into(),
        Refuses::Port { port, by } => ["host port ", &plain(*port), " taken by ", by].concat(),
        Refuses::Pods { most } => ["has its ", &n(*most), " Pods"].concat(),
        Refuses::Short { what, asks, free, .. } => ["asks ", &amount(what, *asks), " ", what, ", ", &amount(what, *free), " free"].concat(),
        Refuses::Kept => "its room is kept for a more important Pod".into(),
        Refuses::VolumeElsewhere => "does not reach the volume".into(),
        Refuses::NoVolume => "no volume there fits the claim".into(),
        Refuses::ClaimTaken => "another Pod uses the claim (ReadWriteOncePod)".into(),
        Refuses::Spread { domain, here, fewest, most, .. } => {
            [domain, " has ", &n(*here), ", the emptiest ", &n(*fewest), "; maxSkew ", &n(*most)].concat()
        }
        Refuses::NoDomain { key } => ["has no label ", key].concat(),
        Refuses::Alone { key } => ["no Pod to be near in its ", key].concat(),
        Refuses::Apart { from, .. } => ["keeps apart from ", from].concat(),
        Refuses::Said { reason } => reason.to_string(),
    }
}

fn unfit(unfit: &Unfit) -> String {
    let differs = |what: &str, has: &Str, asks: &Str| [what, quoted(has), ", asked for ", quoted(asks)].concat();
    match unfit {
        Unfit::Small { has, asks } => differs("has ", has, asks),
        Unfit::Class { has, asks } => differs("class ", has, asks),
        Unfit::Access { has, asks } => differs("access ", has, asks),
        Unfit::Mode { has, asks } => differs("mode ", has, asks),
        Unfit::Selector => "the claim's selector does not match".into(),
        Unfit::Taken { by, phase } => [phase, ", for ", by].concat(),
        Unfit::Fits => "fits".into(),
    }
}

/// The name of a value.
pub fn label(label: Label) -> &'static str {
    match label {
        Label::Access => "access",
        Label::Active => "active",
        Label::ArrivesAt => "arrives at",
        Label::AskedAt => "set by you at",
        Label::AtLeast => "must stay available",
        Label::AtMost => "Pods allowed",
        Label::Available => "Pods available",
        Label::Class => "class",
        Label::Container => "container",
        Label::Desired => "desired",
        Label::DoneIn => "done in about",
        Label::ExitCode => "exit code",
        Label::Failed => "failed",
        Label::Gate => "gate",
        Label::HasLabel => "it has",
        Label::Healthy => "Pods healthy",
        Label::Image => "image",
        Label::HeardAt => "last heard of at",
        Label::HeldUpBy => "late event",
        Label::ListsAt => "lists everything at",
        Label::LooksAgain => "tries again at",
        Label::LostOf => "about",
        Label::Matching => "Pods that match",
        Label::Message => "says",
        Label::NearestPod => "nearest Pod",
        Label::Now => "Pods now",
        Label::Old => "Pods of the old template",
        Label::Pass => "this pass",
        Label::Place => "place in its queue",
        Label::Ports => "ports of the Pod",
        Label::Probe => "readiness probe",
        Label::Ready => "ready",
        Label::Requests => "requests",
        Label::Restarts => "restarts",
        Label::RetriesAllowed => "backoffLimit",
        Label::RunsAgain => "next at",
        Label::Schedule => "schedule",
        Label::Updated => "new Pods",
        Label::Used => "used",
        Label::Volume => "volume",
        Label::WantsLabel => "selector wants",
    }
}

/// A fact as name and value; instants are written by whoever shows them.
pub fn fact(fact: &Fact) -> (String, String) {
    match fact {
        Fact::Node(node, refuses) => (node.to_string(), refusal(refuses)),
        Fact::Fits(node) => (node.to_string(), "would take it".into()),
        Fact::Volume(volume, lacks) => (volume.to_string(), unfit(lacks)),
        Fact::Count(name, value) => (label(*name).into(), n(*value)),
        Fact::Word(name, value) => (label(*name).into(), quoted(value).into()),
        Fact::At(name, ms) => (label(*name).into(), plain(*ms as i64)),
    }
}

/// What would help: the words around the name of what is changed, and what is said of it.
pub fn cure(cure: Cure, name: &str, more: &str) -> String {
    let (before, middle, after) = match cure {
        Cure::Uncordon => ("Uncordon ", ": ", " is free there"),
        Cure::Untaint => ("Remove the taint from ", ": ", ""),
        Cure::LabelNode => ("Label ", ": ", ""),
        Cure::AddNode => ("Add ", "", ""),
        Cure::AddLarger => ("Add ", " with ", ""),
        Cure::AddNodes => ("Add ", ": ", " nodes"),
        Cure::NodeUp => ("Power on ", "", ""),
        Cure::MakeRoom => ("Delete ", ", which uses ", ""),
        Cure::ScaleDown => ("Scale down ", ", which uses ", ""),
        Cure::Ungate => ("Remove the gate ", "", ""),
        Cure::Undo => ("Roll back ", "", ""),
        Cure::SetImage => ("Set the image to ", "", ""),
        Cure::OwnCommand => ("Let ", " run its image's own command", ""),
        Cure::NoExit => ("Remove the annotation that ends ", "", ""),
        Cure::Annotated => ("Remove the annotation that keeps ", " unready", ""),
        Cure::MakeReady => ("Make ", " ready", ""),
        Cure::DeletePod => ("Delete ", ": a new one takes its place", ""),
        Cure::ForceDelete => ("Delete ", " without waiting for its kubelet", ""),
        Cure::Resume => ("Resume ", "", ""),
        Cure::Unsuspend => ("Let ", " run", ""),
        Cure::RaiseQuota => ("Raise the quota ", ": ", ""),
        Cure::ScaleUp => ("Scale up ", ": one may go then", ""),
        Cure::RelaxBudget => ("Let one Pod of ", " go", ""),
        Cure::LeaveOne => ("Scale down ", " to what the quota allows: ", ""),
        Cure::DropPartition => ("Drop the partition of ", "", ""),
        Cure::MakeService => ("Make the Service ", "", ""),
        Cure::RunNow => ("Run it now as ", "", ""),
        Cure::EndRun => ("End the run ", "", ""),
        Cure::KnownZone => ("Use ", "", ""),
        Cure::Metrics => ("Have the Pods of ", " request cpu, and use some", ""),
        Cure::MemoryMetrics => ("Have the Pods of ", " request memory, and use some", ""),
        Cure::SetRequests => ("Lower what ", " requests: ", ""),
        Cure::DefaultClass => ("Make ", " the default class", ""),
        Cure::MakeClass => ("Make the class ", "", ""),
        Cure::MakeVolume => ("Make a volume of ", ": ", ""),
        Cure::MakeClaim => ("Make the claim ", "", ""),
        Cure::MakePod => ("Make a Pod that uses ", "", ""),
        Cure::FreeVolume => ("Free ", " for the next claim", ""),
        Cure::DeleteVolume => ("Delete ", "", ""),
        Cure::SetSelector => ("Select ", "", ""),
        Cure::LabelPod => ("Label ", ": ", ""),
        Cure::SetPort => ("Send to port ", "", ""),
        Cure::MakeSource => ("Make the ", "", ""),
        Cure::AddKey => ("Add a key to ", ": ", ""),
        Cure::FullSpeed => ("Let ", " work at full speed", ""),
        Cure::LetThrough => ("Let the events through to ", "", ""),
        Cure::ListAnew => ("Restart ", ", so that it lists everything anew", ""),
        Cure::Unfinalize => ("Remove the finalizer ", "", ""),
    };
    // What introduces a value is left out with it.
    if more.is_empty() && (middle.ends_with(": ") || middle.ends_with("uses ")) {
        return [before, name].concat();
    }
    [before, name, middle, more, after].concat()
}

/// What nobody has touched: the data of a volume that is kept.
pub fn spared() -> String {
    "The data were not deleted: the reclaim policy is Retain.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_what_names_something_is_not() {
        assert_eq!(waits(&Waits::Rollout { updated: 999, desired: 12_500 }), "The rollout waits: 999 of 12,500 new Pods are ready");
        assert_eq!(n(-1_234_567), "-1,234,567");
        let (port, by) = (30_080, "web".into());
        assert_eq!(refusal(&Refuses::Port { port, by }), "host port 30080 taken by web");
    }
}
