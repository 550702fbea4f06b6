//! `kubectl debug`, `cp` and `set subject`.

use crate::terminal;

use apiserver::{Patch, PatchType, Request, Subresource};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use kubectl::parse::split;
use kubectl::{Progress, Session};
use serde_json::json;
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
    assert_eq!(
        kubectl(
            &mut sim,
            "debug web --copy-to=other --set-image=web=nginx:1.27",
            ""
        ),
        ""
    );
    // With other images alone it is the same Pod otherwise.
    let fields = "get pod other -o jsonpath={.spec.containers[0].image},{.metadata.labels.app},{.spec.shareProcessNamespace}";
    assert_eq!(kubectl(&mut sim, fields, ""), "nginx:1.27,web,");
    let said = kubectl(
        &mut sim,
        "debug web --image=busybox --copy-to=with-shell --keep-labels -- sleep 999",
        "",
    );
    assert!(
        said.starts_with("Defaulting debug container name to debugger-"),
        "{said}"
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod with-shell -o jsonpath={.spec.containers[*].image},{.metadata.labels.app}",
            ""
        ),
        "nginx busybox,web"
    );
    assert_eq!(
        kubectl(&mut sim, "debug web --image=busybox --copy-to=bare -q", ""),
        ""
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod bare -o jsonpath={.metadata.labels},{.spec.shareProcessNamespace}",
            ""
        ),
        ",true"
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod with-shell -o jsonpath={.status.phase}",
            ""
        ),
        "Running"
    );
}

#[test]
fn a_node_is_looked_at_from_a_pod_with_its_files() {
    let mut sim = ready();
    let said = kubectl(
        &mut sim,
        "debug node/node-1 --image=busybox -- sleep 999",
        "",
    );
    assert!(
        said.starts_with("Creating debugging pod node-debugger-node-1-")
            && said.ends_with(" with container debugger on node node-1.\n")
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    let pods: Vec<String> = sim
        .store()
        .list(Kind::Pod)
        .map(|pod| pod.meta.name.to_string())
        .filter(|name| name.starts_with("node-"))
        .collect();
    let fields = kubectl(
        &mut sim,
        &format!(
            "get pod {} -o jsonpath={{.spec.nodeName}},{{.spec.hostPID}},{{.status.phase}}",
            pods[0]
        ),
        "",
    );
    assert_eq!(fields, "node-1,true,Running");
    assert!(
        kubectl(&mut sim, "debug node/none --image=busybox", "")
            .contains("nodes \"none\" not found")
    );
}

const FIRST: &str = "get pod web -o jsonpath={.status.ephemeralContainerStatuses[0]";

const STATES: &str = "get pod web -o 'jsonpath={range .status.ephemeralContainerStatuses[*]}{.name}={.state.running.startedAt}{.state.terminated.exitCode};{end}'";

fn run_for(sim: &mut Sim, seconds: u64) {
    sim.advance(sim.now().after(seconds * 1_000_000), usize::MAX);
}

#[test]
fn a_container_is_added_to_a_pod_that_runs() {
    let mut sim = ready();
    let said = kubectl(
        &mut sim,
        "debug web --image=busybox:1.36 -c look --target=web -- sleep 5",
        "",
    );
    assert_eq!(
        said,
        "Targeting container \"web\". If you don't see processes from this container it may be because the container runtime doesn't support \
         this feature.\n"
    );
    sim.advance(sim.now().after(3_000_000), usize::MAX);
    assert_eq!(
        kubectl(&mut sim, &format!("{FIRST}.state.running.startedAt}}"), ""),
        "2026-01-01T00:00:06Z"
    );
    let fields = "get pod web -o jsonpath={.spec.ephemeralContainers[0].targetContainerName},{.spec.ephemeralContainers[0].securityContext}";
    assert_eq!(
        kubectl(&mut sim, fields, ""),
        "web,{\"capabilities\":{\"add\":[\"SYS_PTRACE\"]}}"
    );
    // It is neither counted nor waited for.
    let row = kubectl(&mut sim, "get pod web --no-headers", "");
    assert!(row.starts_with("web   1/1   Running   0 "), "{row}");
    assert_eq!(
        kubectl(&mut sim, "exec web -c look -- hostname", ""),
        "web\n"
    );
    assert_eq!(
        kubectl(&mut sim, "exec web -- hostname", ""),
        "web\nDefaulted container \"web\" out of: web, look (ephem)\n"
    );
    let described = kubectl(&mut sim, "describe pod web", "");
    assert!(
        described.contains("Ephemeral Containers:\n  look:\n    Container ID:"),
        "{described}"
    );
    let events = kubectl(
        &mut sim,
        "get events -o jsonpath={.items[*].involvedObject.fieldPath}",
        "",
    );
    assert_eq!(
        events.matches("spec.ephemeralContainers{look}").count(),
        3,
        "{events}"
    );
    // It ends, and stays ended.
    sim.advance(sim.now().after(20_000_000), usize::MAX);
    assert_eq!(
        kubectl(
            &mut sim,
            &format!("{FIRST}.state.terminated.reason}},{{.status.phase}}"),
            ""
        ),
        "Completed,Running"
    );
    assert_eq!(
        kubectl(&mut sim, &format!("{FIRST}.restartCount}}"), ""),
        "0"
    );
}

#[test]
fn one_that_has_no_image_waits_and_the_pod_does_not() {
    let mut sim = ready();
    assert!(
        kubectl(&mut sim, "debug web --image=busybox:broken", "")
            .starts_with("Defaulting debug container name to debugger-")
    );
    sim.advance(sim.now().after(8_000_000), usize::MAX);
    assert_eq!(
        kubectl(
            &mut sim,
            &format!("{FIRST}.state.waiting.reason}},{{.status.phase}}"),
            ""
        ),
        "ImagePullBackOff,Running"
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "wait pod web --for=condition=Ready --timeout=1s",
            ""
        ),
        "pod/web condition met\n"
    );
    assert_eq!(
        kubectl(&mut sim, "delete pod web", ""),
        "pod \"web\" deleted from default namespace\n"
    );
}

