use super::*;
use crate::Schedule;
use sim_core::rng::Rng;
use std::fmt::Write;

fn options() -> ExhaustiveOptions {
    ExhaustiveOptions {
        seed: 1,
        window: WINDOW,
        depth: 2_000,
        states: 4_000,
        limit: None,
        faults: FaultBudget::default(),
        naive: false,
        keep_going: false,
    }
}

fn explored(text: &str, options: ExhaustiveOptions) -> Exploration {
    explore(&scenario::parse(text).unwrap(), options, &|| 0.0).unwrap()
}

/// Returns the rule that a known fault violates, by a word of its report.
fn violation(text: &str, faults: &str) -> String {
    let faults = FaultBudget::parse(faults).unwrap();
    let of = explored(
        text,
        ExhaustiveOptions {
            faults,
            ..options()
        },
    );
    let told = exploration_text(&of);
    let [found] = &of.found[..] else {
        panic!("{told}")
    };
    // What was found happens again by its schedule, which survives as text.
    let schedule: Schedule = found.schedule.to_string().parse().unwrap();
    assert_eq!(schedule, found.schedule);
    let scenario = scenario::parse(text).unwrap();
    let again = repeat(&scenario, options(), &schedule, &mut |_| {});
    if faults == FaultBudget::default() {
        let again = again.unwrap().violated.unwrap();
        assert!(again.is_like(&found.violated), "{again:?}\n{told}");
    }
    assert!(
        told.contains(&format!("--schedule {}\n", found.schedule)),
        "{told}"
    );
    told
}

#[test]
fn two_writers_of_one_field_fight() {
    let told = violation(include_str!("../scenarios/two-writers.yaml"), "");
    assert!(told.contains("a hot loop"), "{told}");
}

#[test]
fn descheduler_and_scheduler_move_a_pod_forever() {
    let told = violation(include_str!("../scenarios/descheduler.yaml"), "");
    assert!(told.contains("descheduler writes Pod (1)"), "{told}");
}

#[test]
fn drain_that_a_budget_forbids_never_ends() {
    let told = violation(include_str!("../scenarios/drain-never-ends.yaml"), "");
    assert!(told.contains("step 3 waits forever"), "{told}");
}

#[test]
fn deletion_that_a_finalizer_holds_never_ends() {
    let told = violation(include_str!("../scenarios/finalizer.yaml"), "");
    assert!(told.contains("step 3 waits forever"), "{told}");
}

#[test]
fn quota_without_room_for_the_surge_stops_a_rollout() {
    let told = violation(include_str!("../scenarios/quota-without-surge.yaml"), "");
    assert!(told.contains("it never ended"), "{told}");
}

#[test]
fn broken_revision_blocks_a_statefulset() {
    violation(include_str!("../scenarios/statefulset-broken.yaml"), "");
}

#[test]
fn loop_that_never_compares_needs_every_event() {
    let text = include_str!("../scenarios/edge.yaml");
    assert!(explored(text, options()).found.is_empty());
    let told = violation(text, "lose:1");
    assert!(
        told.contains("LOST on its way: edge receives: Added Secret one"),
        "{told}"
    );
}

#[test]
fn stale_cache_creates_too_many_unless_the_loop_waits_for_its_own_writes() {
    let told = violation(include_str!("../scenarios/stale-replicas.yaml"), "");
    assert!(
        told.contains("VIOLATED                   never: count(pods, 'app=web') > 1"),
        "{told}"
    );
    let guarded = explored(
        include_str!("../scenarios/guarded-replicas.yaml"),
        options(),
    );
    assert_eq!((guarded.ended, guarded.found.len()), (Ended::Complete, 0));
    let told = exploration_text(&guarded);
    assert!(
        told.contains("with no fault\nholds for all of them      never: "),
        "{told}"
    );
}

