//! Load generators: containers whose requests use CPU where they arrive.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use kubectl::Session;

/// Deployment and Service of Kubernetes' walkthrough of the HorizontalPodAutoscaler.
const PHP_APACHE: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: php-apache
spec:
  selector:
    matchLabels:
      run: php-apache
  template:
    metadata:
      labels:
        run: php-apache
    spec:
      containers:
      - name: php-apache
        image: registry.k8s.io/hpa-example
        ports:
        - containerPort: 80
        resources:
          limits:
            cpu: 500m
          requests:
            cpu: 200m
---
apiVersion: v1
kind: Service
metadata:
  name: php-apache
  labels:
    run: php-apache
spec:
  ports:
  - port: 80
  selector:
    run: php-apache
";

const AUTOSCALE: &str = "kubectl autoscale deployment php-apache --cpu=50% --min=1 --max=10";
const LOOP: &str = "while sleep 0.01; do wget -q -O- http://php-apache; done";

/// Cluster with the commands that wait, and their output.
struct Terminal {
    sim: Sim,
    waiting: Vec<Session>,
    shown: String,
}

impl Terminal {
    /// Creates a cluster with the walkthrough's Deployment and Service.
    fn new() -> Terminal {
        let mut terminal = Terminal {
            sim: Sim::new(ClusterConfig::default(), 1),
            waiting: Vec::new(),
            shown: String::new(),
        };
        terminal.apply(PHP_APACHE);
        terminal
    }

    /// Creates it with the autoscaler as well.
    fn scaled() -> Terminal {
        let mut terminal = Terminal::new();
        terminal.enter(AUTOSCALE);
        terminal
    }

    fn apply(&mut self, text: &str) {
        let words = ["apply", "-f", "-"].map(str::to_owned);
        let session = Session::start(&mut self.sim, &words, text);
        assert_eq!((session.exit, session.stderr.as_str()), (Some(0), ""));
        self.advance(10);
    }

    /// Enters a line; returns its output so far.
    fn enter(&mut self, line: &str) -> String {
        let mut session = Session::line(&mut self.sim, line, usize::MAX);
        session.poll(&mut self.sim);
        let shown = session.stdout.clone() + &session.stderr;
        (session.stdout, session.stderr) = (String::new(), String::new());
        if session.exit.is_none() {
            self.waiting.push(session);
        }
        shown
    }

    /// Types a line for the newest command that waits.
    fn type_line(&mut self, line: &str) {
        let session = self.waiting.last_mut().unwrap();
        assert!(session.input(&mut self.sim, Some(line)), "{line}");
    }

    fn press_interrupt(&mut self) {
        let session = self.waiting.last_mut().unwrap();
        session.press_interrupt(&mut self.sim);
        self.poll();
    }

    fn poll(&mut self) {
        for session in &mut self.waiting {
            session.poll(&mut self.sim);
            self.shown += &std::mem::take(&mut session.stdout);
            self.shown += &std::mem::take(&mut session.stderr);
        }
        self.waiting.retain(|session| session.exit.is_none());
    }

    fn advance(&mut self, seconds: u64) {
        let end = self.sim.now().after(seconds * SECOND);
        while self.sim.now() < end {
            let now = self.sim.now();
            let deadlines = self.waiting.iter().filter_map(Session::deadline);
            let next = deadlines.filter(|next| *next > now).min().unwrap_or(end);
            let next = next.min(end).min(now.after(SECOND));
            self.sim.advance(next, usize::MAX);
            self.poll();
        }
    }

    /// Returns the target and the replicas, as `kubectl get hpa` shows them.
    fn scaler(&mut self) -> (String, usize) {
        let shown = self.enter("kubectl get hpa php-apache --no-headers");
        let words: Vec<&str> = shown.split_whitespace().collect();
        let [.., replicas, _] = words[..] else {
            panic!("{shown}");
        };
        (
            words[2..words.len() - 4].join(" "),
            replicas.parse().unwrap(),
        )
    }

    /// Returns the replicas of the autoscaler every 15 seconds.
    fn watch_replicas(&mut self, seconds: u64) -> Vec<usize> {
        let mut all = Vec::new();
        for _ in 0..seconds / 15 {
            self.advance(15);
            all.push(self.scaler().1);
        }
        all
    }

    /// Runs a Pod attached to the terminal, as the walkthrough does.
    fn run(&mut self, name: &str, script: &str) {
        let image = "--rm --image=busybox:1.28 --restart=Never";
        let line = format!("kubectl run -i --tty {name} {image} -- /bin/sh -c \"{script}\"");
        assert_eq!(self.enter(&line), "");
    }

