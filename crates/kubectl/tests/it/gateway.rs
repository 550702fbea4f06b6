//! The Gateway API: installed as in a real cluster, served by the modelled controller, followed by requests.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::Kind;
use kubectl::{Progress, Session};

const INSTALL: &str = "kubectl apply -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.6.1/standard-install.yaml";

/// Runs a line of the console to its end, and gives what it prints.
fn console(sim: &mut Sim, line: &str) -> String {
    let mut session = Session::line(sim, line, usize::MAX);
    for _ in 0..600 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.stdout + &session.stderr
}

fn wait(sim: &mut Sim, seconds: u64) {
    sim.advance(sim.now().after(seconds * 1_000_000), usize::MAX);
}

/// Applies a manifest, which must be taken.
fn apply(sim: &mut Sim, manifest: &str) {
    let said = kubectl::Session::start(sim, &["apply", "-f", "-"].map(str::to_owned), manifest);
    assert_eq!(said.exit, Some(0), "{}{}", said.stdout, said.stderr);
    wait(sim, 1);
}

/// What the server says about a manifest that it refuses.
fn refusal(sim: &mut Sim, manifest: &str) -> String {
    let said = Session::start(sim, &["apply", "-f", "-"].map(str::to_owned), manifest);
    assert_ne!(said.exit, Some(0), "{}", said.stdout);
    said.stderr
}

const CLASS: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: nginx}\nspec: {controllerName: \
                     gateway.nginx.org/nginx-gateway-controller}\n---\n";

/// A Gateway with these listeners.
fn gateway(name: &str, listeners: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}}}\nspec: {{gatewayClassName: nginx, listeners: \
         [{listeners}]}}\n---\n"
    )
}

/// A route of this Gateway with the rest of its spec.
fn route(name: &str, namespace: &str, parent: &str, rest: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{parentRefs: \
         [{parent}], {rest}}}\n---\n"
    )
}

/// A Deployment of one Pod behind a Service.
fn web(name: &str, namespace: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{replicas: 1, selector: \
         {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: web, image: \
         nginx}}]}}}}}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{selector: {{app: \
         {name}}}, ports: [{{port: 80}}]}}\n---\n"
    )
}

const HTTP: &str = "{name: http, port: 80, protocol: HTTP}";

/// A cluster with the Gateway API, the class and what else is applied.
fn cluster(manifest: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    wait(&mut sim, 1);
    console(&mut sim, INSTALL);
    wait(&mut sim, 1);
    apply(&mut sim, &format!("{CLASS}{manifest}"));
    wait(&mut sim, 10);
    sim
}

/// A condition's status, reason and message.
fn condition(sim: &mut Sim, what: &str, path: &str, kind: &str) -> String {
    console(
        sim,
        &format!(
            "kubectl get {what} -o jsonpath='{{{path}[?(@.type==\"{kind}\")].status}} {{{path}[?(@.type==\"{kind}\")].reason}} \
             {{{path}[?(@.type==\"{kind}\")].message}}'"
        ),
    )
}

fn of_route(sim: &mut Sim, name: &str, kind: &str) -> String {
    condition(
        sim,
        &format!("httproute {name}"),
        ".status.parents[0].conditions",
        kind,
    )
}

/// The status code of a request at a Gateway's address, and what follows.
fn curl(sim: &mut Sim, gateway: &str, host: &str, rest: &str) -> String {
    let address = console(
        sim,
        &format!("kubectl get gateway {gateway} -o jsonpath='{{.status.addresses[0].value}}'"),
    );
    console(
        sim,
        &format!(
            "curl -s -o /dev/null -w '%{{http_code}}' -H 'Host: {host}' http://{address}{rest}"
        ),
    )
}