#[test]
fn exploration_that_is_cut_off_does_not_claim_to_hold() {
    let text = include_str!("../scenarios/guarded-replicas.yaml");
    let cut = explored(
        text,
        ExhaustiveOptions {
            depth: 5,
            ..options()
        },
    );
    assert_eq!(cut.ended, Ended::Depth);
    assert!(exploration_text(&cut).contains("not found so far"));
    let few = explored(
        text,
        ExhaustiveOptions {
            states: 5,
            ..options()
        },
    );
    assert!(few.ended == Ended::States && exploration_text(&few).contains("not found so far"));
}

#[test]
fn expectation_about_what_never_existed_is_undecided() {
    let text = include_str!("../scenarios/guarded-replicas.yaml");
    let of = explored(
        &text.replace("never: count(pods, 'app=web') > 1", "never: ready(wbe) > 1"),
        options(),
    );
    assert_eq!(of.undecided, [0]);
    assert!(exploration_text(&of).contains("CANNOT BE DECIDED          never: ready(wbe) > 1"));
}

#[test]
fn report_is_the_same_every_time() {
    let text = include_str!("../scenarios/stale-replicas.yaml");
    let told = || exploration_text(&explored(text, options()));
    assert_eq!(told(), told());
}

/// Builds a small random scenario.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "name: random\ncluster: {nodes: 1}\nsteps:\n".to_owned();
    let replicas = rng.below(2);
    let _ = write!(
        text,
        "- apply: |\n    apiVersion: apps/v1\n    kind: ReplicaSet\n    metadata: {{name: web}}\n    spec:\n      replicas: {replicas}\n      selector: {{matchLabels: {{app: web}}}}\n      template: {{metadata: {{labels: {{app: web}}}}, spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: c, image: 'nginx:1'}}]}}}}\n- wait: settled\n- never: count(pods, 'app=web') > {}\n",
        rng.below(3)
    );
    for _ in 0..=rng.below(2) {
        let step = match rng.below(5) {
            0 => "kubectl: scale replicaset web --replicas=0",
            1 => "kubectl: scale replicaset web --replicas=1",
            2 => "kubectl: label replicaset web touched=yes --overwrite",
            3 => "kubectl: delete pod -l app=web --wait=false",
            _ => "kubectl: delete replicaset web --wait=false --cascade=orphan",
        };
        let _ = writeln!(text, "- {step}");
    }
    text + "- wait: settled\n- eventually: count(pods, 'app=web') == 1\n"
}

/// Number of random scenarios; `LOOPSCOPE_RUNS` sets another.
const RUNS: u64 = 12;

#[test]
fn reduction_keeps_final_states_and_violations() {
    let runs = std::env::var("LOOPSCOPE_RUNS").ok();
    let runs = runs.and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let (mut compared, mut violations, mut smaller) = (0, 0, 0);
    for seed in 0..runs {
        let text = random(seed);
        let all = |naive: bool| {
            explored(
                &text,
                ExhaustiveOptions {
                    naive,
                    keep_going: true,
                    window: 4 * MS,
                    ..options()
                },
            )
        };
        let (naive, reduced) = (all(true), all(false));
        if naive.ended != Ended::Complete {
            continue;
        }
        let kinds = |of: &Exploration| -> BTreeSet<String> {
            let found = of.found.iter().map(|found| match &found.violated {
                Violated::Expectation(at, _) => format!("{at}"),
                other => format!("{other:?}"),
            });
            found.collect()
        };
        assert_eq!(reduced.ended, Ended::Complete);
        assert_eq!(kinds(&naive), kinds(&reduced), "seed {seed}\n{text}");
        assert_eq!(naive.ends, reduced.ends, "seed {seed}\n{text}");
        assert!(reduced.states <= naive.states, "seed {seed}");
        compared += 1;
        violations += usize::from(!naive.found.is_empty());
        smaller += usize::from(2 * reduced.states < naive.states);
    }
    assert!(
        2 * compared > runs as usize && violations > 0 && smaller > 0,
        "{compared} {violations} {smaller}"
    );
}