#[test]
fn one_that_waits_for_its_pod_starts_with_it() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "run web --image=nginx", "");
    sim.advance(sim.now().after(50_000), usize::MAX);
    kubectl(
        &mut sim,
        "debug web --image=busybox -c look -- sleep 99",
        "",
    );
    sim.advance(sim.now().after(5_000_000), usize::MAX);
    assert_eq!(
        kubectl(&mut sim, &format!("{FIRST}.name}},{{.status.phase}}"), ""),
        "look,Running"
    );
}

#[test]
fn the_shell_of_an_added_container_is_left_and_its_pod_goes_on() {
    let mut sim = ready();
    let mut session = Session::start(
        &mut sim,
        &split("debug web -it --image=busybox -c look"),
        "",
    );
    while !session.takes_input() {
        assert_ne!(
            session.poll(&mut sim),
            Progress::Done,
            "{}{}",
            session.stdout,
            session.stderr
        );
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
    assert_eq!(
        kubectl(
            &mut sim,
            &format!("{FIRST}.state.terminated.exitCode}},{{.status.containerStatuses[0].ready}}"),
            ""
        ),
        "3,true"
    );
    assert!(
        kubectl(&mut sim, "exec web -c look -- ls", "").contains("container not found (\"look\")")
    );
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
    assert!(
        said("debug web --image=alpine -c look")
            .contains("existing ephemeral containers \"look\" may not be changed")
    );
    let patch = r#"patch pod web -p '{"spec":{"ephemeralContainers":[{"name":"b","image":"b"}]}}'"#;
    assert!(said(patch).contains("pod updates may not change"));
    // A namespace's policy holds for added containers as for others.
    said("label namespace default pod-security.kubernetes.io/enforce=baseline");
    assert!(said("debug web --image=busybox").contains("violates PodSecurity \"baseline:latest\""));
    said("run other --image=nginx");
    assert_eq!(
        said("debug other --image=busybox -c plain --profile=baseline"),
        ""
    );
    assert!(said("debug web --image=busybox --profile=mine").contains("unknown profile: mine"));
    assert!(said("debug web").contains("you must specify --image when not using --copy-to."));
}

#[test]
fn subjects_are_added_to_a_binding() {
    let mut sim = ready();
    kubectl(
        &mut sim,
        "create role reader --verb=get --resource=pods",
        "",
    );
    kubectl(
        &mut sim,
        "create rolebinding reader --role=reader --user=ann",
        "",
    );
    let said = kubectl(
        &mut sim,
        "set subject rolebinding reader --user=bob --group=crew --serviceaccount=default:ci",
        "",
    );
    assert_eq!(
        said,
        "rolebinding.rbac.authorization.k8s.io/reader subjects updated\n"
    );
    assert_eq!(
        kubectl(
            &mut sim,
            "get rolebinding reader -o jsonpath={.subjects[*].name}",
            ""
        ),
        "ann bob crew ci"
    );
    assert_eq!(
        kubectl(&mut sim, "auth can-i get pods --as bob", ""),
        "yes\n"
    );
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
    shell(
        &mut sim,
        "echo hello > note; echo one > box/a; echo two > box/deep/b",
    );
    assert_eq!(shell(&mut sim, "kubectl cp note web:/tmp/note"), "");
    assert_eq!(
        shell(&mut sim, "kubectl exec web -- cat /tmp/note"),
        "hello\n"
    );
    assert_eq!(
        shell(&mut sim, "kubectl cp box default/web:/tmp -c web"),
        ""
    );
    assert_eq!(
        shell(
            &mut sim,
            "kubectl exec web -- cat /tmp/box/a /tmp/box/deep/b"
        ),
        "one\ntwo\n"
    );
    assert_eq!(
        shell(&mut sim, "kubectl cp web:/tmp/box/deep back"),
        "tar: Removing leading `/' from member names\n"
    );
    assert_eq!(shell(&mut sim, "cat back/b"), "two\n");
    assert_eq!(shell(&mut sim, "cp note copy; cat copy"), "hello\n");
}

#[test]
fn cp_reports_files_that_cannot_be_copied() {
    let mut sim = ready();
    shell(&mut sim, "echo hello > note");
    for (line, said) in [
        ("cp note", "error: source and destination are required\n"),
        (
            "cp web:/a web:/b",
            "error: one of src or dest must be a local file specification\n",
        ),
        (
            "cp a b",
            "error: one of src or dest must be a remote file specification\n",
        ),
        ("cp a web:", "error: filepath can not be empty\n"),
        (
            "cp a :b",
            "error: filespec must match the canonical format: [[namespace/]pod:]file/path\n",
        ),
        (
            "cp none web:/b",
            "error: none doesn't exist in local filesystem\n",
        ),
        (
            "cp note other:/b",
            "Error from server (NotFound): pods \"other\" not found\n",
        ),
        (
            "cp note web:/b -c x",
            "error: container x is not valid for pod web out of: web\n",
        ),
        (
            "cp web:/none b",
            "tar: /none: No such file or directory\ntar: error exit delayed from previous errors\n",
        ),
    ] {
        assert_eq!(kubectl(&mut sim, line, ""), said, "{line}");
    }
}

/// A command that has been started, until it takes input.
fn typing(sim: &mut Sim, line: &str) -> Session {
    let mut session = Session::start(sim, &split(line), "");
    while !session.takes_input() {
        assert_ne!(
            session.poll(sim),
            Progress::Done,
            "{}{}",
            session.stdout,
            session.stderr
        );
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session
}

fn finish(sim: &mut Sim, session: &mut Session) {
    for _ in 0..600 {
        if session.poll(sim) == Progress::Done {
            return;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    panic!("it goes on: {}{}", session.stdout, session.stderr);
}

#[test]
fn each_of_several_added_containers_starts_and_ends_for_itself() {
    let mut sim = ready();
    kubectl(
        &mut sim,
        "debug web --image=busybox -c second -- sleep 10",
        "",
    );
    run_for(&mut sim, 3);
    kubectl(
        &mut sim,
        "debug web --image=busybox -c first -- sleep 100",
        "",
    );
    run_for(&mut sim, 3);
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod web -o jsonpath={.spec.ephemeralContainers[*].name}",
            ""
        ),
        "second first"
    );
    assert_eq!(
        kubectl(&mut sim, STATES, ""),
        "first=2026-01-01T00:00:09Z;second=2026-01-01T00:00:06Z;"
    );
    // Another client puts one before them.
    let container = json!({"name": "zeroth", "image": "busybox", "command": ["sleep", "50"]});
    let patch = json!([{"op": "add", "path": "/spec/ephemeralContainers/0", "value": container}]);
    let web = ObjectRef::new(Kind::Pod, "default", "web");
    let patch = Patch {
        patch_type: PatchType::Json,
        content: patch,
    };
    sim.request(&Request {
        subresource: Subresource::EphemeralContainers,
        ..Request::patch(&web, patch)
    })
    .result
    .unwrap();
    run_for(&mut sim, 6);
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod web -o jsonpath={.spec.ephemeralContainers[*].name}",
            ""
        ),
        "zeroth second first"
    );
    assert_eq!(
        kubectl(&mut sim, STATES, ""),
        "first=2026-01-01T00:00:09Z;second=0;zeroth=2026-01-01T00:00:12Z;"
    );
}

