//! Ctrl+C at a terminal that is attached to a container.

use actions::{Action, Host};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::time::SECOND;
use k8s_model::{Kind, ObjectRef};

const RUN: &str = "kubectl run -i --tty load --rm --image=busybox:1.28 --restart=Never --";

/// Host that records what it does, as the page does.
struct Recorder {
    host: Host,
    history: Vec<(k8s_model::Time, Action)>,
    shown: Vec<String>,
}

impl Recorder {
    fn run(&mut self, action: Action) {
        let result = self.host.run(&action);
        self.shown
            .extend(result.lines.iter().map(|line| line.text.clone()));
        if result.changed {
            self.history.push((self.host.sim.now(), action));
        }
    }

    fn press_ctrl_c(&mut self) {
        let newest = self.host.waiting.newest().expect("a command waits");
        self.run(Action::Stop(newest.number));
    }

    fn advance(&mut self, seconds: u64) {
        for _ in 0..seconds * 10 {
            self.host
                .advance(self.host.sim.now().after(SECOND / 10), usize::MAX);
            self.run(Action::Poll);
        }
    }

    fn is_there(&self) -> bool {
        let key = ObjectRef::new(Kind::Pod, "default", "load");
        self.host.sim.store().get(&key).is_some()
    }
}

fn recorder() -> Recorder {
    Recorder {
        host: Host::new(Sim::new(ClusterConfig::default(), 1)),
        history: Vec::new(),
        shown: Vec::new(),
    }
}

#[test]
fn process_of_an_attached_container_ends_and_its_pod_with_it() {
    let mut terminal = recorder();
    let line = format!("{RUN} sh -c 'while sleep 0.01; do wget -q -O- http://none; done'");
    terminal.run(Action::Kubectl(line.as_str().into()));
    terminal.advance(60);
    // One round a second, not one in 10 ms.
    assert!(
        (50..80).contains(&terminal.history.len()),
        "{}",
        terminal.history.len()
    );
    terminal.press_ctrl_c();
    terminal.advance(5);
    assert!(!terminal.is_there() && terminal.host.waiting.terminal.is_empty());
    let deleted = "pod \"load\" deleted from default namespace";
    assert!(
        terminal.shown.iter().any(|line| line == deleted),
        "{:?}",
        terminal.shown
    );

    // The history comes to the same.
    let mut again = recorder().host;
    for (time, action) in &terminal.history {
        again.advance(*time, usize::MAX);
        again.run(action);
    }
    again.advance(terminal.host.sim.now(), usize::MAX);
    assert_eq!(again.sim.journal().len(), terminal.host.sim.journal().len());
}

#[test]
fn shell_reads_the_next_line_after_its_command_is_interrupted() {
    let mut terminal = recorder();
    terminal.run(Action::Kubectl(format!("{RUN} sh").as_str().into()));
    terminal.advance(5);
    terminal.run(Action::Kubectl("sleep 1000".into()));
    terminal.advance(5);
    assert!(!terminal.host.waiting.takes_input());
    terminal.press_ctrl_c();
    assert!(terminal.host.waiting.takes_input());
    terminal.run(Action::Kubectl("echo $?".into()));
    terminal.advance(1);
    assert_eq!(terminal.shown.last().map(String::as_str), Some("130"));
    // At the prompt it ends the attachment; the container goes on.
    terminal.press_ctrl_c();
    terminal.advance(5);
    assert!(terminal.is_there() && terminal.host.waiting.terminal.is_empty());
}

#[test]
fn without_a_terminal_only_kubectl_ends() {
    let mut terminal = recorder();
    let line = RUN.replace(" --tty", "");
    terminal.run(Action::Kubectl(
        format!("{line} sh -c 'sleep 1000'").as_str().into(),
    ));
    terminal.advance(5);
    terminal.press_ctrl_c();
    terminal.advance(5);
    assert!(terminal.is_there() && terminal.host.waiting.terminal.is_empty());
}

#[test]
fn an_interrupt_of_an_earlier_version_ends_kubectl_with_its_shell() {
    let mut terminal = recorder();
    terminal.run(Action::Kubectl(format!("{RUN} sh").as_str().into()));
    terminal.advance(5);
    terminal.run(Action::Kubectl("sleep 1000".into()));
    terminal.advance(5);
    terminal.run(Action::Interrupt);
    assert!(terminal.host.waiting.terminal.is_empty());
}
