//! Why of objects that loops written as programs have made.

use crate::terminal::kubectl;
use apiserver::Component;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use explain::control_loop;
use explain::words::chain;
use k8s_model::Kind;

const LOOP: &str = "apiVersion: loopscope.dev/v1
kind: ControlLoop
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  owns: [{apiVersion: v1, kind: Secret}]
  program: |
    def reconcile(key):
        config = get('ConfigMap', key)
        if config and key.name == 'web':
            return apply(set_owner({'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'copy'}}, config))
";

fn cluster() -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "apply -f -", LOOP);
    sim.advance(sim.now().after(1_000_000), usize::MAX);
    kubectl(&mut sim, "create configmap web", "");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    sim
}

#[test]
fn write_leads_to_the_line_and_from_there_to_the_command() {
    let sim = cluster();
    let secret = sim.store().list(Kind::Secret).next().unwrap();
    let version = secret.meta.resource_version;
    let reasons = chain(sim.journal(), &sim.delays, &secret.key(), version);
    let told: Vec<String> = reasons
        .iter()
        .map(|reason| format!("{}: {}", reason.actor.english(), reason.short.english()))
        .collect();
    assert_eq!(
        told[0],
        "copier: line 4 with config = ConfigMap/web, key = default/web: return apply(set_owner({'apiVersion': 'v1', 'kind': 'Secret'…"
    );
    assert!(reasons.last().unwrap().user, "{told:?}");
    let shown: Vec<String> = reasons[0]
        .saw
        .iter()
        .map(explain::why::row)
        .map(|(name, value)| format!("{} {}", name.english(), value.english()))
        .collect();
    assert_eq!(shown, ["config ConfigMap/web", "key default/web"]);
    // The owner's latest decision is that of its loop.
    let owner = sim
        .store()
        .list(Kind::ConfigMap)
        .find(|object| object.meta.name == "web");
    let owner = owner.unwrap();
    let of_owner = chain(
        sim.journal(),
        &sim.delays,
        &owner.key(),
        owner.meta.resource_version,
    );
    assert_eq!(of_owner[0].actor.english(), "copier");
}

#[test]
fn faults_are_offered_for_the_loop_and_its_kinds() {
    let mut sim = cluster();
    let (of, _) = sim.manager.scripted_loops().next().unwrap();
    let component = Component::Loop(of.id);
    assert_eq!(
        control_loop::watched_in(&sim, component),
        [Kind::ConfigMap, Kind::Secret]
    );
    let lines: Vec<String> = control_loop::offers(&sim, component)
        .iter()
        .filter_map(|offer| match &offer.action {
            actions::Action::Fault(fault) => Some(fault.to_string()),
            _ => None,
        })
        .collect();
    for line in ["slow copier 2s", "restart copier", "lose configmap copier"] {
        assert!(
            lines.iter().any(|offered| offered.contains(line)),
            "{line}: {lines:?}"
        );
    }
    for line in [
        "slow copier 2s",
        "lose configmap copier",
        "delay secret 1s copier",
        "restart copier",
    ] {
        assert_eq!(sim.fault(line), Ok(()), "{line}");
    }
}