#[test]
fn a_session_leaves_the_pod_that_took_the_name_of_its_own_alone() {
    let mut sim = ready();
    kubectl(
        &mut sim,
        "debug web -i --attach=false --image=busybox -c look",
        "",
    );
    run_for(&mut sim, 3);
    let lines = [
        "attach web -i",
        "attach web -i -c look",
        "debug web -i --image=busybox -c d",
    ];
    let mut sessions: Vec<Session> = lines.iter().map(|line| typing(&mut sim, line)).collect();
    kubectl(&mut sim, "delete pod web --grace-period=0 --force", "");
    kubectl(&mut sim, "run web --image=nginx", "");
    run_for(&mut sim, 5);
    for session in &mut sessions {
        session.input(&mut sim, Some("exit 3"));
        finish(&mut sim, session);
    }
    run_for(&mut sim, 1);
    let state = "get pod web -o jsonpath={.status.phase},{.status.containerStatuses[0].restartCount},{.status.containerStatuses[0].lastState}";
    assert_eq!(kubectl(&mut sim, state, ""), "Running,0,{}");
    // One that stays until its Pod has ended is told that there is none.
    let mut run = typing(&mut sim, "run q -i --rm --restart=Never --image=busybox");
    kubectl(&mut sim, "delete pod q --grace-period=0 --force", "");
    kubectl(&mut sim, "run q --image=nginx", "");
    finish(&mut sim, &mut run);
    assert!(
        run.stderr
            .ends_with("Error from server (NotFound): pods \"q\" not found\n"),
        "{}",
        run.stderr
    );
    assert!(kubectl(&mut sim, "get pod q --no-headers", "").starts_with("q "));
}

