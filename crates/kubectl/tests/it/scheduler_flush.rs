//! A Pod that fits nowhere is tried again when it has waited five minutes, though nothing has changed.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use kubectl::Session;
use kubectl::parse::split;

#[test]
fn who_fits_nowhere_is_told_so_again_every_five_minutes() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 64}}}]}}";
    Session::start(&mut sim, &split("apply -f -"), pod);
    let mut told = |seconds: u64| {
        sim.advance(k8s_model::Time(seconds * 1_000_000), usize::MAX);
        let events = sim
            .store()
            .list(Kind::Event)
            .map(|event| event.to_value())
            .filter(|event| event["reason"] == "FailedScheduling");
        events
            .map(|event| {
                event["count"]
                    .as_u64()
                    .or(event["series"]["count"].as_u64())
                    .unwrap_or(1)
            })
            .sum::<u64>()
    };
    assert_eq!([10, 290, 340, 600, 680].map(&mut told), [1, 1, 2, 2, 3]);
    // From the third time on that it is said of one version it is only counted, and the count is written at the half hour.
    assert_eq!([1_020, 1_790, 1_801].map(told), [3, 3, 6]);
}
