//! `kubectl debug`, `cp` and `set subject`.

mod terminal;

use loopscope::api::Kind;
use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::parse::split;
use loopscope::kubectl::{Progress, Session};
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

const FIRST: &str = "get pod web -o jsonpath={.status.ephemeralContainerStatuses[0]";

#[test]
fn a_container_is_added_to_a_pod_that_runs() {
    let mut sim = ready();
    let said = kubectl(&mut sim, "debug web --image=busybox:1.36 -c look --target=web -- sleep 5", "");
    assert_eq!(
        said,
        "Targeting container \"web\". If you don't see processes from this container it may be because the container runtime doesn't support \
         this feature.\n"
    );
    sim.advance(sim.now().after(3_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.state.running.startedAt}}"), ""), "2026-01-01T00:00:06Z");
    let fields =
        "get pod web -o jsonpath={.spec.ephemeralContainers[0].targetContainerName},{.spec.ephemeralContainers[0].securityContext}";
    assert_eq!(kubectl(&mut sim, fields, ""), "web,{\"capabilities\":{\"add\":[\"SYS_PTRACE\"]}}");
    // It is neither counted nor waited for.
    let row = kubectl(&mut sim, "get pod web --no-headers", "");
    assert!(row.starts_with("web   1/1   Running   0 "), "{row}");
    assert_eq!(kubectl(&mut sim, "exec web -c look -- hostname", ""), "web\n");
    assert_eq!(kubectl(&mut sim, "exec web -- hostname", ""), "web\nDefaulted container \"web\" out of: web, look (ephem)\n");
    let described = kubectl(&mut sim, "describe pod web", "");
    assert!(described.contains("Ephemeral Containers:\n  look:\n    Container ID:"), "{described}");
    let events = kubectl(&mut sim, "get events -o jsonpath={.items[*].involvedObject.fieldPath}", "");
    assert_eq!(events.matches("spec.ephemeralContainers{look}").count(), 3, "{events}");
    // It ends, and stays ended.
    sim.advance(sim.now().after(20_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.state.terminated.reason}},{{.status.phase}}"), ""), "Completed,Running");
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.restartCount}}"), ""), "0");
}

#[test]
fn one_that_has_no_image_waits_and_the_pod_does_not() {
    let mut sim = ready();
    assert!(kubectl(&mut sim, "debug web --image=busybox:broken", "").starts_with("Defaulting debug container name to debugger-"));
    sim.advance(sim.now().after(8_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.state.waiting.reason}},{{.status.phase}}"), ""), "ImagePullBackOff,Running");
    assert_eq!(kubectl(&mut sim, "wait pod web --for=condition=Ready --timeout=1s", ""), "pod/web condition met\n");
    assert_eq!(kubectl(&mut sim, "delete pod web", ""), "pod \"web\" deleted from default namespace\n");
}

#[test]
fn one_that_waits_for_its_pod_starts_with_it() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "run web --image=nginx", "");
    sim.advance(sim.now().after(50_000), usize::MAX);
    kubectl(&mut sim, "debug web --image=busybox -c look -- sleep 99", "");
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.name}},{{.status.phase}}"), ""), "look,Running");
}

#[test]
fn the_shell_of_an_added_container_is_left_and_its_pod_goes_on() {
    let mut sim = ready();
    let mut session = Session::start(&mut sim, &split("debug web -it --image=busybox -c look"), "");
    while !session.takes_input() {
        assert_ne!(session.poll(&mut sim), Progress::Done, "{}{}", session.stdout, session.stderr);
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.input(&mut sim, Some("hostname"));
    session.input(&mut sim, Some("exit 3"));
    while session.poll(&mut sim) != Progress::Done {
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    assert!(session.stdout.contains("web\n"), "{}", session.stdout);
    let reattach = "Session ended, the ephemeral container will not be restarted but may be reattached using 'kubectl attach web -c look -i -t' \
                    if it is still running\n";
    assert!(session.stderr.ends_with(reattach), "{}", session.stderr);
    sim.advance(sim.now().after(100_000), usize::MAX);
    assert_eq!(kubectl(&mut sim, &format!("{FIRST}.state.terminated.exitCode}},{{.status.containerStatuses[0].ready}}"), ""), "3,true");
    assert!(kubectl(&mut sim, "exec web -c look -- ls", "").contains("container not found (\"look\")"));
}

#[test]
fn what_no_pod_may_have_is_refused() {
    let mut sim = ready();
    let mut said = |line: &str| kubectl(&mut sim, line, "");
    assert_eq!(
        said("debug web --image=busybox -c look --target=other -q"),
        "The Pod \"web\" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: \"other\"\n"
    );
    assert_eq!(
        said("debug web --image=busybox -c web"),
        "The Pod \"web\" is invalid: spec.ephemeralContainers[0].name: Duplicate value: \"web\"\n"
    );
    assert_eq!(said("debug web --image=busybox -c look"), "");
    assert!(said("debug web --image=alpine -c look").contains("existing ephemeral containers \"look\" may not be changed"));
    let patch = r#"patch pod web -p '{"spec":{"ephemeralContainers":[{"name":"b","image":"b"}]}}'"#;
    assert!(said(patch).contains("pod updates may not change"));
    // A namespace's policy holds for added containers as for others.
    said("label namespace default pod-security.kubernetes.io/enforce=baseline");
    assert!(said("debug web --image=busybox").contains("violates PodSecurity \"baseline:latest\""));
    said("run other --image=nginx");
    assert_eq!(said("debug other --image=busybox -c plain --profile=baseline"), "");
    assert!(said("debug web --image=busybox --profile=mine").contains("unknown profile: mine"));
    assert!(said("debug web").contains("you must specify --image when not using --copy-to."));
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