#[test]
fn a_session_does_not_end_the_next_run_of_its_container() {
    let mut sim = ready();
    let mut session = typing(&mut sim, "attach web -i");
    sim.fault("exit pod/web 1").unwrap();
    run_for(&mut sim, 3);
    finish(&mut sim, &mut session);
    run_for(&mut sim, 3);
    assert_eq!(
        kubectl(
            &mut sim,
            "get pod web -o jsonpath={.status.containerStatuses[0].restartCount}",
            ""
        ),
        "1"
    );
}

#[test]
fn added_containers_end_with_their_pod() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(
        &mut sim,
        "run web --image=busybox --restart=Never -- sleep 10",
        "",
    );
    run_for(&mut sim, 3);
    kubectl(
        &mut sim,
        "debug web --image=busybox -c look -- sleep 99",
        "",
    );
    run_for(&mut sim, 12);
    assert_eq!(
        kubectl(&mut sim, "get pod web -o jsonpath={.status.phase}", ""),
        "Succeeded"
    );
    // sleep does not handle SIGTERM.
    assert_eq!(kubectl(&mut sim, STATES, ""), "look=137;");
    // Also when somebody else says that it has ended.
    kubectl(&mut sim, "delete pod web", "");
    kubectl(&mut sim, "run web --image=nginx", "");
    run_for(&mut sim, 3);
    kubectl(
        &mut sim,
        "debug web --image=busybox -c look -- sleep 99",
        "",
    );
    run_for(&mut sim, 3);
    sim.fault("exit pod/web 0").unwrap();
    sim.advance(sim.now().after(50_000), usize::MAX);
    kubectl(
        &mut sim,
        r#"patch pod web --subresource=status -p '{"status":{"phase":"Failed"}}'"#,
        "",
    );
    run_for(&mut sim, 33);
    assert_eq!(kubectl(&mut sim, STATES, ""), "look=137;");
}

#[test]
fn what_is_piped_to_a_session_is_read() {
    let mut sim = ready();
    let text = "hostname\nexit 3\n";
    let said = kubectl(
        &mut sim,
        "run q -i --rm --restart=Never --image=busybox -q -- sh",
        text,
    );
    assert_eq!(
        said,
        "q\npod \"q\" deleted from default namespace\npod default/q terminated (Error)\n\n"
    );
    assert_eq!(
        kubectl(&mut sim, "debug web -i -q --image=busybox -c look", text),
        "web\n"
    );
    run_for(&mut sim, 1);
    assert_eq!(kubectl(&mut sim, STATES, ""), "look=3;");
    assert_eq!(kubectl(&mut sim, "attach web -i -q", text), "web\n");
}

