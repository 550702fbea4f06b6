//! `kubectl debug` and `set subject`.

use loopscope::api::Kind;
use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::{Progress, Session, parse::split};

fn kubectl(sim: &mut Sim, line: &str) -> String {
    let mut session = Session::start(sim, &split(line), "");
    for _ in 0..100 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.interrupt();
    session.stdout + &session.stderr
}

fn ready() -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "run web --image=nginx --labels=app=web");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    sim
}

#[test]
fn a_copy_has_no_labels_and_what_was_asked_for() {
    let mut sim = ready();
    assert_eq!(kubectl(&mut sim, "debug web --copy-to=other --set-image=web=nginx:1.27"), "");
    assert_eq!(kubectl(&mut sim, "get pod other -o jsonpath={.spec.containers[0].image}{.metadata.labels}"), "nginx:1.27");
    let said = kubectl(&mut sim, "debug web --image=busybox --copy-to=with-shell --keep-labels -- sleep 999");
    assert!(said.starts_with("Defaulting debug container name to debugger-"), "{said}");
    assert_eq!(kubectl(&mut sim, "get pod with-shell -o jsonpath={.spec.containers[*].image},{.metadata.labels.app}"), "nginx busybox,web");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, "get pod with-shell -o jsonpath={.status.phase}"), "Running");
}

#[test]
fn a_node_is_looked_at_from_a_pod_with_its_files() {
    let mut sim = ready();
    let said = kubectl(&mut sim, "debug node/node-1 --image=busybox -- sleep 999");
    assert!(
        said.starts_with("Creating debugging pod node-debugger-node-1-") && said.ends_with(" with container debugger on node node-1.\n")
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let pods: Vec<String> = sim.list(Kind::Pod).map(|pod| pod.meta.name.to_string()).filter(|name| name.starts_with("node-")).collect();
    let fields = kubectl(&mut sim, &format!("get pod {} -o jsonpath={{.spec.nodeName}},{{.spec.hostPID}},{{.status.phase}}", pods[0]));
    assert_eq!(fields, "node-1,true,Running");
    assert!(kubectl(&mut sim, "debug node/none --image=busybox").contains("nodes \"none\" not found"));
}

#[test]
fn what_is_not_simulated_is_said() {
    let mut sim = ready();
    assert!(kubectl(&mut sim, "debug web --image=busybox").contains("ephemeral containers are not simulated"));
    assert!(kubectl(&mut sim, "debug web").contains("you must specify --image when not using --copy-to."));
    assert!(kubectl(&mut sim, "edit pod web").ends_with("error: unable to launch the editor \"vi\"\n"));
}

#[test]
fn subjects_are_added_to_a_binding() {
    let mut sim = ready();
    kubectl(&mut sim, "create role reader --verb=get --resource=pods");
    kubectl(&mut sim, "create rolebinding reader --role=reader --user=ann");
    let said = kubectl(&mut sim, "set subject rolebinding reader --user=bob --group=crew --serviceaccount=default:ci");
    assert_eq!(said, "rolebinding.rbac.authorization.k8s.io/reader subjects updated\n");
    assert_eq!(kubectl(&mut sim, "get rolebinding reader -o jsonpath={.subjects[*].name}"), "ann bob crew ci");
    assert_eq!(kubectl(&mut sim, "auth can-i get pods --as bob"), "yes\n");
}
