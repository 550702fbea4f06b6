use actions::{Action, ActionResult, Host};
use apiserver::{Patch, Request};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use k8s_model::ObjectRef;

/// Terminal with a Deployment.
struct Terminal {
    host: Host,
}

impl Terminal {
    fn new() -> Terminal {
        let mut terminal = Terminal {
            host: Host::new(Sim::new(ClusterConfig::default(), 1)),
        };
        terminal.enter("kubectl create deployment web --image=nginx:1.25 --replicas=2");
        terminal
    }

    fn enter(&mut self, line: &str) -> String {
        let ActionResult { lines, .. } = self.host.run(&Action::Kubectl(line.into()));
        lines
            .iter()
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn save(&mut self, text: &str) -> String {
        let ActionResult { lines, .. } = self.host.run(&Action::Edited(text.into()));
        lines
            .iter()
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn text(&self) -> String {
        self.host.waiting.edits().unwrap_or_default().to_owned()
    }
}

#[test]
fn what_was_changed_is_written_to_the_object_as_it_is_then() {
    let mut terminal = Terminal::new();
    assert_eq!(terminal.enter("kubectl edit deployment web"), "");
    let text = terminal.text();
    assert!(
        text.starts_with("# Please edit the object below.") && text.contains("image: nginx:1.25"),
        "{text}"
    );
    // An autoscaler or somebody else has changed another field meanwhile.
    let key = ObjectRef::new(Kind::Deployment, "default", "web");
    let patch = Patch::merge(serde_json::json!({"spec": {"replicas": 5}}));
    let response = terminal.host.sim.request(&Request::patch(&key, patch));
    response.result.unwrap();
    assert_eq!(
        terminal.save(&text.replace("nginx:1.25", "nginx:1.27")),
        "deployment.apps/web edited"
    );
    assert_eq!(terminal.text(), "");
    let fields =
        terminal.enter("kubectl get deployment web -o jsonpath={.spec.replicas},{..image}");
    assert_eq!(fields, "5,nginx:1.27");
}

#[test]
fn nothing_changed_or_an_empty_file_ends_the_edit() {
    let mut terminal = Terminal::new();
    terminal.enter("kubectl edit deployment/web");
    let text = terminal.text();
    assert_eq!(terminal.save(&text), "Edit cancelled, no changes made.");
    terminal.enter("kubectl edit deployment/web");
    assert_eq!(
        terminal.save("# nothing\n\n# left"),
        "Edit cancelled, saved file was empty."
    );
    // Another command leaves the editor open, as from a second terminal; Ctrl+C closes it.
    terminal.enter("kubectl edit deployment/web");
    assert_eq!(
        terminal.enter("kubectl get deployment web -o name"),
        "deployment.apps/web"
    );
    assert_eq!(terminal.text(), text);
    terminal.host.run(&Action::Interrupt);
    assert_eq!(terminal.text(), "");
}

#[test]
fn what_is_refused_is_opened_again_with_the_reason() {
    let mut terminal = Terminal::new();
    terminal.enter("kubectl edit deployment web");
    let text = terminal.text();
    assert_eq!(
        terminal.save(&text.replace("replicas: 2", "replicas: -2")),
        ""
    );
    let again = terminal.text();
    let reason = "# deployments.apps \"web\" was not valid:\n# * spec.replicas: Invalid value: -2: must be greater than or equal to 0\n#\n";
    assert!(
        again.contains(reason) && again.contains("replicas: -2"),
        "{again}"
    );
    assert_eq!(
        terminal.save(&again),
        "error: Edit cancelled, no valid changes were saved."
    );

    terminal.enter("kubectl edit deployment web");
    terminal.save(&text.replace("replicas: 2", "replica: 2"));
    assert!(
        terminal.text().contains("unknown field \"spec.replica\""),
        "{}",
        terminal.text()
    );
    terminal.save(&text.replace("spec:", "spec: ["));
    assert!(
        terminal
            .text()
            .contains("# The edited file had a syntax error: "),
        "{}",
        terminal.text()
    );
    assert_eq!(
        terminal.save(&text.replace("name: web", "name: other")),
        "error: At least one of apiVersion, kind and name was changed"
    );
}

#[test]
fn what_looks_like_a_comment_within_a_text_stays() {
    let mut terminal = Terminal::new();
    terminal.enter("kubectl create configmap conf --from-literal=mode=a");
    terminal.enter(
        "cat > run <<'END'\n#!/bin/sh\n# greets  \necho hello\nEND\nkubectl create configmap script --from-file=run --from-literal=mode=a",
    );
    terminal.enter("kubectl edit configmap script");
    let text = terminal.text();
    assert_eq!(
        terminal.save(&text.replace("mode: a", "mode: b")),
        "configmap/script edited"
    );
    let data = terminal.enter("kubectl get configmap script -o jsonpath={.data.mode},{.data.run}");
    assert!(
        data.starts_with("b,#!/bin/sh\n# greets") && data.contains("echo hello"),
        "{data}"
    );
}

#[test]
fn without_a_terminal_there_is_no_editor() {
    let mut sim = Terminal::new().host.sim;
    let words: Vec<String> = ["edit", "deployment", "web"].map(String::from).to_vec();
    let session = kubectl::Session::start(&mut sim, &words, "");
    assert_eq!(
        (session.exit, session.stderr.as_str()),
        (Some(1), "error: unable to launch the editor \"vi\"\n")
    );
}
