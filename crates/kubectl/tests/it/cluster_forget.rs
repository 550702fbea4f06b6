use apiserver::journal::Record;
use cluster::forget::Forgetting;
use cluster::sim::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use kubectl::Session;
use kubectl::parse::split;

/// Builds a cluster whose Pods have been replaced several times.
fn rolled() -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let mut run = |line: &str, seconds: u64| {
        sim.advance(sim.now().after(seconds * SECOND), usize::MAX);
        Session::start(&mut sim, &split(line), "");
    };
    run("create configmap conf --from-literal=a=b", 1);
    run("create deployment web --image=nginx --replicas=20", 1);
    for _ in 0..20 {
        run("rollout restart deployment web", 30);
    }
    sim
}

/// Compacts the journal as far as possible.
fn shorten(sim: &mut Sim) {
    let mut forgetting = Forgetting::begin(sim);
    while !forgetting.is_done() {
        forgetting.rewrite_next(sim.store());
        forgetting.share(sim);
    }
}

#[test]
fn what_is_gone_is_forgotten_and_everything_goes_on_alike() {
    let plain = rolled();
    let mut short = plain.clone();
    shorten(&mut short);
    let count = |sim: &Sim| {
        sim.journal()
            .iter()
            .filter(|entry| matches!(entry.record, Record::Forgotten))
            .count()
    };
    assert_eq!(
        (short.journal().len(), count(&plain)),
        (plain.journal().len(), 0)
    );
    assert!(
        count(&short) * 5 > short.journal().len() * 2,
        "{} of {}",
        count(&short),
        short.journal().len()
    );
    // Entries keep their time, and commands are kept.
    assert!(
        short
            .journal()
            .iter()
            .map(|entry| entry.time)
            .eq(plain.journal().iter().map(|entry| entry.time))
    );
    let commands = |sim: &Sim| {
        sim.journal()
            .iter()
            .filter(|entry| entry.is_command())
            .count()
    };
    assert_eq!(commands(&short), commands(&plain));

    let (mut plain, from) = (plain, short.journal().len());
    for sim in [&mut plain, &mut short] {
        for line in [
            "scale deployment web --replicas=3",
            "get deployment web -o yaml --show-managed-fields",
            "get pods -o yaml --show-managed-fields",
        ] {
            Session::start(sim, &split(line), "");
            sim.advance(sim.now().after(60 * SECOND), usize::MAX);
        }
    }
    assert_eq!(
        format!(
            "{:?}",
            short.journal().from(from).iter().collect::<Vec<_>>()
        ),
        format!(
            "{:?}",
            plain.journal().from(from).iter().collect::<Vec<_>>()
        )
    );
    let shown = |sim: &mut Sim, line: &str| Session::start(sim, &split(line), "").stdout;
    for line in [
        "get deployment web -o yaml --show-managed-fields",
        "get pods -o yaml --show-managed-fields",
        "get rs -o yaml --show-managed-fields",
    ] {
        assert_eq!(shown(&mut short, line), shown(&mut plain, line), "{line}");
    }
}

#[test]
fn nothing_is_forgotten_while_an_event_is_held_back() {
    let mut sim = rolled();
    sim.fault("delay pod 1h").unwrap();
    shorten(&mut sim);
    assert!(
        !sim.journal()
            .iter()
            .any(|entry| matches!(entry.record, Record::Forgotten))
    );
}
