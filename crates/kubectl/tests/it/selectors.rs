//! Selectors that cannot be read are refused by every verb.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use kubectl::{Progress, Session};

/// Returns exit code and stderr of a command.
fn refusal(sim: &mut Sim, words: &[&str]) -> (i32, String) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut session = Session::start(sim, &words, "");
    assert_eq!(session.poll(sim), Progress::Done, "{words:?}");
    (session.exit.unwrap_or(-1), session.stderr)
}

#[test]
fn every_verb_refuses_a_selector_that_cannot_be_read() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let fault = "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt\n";
    let of_server = |resource: &str| {
        let found = format!(
            "Unable to find \"{resource}\" that match label selector \"a b\", field selector \"\""
        );
        format!("Error from server (BadRequest): {found}: {fault}")
    };
    let (pods, deployments) = ("/v1, Resource=pods", "apps/v1, Resource=deployments");
    for (words, resource) in [
        (&["get", "pods"][..], pods),
        (&["get", "pods", "-w"], pods),
        (&["delete", "pods"], pods),
        (&["describe", "pods"], pods),
        (&["label", "pods", "x=y"], pods),
        (&["annotate", "pods", "x=y"], pods),
        (&["logs"], pods),
        (&["wait", "pods", "--for=delete"], pods),
        (&["scale", "deployments", "--replicas=2"], deployments),
        (&["rollout", "restart", "deployments"], deployments),
        (&["set", "image", "deployments", "c=nginx"], deployments),
        (&["cordon"], "/v1, Resource=nodes"),
        (&["drain"], "/v1, Resource=nodes"),
    ] {
        assert_eq!(
            refusal(&mut sim, &[words, &["-l", "a b"]].concat()),
            (1, of_server(resource)),
            "{words:?}"
        );
    }
    assert_eq!(
        refusal(&mut sim, &["drain", "node-1", "--pod-selector", "a b"]),
        (1, format!("error: {fault}"))
    );
    for verb in ["apply", "create"] {
        let (code, stderr) = refusal(&mut sim, &[verb, "-f", "-", "-l", "a b"]);
        assert_eq!(
            (code, stderr),
            (
                1,
                format!("error: the provided selector \"a b\" is not valid: {fault}")
            ),
            "{verb}"
        );
    }
    let (code, stderr) = refusal(&mut sim, &["get", "pods", "--field-selector", "spec.foo=x"]);
    let found = "Unable to find \"/v1, Resource=pods\" that match label selector \"\", field selector \"spec.foo=x\"";
    assert_eq!(
        (code, stderr),
        (
            1,
            format!(
                "Error from server (BadRequest): {found}: field label not supported: spec.foo\n"
            )
        )
    );
    let (code, _) = refusal(
        &mut sim,
        &[
            "get",
            "nodes",
            "--field-selector",
            "spec.unschedulable=false",
            "-o",
            "name",
        ],
    );
    assert_eq!(code, 0);
}
