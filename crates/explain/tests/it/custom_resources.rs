//! Objects of CustomResourceDefinitions, from kubectl's side.

use crate::terminal;

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use terminal::kubectl;

fn wait(sim: &mut Sim, seconds: u64) {
    sim.advance(sim.now().after(seconds * 1_000_000), usize::MAX);
}

/// A definition of boats with this schema of their spec, this beside it and this in the version.
fn definition(spec: &str, version: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: boats.harbour.example.com}}\nspec:\n  group: \
         harbour.example.com\n  scope: Namespaced\n  names: {{plural: boats, singular: boat, kind: Boat, shortNames: [bt]}}\n  versions:\n  - \
         name: v1\n    served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}, status: \
         {{type: object, properties: {{ready: {{type: boolean}}}}}}}}}}}}\n{version}"
    )
}

fn with(spec: &str, version: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let said = kubectl(&mut sim, "apply -f -", &definition(spec, version));
    assert_eq!(
        said,
        "customresourcedefinition.apiextensions.k8s.io/boats.harbour.example.com created\n"
    );
    wait(&mut sim, 1);
    sim
}

fn boat(name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: harbour.example.com/v1, kind: Boat, metadata: {{name: {name}}}, spec: {spec}}}"
    )
}

/// What the server says about a boat; nothing if it takes it.
fn refusal(sim: &mut Sim, spec: &str) -> String {
    let said = kubectl(sim, "apply -f -", &boat("x", spec));
    let said = said
        .strip_prefix("The Boat \"x\" is invalid: ")
        .unwrap_or(&said);
    if said.starts_with("boat.harbour.example.com/x ") {
        String::new()
    } else {
        said.trim_end().to_owned()
    }
}

const NO_STATUS: &str = "    additionalPrinterColumns: []\n";
const SUBRESOURCES: &str = "    subresources: {status: {}, scale: {specReplicasPath: .spec.crew, statusReplicasPath: .status.crew}}\n";

#[test]
fn values_are_checked_against_the_schema() {
    let schema = "{type: object, properties: {name: {type: string, minLength: 2, maxLength: 4}, list: {type: array, minItems: 1, maxItems: 2, \
        items: {type: integer, multipleOf: 5}}, map: {type: object, additionalProperties: {type: boolean}}, any: {x-kubernetes-int-or-string: \
        true}, kinds: {type: array, x-kubernetes-list-type: set, items: {type: string}}, half: {type: number, exclusiveMinimum: true, minimum: 0}, \
        when: {type: string, format: date-time}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}, no: {type: string, nullable: true}}}";
    let mut sim = with(schema, NO_STATUS);
    for (spec, words) in [
        (
            "{name: x}",
            "spec.name: Invalid value: \"x\": spec.name in body should be at least 2 chars long",
        ),
        (
            "{name: xxxxx}",
            "spec.name: Too long: may not be more than 4 bytes",
        ),
        (
            "{list: []}",
            "spec.list: Invalid value: 0: spec.list in body should have at least 1 items",
        ),
        (
            "{list: [5, 10, 15]}",
            "spec.list: Too many: 3: must have at most 2 items",
        ),
        (
            "{list: [5, 7]}",
            "spec.list[1]: Invalid value: 7: spec.list[1] in body should be a multiple of 5",
        ),
        (
            "{map: {a: true, b: x}}",
            "spec.map.b: Invalid value: \"string\": spec.map.b in body must be of type boolean: \"string\"",
        ),
        (
            "{any: true}",
            "spec.any: Invalid value: \"boolean\": spec.any in body must be of type integer,string: \"boolean\"",
        ),
        (
            "{kinds: [a, b, a]}",
            "spec.kinds[2]: Duplicate value: \"a\"",
        ),
        (
            "{half: 0}",
            "spec.half: Invalid value: 0: spec.half in body should be greater than 0",
        ),
        (
            "{when: today}",
            "spec.when: Invalid value: \"today\": spec.when in body must be of type date-time: \"today\"",
        ),
        (
            "{name: xx, list: [5], map: {a: true}, any: 5, half: 0.5, free: {a: {b: [c]}}, no: null}",
            "",
        ),
    ] {
        assert_eq!(refusal(&mut sim, spec), words, "{spec}");
    }
    let free = kubectl(&mut sim, "get boat x -o jsonpath={.spec.free.a.b[0]}", "");
    assert_eq!(free, "c");
}