#[test]
fn a_cluster_has_the_gateway_api_once_it_is_installed() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    wait(&mut sim, 1);
    let without = refusal(&mut sim, CLASS);
    assert!(
        without.contains(
            "no matches for kind \"GatewayClass\" in version \"gateway.networking.k8s.io/v1\""
        ),
        "{without}"
    );
    assert!(
        without.ends_with("ensure CRDs are installed first\n"),
        "{without}"
    );
    assert_eq!(
        console(&mut sim, INSTALL),
        "customresourcedefinition.apiextensions.k8s.io/gatewayclasses.gateway.networking.k8s.io created\n\
         customresourcedefinition.apiextensions.k8s.io/gateways.gateway.networking.k8s.io created\n\
         customresourcedefinition.apiextensions.k8s.io/httproutes.gateway.networking.k8s.io created\n\
         customresourcedefinition.apiextensions.k8s.io/referencegrants.gateway.networking.k8s.io created\n"
    );
    wait(&mut sim, 1);
    let again = console(
        &mut sim,
        &INSTALL.replace("apply", "apply --server-side --force-conflicts"),
    );
    assert_eq!(again.matches("serverside-applied").count(), 4, "{again}");
    assert_eq!(
        console(
            &mut sim,
            "kubectl api-resources --api-group=gateway.networking.k8s.io"
        ),
        "NAME              SHORTNAMES   APIVERSION                     NAMESPACED   KIND\n\
         gatewayclasses    gc           gateway.networking.k8s.io/v1   false        GatewayClass\n\
         gateways          gtw          gateway.networking.k8s.io/v1   true         Gateway\n\
         httproutes                     gateway.networking.k8s.io/v1   true         HTTPRoute\n\
         referencegrants   refgrant     gateway.networking.k8s.io/v1   true         ReferenceGrant\n"
    );
    // A step of a scenario names it as well, and it can be taken away again by its address.
    let words = INSTALL.replace("apply -f ", "delete --wait=false --filename=");
    let step = Session::start(
        &mut sim,
        &words
            .split(' ')
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>(),
        "",
    );
    assert_eq!(
        step.stdout.matches("deleted").count(),
        4,
        "{}{}",
        step.stdout,
        step.stderr
    );
    let other = console(&mut sim, "kubectl apply -f https://example.com/web.yaml");
    assert_eq!(
        other,
        "error: unable to read URL \"https://example.com/web.yaml\", nothing is fetched from the network here; paste its text as the manifest, or save it as a file and name that\n"
    );
}

#[test]
fn the_schema_and_its_rules_are_those_of_the_api() {
    let mut sim = cluster("");
    let wrong = refusal(
        &mut sim,
        &gateway(
            "g",
            "{name: http, port: 80, protocol: HTTP, tls: {mode: Passthrough}}",
        ),
    );
    assert!(
        wrong.contains("tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"),
        "{wrong}"
    );
    let wrong = refusal(
        &mut sim,
        &gateway("g", "{name: http, port: 0, protocol: HTTP}"),
    );
    assert!(wrong.contains("spec.listeners[0].port"), "{wrong}");
    let wrong = refusal(
        &mut sim,
        &route(
            "r",
            "default",
            "{name: g}",
            "rules: [{matches: [{path: {value: a}}]}]",
        ),
    );
    assert!(wrong.contains("value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']"), "{wrong}");
    let both = "rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}], backendRefs: [{name: a, port: 80}]}]";
    let wrong = refusal(&mut sim, &route("r", "default", "{name: g}", both));
    assert!(
        wrong.contains("RequestRedirect filter must not be used together with backendRefs"),
        "{wrong}"
    );
    let wrong = refusal(
        &mut sim,
        &route(
            "r",
            "default",
            "{name: g}",
            "rules: [{backendRefs: [{name: a}]}]",
        ),
    );
    assert!(
        wrong.contains("Must have port for Service reference"),
        "{wrong}"
    );
    apply(
        &mut sim,
        &route(
            "r",
            "default",
            "{name: g}",
            "rules: [{backendRefs: [{name: a, port: 80}]}]",
        ),
    );
    let defaults = console(
        &mut sim,
        "kubectl get httproute r -o jsonpath='{.spec.parentRefs[0].kind} {.spec.rules[0].matches[0].path.type} {.spec.rules[0].backendRefs[0].weight}'",
    );
    assert_eq!(defaults, "Gateway PathPrefix 1");
    let old = route("old", "default", "{name: g}", "rules: []")
        .replace("k8s.io/v1\n", "k8s.io/v1beta1\n")
        .replace("rules: []", "hostnames: [a]");
    apply(&mut sim, &old);
    assert_eq!(
        console(
            &mut sim,
            "kubectl get httproute old -o jsonpath='{.spec.hostnames}'"
        ),
        "[\"a\"]"
    );
}