    /// Returns the CPU usage of the Pods whose name begins like this.
    fn top(&mut self, start: &str) -> Vec<String> {
        let shown = self.enter("kubectl top pods --no-headers");
        let rows = shown.lines().filter(|row| row.starts_with(start));
        rows.map(|row| row.split_whitespace().nth(1).unwrap().to_owned())
            .collect()
    }
}

fn told(target: &str, replicas: usize) -> (String, usize) {
    (target.to_owned(), replicas)
}

#[test]
fn the_walkthrough_of_the_autoscaler_goes_as_it_is_printed() {
    let mut terminal = Terminal::new();
    assert_eq!(
        terminal.enter(AUTOSCALE),
        "horizontalpodautoscaler.autoscaling/php-apache autoscaled\n"
    );
    terminal.advance(30);
    // There is no metrics server.
    assert_eq!(terminal.scaler(), told("cpu: <unknown>/50%", 1));
    terminal.enter("kubectl get hpa php-apache --watch");
    terminal.run("load-generator", LOOP);
    terminal.advance(20);
    assert!(terminal.shown.contains("OK!OK!OK!"), "{}", terminal.shown);
    assert!(
        terminal.shown.contains(" cpu: 250%/50% "),
        "{}",
        terminal.shown
    );
    // One Pod is at its limit; then they share the load.
    assert_eq!(terminal.scaler().0, "cpu: 250%/50%");
    assert_eq!(terminal.watch_replicas(60)[1..], [7, 7, 7]);
    assert_eq!(terminal.scaler(), told("cpu: 46%/50%", 7));
    assert_eq!(terminal.top("php-apache"), ["92m"; 7]);
    assert_eq!(terminal.top("load-generator"), ["0m"]);
    let log = terminal.enter("kubectl logs load-generator");
    assert!(log.starts_with("OK!OK!") && log.len() < 1_000, "{log}");

    terminal.shown.clear();
    terminal.press_interrupt();
    terminal.advance(5);
    let deleted = "pod \"load-generator\" deleted from default namespace\n";
    assert!(terminal.shown.contains(deleted), "{}", terminal.shown);
    assert_eq!(terminal.waiting.len(), 1);
    assert_eq!(terminal.watch_replicas(270), [7; 18]);
    assert_eq!(terminal.scaler(), told("cpu: 0%/50%", 7));
    assert_eq!(terminal.watch_replicas(60).last(), Some(&1));
}

#[test]
fn with_a_metrics_server_an_idle_pod_uses_nothing() {
    let mut terminal = Terminal::scaled();
    let created = terminal.enter(kubectl::published::METRICS_SERVER_INSTALL);
    assert_eq!(created.matches(" created\n").count(), 9, "{created}");
    terminal.advance(16);
    let events = terminal.enter("kubectl describe hpa php-apache");
    let cause = "the server is currently unable to handle the request (get pods.metrics.k8s.io)";
    assert!(events.contains(cause), "{events}");
    terminal.advance(30);
    assert_eq!(terminal.scaler(), told("cpu: 0%/50%", 1));
    assert_eq!(terminal.top("php-apache"), ["0m"]);
}

#[test]
fn a_load_ends_when_its_pod_is_gone() {
    let mut terminal = Terminal::new();
    terminal.enter("kubectl autoscale deployment php-apache --cpu-percent=50 --min=1 --max=10");
    terminal.enter(&format!(
        "kubectl run load-generator --image=busybox:1.28 --restart=Never -- /bin/sh -c \"{LOOP}\""
    ));
    terminal.advance(75);
    assert_eq!(terminal.scaler(), told("cpu: 46%/50%", 7));
    terminal.enter("kubectl delete pod load-generator");
    // A shell does not end at SIGTERM.
    terminal.advance(20);
    assert_eq!(terminal.top("php-apache"), ["92m"; 7]);
    terminal.advance(20);
    assert_eq!(terminal.top("php-apache"), ["0m"; 7]);
    assert_eq!(terminal.watch_replicas(360).last(), Some(&1));
}

