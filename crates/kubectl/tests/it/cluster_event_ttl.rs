use apiserver::why::Why;
use cluster::sim::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use k8s_model::{Body, Object};
use k8s_model::{Kind, Time};
use kubectl::Session;
use kubectl::parse::split;

fn reasons(sim: &Sim) -> Vec<String> {
    let reason = |object: &std::rc::Rc<Object>| {
        if let Body::Event(event) = &object.body {
            Some(event.reason.to_string())
        } else {
            None
        }
    };
    sim.store().list(Kind::Event).filter_map(reason).collect()
}

#[test]
fn an_event_is_gone_an_hour_after_it_was_last_written() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.advance(Time(SECOND), usize::MAX);
    Session::start(&mut sim, &split("create deployment web --image=nginx"), "");
    sim.advance(Time(10 * SECOND), usize::MAX);
    Session::start(&mut sim, &split("run late --image=nginx:broken"), "");
    let early = sim.store().count(Kind::Event);
    assert!(early > 4, "{early}");
    sim.advance(Time(3_601 * SECOND), usize::MAX);
    assert!(
        reasons(&sim)
            .iter()
            .any(|reason| reason == "ScalingReplicaSet")
    );
    sim.advance(Time(3_662 * SECOND), usize::MAX);
    let left = reasons(&sim);
    // Repeated Events stay, since their count is updated.
    assert!(
        !left.iter().any(|reason| reason == "ScalingReplicaSet")
            && left.iter().any(|reason| reason == "BackOff"),
        "{left:?}"
    );
    let last = sim
        .journal()
        .iter()
        .rev()
        .find(|entry| entry.why == Why::EventExpired)
        .map(|entry| entry.time);
    assert_eq!(last.map(|time| time.0 / SECOND), Some(3_661));
}

#[test]
fn a_day_of_failures_keeps_as_many_events_as_an_hour_has() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    Session::start(
        &mut sim,
        &split("create cronjob tick --image=busybox --schedule='* * * * *' -- false"),
        "",
    );
    let mut most = 0;
    for hour in 1..=24 {
        sim.advance(Time(hour * 3_600 * SECOND), usize::MAX);
        most = most.max(sim.store().count(Kind::Event));
    }
    assert!(most < 1_500, "{most} Events");
    assert!(
        sim.store().count(Kind::Pod) < 60,
        "ended Jobs go by their history limits"
    );
}