#[test]
fn classes_gateways_listeners_and_routes_have_their_conditions() {
    let listeners =
        format!("{HTTP}, {{name: tls, port: 443, protocol: TLS, tls: {{mode: Passthrough}}}}");
    let mut sim = cluster(
        &[
            gateway("front", &listeners),
            web("web", "default"),
            route(
                "web",
                "default",
                "{name: front, sectionName: http}",
                "rules: [{backendRefs: [{name: web, port: 80}]}]",
            ),
        ]
        .concat(),
    );
    assert_eq!(
        condition(&mut sim, "gc nginx", ".status.conditions", "Accepted"),
        "True Accepted The GatewayClass is accepted"
    );
    assert_eq!(
        console(&mut sim, "kubectl get gtw"),
        "NAME    CLASS   ADDRESS          PROGRAMMED   AGE\nfront   nginx   172.18.255.200   True         11s\n"
    );
    assert_eq!(
        condition(&mut sim, "gtw front", ".status.conditions", "Accepted"),
        "True ListenersNotValid The Gateway has at least one valid listener"
    );
    assert_eq!(
        condition(
            &mut sim,
            "gtw front",
            ".status.listeners[0].conditions",
            "Programmed"
        ),
        "True Programmed The Listener is programmed"
    );
    assert_eq!(
        condition(
            &mut sim,
            "gtw front",
            ".status.listeners[1].conditions",
            "Accepted"
        ),
        "False UnsupportedProtocol protocol: Unsupported value: \"TLS\": supported values: \"HTTP\", \"HTTPS\""
    );
    let attached = "kubectl get gtw front -o jsonpath='{.status.listeners[*].attachedRoutes} {.status.listeners[0].supportedKinds[0].kind}'";
    assert_eq!(console(&mut sim, attached), "1 0 HTTPRoute");
    assert_eq!(
        of_route(&mut sim, "web", "Accepted"),
        "True Accepted The Route is accepted"
    );
    assert_eq!(
        of_route(&mut sim, "web", "ResolvedRefs"),
        "True ResolvedRefs All references are resolved"
    );
    let times = "kubectl get gtw front -o jsonpath='{.status.conditions[*].lastTransitionTime} {.status.conditions[*].observedGeneration}'";
    let before = console(&mut sim, times);
    // A change that changes no condition's status leaves the times as they are, and the generation is told.
    console(
        &mut sim,
        "kubectl patch gtw front --type=json -p '[{\"op\":\"replace\",\"path\":\"/spec/listeners/0/port\",\"value\":8080}]'",
    );
    wait(&mut sim, 5);
    assert_eq!(console(&mut sim, times), before.replace(" 1 1", " 2 2"));
    // An entry goes with its parent; of a class that is gone the Gateway says so.
    console(&mut sim, "kubectl delete gc nginx");
    wait(&mut sim, 2);
    assert_eq!(
        condition(&mut sim, "gtw front", ".status.conditions", "Programmed"),
        "False Invalid The GatewayClass doesn't exist"
    );
    assert_eq!(
        console(
            &mut sim,
            "kubectl get httproute web -o jsonpath='{.status.parents}'"
        ),
        "[]"
    );
}