#[test]
fn requests_that_reach_nothing_are_no_load() {
    for (script, manifest) in [
        ("while true; do wget -q -O- http://none; done", ""),
        (
            "while true; do wget -q -O- http://empty; done",
            "{apiVersion: v1, kind: Service, metadata: {name: empty}, spec: {selector: {run: none}, ports: [{port: 80}]}}",
        ),
        ("while true; do wget -q -O- http://php-apache:81; done", ""),
        (
            LOOP,
            "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: shut}, spec: {podSelector: {}, policyTypes: [Ingress]}}",
        ),
    ] {
        let mut terminal = Terminal::scaled();
        if !manifest.is_empty() {
            terminal.apply(manifest);
        }
        terminal.run("load-generator", script);
        terminal.advance(60);
        assert_eq!(terminal.scaler(), told("cpu: 0%/50%", 1), "{script}");
    }
}

#[test]
fn several_generators_are_more_load() {
    let mut terminal = Terminal::scaled();
    terminal.apply(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: load}, spec: {replicas: 2, selector: {matchLabels: {app: load}}, \
         template: {metadata: {labels: {app: load}}, spec: {containers: [{name: c, image: curlimages/curl, env: [{name: TARGET, value: \
         php-apache.default}], command: [sh, -c, 'while true; do curl -s http://$TARGET > /dev/null; sleep 0.01; done']}]}}}}",
    );
    terminal.advance(90);
    // 1290m for 10 Pods.
    assert_eq!(terminal.scaler(), told("cpu: 64%/50%", 10));
    terminal.enter("kubectl scale deployment load --replicas=0");
    terminal.advance(40);
    assert_eq!(terminal.top("php-apache"), ["0m"; 10]);
}

#[test]
fn a_loop_typed_into_a_shell_is_a_load_until_it_is_interrupted() {
    let mut terminal = Terminal::scaled();
    let run = "kubectl run -i --tty load-generator --rm --image=busybox --restart=Never -- /bin/sh";
    terminal.enter(run);
    terminal.advance(5);
    terminal.type_line("host=php-apache");
    terminal.type_line("while true; do wget -q -O- http://$host; done");
    terminal.advance(20);
    assert_eq!(terminal.top("php-apache"), ["238m"; 4]);
    terminal.press_interrupt();
    terminal.advance(10);
    let pods = terminal.top("php-apache").len();
    assert_eq!(terminal.top("php-apache"), vec!["0m"; pods]);
    terminal.type_line("echo still here");
    assert!(terminal.shown.ends_with("OK!"), "{}", terminal.shown);
    terminal.advance(1);
    assert!(
        terminal.shown.ends_with("still here\n"),
        "{}",
        terminal.shown
    );
    // So is one of `kubectl exec`, beside which the shell goes on.
    terminal.enter(&format!("kubectl exec load-generator -- sh -c \"{LOOP}\""));
    terminal.advance(60);
    assert_eq!(terminal.top("php-apache")[0], "92m");
    terminal.press_interrupt();
    terminal.advance(10);
    assert_eq!(terminal.top("php-apache")[0], "0m");
}

#[test]
fn a_load_of_a_fault_comes_first_and_a_pod_says_what_a_request_costs() {
    let mut terminal = Terminal::scaled();
    terminal.run("load-generator", LOOP);
    terminal.advance(5);
    assert_eq!(terminal.top("php-apache"), ["500m"]);
    terminal.sim.fault("cpu-load run=php-apache 30m").unwrap();
    assert_eq!(terminal.top("php-apache"), ["30m"]);
    terminal.sim.fault("cpu-load run=php-apache none").unwrap();
    assert_eq!(terminal.top("php-apache"), ["500m"]);
    // 1 ms of work in rounds of 12 ms.
    let patch = r#"kubectl patch deployment php-apache -p '{"spec": {"template": {"metadata": {"annotations": {"loopscope.dev/request-cpu": "0.001"}}}}}'"#;
    terminal.enter(patch);
    terminal.advance(40);
    assert_eq!(terminal.top("php-apache"), ["83m"]);
}

#[test]
fn a_pod_with_two_ports_uses_cpu_where_it_listens() {
    let mut terminal = Terminal::new();
    terminal.apply(
        "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: i, ports: [{containerPort: 80}], resources: \
         {limits: {cpu: 100m}}}, {name: b, image: i, ports: [{containerPort: 8080}], resources: {limits: {cpu: 2}}}]}}",
    );
    let shown = terminal.enter("kubectl get pod web -o jsonpath={.status.podIP}");
    terminal.run("first", &format!("while true; do curl -s {shown}; done"));
    terminal.advance(5);
    assert_eq!(terminal.top("web"), ["100m"]);
    terminal.run(
        "second",
        &format!("while true; do curl -s {shown}:8080; done"),
    );
    terminal.advance(5);
    assert_eq!(terminal.top("web"), ["1052m"]);
}
