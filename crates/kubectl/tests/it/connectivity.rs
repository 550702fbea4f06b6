//! Requests inside the cluster: names, ports, NetworkPolicies, and Ingress rules.

use cluster::Sim;
use cluster_network::connectivity::{
    Backend, RequestOutcome, Routed, Verdict, connect, connect_from_outside, route,
};
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;

const WORLD: &str = "
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: shop}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: client, labels: {role: client}}, spec: {containers: [{name: c, image: busybox, command: [sleep, '9999']}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: stranger, namespace: shop, labels: {role: client}}, spec: {containers: [{name: c, image: busybox, command: [sleep, '9999']}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db, labels: {app: db}}, spec: {containers: [{name: c, image: postgres, ports: [{name: sql, containerPort: 5432}]}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {selector: {app: db}, ports: [{name: sql, port: 5432, targetPort: sql}, {name: http, port: 80, targetPort: 8080}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: none}, spec: {selector: {app: none}, ports: [{port: 80}]}}
";

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &split("apply -f -"), text);
    assert_eq!(session.stderr, "");
    let then = sim.now().0 + 10_000_000;
    sim.advance(Time(then), usize::MAX);
}

fn world(policies: &[&str]) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, WORLD);
    for policy in policies {
        apply(&mut sim, policy);
    }
    sim
}

/// How a request of a Pod ends, and whether its two ends are open, allowed or denied.
fn ask(sim: &Sim, from: &str, host: &str, port: i32) -> (RequestOutcome, String) {
    let (namespace, name) = from.split_once('/').unwrap_or(("default", from));
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, namespace, name))
        .unwrap();
    let attempt = connect(sim.store(), pod, host, port, 0);
    let end = |verdict: &Verdict| match verdict {
        Verdict::Open => "open".to_owned(),
        Verdict::Allowed { policy, rule } => format!("{}#{rule}", policy.name),
        Verdict::Denied { policies } => format!(
            "denied by {}",
            policies
                .iter()
                .map(|one| one.name.as_str())
                .collect::<Vec<_>>()
                .join(",")
        ),
    };
    (
        attempt.outcome,
        format!("{} → {}", end(&attempt.egress), end(&attempt.ingress)),
    )
}

fn policy(name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{name: {name}}}, spec: {spec}}}"
    )
}

#[test]
fn without_a_policy_names_ports_and_endpoints_decide() {
    let sim = world(&[]);
    let open = || "open → open".to_owned();
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::Answered, open())
    );
    assert_eq!(
        ask(&sim, "shop/stranger", "db", 5432),
        (RequestOutcome::NoName, open()),
        "a bare name is of the own namespace"
    );
    assert_eq!(
        ask(&sim, "shop/stranger", "db.default", 5432),
        (RequestOutcome::Answered, open())
    );
    assert_eq!(
        ask(&sim, "client", "db", 80),
        (RequestOutcome::Refused, open()),
        "nothing listens on the target port"
    );
    assert_eq!(
        ask(&sim, "client", "db", 81),
        (RequestOutcome::TimedOut, open()),
        "the Service has no such port"
    );
    assert_eq!(
        ask(&sim, "client", "none", 80),
        (RequestOutcome::Refused, open()),
        "no endpoint"
    );
    assert_eq!(
        ask(&sim, "client", "nosuch", 80),
        (RequestOutcome::NoName, open())
    );
    assert_eq!(
        ask(&sim, "client", "10.99.99.99", 80),
        (RequestOutcome::TimedOut, open())
    );
}

#[test]
fn a_policy_for_ingress_lets_in_whom_a_rule_names() {
    let rules = |from: &str| {
        format!(
            "{{podSelector: {{matchLabels: {{app: db}}}}, ingress: [{{from: [{from}], ports: [{{port: sql}}]}}]}}"
        )
    };
    let sim = world(&[&policy(
        "wall",
        &rules("{podSelector: {matchLabels: {role: client}}}"),
    )]);
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::Answered, "open → wall#1".into())
    );
    assert_eq!(
        ask(&sim, "client", "db", 80),
        (RequestOutcome::TimedOut, "open → denied by wall".into()),
        "another port"
    );
    // Without a namespace selector a peer is of the policy's namespace.
    assert_eq!(
        ask(&sim, "shop/stranger", "db.default", 5432),
        (RequestOutcome::TimedOut, "open → denied by wall".into())
    );
    let both = rules(
        "{namespaceSelector: {matchLabels: {team: shop}}, podSelector: {matchLabels: {role: client}}}",
    );
    let sim = world(&[&policy("wall", &both)]);
    assert_eq!(
        ask(&sim, "shop/stranger", "db.default", 5432),
        (RequestOutcome::Answered, "open → wall#1".into())
    );
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::TimedOut, "open → denied by wall".into())
    );
    // Of several policies one is enough.
    let all = policy("open", "{podSelector: {}, ingress: [{}]}");
    let sim = world(&[&policy("wall", &both), &all]);
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::Answered, "open → open#1".into())
    );
    // Its own requests a Pod always hears.
    assert_eq!(
        ask(&sim, "db", "localhost", 5432).0,
        RequestOutcome::Answered
    );
}