#[test]
fn routes_that_are_not_attached_say_why() {
    let listeners = "{name: shop, port: 80, protocol: HTTP, hostname: '*.example.com'}, {name: any, port: 81, protocol: HTTP, allowedRoutes: \
                     {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}}";
    let rest = "rules: [{backendRefs: [{name: web, port: 80}]}]";
    let mut sim = cluster(
        &[
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n---\n".to_owned(),
            gateway("front", listeners),
            web("web", "default"),
            route(
                "host",
                "default",
                "{name: front, sectionName: shop}",
                &format!("hostnames: [a.example.org], {rest}"),
            ),
            route(
                "section",
                "default",
                "{name: front, sectionName: nothing}",
                rest,
            ),
            route(
                "foreign",
                "other",
                "{name: front, namespace: default, sectionName: any}",
                rest,
            ),
            route("lost", "default", "{name: nothing}", rest),
        ]
        .concat(),
    );
    assert_eq!(
        of_route(&mut sim, "host", "Accepted"),
        "False NoMatchingListenerHostname The Listener hostname does not match the Route hostnames"
    );
    assert_eq!(
        of_route(&mut sim, "section", "Accepted"),
        "False NoMatchingParent The Listener is not found for this parent ref"
    );
    assert_eq!(
        of_route(&mut sim, "foreign -n other", "Accepted"),
        "False NotAllowedByListeners The Route is not allowed by any listener"
    );
    assert_eq!(
        console(
            &mut sim,
            "kubectl get httproute lost -o jsonpath='{.status}'"
        ),
        ""
    );
    // The label lets it in, and it is told of anew.
    console(&mut sim, "kubectl label namespace other team=a");
    wait(&mut sim, 2);
    assert_eq!(
        of_route(&mut sim, "foreign -n other", "Accepted"),
        "True Accepted The Route is accepted"
    );
    assert_eq!(
        console(
            &mut sim,
            "kubectl get gtw front -o jsonpath='{.status.listeners[1].attachedRoutes}'"
        ),
        "1"
    );
}

#[test]
fn requests_are_led_by_host_path_method_and_headers() {
    let rules = "rules: [{matches: [{path: {value: /}}], backendRefs: [{name: web, port: 80}]}, {matches: [{path: {value: /api}}], backendRefs: \
                 [{name: api, port: 80}]}, {matches: [{path: {type: Exact, value: /api/v1}}], backendRefs: [{name: web, port: 80}]}, {matches: \
                 [{path: {value: /api}, headers: [{name: Version, value: two}]}, {path: {value: /api}, method: POST}], backendRefs: [{name: none, \
                 port: 80}]}, {matches: [{path: {value: /found}, queryParams: [{name: q, value: x}]}], backendRefs: [{name: api, port: 80}]}]";
    let mut sim = cluster(
        &[
            gateway("front", HTTP),
            web("web", "default"),
            web("api", "default"),
            route(
                "shop",
                "default",
                "{name: front}",
                &format!("hostnames: [shop.example.com], {rules}"),
            ),
        ]
        .concat(),
    );
    assert_eq!(
        of_route(&mut sim, "shop", "ResolvedRefs"),
        "False BackendNotFound spec.rules[3].backendRefs[0].name: Not found: \"none\""
    );
    for (rest, status) in [
        ("/", "200"),
        ("/api", "200"),
        ("/api -X POST", "500"),
        ("/api -H 'version: two'", "500"),
        ("/api -H 'version: three'", "200"),
        ("/apis", "200"),
    ] {
        assert_eq!(
            curl(&mut sim, "front", "shop.example.com", rest),
            status,
            "{rest}"
        );
    }
    assert_eq!(curl(&mut sim, "front", "other.example.com", "/"), "404");
    let page = |sim: &mut Sim, path: &str| {
        console(
            sim,
            &format!("curl -s -H 'Host: shop.example.com' http://172.18.255.200{path}"),
        )
    };
    for (path, name) in [
        ("/", "web-"),
        ("/api", "api-"),
        ("/api/x", "api-"),
        ("/api/v1", "web-"),
        ("/found", "web-"),
        ("/found?q=x", "api-"),
    ] {
        let said = page(&mut sim, path);
        assert!(
            said.contains(&format!("Welcome to {name}")),
            "{path}: {said}"
        );
    }
    // Named without a record in DNS; and from a Pod.
    let resolved = console(
        &mut sim,
        "curl -s --resolve shop.example.com:80:172.18.255.200 http://shop.example.com/api",
    );
    assert!(resolved.contains("Welcome to api-"), "{resolved}");
    let inside = console(
        &mut sim,
        "kubectl exec deployment/web -- curl -sI -H 'Host: shop.example.com' 172.18.255.200/api",
    );
    assert_eq!(inside, "HTTP/1.1 200 OK\n");
    assert_eq!(
        console(&mut sim, "curl http://172.18.255.200:8080/"),
        "curl: (7) Failed to connect to 172.18.255.200 port 8080: Connection refused\n"
    );
    // Nothing is ready behind it.
    console(&mut sim, "kubectl scale deployment api --replicas=0");
    wait(&mut sim, 60);
    assert_eq!(curl(&mut sim, "front", "shop.example.com", "/api"), "503");
}