#[test]
fn exec_needs_create_on_pods_exec() {
    let mut sim = ready();
    kubectl(
        &mut sim,
        "create role reader --verb=get --resource=pods",
        "",
    );
    kubectl(
        &mut sim,
        "create rolebinding reader --role=reader --user=ann",
        "",
    );
    for (line, part) in [("exec web -- ls", "exec"), ("attach web -i -q", "attach")] {
        let denied = format!(
            "error: unable to upgrade connection: pods \"web\" is forbidden: User \"ann\" cannot create resource \"pods/{part}\" in API group \"\" \
             in the namespace \"default\"\n"
        );
        assert_eq!(
            kubectl(&mut sim, &line.replace("web", "web --as=ann"), ""),
            denied
        );
    }
    kubectl(
        &mut sim,
        "create role shell --verb=create --resource=pods/exec",
        "",
    );
    kubectl(
        &mut sim,
        "create rolebinding shell --role=shell --user=ann",
        "",
    );
    assert_eq!(
        kubectl(&mut sim, "exec web --as=ann -- hostname", ""),
        "web\n"
    );
}

const ANNOTATED: &str = "
apiVersion: v1
kind: Pod
metadata: {name: two, annotations: {kubectl.kubernetes.io/default-container: b}}
spec: {securityContext: {runAsUser: 1000}, containers: [{name: z, image: nginx, command: [echo, z]}, {name: b, image: nginx, command: [sh, -c, echo b; sleep 99]}]}
";

#[test]
fn an_annotation_names_the_container_that_is_meant() {
    let mut sim = ready();
    kubectl(&mut sim, "apply -f -", ANNOTATED);
    run_for(&mut sim, 5);
    assert_eq!(kubectl(&mut sim, "logs two", ""), "b\n");
    assert_eq!(kubectl(&mut sim, "exec two -- hostname", ""), "two\n");
    kubectl(
        &mut sim,
        "annotate pod two kubectl.kubernetes.io/default-container=none --overwrite",
        "",
    );
    assert_eq!(
        kubectl(&mut sim, "exec two -- hostname", ""),
        "error: container none is not valid for pod two out of: z, b\n"
    );
    assert!(
        kubectl(&mut sim, "logs two", "")
            .starts_with("z\nDefault container name \"none\" not found in pod two\n")
    );
}

#[test]
fn kubectl_says_why_it_cannot_attach_or_run_a_command() {
    let mut sim = ready();
    kubectl(
        &mut sim,
        "run done --image=busybox --restart=Never -- true",
        "",
    );
    kubectl(&mut sim, "run none --image=busybox:broken", "");
    kubectl(
        &mut sim,
        r#"run nowhere --image=nginx --overrides='{"spec":{"nodeSelector":{"no":"node"}}}'"#,
        "",
    );
    run_for(&mut sim, 5);
    for (line, said) in [
        (
            "attach done -i",
            "error: cannot attach a container in a completed pod; current phase is Succeeded\n",
        ),
        (
            "attach web -i -c x",
            "error: cannot attach to the container: container x is not valid for pod web out of: web\n",
        ),
        (
            "exec none -- ls",
            "error: Internal error occurred: unable to upgrade connection: container not found (\"none\")\n",
        ),
        (
            "attach none -i -q",
            "error: Internal error occurred: unable to upgrade connection: container not found (\"none\")\n",
        ),
        (
            "exec nowhere -- ls",
            "error: unable to upgrade connection: pod nowhere does not have a host assigned\n",
        ),
    ] {
        assert_eq!(kubectl(&mut sim, line, ""), said, "{line}");
    }
}