#[test]
fn rules_are_asked() {
    let schema = "{type: object, required: [crew], properties: {crew: {type: integer}, ports: {type: array, items: {type: object, properties: \
        {port: {type: integer}}, x-kubernetes-validations: [{rule: 'self.port > 0', message: no port}]}}}, x-kubernetes-validations: [{rule: \
        'self.crew >= oldSelf.crew', message: nobody leaves}, {rule: 'self.crew < 10'}]}";
    let mut sim = with(schema, NO_STATUS);
    assert_eq!(
        refusal(&mut sim, "{crew: 5, ports: [{port: 1}, {port: -1}]}"),
        "spec.ports[1]: Invalid value: no port"
    );
    assert_eq!(
        refusal(&mut sim, "{crew: 11}"),
        "spec: Invalid value: failed rule: self.crew < 10"
    );
    assert_eq!(refusal(&mut sim, "{crew: 5}"), "");
    assert_eq!(
        refusal(&mut sim, "{crew: 4}"),
        "spec: Invalid value: nobody leaves"
    );
    assert_eq!(refusal(&mut sim, "{crew: 6}"), "");
}

#[test]
fn definitions_are_checked() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let mut said = |spec: &str| {
        let said = kubectl(&mut sim, "apply -f -", &definition(spec, NO_STATUS));
        said.replace("spec.validation.openAPIV3Schema.properties[spec]", "AT")
    };
    assert!(
        said("{properties: {}}")
            .contains("AT.type: Required value: must not be empty for specified object fields")
    );
    assert!(said("{type: array}").contains("AT.items: Required value: must be specified"));
    let unknown = said("{type: object, x-kubernetes-validations: [{rule: 'isURL(self.x)'}]}");
    assert!(
        unknown.contains(
            "AT.x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"isURL(self.x)\""
        ),
        "{unknown}"
    );
    assert!(
        unknown.contains("undeclared reference to 'isURL'"),
        "{unknown}"
    );
}

#[test]
fn the_status_is_a_subresource_if_the_definition_says_so() {
    for (version, kept) in [(SUBRESOURCES, ""), (NO_STATUS, "true")] {
        let mut sim = with(
            "{type: object, properties: {crew: {type: integer}}}",
            version,
        );
        let whole = boat("a", "{crew: 1}, status: {ready: true}");
        assert_eq!(
            kubectl(&mut sim, "apply -f -", &whole),
            "boat.harbour.example.com/a created\n"
        );
        assert_eq!(
            kubectl(&mut sim, "get boat a -o jsonpath={.status.ready}", ""),
            kept
        );
        let patched = kubectl(
            &mut sim,
            "patch boat a --subresource=status --type=merge -p '{\"status\":{\"ready\":false},\"spec\":{\"crew\":7}}'",
            "",
        );
        let scaled = kubectl(&mut sim, "scale boat a --replicas=3", "");
        if kept.is_empty() {
            assert_eq!(
                patched + &scaled,
                "boat.harbour.example.com/a patched\nboat.harbour.example.com/a scaled\n"
            );
            let fields = kubectl(
                &mut sim,
                "get bt a -o jsonpath={.status.ready},{.spec.crew},{.metadata.generation}",
                "",
            );
            assert_eq!(fields, "false,3,2");
        } else {
            let missing =
                "Error from server (NotFound): boats.harbour.example.com \"a\" not found\n";
            assert_eq!(patched + &scaled, missing.repeat(2));
        }
    }
}

#[test]
fn removing_a_foreign_finalizer_keeps_those_of_the_control_plane() {
    let mut sim = with("{type: object}", NO_STATUS);
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, finalizers: [kubernetes.io/pvc-protection, example.com/hold]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
    kubectl(&mut sim, "apply -f -", claim);
    kubectl(&mut sim, "delete pvc data --wait=false", "");
    let key = ObjectRef::new(Kind::PersistentVolumeClaim, "default", "data");
    let found = explain::diagnose::diagnose(&sim, &key);
    let remedies = found.map(|found| found.remedies).unwrap_or_default();
    let steps: Vec<String> = remedies
        .iter()
        .flat_map(|remedy| remedy.steps.iter().map(ToString::to_string))
        .collect();
    let [step] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert!(
        step.ends_with(
            "data --type=merge -p '{\"metadata\":{\"finalizers\":[\"kubernetes.io/pvc-protection\"]}}'"
        ),
        "{step}"
    );
}

#[test]
fn a_definition_goes_after_its_last_object() {
    let mut sim = with("{type: object}", NO_STATUS);
    let held = "{apiVersion: harbour.example.com/v1, kind: Boat, metadata: {name: a, finalizers: [example.com/hold]}, spec: {}}";
    kubectl(&mut sim, "apply -f -", held);
    kubectl(
        &mut sim,
        "delete crd boats.harbour.example.com --wait=false",
        "",
    );
    wait(&mut sim, 20);
    assert_eq!(sim.store().count(Kind::CustomResourceDefinition), 1);
    let refused = kubectl(&mut sim, "apply -f -", &boat("b", "{}"));
    assert!(
        refused.contains("(MethodNotAllowed)")
            && refused.contains("while custom resource definition is terminating"),
        "{refused}"
    );
    kubectl(
        &mut sim,
        "patch boat a --type=merge -p '{\"metadata\":{\"finalizers\":null}}'",
        "",
    );
    wait(&mut sim, 20);
    assert_eq!(sim.store().count(Kind::CustomResourceDefinition), 0);
    assert!(kubectl(&mut sim, "get boats", "").contains(
        "the server could not find the requested resource (get boats.harbour.example.com)"
    ));
    // Another definition of the same name is another kind only if its names differ.
    kubectl(
        &mut sim,
        "apply -f -",
        &definition("{type: object}", NO_STATUS),
    );
    wait(&mut sim, 1);
    assert_eq!(
        kubectl(&mut sim, "apply -f -", &boat("b", "{}")),
        "boat.harbour.example.com/b created\n"
    );
}