#[test]
fn a_redirect_says_where_to() {
    let filters = |redirect: &str| {
        format!("filters: [{{type: RequestRedirect, requestRedirect: {{{redirect}}}}}]")
    };
    let rules = format!(
        "rules: [{{{}}}, {{matches: [{{path: {{value: /old}}}}], {}}}]",
        filters("scheme: https, statusCode: 301"),
        filters(
            "hostname: new.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}"
        )
    );
    let mut sim = cluster(
        &[
            gateway("front", HTTP),
            route("moved", "default", "{name: front}", &rules),
        ]
        .concat(),
    );
    let asked = |sim: &mut Sim, path: &str| {
        console(
            sim,
            &format!("curl -sI -H 'Host: a.example.com' http://172.18.255.200{path}"),
        )
    };
    assert_eq!(
        asked(&mut sim, "/x?y=z"),
        "HTTP/1.1 301 Moved Permanently\nLocation: https://a.example.com/x?y=z\n"
    );
    assert_eq!(
        asked(&mut sim, "/old/page"),
        "HTTP/1.1 302 Moved Temporarily\nLocation: http://new.example.com/new/page\n"
    );
}

#[test]
fn backends_share_requests_by_their_weights() {
    let rules = "rules: [{backendRefs: [{name: web, port: 80, weight: 3}, {name: api, port: 80, weight: 1}, {name: zero, port: 80, weight: 0}]}]";
    let mut sim = cluster(
        &[
            gateway("front", HTTP),
            web("web", "default"),
            web("api", "default"),
            route("split", "default", "{name: front}", rules),
            route(
                "none",
                "default",
                "{name: front}",
                "hostnames: [none.example.com], rules: [{backendRefs: [{name: web, port: 80, weight: 0}]}]",
            ),
        ]
        .concat(),
    );
    let said = console(
        &mut sim,
        "for i in $(seq 8); do curl -s http://172.18.255.200/; done",
    );
    assert_eq!(
        (
            said.matches("Welcome to web-").count(),
            said.matches("Welcome to api-").count()
        ),
        (6, 2),
        "{said}"
    );
    assert_eq!(curl(&mut sim, "front", "none.example.com", "/"), "500");
}

#[test]
fn a_backend_of_another_namespace_needs_a_grant() {
    let rules = "rules: [{backendRefs: [{name: api, namespace: other, port: 80}]}]";
    let mut sim = cluster(
        &[
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n---\n".to_owned(),
            gateway("front", HTTP),
            web("api", "other"),
            route("far", "default", "{name: front}", rules),
        ]
        .concat(),
    );
    assert_eq!(
        of_route(&mut sim, "far", "ResolvedRefs"),
        "False RefNotPermitted Backend ref to Service other/api not permitted by any ReferenceGrant"
    );
    assert_eq!(curl(&mut sim, "front", "a.example.com", "/"), "500");
    apply(
        &mut sim,
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: api, namespace: other}\nspec: {from: [{group: \
         gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}], to: [{group: '', kind: Service}]}\n",
    );
    wait(&mut sim, 2);
    assert_eq!(
        of_route(&mut sim, "far", "ResolvedRefs"),
        "True ResolvedRefs All references are resolved"
    );
    assert_eq!(curl(&mut sim, "front", "a.example.com", "/"), "200");
}

