//! What a container runs is run: its end, its exit code, its files.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Time;
use k8s_model::time::SECOND;
use kubectl::Session;
use kubectl::parse::split;

fn applied(text: &str) -> Sim {
    let mut sim = kubectl::new_cluster(ClusterConfig::default(), 1);
    let session = Session::start(&mut sim, &split("apply -f -"), text);
    assert_eq!((session.exit, session.stderr.as_str()), (Some(0), ""));
    sim
}

/// Creates a Pod of one container with this script, and advances the clock.
fn pod(script: &str, spec: &str, seconds: u64) -> Sim {
    let mut sim = applied(&format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  {spec}\n  containers:\n  - name: c\n    image: busybox\n    command: [sh, -c]\n    args:\n    - |\n      {}\n",
        script.replace('\n', "\n      ")
    ));
    sim.advance(Time(seconds * SECOND), usize::MAX);
    sim
}

fn said(sim: &mut Sim, line: &str) -> String {
    let mut session = Session::line(sim, line, usize::MAX);
    session.poll(sim);
    session.stdout + &session.stderr
}

/// Status of the Pod as `kubectl get` prints it, and its restarts.
fn status(sim: &mut Sim) -> (String, String) {
    let line = said(sim, "kubectl get pod p --no-headers");
    let words: Vec<&str> = line.split_whitespace().collect();
    (words[2].into(), words[3].into())
}

const ONCE: &str = "restartPolicy: Never";

#[test]
fn a_script_with_variables_loops_and_pipes_ends_as_it_says() {
    let countdown = "for i in 9 8 7 6 5 4 3 2 1; do echo $i; done";
    let mut sim = pod(countdown, ONCE, 10);
    assert_eq!(status(&mut sim), ("Completed".into(), "0".into()));
    assert_eq!(
        said(&mut sim, "kubectl logs p"),
        "9\n8\n7\n6\n5\n4\n3\n2\n1\n"
    );
    let counted =
        "n=0\nwhile [ $n -lt 5 ]; do n=$((n+1)); sleep 2; done\necho $n | grep -q 5 && exit 7";
    let mut sim = pod(counted, ONCE, 9);
    assert_eq!(status(&mut sim).0, "Running");
    sim.advance(Time(20 * SECOND), usize::MAX);
    assert_eq!(status(&mut sim).0, "Error");
    let code =
        "kubectl get pod p -o jsonpath={.status.containerStatuses[0].state.terminated.exitCode}";
    assert_eq!(said(&mut sim, code), "7");
}

#[test]
fn a_script_that_fails_is_started_again() {
    let mut sim = pod(
        "echo \"no $DATABASE\" && exit 3",
        "restartPolicy: Always",
        60,
    );
    let (state, restarts) = status(&mut sim);
    assert!(
        state == "CrashLoopBackOff" && restarts != "0",
        "{state} {restarts}"
    );
    assert!(said(&mut sim, "kubectl logs p --previous").starts_with("no "));
}

#[test]
fn what_the_shell_does_not_know_goes_on() {
    for script in [
        "start-zookeeper --servers=3 --heap=512M $FLAGS",
        "cat /etc/nginx/nginx.conf | grep worker && exec nginx",
        "until wget -q -O- http://db; do sleep 2; done; exit 1",
        "while true; do date | tee /tmp/log; sleep 5; done",
        "echo $HOSTNAME; sleep infinity",
        "echo $HOSTNAME; touch /tmp/log; tail -f /tmp/log",
        "sleep $((3600*48))",
    ] {
        let mut sim = pod(script, ONCE, 100);
        assert_eq!(status(&mut sim).0, "Running", "{script}");
    }
}

#[test]
fn init_containers_hand_files_to_the_others() {
    let mut sim = pod(
        "grep -q hello /work/index.html || exit 5; sleep 3600",
        "restartPolicy: Never\n  volumes: [{name: work, emptyDir: {}}]\n  initContainers:\n  - name: first\n    image: busybox\n    \
         command: [sh, -c, 'for word in hello world; do echo $word >> /work/index.html; done; sleep 4']\n    volumeMounts: [{name: work, mountPath: /work}]",
        20,
    );
    // The main container has no mount: it looks into its image, about which nothing is known.
    assert_eq!(status(&mut sim).0, "Running");
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec:\n  restartPolicy: Never\n  volumes: [{name: work, emptyDir: {}}]\n  initContainers:\n  - name: first\n    \
        image: busybox\n    command: [sh, -c, 'for word in hello world; do echo $word >> /work/index.html; done; sleep 4']\n    volumeMounts: [{name: work, mountPath: /work}]\n  \
        containers:\n  - name: c\n    image: busybox\n    command: [sh, -c, 'if grep -q world /work/index.html; then exit 0; else exit 5; fi']\n    \
        volumeMounts: [{name: work, mountPath: /work}]\n";
    let mut sim = applied(text);
    sim.advance(Time(3 * SECOND), usize::MAX);
    assert!(said(&mut sim, "kubectl get pod q").contains("Init:0/1"));
    sim.advance(Time(20 * SECOND), usize::MAX);
    let shown = said(&mut sim, "kubectl get pod q");
    assert!(shown.contains("Completed"), "{shown}");
}

#[test]
fn an_init_container_whose_script_fails_holds_its_pod() {
    let mut sim = pod(
        "sleep 3600",
        "initContainers:\n  - {name: first, image: busybox, command: [sh, -c, 'test -n \"$TOKEN\" || exit 1']}",
        30,
    );
    assert!(
        status(&mut sim).0.starts_with("Init:"),
        "{:?}",
        status(&mut sim)
    );
}

#[test]
fn data_of_a_script_outlives_its_pod() {
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n---\n";
    let pod = |name: &str, script: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  restartPolicy: Never\n  volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]\n  \
             containers:\n  - {{name: c, image: busybox, command: [sh, -c, '{script}'], volumeMounts: [{{name: v, mountPath: /data}}]}}\n"
        )
    };
    let mut sim = applied(&[claim, &pod("writer", "echo $HOSTNAME > /data/owner")].concat());
    sim.advance(Time(20 * SECOND), usize::MAX);
    said(&mut sim, "kubectl delete pod writer");
    sim.advance(Time(60 * SECOND), usize::MAX);
    let session = Session::start(
        &mut sim,
        &split("apply -f -"),
        &pod("reader", "cat /data/owner; [ $(cat /data/owner) = writer ]"),
    );
    assert_eq!(session.exit, Some(0));
    sim.advance(Time(90 * SECOND), usize::MAX);
    assert_eq!(said(&mut sim, "kubectl logs reader"), "writer\n");
    assert!(said(&mut sim, "kubectl get pod reader").contains("Completed"));
}

#[test]
fn a_process_is_that_of_any_slicing() {
    let script = "for i in $(seq 1 4); do echo $i > /tmp/n; sleep 0.7; done; exit $(cat /tmp/n)";
    let run = |slice: usize| {
        let mut sim = pod(script, "restartPolicy: OnFailure", 0);
        while !sim.advance(Time(120 * SECOND), slice).done {}
        format!("{:?}", sim.journal().iter().collect::<Vec<_>>())
    };
    assert_eq!(run(1), run(usize::MAX));
}