#[test]
fn an_object_owned_by_a_custom_one_is_collected_after_it() {
    let mut sim = with("{type: object}", NO_STATUS);
    kubectl(&mut sim, "apply -f -", &boat("a", "{}"));
    let uid = kubectl(&mut sim, "get boat a -o jsonpath={.metadata.uid}", "");
    let owned = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c, ownerReferences: [{{apiVersion: harbour.example.com/v1, kind: Boat, name: a, uid: {uid}}}]}}}}"
    );
    kubectl(&mut sim, "apply -f -", &owned);
    wait(&mut sim, 5);
    let there = |sim: &Sim| {
        sim.store()
            .list(Kind::ConfigMap)
            .filter(|object| object.meta.name == "c")
            .count()
    };
    assert_eq!(there(&sim), 1);
    kubectl(&mut sim, "delete boat a", "");
    wait(&mut sim, 5);
    assert_eq!(there(&sim), 0);
}

#[test]
fn a_user_needs_a_role_and_a_namespace_takes_its_objects_with_it() {
    let mut sim = with("{type: object}", NO_STATUS);
    kubectl(&mut sim, "create ns sea", "");
    kubectl(&mut sim, "apply -n sea -f -", &boat("a", "{}"));
    assert_eq!(
        kubectl(&mut sim, "get boats -n sea --as bob", ""),
        "Error from server (Forbidden): boats.harbour.example.com is forbidden: User \"bob\" cannot list resource \"boats\" in API group \
         \"harbour.example.com\" in the namespace \"sea\"\n"
    );
    kubectl(
        &mut sim,
        "create role sailor --verb=get,list --resource=boats.harbour.example.com -n sea",
        "",
    );
    kubectl(
        &mut sim,
        "create rolebinding sailor --role=sailor --user=bob -n sea",
        "",
    );
    assert!(kubectl(&mut sim, "get bt -n sea --as bob", "").starts_with("NAME   AGE\na "));
    kubectl(&mut sim, "delete ns sea", "");
    assert_eq!(
        kubectl(&mut sim, "get boats -A", ""),
        "No resources found\n"
    );
}

#[test]
fn server_side_apply_knows_who_set_a_field() {
    let mut sim = with(
        "{type: object, properties: {crew: {type: integer}, list: {type: array, items: {type: string}}}}",
        NO_STATUS,
    );
    let applied = |sim: &mut Sim, manager: &str, spec: &str| {
        kubectl(
            sim,
            &format!("apply --server-side --field-manager={manager} -f -"),
            &boat("a", spec),
        )
    };
    assert_eq!(
        applied(&mut sim, "one", "{crew: 1, list: [a]}"),
        "boat.harbour.example.com/a serverside-applied\n"
    );
    let refused = applied(&mut sim, "two", "{crew: 2}");
    assert!(
        refused.contains("conflict with \"one\": .spec.crew"),
        "{refused}"
    );
    assert_eq!(
        applied(&mut sim, "one", "{crew: 3}"),
        "boat.harbour.example.com/a serverside-applied\n"
    );
    assert_eq!(
        kubectl(&mut sim, "get boat a -o jsonpath={.spec}", ""),
        "{\"crew\":3}"
    );
}

#[test]
fn a_page_knows_custom_objects_too() {
    use actions::{Action, Host};
    let sim = with("{type: object}", NO_STATUS);
    let mut host = Host::new(sim);
    let answer = host.run(&Action::apply(boat("a", "{}")));
    let sim = host.sim;
    assert_eq!(answer.written(), 1, "{answer:?}");
    let told: Vec<String> = answer
        .diagnostics
        .iter()
        .map(|told| told.message.english())
        .collect();
    assert_eq!(
        told,
        ["Boat is accepted but not simulated"],
        "no controller is here that would"
    );
    let boat = sim
        .store()
        .list(Kind::from_label("Boat").unwrap())
        .next()
        .unwrap()
        .key();
    let standing = explain::standing::of(&sim, &boat);
    assert_eq!(
        standing.sentence.english(),
        "Boat is stored but not simulated: nothing here acts on it"
    );
}