#[test]
fn flags_of_debug_that_do_not_fit_are_refused() {
    let mut sim = ready();
    for (line, said) in [
        (
            "debug",
            "you must specify --image when not using --copy-to.",
        ),
        (
            "debug --image=busybox -- sh",
            "NAME or filename is required for debug",
        ),
        (
            "debug web --copy-to=c -c web",
            "you must specify --image, --set-image or command arguments.",
        ),
        (
            "debug web --copy-to=c -- sleep 9",
            "you must specify an existing container or a new image when specifying args.",
        ),
        (
            "debug web --copy-to=c -c x -- sleep 9",
            "you must specify image when creating new container",
        ),
        (
            "debug web --image=busybox -t",
            "-i/--stdin is required for containers with -t/--tty=true",
        ),
        (
            "debug web --image=busybox --same-node",
            "--same-node may only be used with --copy-to.",
        ),
        (
            "debug web --image=busybox --replace",
            "--replace may only be used with --copy-to.",
        ),
        (
            "debug web --image=Busy:Box",
            "invalid image name \"Busy:Box\": invalid reference format",
        ),
        (
            "debug web --copy-to=c --set-image=web=A:B",
            "invalid image name \"A:B\" for container \"web\": invalid reference format",
        ),
        (
            "debug web --image=busybox --image-pull-policy=foo",
            "invalid image pull policy: foo",
        ),
        (
            "debug web --image=busybox --profile=foo",
            "unknown profile: foo",
        ),
        (
            "debug web --image=busybox --env=A",
            "invalid argument \"A\" for \"--env\" flag: A must be formatted as key=value\nSee 'kubectl debug --help' for usage.",
        ),
        (
            "debug web --copy-to=c --set-image=web=nginx:2 --attach",
            "you must specify --container or create a new container using --image in order to attach.",
        ),
    ] {
        assert_eq!(
            kubectl(&mut sim, line, ""),
            format!("error: {said}\n"),
            "{line}"
        );
    }
    assert_eq!(
        kubectl(
            &mut sim,
            "debug web --copy-to=c -c x --set-image=web=nginx:2",
            ""
        ),
        ""
    );
}

const PROBED: &str = r#"
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: p}, annotations: {team: a}}
spec:
  initContainers: [{name: first, image: busybox, command: ["true"]}]
  containers:
  - {name: c, image: nginx, livenessProbe: {tcpSocket: {port: 80}}, readinessProbe: {tcpSocket: {port: 80}},
     ports: [{containerPort: 80}], securityContext: {readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}}
"#;

#[test]
fn profiles_and_flags_decide_what_a_copy_keeps() {
    let mut sim = ready();
    kubectl(&mut sim, "apply -f -", PROBED);
    run_for(&mut sim, 5);
    let shape = "{.metadata.labels.app}|{.metadata.annotations.team}|{.spec.initContainers[*].name}|{.spec.shareProcessNamespace}|\
        {.spec.containers[0].livenessProbe.tcpSocket.port}|{.spec.containers[0].readinessProbe.tcpSocket.port}|\
        {.spec.containers[-1:].securityContext}|{.spec.containers[-1:].command}";
    let cases = [
        (
            "--image=busybox -c d",
            r#"||first|true|||{"capabilities":{"add":["SYS_PTRACE"]}}|"#,
        ),
        (
            "--image=busybox -c d --profile=baseline",
            "||first|true||||",
        ),
        ("--image=busybox -c d --profile=legacy", "|a|first||80|80||"),
        (
            "--image=busybox -c d --keep-labels --keep-annotations --keep-liveness --keep-readiness --keep-init-containers=false --share-processes=false",
            r#"p|a||false|80|80|{"capabilities":{"add":["SYS_PTRACE"]}}|"#,
        ),
        (
            "-c c -- sleep 9",
            r#"||first|true|||{"capabilities":{"add":["SYS_PTRACE"],"drop":["ALL"]},"readOnlyRootFilesystem":true}|["sleep","9"]"#,
        ),
        (
            "-c c --profile=sysadmin -- sleep 9",
            r#"||first|true|||{"capabilities":{"drop":["ALL"]},"privileged":true,"readOnlyRootFilesystem":true}|["sleep","9"]"#,
        ),
        (
            "--set-image=*=nginx:2",
            r#"p|a|first||80|80|{"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true}|"#,
        ),
    ];
    for (at, (flags, expected)) in cases.iter().enumerate() {
        let (before, after) = flags
            .split_once(" -- ")
            .map_or((*flags, String::new()), |(before, after)| {
                (before, format!(" -- {after}"))
            });
        kubectl(
            &mut sim,
            &format!("debug p --copy-to=copy-{at} {before}{after}"),
            "",
        );
        assert_eq!(
            kubectl(
                &mut sim,
                &format!("get pod copy-{at} -o jsonpath={shape}"),
                ""
            ),
            *expected,
            "{flags}"
        );
    }
    let fields = "{.spec.containers[0].stdin},{.spec.containers[0].env[*].name},{.spec.containers[0].imagePullPolicy},{.spec.containers[0].args}";
    kubectl(
        &mut sim,
        "debug p --copy-to=set -c c -i --attach=false --env=A=b,C=d --image-pull-policy=Always --arguments-only -- x",
        "",
    );
    assert_eq!(
        kubectl(&mut sim, &format!("get pod set -o jsonpath={fields}"), ""),
        "true,A C,Always,[\"x\"]"
    );
}

