//! `kubectl debug`, `cp` and `set subject`.

mod terminal;

use loopscope::api::Kind;
use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::Session;
use terminal::kubectl;

fn ready() -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "run web --image=nginx --labels=app=web", "");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    sim
}

#[test]
fn a_copy_has_no_labels_and_what_was_asked_for() {
    let mut sim = ready();
    assert_eq!(kubectl(&mut sim, "debug web --copy-to=other --set-image=web=nginx:1.27", ""), "");
    assert_eq!(kubectl(&mut sim, "get pod other -o jsonpath={.spec.containers[0].image}{.metadata.labels}", ""), "nginx:1.27");
    let said = kubectl(&mut sim, "debug web --image=busybox --copy-to=with-shell --keep-labels -- sleep 999", "");
    assert!(said.starts_with("Defaulting debug container name to debugger-"), "{said}");
    assert_eq!(
        kubectl(&mut sim, "get pod with-shell -o jsonpath={.spec.containers[*].image},{.metadata.labels.app}", ""),
        "nginx busybox,web"
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, "get pod with-shell -o jsonpath={.status.phase}", ""), "Running");
}

#[test]
fn a_node_is_looked_at_from_a_pod_with_its_files() {
    let mut sim = ready();
    let said = kubectl(&mut sim, "debug node/node-1 --image=busybox -- sleep 999", "");
    assert!(
        said.starts_with("Creating debugging pod node-debugger-node-1-") && said.ends_with(" with container debugger on node node-1.\n")
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let pods: Vec<String> = sim.list(Kind::Pod).map(|pod| pod.meta.name.to_string()).filter(|name| name.starts_with("node-")).collect();
    let fields = kubectl(&mut sim, &format!("get pod {} -o jsonpath={{.spec.nodeName}},{{.spec.hostPID}},{{.status.phase}}", pods[0]), "");
    assert_eq!(fields, "node-1,true,Running");
    assert!(kubectl(&mut sim, "debug node/none --image=busybox", "").contains("nodes \"none\" not found"));
}

#[test]
fn what_is_not_simulated_is_said() {
    let mut sim = ready();
    assert!(kubectl(&mut sim, "debug web --image=busybox", "").contains("ephemeral containers are not simulated"));
    assert!(kubectl(&mut sim, "debug web", "").contains("you must specify --image when not using --copy-to."));
}

#[test]
fn subjects_are_added_to_a_binding() {
    let mut sim = ready();
    kubectl(&mut sim, "create role reader --verb=get --resource=pods", "");
    kubectl(&mut sim, "create rolebinding reader --role=reader --user=ann", "");
    let said = kubectl(&mut sim, "set subject rolebinding reader --user=bob --group=crew --serviceaccount=default:ci", "");
    assert_eq!(said, "rolebinding.rbac.authorization.k8s.io/reader subjects updated\n");
    assert_eq!(kubectl(&mut sim, "get rolebinding reader -o jsonpath={.subjects[*].name}", ""), "ann bob crew ci");
    assert_eq!(kubectl(&mut sim, "auth can-i get pods --as bob", ""), "yes\n");
}

/// A line of the terminal's shell.
fn shell(sim: &mut Sim, line: &str) -> String {
    let mut session = Session::line(sim, line, usize::MAX);
    session.poll(sim);
    session.stdout + &session.stderr
}

#[test]
fn files_are_copied_to_and_from_containers() {
    let mut sim = ready();
    shell(&mut sim, "echo hello > note; echo one > box/a; echo two > box/deep/b");
    assert_eq!(shell(&mut sim, "kubectl cp note web:/tmp/note"), "");
    assert_eq!(shell(&mut sim, "kubectl exec web -- cat /tmp/note"), "hello\n");
    assert_eq!(shell(&mut sim, "kubectl cp box default/web:/tmp -c web"), "");
    assert_eq!(shell(&mut sim, "kubectl exec web -- cat /tmp/box/a /tmp/box/deep/b"), "one\ntwo\n");
    assert_eq!(shell(&mut sim, "kubectl cp web:/tmp/box/deep back"), "tar: Removing leading `/' from member names\n");
    assert_eq!(shell(&mut sim, "cat back/b"), "two\n");
    assert_eq!(shell(&mut sim, "cp note copy; cat copy"), "hello\n");
}

#[test]
fn what_cannot_be_copied_is_told() {
    let mut sim = ready();
    shell(&mut sim, "echo hello > note");
    for (line, said) in [
        ("cp note", "error: source and destination are required\n"),
        ("cp web:/a web:/b", "error: one of src or dest must be a local file specification\n"),
        ("cp a b", "error: one of src or dest must be a remote file specification\n"),
        ("cp a web:", "error: filepath can not be empty\n"),
        ("cp a :b", "error: filespec must match the canonical format: [[namespace/]pod:]file/path\n"),
        ("cp none web:/b", "error: none doesn't exist in local filesystem\n"),
        ("cp note other:/b", "Error from server (NotFound): pods \"other\" not found\n"),
        ("cp note web:/b -c x", "error: container x is not valid for pod web out of: web\n"),
        ("cp web:/none b", "tar: /none: No such file or directory\ntar: error exit delayed from previous errors\n"),
    ] {
        assert_eq!(kubectl(&mut sim, line, ""), said, "{line}");
    }
}
