//! Commands that would break a cluster that trusted what it is sent.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Time;
use kubectl::Session;
use kubectl::parse::split;

fn run(sim: &mut Sim, line: &str, text: &str) -> String {
    let session = Session::start(sim, &split(line), text);
    let then = sim.now().0 + 10_000_000;
    sim.advance(Time(then), usize::MAX);
    format!("{}{}", session.stdout, session.stderr)
}

#[test]
fn a_status_of_another_type_is_refused() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    run(&mut sim, "create quota q --hard=pods=5", "");
    for used in ["\"x\"", "5"] {
        let said = run(
            &mut sim,
            &format!(
                "patch quota q --subresource=status --type=merge -p '{{\"status\":{{\"used\":{used}}}}}'"
            ),
            "",
        );
        assert!(said.starts_with("The request is invalid: patch:"), "{said}");
    }
    assert_eq!(run(&mut sim, "run a --image=nginx", ""), "pod/a created\n");
    run(&mut sim, "create namespace t", "");
    Session::start(&mut sim, &split("delete namespace t --wait=false"), "");
    let said = run(
        &mut sim,
        "patch namespace t --subresource=status --type=merge -p '{\"status\":\"x\"}'",
        "",
    );
    assert!(said.starts_with("The request is invalid: patch:"), "{said}");
    run(&mut sim, "get namespaces", "");
}

#[test]
fn amounts_beyond_all_numbers_are_only_large() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    run(&mut sim, "run a --image=nginx", "");
    run(&mut sim, "run b --image=nginx", "");
    let huge = r#"{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9223372036854775807"},"limits":{"cpu":"9223372036854775807"}}}]}}"#;
    run(
        &mut sim,
        &format!("patch pod a --subresource resize -p '{huge}'"),
        "",
    );
    run(&mut sim, "run c --image=nginx", "");
}

#[test]
fn very_long_texts_are_compared_without_a_table_of_all_lines() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let map = |changed: &str| {
        let lines: String = (0..30_000)
            .map(|n| format!("    {}{n}\n", if n % 2 == 0 { changed } else { "x" }))
            .collect();
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  long: |\n{lines}")
    };
    run(&mut sim, "apply -f -", &map("a"));
    let said = run(&mut sim, "diff -f -", &map("b"));
    assert!(
        said.contains("\n-    a0\n") && said.contains("\n+    b0\n"),
        "{}",
        said.len()
    );
}

#[test]
fn nobody_grants_by_a_patch_what_they_do_not_have() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    run(
        &mut sim,
        "create role r --verb=get,list,patch,update --resource=roles,pods",
        "",
    );
    run(&mut sim, "create rolebinding r --role=r --user=jane", "");
    let all = r#"[{"op":"replace","path":"/rules","value":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}]"#;
    let said = run(
        &mut sim,
        &format!("patch role r --as jane --type=json -p '{all}'"),
        "",
    );
    assert!(said.contains("is forbidden"), "{said}");
    assert!(run(&mut sim, "auth can-i delete secrets --as jane", "").starts_with("no"));
}

#[test]
fn objects_of_a_version_that_is_no_longer_served_can_be_changed() {
    let definition = |versions: &str| {
        format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: boats.example.com}}, spec: {{group: example.com, scope: Namespaced, names: {{plural: boats, singular: boat, kind: Boat}}, versions: [{versions}]}}}}"
        )
    };
    let version = |name: &str, served: bool, fields: &str| {
        format!(
            "{{name: {name}, served: {served}, storage: {served}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{fields}}}}}}}}}}}}}"
        )
    };
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    run(
        &mut sim,
        "apply -f -",
        &definition(&version("v1alpha1", true, "a: {type: integer}")),
    );
    sim.advance(sim.now().after(1_000_000), usize::MAX);
    run(
        &mut sim,
        "apply -f -",
        "{apiVersion: example.com/v1alpha1, kind: Boat, metadata: {name: anna}, spec: {a: 1}}",
    );
    let both = [
        version("v1", true, "a: {type: integer}, b: {type: integer}"),
        version("v1alpha1", false, "a: {type: integer}"),
    ]
    .join(", ");
    run(&mut sim, "apply -f -", &definition(&both));
    sim.advance(sim.now().after(1_000_000), usize::MAX);
    assert!(run(&mut sim, "label boat anna x=y", "").contains("labeled"));
    assert!(
        run(
            &mut sim,
            "patch boat anna --type=merge -p '{\"spec\":{\"b\":2}}'",
            ""
        )
        .contains("patched")
    );
    assert!(run(&mut sim, "get boat anna -o yaml", "").contains("b: 2"));
    // A new object of that version is refused.
    let late = run(
        &mut sim,
        "apply -f -",
        "{apiVersion: example.com/v1alpha1, kind: Boat, metadata: {name: berta}}",
    );
    assert!(late.contains("no matches for kind"), "{late}");
}