#[test]
fn a_network_policy_decides_for_the_proxy_too() {
    let mut sim = cluster(&[
        gateway("front", HTTP),
        web("web", "default"),
        route("web", "default", "{name: front}", "rules: [{backendRefs: [{name: web, port: 80}]}]"),
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: closed}\nspec: {podSelector: {}, policyTypes: [Ingress]}\n".to_owned(),
    ]
    .concat());
    assert_eq!(curl(&mut sim, "front", "a.example.com", "/"), "504");
    apply(
        &mut sim,
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: proxy}\nspec: {podSelector: {}, policyTypes: [Ingress], ingress: \
         [{from: [{podSelector: {matchLabels: {gateway.networking.k8s.io/gateway-name: front}}}]}]}\n",
    );
    assert_eq!(curl(&mut sim, "front", "a.example.com", "/"), "200");
}

#[test]
fn each_gateway_has_its_address_and_other_controllers_are_left_alone() {
    let other = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: other}\nspec: {controllerName: \
                 example.com/controller}\n---\n";
    let foreign =
        gateway("foreign", HTTP).replace("gatewayClassName: nginx", "gatewayClassName: other");
    let asks =
        gateway("asks", HTTP).replace("spec: {", "spec: {addresses: [{value: 172.18.255.201}], ");
    let mut sim = cluster(
        &[
            gateway("one", HTTP),
            gateway("two", HTTP),
            other.to_owned(),
            foreign,
            asks,
        ]
        .concat(),
    );
    let address = |sim: &mut Sim, name: &str| {
        console(
            sim,
            &format!("kubectl get gtw {name} -o jsonpath='{{.status.addresses[*].value}}'"),
        )
    };
    assert_eq!(
        ["one", "two", "foreign", "asks"].map(|name| address(&mut sim, name)),
        ["172.18.255.200", "172.18.255.201", "", ""]
    );
    assert_eq!(
        condition(&mut sim, "gc other", ".status.conditions", "Accepted"),
        "Unknown Pending Waiting for controller"
    );
    assert_eq!(
        condition(&mut sim, "gtw foreign", ".status.conditions", "Accepted"),
        "Unknown Pending Waiting for controller"
    );
    assert_eq!(
        condition(&mut sim, "gtw asks", ".status.conditions", "Programmed"),
        "False AddressNotUsable The address is used by another Gateway"
    );
}

#[test]
fn the_objects_go_with_the_definitions_and_the_controller_goes_quiet() {
    let mut sim = cluster(
        &[
            gateway("front", HTTP),
            web("web", "default"),
            route(
                "web",
                "default",
                "{name: front}",
                "rules: [{backendRefs: [{name: web, port: 80}]}]",
            ),
        ]
        .concat(),
    );
    console(
        &mut sim,
        "kubectl delete crd gateways.gateway.networking.k8s.io httproutes.gateway.networking.k8s.io",
    );
    wait(&mut sim, 20);
    let gone = console(&mut sim, "kubectl get gtw");
    assert!(gone.contains("the server could not find the requested resource (get gateways.gateway.networking.k8s.io)"), "{gone}");
    for kind in ["Gateway", "HTTPRoute"] {
        let left: usize = Kind::custom_named("gateway.networking.k8s.io", kind)
            .into_iter()
            .map(|kind| sim.store().count(kind))
            .sum();
        assert_eq!(left, 0, "{kind}");
    }
    assert_eq!(
        console(&mut sim, "curl -m 1 http://172.18.255.200/"),
        "curl: (28) Connection timed out\n"
    );
    let before = sim.journal().len();
    console(&mut sim, "kubectl label service web a=b");
    wait(&mut sim, 60);
    let by_it = |entry: &apiserver::journal::Entry| {
        format!("{:?}", entry.actor).contains("nginx-gateway-controller")
    };
    assert!(!sim.journal().from(before).iter().any(by_it));
}

#[test]
fn a_cluster_without_it_is_the_same_to_the_byte() {
    let played = |install: bool| {
        let mut sim = Sim::new(ClusterConfig::default(), 7);
        if install {
            // Another cluster of this thread has it: that a kind has a name changes nothing elsewhere.
            drop(cluster(&gateway("front", HTTP)));
        }
        apply(&mut sim, &web("web", "default"));
        console(&mut sim, "kubectl create namespace other");
        wait(&mut sim, 60);
        sim.journal()
            .iter()
            .map(|entry| format!("{entry:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(played(false), played(true));
}
