use super::*;
use crate::engine::cluster::ClusterConfig;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: nginx}}\n  template:\n    metadata: {labels: {app: nginx}}\n    spec:\n      containers:\n      - {name: nginx, image: 'nginx:1.14.2'}\n";

fn sim() -> Sim {
    Sim::new(ClusterConfig::default(), 1)
}

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> (i32, String, String) {
    let mut session = Session::start(sim, &parse::split(line), stdin);
    for _ in 0..1000 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        let to = sim.now().after(100_000);
        sim.advance(to, usize::MAX);
    }
    session.interrupt();
    (session.exit.unwrap_or(-1), session.stdout, session.stderr)
}

fn out(sim: &mut Sim, line: &str) -> String {
    let (_, stdout, stderr) = kubectl(sim, line, "");
    stdout + &stderr
}

#[test]
fn apply_creates_leaves_alone_and_configures() {
    let mut sim = sim();
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT), (0, "deployment.apps/nginx created\n".to_owned(), String::new()));
    assert_eq!(kubectl(&mut sim, "apply -f -", DEPLOYMENT).1, "deployment.apps/nginx unchanged\n");
    assert_eq!(kubectl(&mut sim, "apply -f -", &DEPLOYMENT.replace("1.14.2", "1.16.1")).1, "deployment.apps/nginx configured\n");
    assert_eq!(out(&mut sim, "get deploy nginx -o jsonpath={.spec.template.spec.containers[0].image}"), "nginx:1.16.1");
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut sim = sim();
    for (line, text) in [
        ("get deployment nosuch", "Error from server (NotFound): deployments.apps \"nosuch\" not found\n"),
        ("get pods", "No resources found in default namespace.\n"),
        ("delete deployment nosuch", "Error from server (NotFound): deployments.apps \"nosuch\" not found\n"),
        ("get nothing", "error: the server doesn't have a resource type \"nothing\"\n"),
        ("gett pods", "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tset\n\tget\n"),
    ] {
        assert_eq!(out(&mut sim, line), text, "{line}");
    }
}

#[test]
fn a_rollout_is_followed_to_its_end() {
    let mut sim = sim();
    kubectl(&mut sim, "apply -f -", DEPLOYMENT);
    let (exit, stdout, _) = kubectl(&mut sim, "rollout status deployment/nginx", "");
    assert_eq!(exit, 0);
    assert!(stdout.ends_with("deployment \"nginx\" successfully rolled out\n"), "{stdout}");
    assert!(out(&mut sim, "get deploy").contains("3/3"));
    assert_eq!(out(&mut sim, "delete deployment nginx"), "deployment.apps \"nginx\" deleted from default namespace\n");
}
