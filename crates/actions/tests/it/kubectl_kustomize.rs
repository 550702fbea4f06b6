//! Kustomizations as found in practice: bases and overlays, generators, patches.

use actions::{Action, ActionResult, Host};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: nginx, image: 'nginx:1.25', envFrom: [{configMapRef: {name: settings}}]}
";
const SERVICE: &str = "apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
";

/// Terminal with files.
struct Terminal(Host);

impl Terminal {
    fn new(files: &[(&str, &str)]) -> Terminal {
        let mut terminal = Terminal(Host::new(Sim::new(ClusterConfig::default(), 1)));
        for (path, text) in files {
            if let Some((folder, _)) = path.rsplit_once('/') {
                terminal.enter(&format!("mkdir -p {folder}"));
            }
            terminal.enter(&format!("cat > {path} <<'END'\n{text}\nEND"));
        }
        terminal
    }

    fn enter(&mut self, line: &str) -> String {
        let ActionResult { mut lines, .. } = self.0.run(&Action::kubectl(line));
        for _ in 0..50 {
            if !self.0.waiting.terminal.is_empty() {
                lines.extend(self.0.run(&Action::Poll).lines);
            }
        }
        lines
            .iter()
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn overlay() -> Terminal {
    Terminal::new(&[
        ("base/deployment.yaml", DEPLOYMENT),
        ("base/service.yaml", SERVICE),
        (
            "base/kustomization.yaml",
            "resources: [deployment.yaml, service.yaml]\nconfigMapGenerator:\n- {name: settings, literals: [MODE=base, LEVEL=1]}",
        ),
        (
            "prod/kustomization.yaml",
            "resources: [../base]\nnamePrefix: prod-\nnamespace: shop\ncommonLabels: {stage: prod}\nimages: [{name: nginx, newTag: '1.27'}]\n\
             replicas: [{name: web, count: 5}]\nconfigMapGenerator:\n- {name: settings, behavior: merge, literals: [MODE=prod]}\npatches:\n\
             - path: limits.yaml\n- target: {kind: Service}\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/type\", \"value\": \"NodePort\"}]'",
        ),
        (
            "prod/limits.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: nginx, resources: {limits: {cpu: 100m}}}]}}}",
        ),
    ])
}

#[test]
fn an_overlay_changes_its_base_and_names_follow() {
    let text = overlay().enter("kubectl kustomize prod");
    let documents: Vec<&str> = text.split("---\n").collect();
    let kinds: Vec<&str> = documents
        .iter()
        .filter_map(|text| text.lines().find_map(|line| line.strip_prefix("kind: ")))
        .collect();
    assert_eq!(kinds, ["ConfigMap", "Service", "Deployment"], "{text}");
    let [config, service, deployment] = documents[..] else {
        panic!("{text}")
    };
    let name = config
        .lines()
        .find_map(|line| line.strip_prefix("  name: "))
        .unwrap();
    assert!(
        name.starts_with("prod-settings-") && name.len() == "prod-settings-".len() + 10,
        "{name}"
    );
    assert!(
        config.contains("MODE: prod") && config.contains("LEVEL: \"1\""),
        "{config}"
    );
    assert!(
        service.contains("type: NodePort")
            && service.contains("name: prod-web")
            && service.contains("    stage: prod"),
        "{service}"
    );
    for part in [
        "namespace: shop",
        "name: prod-web",
        "replicas: 5",
        "image: nginx:1.27",
        "cpu: 100m",
        &format!("name: {name}"),
    ] {
        assert!(deployment.contains(part), "{part}: {deployment}");
    }
    assert_eq!(deployment.matches("stage: prod").count(), 3, "{deployment}");
}

#[test]
fn what_is_built_is_applied_shown_and_deleted() {
    let mut terminal = overlay();
    terminal.enter("kubectl create namespace shop");
    let said = terminal.enter("kubectl apply -k prod");
    assert!(
        said.contains("deployment.apps/prod-web created")
            && said.contains("service/prod-web created"),
        "{said}"
    );
    assert!(
        terminal
            .enter("kubectl get -k prod")
            .contains("deployment.apps/prod-web")
    );
    assert!(
        terminal
            .enter("kubectl apply -k prod")
            .contains("deployment.apps/prod-web unchanged")
    );
    assert!(
        terminal
            .enter("kubectl delete -k prod --wait=false")
            .contains("deployment.apps \"prod-web\" deleted")
    );
}

#[test]
fn what_is_wrong_is_said() {
    let mut terminal = Terminal::new(&[
        ("a/kustomization.yaml", "resources: [none.yaml]"),
        ("b/kustomization.yaml", "helmCharts: []"),
        ("c/kustomization.yaml", "resources: [../c]"),
        (
            "d/kustomization.yaml",
            "resources: ['https://example.com/x.yaml']",
        ),
        (
            "e/kustomization.yaml",
            "patches: [{patch: '{kind: Pod, metadata: {name: x}}'}]",
        ),
    ]);
    let mut said = |folder: &str| terminal.enter(&format!("kubectl kustomize {folder}"));
    assert!(
        said("none")
            .starts_with("error: unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory 'none'")
    );
    assert!(said("a").contains("open a/none.yaml: no such file or directory"));
    assert!(said("b").contains("helmCharts"));
    assert!(said("c").contains("cycle detected"));
    assert!(said("d").contains("nothing is fetched from the network"));
    assert!(said("e").contains("no matches for Id Pod/x"));
}