#[test]
fn a_copy_replaces_a_pod_only_if_it_could_be_made() {
    let mut sim = ready();
    assert_eq!(
        kubectl(
            &mut sim,
            "debug web --copy-to=web --replace --set-image=web=nginx:2",
            ""
        ),
        "Error from server (AlreadyExists): pods \"web\" already exists\n"
    );
    assert!(kubectl(&mut sim, "get pod web --no-headers", "").starts_with("web   1/1   Running"));
    kubectl(
        &mut sim,
        "debug web --copy-to=new --replace --set-image=web=nginx:2",
        "",
    );
    assert_eq!(kubectl(&mut sim, "get pods -o name", ""), "pod/new\n");
}

#[test]
fn the_pod_on_a_node_has_what_its_profile_allows() {
    let mut sim = ready();
    let shape = "{.items[0].spec.hostPID}|{.items[0].spec.volumes[?(@.name==\"host-root\")].hostPath.path}|{.items[0].spec.containers[0].securityContext}";
    for (profile, expected) in [
        ("general", "true|/|"),
        ("legacy", "true|/|"),
        ("baseline", "||"),
        (
            "netadmin",
            r#"true||{"capabilities":{"add":["NET_ADMIN","NET_RAW"]}}"#,
        ),
        ("sysadmin", r#"true|/|{"privileged":true}"#),
        (
            "restricted",
            r#"||{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}"#,
        ),
    ] {
        kubectl(
            &mut sim,
            &format!("debug node/node-1 --image=busybox --profile={profile}"),
            "",
        );
        let get =
            format!("get pods -l app.kubernetes.io/managed-by=kubectl-debug -o 'jsonpath={shape}'");
        assert_eq!(kubectl(&mut sim, &get, ""), expected, "{profile}");
        kubectl(
            &mut sim,
            "delete pods -l app.kubernetes.io/managed-by=kubectl-debug --grace-period=0 --force",
            "",
        );
    }
}

#[test]
fn several_pods_are_debugged_one_after_another() {
    let mut sim = ready();
    kubectl(&mut sim, "apply -f -", ANNOTATED);
    run_for(&mut sim, 5);
    let said = kubectl(
        &mut sim,
        "debug web two none -c d --image=busybox --env=A=b,C=d -- sleep 9",
        "",
    );
    assert!(
        said.starts_with("Warning: Non-root user is configured for the entire target Pod"),
        "{said}"
    );
    assert!(
        said.ends_with("Error from server (NotFound): pods \"none\" not found\n"),
        "{said}"
    );
    let shape = "{.spec.ephemeralContainers[0].command},{.spec.ephemeralContainers[0].env[*].value},{.spec.ephemeralContainers[0].imagePullPolicy}";
    for pod in ["web", "two"] {
        assert_eq!(
            kubectl(&mut sim, &format!("get pod {pod} -o jsonpath={shape}"), ""),
            "[\"sleep\",\"9\"],b d,Always"
        );
    }
    assert_eq!(
        kubectl(
            &mut sim,
            "debug web two -c e -i -q --image=busybox --profile=baseline",
            "hostname\n"
        ),
        "web\n",
        "the first reads what is piped"
    );
}

#[test]
fn it_waits_for_an_image_and_tells_why() {
    let mut sim = ready();
    let mut session = Session::start(
        &mut sim,
        &split("debug web -i --image=busybox:broken -c d4"),
        "",
    );
    for _ in 0..1000 {
        assert_ne!(session.poll(&mut sim), Progress::Done, "{}", session.stderr);
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    assert!(
        session.stderr.starts_with("Warning: container d4: "),
        "{}",
        session.stderr
    );
    assert!(
        session
            .stderr
            .contains("\nWarning: container d4: Back-off pulling image"),
        "{}",
        session.stderr
    );
}