#[test]
fn a_policy_for_egress_cuts_off_the_name_server_too() {
    let deny = policy(
        "shut",
        "{podSelector: {matchLabels: {role: client}}, policyTypes: [Egress]}",
    );
    let sim = world(&[&deny]);
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::NoNameServer, "denied by shut → open".into())
    );
    let dns = policy(
        "dns",
        "{podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, \
         podSelector: {matchLabels: {k8s-app: kube-dns}}}], ports: [{protocol: UDP, port: 53}]}]}",
    );
    let sim = world(&[&deny, &dns]);
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::TimedOut, "denied by dns,shut → open".into())
    );
    let range = policy(
        "range",
        "{podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.244.0.0/16}}], ports: [{port: 5000, endPort: 6000}]}]}",
    );
    let sim = world(&[&deny, &dns, &range]);
    assert_eq!(
        ask(&sim, "client", "db", 5432),
        (RequestOutcome::Answered, "range#1 → open".into())
    );
    let except = "{podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.244.0.0/16, except: [10.244.0.0/17]}}]}]}";
    let sim = world(&[&deny, &dns, &policy("range", except)]);
    assert_eq!(ask(&sim, "client", "db", 5432).0, RequestOutcome::TimedOut);
}

const INGRESS: &str = "
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: door}, spec: {ingressClassName: nginx, rules: [
  {host: shop.example.com, http: {paths: [
    {path: /, pathType: Prefix, backend: {service: {name: db, port: {name: sql}}}},
    {path: /cart, pathType: Prefix, backend: {service: {name: none, port: {number: 80}}}},
    {path: /exact, pathType: Exact, backend: {service: {name: nosuch, port: {number: 80}}}}]}},
  {host: '*.example.com', http: {paths: [{path: /any, pathType: Prefix, backend: {service: {name: db, port: {number: 81}}}}]}}]}}
";

#[test]
fn an_ingress_is_served_once_its_class_exists() {
    let mut sim = world(&[INGRESS]);
    let to = |sim: &Sim, host: &str, path: &str| match route(sim.store(), host, path) {
        Routed::NoRule => "404".to_owned(),
        Routed::To {
            service,
            backend: Backend::Ready(n),
            ..
        } => format!("{} {n}", service.unwrap().name),
        Routed::To { backend, .. } => format!("503 {backend:?}"),
    };
    assert_eq!(to(&sim, "shop.example.com", "/"), "404");
    let class = "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}";
    apply(&mut sim, class);
    assert_eq!(to(&sim, "shop.example.com", "/"), "db 1");
    assert_eq!(to(&sim, "shop.example.com", "/other"), "db 1");
    assert_eq!(to(&sim, "shop.example.com", "/cart/1"), "503 NoEndpoints");
    assert_eq!(
        to(&sim, "shop.example.com", "/cartoon"),
        "db 1",
        "a prefix is of whole elements"
    );
    assert_eq!(to(&sim, "shop.example.com", "/exact"), "503 NoService");
    assert_eq!(to(&sim, "shop.example.com", "/exact/more"), "db 1");
    assert_eq!(to(&sim, "blog.example.com", "/any"), "503 NoPort");
    assert_eq!(to(&sim, "blog.example.com", "/"), "404");
    assert_eq!(
        to(&sim, "a.b.example.com", "/any"),
        "404",
        "a wildcard is one label"
    );
    let session = Session::start(&mut sim, &split("get ingress door"), "");
    assert!(
        session.stdout.contains("192.168.49.11"),
        "{}",
        session.stdout
    );
    // Without its class it is served no more.
    Session::start(&mut sim, &split("delete ingressclass nginx"), "");
    apply(&mut sim, WORLD);
    assert_eq!(to(&sim, "shop.example.com", "/"), "404");
}

