use apiserver::Origin;
use apiserver::journal::Actor;
use apiserver::journal::Op;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::event_series::*;
use k8s_model::Kind;
use k8s_model::time::SECOND;
use k8s_model::{Body, Object, Str, Time, Uid};
use kubectl::Session;
use kubectl::parse::split;
use std::rc::Rc;

/// Builds a cluster with a Pod that fits no node, and runs it until a time in seconds.
fn too_big(seconds: u64) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.advance(Time(SECOND), usize::MAX);
    let overrides = r#"{"spec":{"containers":[{"name":"big","image":"nginx","resources":{"requests":{"cpu":"8"}}}]}}"#;
    Session::start(
        &mut sim,
        &split(&format!("run big --image=nginx --overrides='{overrides}'")),
        "",
    );
    sim.advance(Time(seconds * SECOND), usize::MAX);
    sim
}

/// Returns the counts of the Events about the Pod.
fn times(sim: &Sim) -> Vec<i32> {
    let of = |object: &std::rc::Rc<Object>| match &object.body {
        Body::Event(event) if event.reason == "FailedScheduling" => Some(event.times()),
        _ => None,
    };
    sim.store().list(Kind::Event).filter_map(of).collect()
}

#[test]
fn what_is_said_again_of_the_same_version_is_a_series() {
    // A Pod that fits no node is retried after somewhat more than five minutes.
    let mut sim = too_big(10);
    assert_eq!(times(&sim), [1]);
    // Its condition has changed its version, so a new Event is created.
    sim.advance(Time(400 * SECOND), usize::MAX);
    assert_eq!(times(&sim), [1, 1]);
    sim.advance(Time(700 * SECOND), usize::MAX);
    assert_eq!(times(&sim), [1, 2]);
    let mut told = Session::start(&mut sim, &split("describe pod big"), "").stdout;
    told.retain(|c| c != '\n');
    assert!(told.contains("(x2 over "), "{told}");
}

#[test]
fn a_silent_series_gets_its_final_count() {
    let mut server = ApiServerUnderTest::new();
    for second in [1, 2, 3, 4] {
        server.say(second);
    }
    assert_eq!((server.counts(), server.writes()), (vec![2], 2));
    server.sim.advance(Time(359 * SECOND), usize::MAX);
    assert_eq!(server.counts(), [2]);
    // At six minutes the series was silent for less than the limit.
    server.sim.advance(Time(719 * SECOND), usize::MAX);
    assert_eq!(server.counts(), [2]);
    server.sim.advance(Time(720 * SECOND), usize::MAX);
    assert_eq!((server.counts(), server.writes()), (vec![4], 3));
    // The series is finished: the next occurrence is a new Event.
    server.say(721);
    assert_eq!(server.counts(), [4, 1]);
}

#[test]
fn an_event_that_was_deleted_comes_back_with_its_count() {
    let mut server = ApiServerUnderTest::new();
    let delete = |server: &mut ApiServerUnderTest| {
        Session::start(&mut server.sim, &split("delete events --all"), "").exit
    };
    server.say(1);
    assert_eq!(delete(&mut server), Some(0));
    server.say(2);
    assert_eq!(server.counts(), [2]);
    delete(&mut server);
    server.say(3);
    assert!(server.counts().is_empty());
    server.sim.advance(Time(720 * SECOND), usize::MAX);
    assert_eq!(server.counts(), [3]);
}

#[test]
fn a_scheduler_that_restarts_begins_again() {
    let mut server = ApiServerUnderTest::new();
    server.say(1);
    server.say(2);
    server.sim.fault("restart kube-controller-manager").unwrap();
    server.say(3);
    assert_eq!(server.counts(), [2]);
    server.sim.fault("restart kube-scheduler").unwrap();
    server.say(4);
    assert_eq!(server.counts(), [2, 1]);
}

#[test]
fn very_many_series_are_checked_in_several_tasks() {
    let mut server = ApiServerUnderTest::new();
    let pods = BATCH * 2 + 3;
    for at in 0..pods {
        let meta = &mut Rc::make_mut(&mut server.about).meta;
        (meta.uid, meta.name) = (Uid(at as u128 + 1), format!("big-{at}").into());
        (0..3).for_each(|_| server.say(1));
    }
    server.sim.advance(Time(720 * SECOND), usize::MAX);
    let counts = server.counts();
    assert_eq!(
        (counts.len(), counts.iter().all(|count| *count == 3)),
        (pods, true)
    );
    assert!(server.sim.recorder.series.is_empty());
}

#[test]
fn a_long_series_is_written_every_half_hour() {
    let mut server = ApiServerUnderTest::new();
    for minute in 1..=31 {
        server.say(minute * 60);
    }
    // The 30th occurrence falls on the check itself and comes after it.
    assert_eq!((server.counts(), server.writes()), (vec![29], 3));
}

/// Cluster in which the scheduler repeats one Event about one version of a Pod.
struct ApiServerUnderTest {
    sim: Sim,
    about: std::rc::Rc<Object>,
}

impl ApiServerUnderTest {
    fn new() -> ApiServerUnderTest {
        let sim = too_big(2);
        let about = sim.store().list(Kind::Pod).next().unwrap().clone();
        // No other component records Events.
        let mut quiet = Sim::new(ClusterConfig::default(), 1);
        quiet.advance(Time(1), usize::MAX);
        ApiServerUnderTest { sim: quiet, about }
    }

    fn say(&mut self, second: u64) {
        self.sim.advance(Time(second * SECOND), usize::MAX);
        self.sim.write(|_| ());
        let origin = Origin {
            actor: Actor::component(apiserver::Component::Scheduler),
            cause: None,
            pass: 1,
            manager: None,
            user: None,
            call: None,
        };
        let (sim, what) = (&mut self.sim, ("Warning", "FailedScheduling"));
        sim.recorder.record(
            &mut sim.server,
            &origin,
            &self.about,
            &Str::default(),
            what,
            "0/3 nodes are available".into(),
        );
        sim.write(|_| ());
    }

    fn counts(&self) -> Vec<i32> {
        times(&self.sim)
    }

    fn writes(&self) -> usize {
        let is = |op: Op, object: &Object| op != Op::Deleted && object.kind == Kind::Event;
        self.sim
            .journal()
            .iter()
            .filter_map(|entry| entry.write())
            .filter(|(op, object)| is(*op, object))
            .count()
    }
}