#[test]
fn an_ingress_without_a_class_gets_the_default_one() {
    let mut sim = world(&[]);
    let plain = INGRESS.replace("ingressClassName: nginx, ", "");
    let class = |sim: &Sim| {
        sim.store().list(Kind::Ingress).next().unwrap().to_value()["spec"]["ingressClassName"]
            .clone()
    };
    apply(&mut sim, &plain);
    assert!(class(&sim).is_null());
    Session::start(&mut sim, &split("delete ingress door"), "");
    apply(
        &mut sim,
        "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: edge, annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}}, \
         spec: {controller: example.com/edge}}",
    );
    apply(&mut sim, &plain);
    assert_eq!(class(&sim), "edge");
}

/// What a command in the client's Pod prints, and how it ends.
fn run(sim: &mut Sim, command: &str) -> String {
    let session = Session::start(sim, &split(&format!("exec client -- {command}")), "");
    let text = format!("{}{}", session.stdout, session.stderr);
    text.lines()
        .filter(|line| !line.starts_with("command terminated"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn tools_in_a_pod_say_what_became_of_their_request() {
    let mut sim = world(&[]);
    assert_eq!(run(&mut sim, "nc -zv db 5432"), "db (10.96.0.2:5432) open");
    assert_eq!(
        run(&mut sim, "nc -zv db 80"),
        "nc: db (10.96.0.2:80): Connection refused"
    );
    assert_eq!(
        run(&mut sim, "curl -s -o /dev/null -w %{http_code} db:5432"),
        "200"
    );
    assert_eq!(
        run(&mut sim, "wget -qO- none"),
        "wget: can't connect to remote host (10.96.0.3): Connection refused"
    );
    assert_eq!(
        run(&mut sim, "wget --spider --timeout=1 db:5432"),
        "Connecting to db (10.96.0.2:5432)\nremote file exists"
    );
    apply(
        &mut sim,
        &policy(
            "wall",
            "{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]}",
        ),
    );
    assert_eq!(
        run(&mut sim, "wget --spider --timeout=1 db:5432"),
        "Connecting to db (10.96.0.2:5432)\nwget: download timed out"
    );
    assert_eq!(
        run(&mut sim, "curl -m 2 db:5432"),
        "curl: (28) Connection timed out"
    );
    apply(
        &mut sim,
        &policy("shut", "{podSelector: {}, policyTypes: [Egress]}"),
    );
    assert_eq!(
        run(&mut sim, "curl db:5432"),
        "curl: (6) Could not resolve host: db"
    );
}

#[test]
fn requests_to_the_address_of_an_ingress_are_routed_by_host_and_path() {
    let mut sim = world(&[INGRESS]);
    let ask = |sim: &mut Sim, path: &str| {
        run(
            sim,
            &format!(
                "curl -s -o /dev/null -w %{{http_code}} -H 'Host: shop.example.com' http://192.168.49.11{path}"
            ),
        )
    };
    // Nobody serves it: nothing listens at the node.
    assert_eq!(ask(&mut sim, "/"), "");
    apply(
        &mut sim,
        "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}",
    );
    assert_eq!(
        ["/", "/cart", "/exact"].map(|path| ask(&mut sim, path)),
        ["200", "503", "503"]
    );
    assert_eq!(
        run(
            &mut sim,
            "curl -s -o /dev/null -w %{http_code} http://192.168.49.11/"
        ),
        "404"
    );
}

#[test]
fn a_node_port_does_not_bypass_the_policies_of_its_pods() {
    let service = "{apiVersion: v1, kind: Service, metadata: {name: outer}, spec: {type: NodePort, selector: {app: db}, \
                   ports: [{name: sql, port: 5432, targetPort: sql, nodePort: 30432}]}}";
    let node = "192.168.49.11";
    let mut sim = world(&[service]);
    let attempt = connect_from_outside(sim.store(), node, 30432, 0);
    assert_eq!(
        (attempt.outcome, attempt.port),
        (RequestOutcome::Answered, 5432),
        "the port has a name"
    );
    let open = "open → open".to_owned();
    assert_eq!(
        ask(&sim, "client", node, 30432),
        (RequestOutcome::Answered, open)
    );
    apply(
        &mut sim,
        &policy("deny", "{podSelector: {}, policyTypes: [Ingress]}"),
    );
    let denied = "open → denied by deny".to_owned();
    assert_eq!(
        ask(&sim, "client", node, 30432),
        (RequestOutcome::TimedOut, denied)
    );
    let attempt = connect_from_outside(sim.store(), node, 30432, 0);
    assert_eq!(attempt.outcome, RequestOutcome::TimedOut);
    let nodes = "{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 192.168.49.0/24}}]}]}";
    apply(&mut sim, &policy("nodes", nodes));
    let attempt = connect_from_outside(sim.store(), node, 30432, 0);
    assert_eq!(attempt.outcome, RequestOutcome::Answered);
}
