//! Invariants of the Network layout.

use i18n::Message;
use k8s_model::natural::natural_cmp;
use k8s_model::{Kind, ObjectRef};
use projection::model::{
    ControllerCard, Endpoint, Group, Id, Model, PENDING, Pod, PodState, Root, Service, ServicePort,
};
use session::console::ConsoleMsg;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use views::network::Traffic;
use views::network::endpoints::{drawn, telling};
use views::network::layout::layout;
use views::network::measures::{MOST, NARROW, PAIR, ROW};
use views::network::words::rest;
use views::shape::{CardBody, CardTable, Line, Rect, Scene};

fn endpoint(pod: &str, address: &str, ready: bool) -> Endpoint {
    Endpoint {
        pod: pod.into(),
        address: address.into(),
        hostname: pod.into(),
        ready,
        terminating: false,
        serving: ready,
        gone: false,
    }
}

fn first(model: &mut Model) -> &mut Service {
    Rc::make_mut(&mut model.services[0])
}

fn some(form: &str, address: &str) -> Model {
    let pod = |name: &str| Pod {
        id: Id::named("Pod", name),
        state: PodState::Ready,
        ..Pod::default()
    };
    let endpoints = vec![
        endpoint("web-0", "10.244.1.2", true),
        endpoint("web-1", "10.244.2.2", false),
    ];
    let service = Service {
        id: Id::named("Service", "nginx"),
        form: form.into(),
        address: address.into(),
        endpoints,
        ..Service::default()
    };
    let pods = vec![pod("busybox"), pod("web-0"), pod("web-1")];
    Model {
        roots: vec![Root {
            controller: None,
            groups: vec![Group {
                controller: None,
                pods: pods.into_iter().collect(),
            }],
            ..Root::default()
        }],
        services: vec![service.into()],
        ..Model::default()
    }
}

#[test]
fn a_headless_service_answers_with_the_ready_pods() {
    let scene = layout(&some("headless", ""), &Traffic::NONE, None, 1200.0);
    let tables: Vec<&CardTable> = scene
        .items
        .iter()
        .filter_map(|item| {
            if let CardBody::Table(of) = &item.body {
                Some(of)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        tables[0].rows[0],
        (
            vec!["web-0.nginx".into(), "A".into(), "10.244.1.2".into()],
            true
        )
    );
    assert_eq!(tables[0].rows[1].0[2], "no record");
    assert_eq!(tables[1].rows[1].0, ["10.244.2.2", "not ready"]);
    let CardBody::Terminal { title, lines, .. } = &scene.items[0].body else {
        panic!("the client")
    };
    assert_eq!(
        (title.as_str(), lines[0].as_str()),
        ("busybox", "/ # nslookup web-0.nginx")
    );
    let pods: Vec<f64> = scene
        .items
        .iter()
        .filter(|item| matches!(item.body, CardBody::Tile { .. }))
        .map(|item| item.rect.cy())
        .collect();
    assert_eq!(pods[1] - pods[0], ROW);
}

#[test]
fn in_a_small_frame_dns_answers_beside_the_service_and_the_connection_passes_it_by() {
    for width in [390.0, 480.0, 619.0] {
        let scene = layout(&some("headless", ""), &Traffic::NONE, None, width);
        let of = |kind: &str| {
            scene
                .items
                .iter()
                .find(|item| item.id.kind == kind || item.id.uid.starts_with(kind))
                .unwrap()
        };
        let (dns, service, pod) = (of("dns/"), of("Service"), of("Pod"));
        let CardBody::Table(table) = &dns.body else {
            panic!("DNS is a table")
        };
        assert_eq!(
            table.rows[0],
            (vec!["web-0.nginx".into(), "10.244.1.2".into()], true),
            "{width}"
        );
        let apart = dns.rect.right() < service.rect.x || dns.rect.bottom() < service.rect.y;
        assert!(
            apart && service.rect.bottom() < pod.rect.y,
            "{width}: {:?} {:?} {:?}",
            dns.rect,
            service.rect,
            pod.rect
        );
        // From the client to the Pod, through neither of the two.
        let go: Vec<_> = scene
            .edges
            .iter()
            .filter(|edge| edge.key.starts_with("go/"))
            .collect();
        assert!(go.len() == 1 && go[0].line == Line::Travels, "{width}");
        let side = if width < PAIR {
            "Q6 "
        } else {
            &format!("V{}H", pod.rect.cy())
        };
        assert!(go[0].d.contains(side), "{width}: {}", go[0].d);
        assert!(scene.width <= width, "{width}: {}", scene.width);
    }
}

#[test]
fn without_names_of_their_own_the_service_is_asked_for_and_its_answer_is_whole() {
    let mut model = some("headless", "");
    first(&mut model).id.name = "wordpress-mysql".into();
    first(&mut model)
        .endpoints
        .iter_mut()
        .for_each(|one| one.hostname.clear());
    for width in [700.0, 800.0, 1000.0, 1200.0] {
        let scene = layout(&model, &Traffic::NONE, None, width);
        let CardBody::Terminal { lines, .. } = &scene.items[0].body else {
            panic!("the client")
        };
        assert_eq!(lines[0], "/ # nslookup wordpress-mysql");
        assert_eq!(lines.last().unwrap(), "Address:  10.244.1.2");
        let dns = scene
            .items
            .iter()
            .find_map(|item| {
                if let CardBody::Table(of) = &item.body {
                    Some(of)
                } else {
                    None
                }
            })
            .unwrap();
        assert_eq!(
            dns.rows.last().unwrap().0.last().unwrap(),
            "10.244.1.2",
            "{width}"
        );
        assert!(dns.rows.last().unwrap().1, "the row that answers is marked");
        assert!(
            width < 800.0 || dns.rows[0].0[0].starts_with("10-244-1-2.word"),
            "{width}: {:?}",
            dns.rows[0].0
        );
    }
}

#[test]
fn a_pod_that_is_replaced_keeps_its_row_and_is_asked_for_while_it_has_no_record() {
    let mut model = some("headless", "");
    let rows = |model: &Model| -> Vec<String> {
        let scene = layout(model, &Traffic::NONE, None, 1200.0);
        let CardBody::Terminal { lines, .. } = &scene.items[0].body else {
            panic!("the client")
        };
        let pods = scene
            .items
            .iter()
            .filter(|item| matches!(item.body, CardBody::Tile { .. }))
            .map(|item| item.id.name.clone());
        pods.chain([lines[0].clone(), lines[3].clone()]).collect()
    };
    let before = rows(&model);
    assert_eq!(before[2], "/ # nslookup web-0.nginx");
    // Its successor has no address yet: no EndpointSlice lists it.
    first(&mut model).selector = "app=web".into();
    first(&mut model).endpoints.remove(0);
    let group = &mut model.roots[0].groups[0];
    let mut pod = (**group.pods.get(1).unwrap()).clone();
    (pod.state, pod.ordinal, pod.labels) = (
        PodState::Creating,
        Some(0),
        Rc::new(["app=web".to_string()]),
    );
    group.pods.replace(1, Rc::new(pod));
    let meanwhile = rows(&model);
    assert_eq!(meanwhile[..3], before[..3]);
    assert!(meanwhile[3].contains("can't find"), "{meanwhile:?}");
}

#[test]
fn a_virtual_ip_reaches_ready_pods_only() {
    let scene = layout(
        &some("ClusterIP", "10.96.0.7"),
        &Traffic::NONE,
        None,
        1200.0,
    );
    let to: Vec<&str> = scene
        .edges
        .iter()
        .filter(|edge| edge.key.starts_with("to/"))
        .map(|edge| edge.key.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(to, ["web-0"]);
    assert!(
        scene
            .labels
            .iter()
            .any(|label| label.text == "not ready: gets no traffic")
    );
}

#[test]
fn where_nothing_is_ready_kube_proxy_sends_to_those_that_end_and_still_serve() {
    let mut model = some("ClusterIP", "10.96.0.7");
    for one in &mut first(&mut model).endpoints {
        (one.ready, one.terminating, one.serving) = (false, true, true);
    }
    let told = |model: &Model, width: f64| {
        let scene = layout(model, &Traffic::NONE, None, width);
        let tables = scene.items.iter().filter_map(|item| {
            if let CardBody::Table(of) = &item.body {
                Some(&of.rows)
            } else {
                None
            }
        });
        let cells: Vec<String> = tables
            .flatten()
            .flat_map(|(cells, _)| cells)
            .map(Message::to_string)
            .collect();
        let reached = scene
            .edges
            .iter()
            .filter(|edge| edge.key.starts_with("to/"))
            .count();
        let under: Vec<String> = scene
            .labels
            .iter()
            .filter(|label| label.role == views::shape::LabelRole::Trouble)
            .map(|label| label.text.to_string())
            .collect();
        (
            cells.contains(&"share per terminating Pod".to_string()),
            reached,
            under,
        )
    };
    assert_eq!(
        told(&model, 1200.0),
        (true, 2, vec!["2 terminating: still get traffic".into()])
    );
    assert_eq!(
        told(&model, 390.0),
        (true, 2, vec!["terminating: still gets traffic".into(); 2])
    );
    // A ready endpoint receives all traffic.
    let one = first(&mut model);
    (one.endpoints[0].ready, one.endpoints[0].terminating) = (true, false);
    assert_eq!(
        told(&model, 1200.0),
        (false, 1, vec!["terminating: no new traffic".into()])
    );
    // A headless Service has no kube-proxy rules: DNS lists its ready endpoints.
    let mut model = some("headless", "");
    for one in &mut first(&mut model).endpoints {
        (one.ready, one.terminating, one.serving) = (false, true, true);
    }
    assert!(!told(&model, 390.0).0 && told(&model, 390.0).1 == 0);
}

#[test]
fn an_endpoint_whose_pod_is_gone_is_not_one_that_ends() {
    for (form, address) in [("headless", ""), ("ClusterIP", "10.96.0.7")] {
        for width in [390.0, 656.0, 1200.0] {
            // Another Pod may already have the name.
            let mut model = some(form, address);
            first(&mut model).endpoints[0].gone = true;
            let scene = layout(&model, &Traffic::NONE, None, width);
            let gone: Vec<&str> = scene
                .items
                .iter()
                .filter(|item| item.state == "gone")
                .map(|item| item.label.as_str())
                .collect();
            assert_eq!(gone, ["Pod web-0, deleted"], "{form} {width}");
            assert!(
                !scene.items.iter().any(|item| item.state == "terminating")
                    && !scene.states().contains(&PodState::Terminating)
            );
            let words = if form == "ClusterIP" {
                "deleted: still gets traffic"
            } else {
                "deleted: DNS still has it"
            };
            let told = scene.labels.iter().any(|label| label.text == words);
            assert_eq!(
                told,
                form == "ClusterIP" || width <= NARROW,
                "{form} {width}"
            );
        }
    }
}

#[test]
fn kube_proxy_reads_the_endpoint_slices() {
    let mut model = some("ClusterIP", "10.96.0.7");
    let slices = |model: &Model| {
        let scene = layout(model, &Traffic::NONE, None, 800.0);
        assert!(
            scene
                .edges
                .iter()
                .any(|edge| edge.key == "reads/Service/nginx" && edge.line == Line::Watches)
        );
        let find = |item: &Rc<views::shape::Item>| match &item.body {
            CardBody::Table(of) if of.kind == "EndpointSlice" => {
                Some((item.id.kind.clone(), of.caption.clone(), of.title.clone()))
            }
            _ => None,
        };
        scene.items.iter().find_map(find).unwrap()
    };
    let one = first(&mut model);
    (one.slices, one.slice) = (1, Some(Id::named("EndpointSlice", "nginx-x7k2p")));
    assert_eq!(
        slices(&model),
        (
            "EndpointSlice".into(),
            "EndpointSlice".into(),
            "nginx-x7k2p".into()
        )
    );
    let one = first(&mut model);
    (one.slices, one.slice) = (50, None);
    assert_eq!(slices(&model).1, "50 EndpointSlices");
    let scene = layout(&model, &Traffic::NONE, None, 800.0);
    assert!(
        scene
            .items
            .iter()
            .any(|item| item.label == "50 EndpointSlices, 1 ready, 0 terminating, 1 not ready")
    );
}

#[test]
fn kube_proxy_is_no_hop() {
    for width in [656.0, 800.0, 1200.0] {
        let scene = layout(&some("ClusterIP", "10.96.0.7"), &Traffic::NONE, None, width);
        let service = scene
            .items
            .iter()
            .find(|item| item.id.kind == "Service")
            .unwrap()
            .rect;
        let to = scene
            .edges
            .iter()
            .find(|edge| edge.key.starts_with("to/"))
            .unwrap();
        assert!(
            to.d.starts_with(&format!("M{} {}", service.right(), service.cy())),
            "from the Service straight to a Pod: {}",
            to.d
        );
        assert!(
            !scene
                .items
                .iter()
                .any(|item| item.label.contains("kube-proxy"))
        );
        assert!(
            scene
                .labels
                .iter()
                .any(|label| label.text == "kube-proxy on every node watches it")
        );
    }
}

/// Creates a Service with a port on each of five nodes.
fn opened(form: &str, external: &str) -> Model {
    let mut model = some(form, "10.96.0.7");
    let node = |n: usize| {
        Rc::new(projection::model::Node {
            id: Id::named("Node", &format!("node-{n}")),
            ..Default::default()
        })
    };
    model.nodes = Rc::new((1..=5).map(node).collect());
    let one = first(&mut model);
    (one.node_ports, one.external) = (vec!["30080".into()], external.into());
    first(&mut model).ports = vec![ServicePort {
        port: 80,
        target: "8080".into(),
    }];
    model
}

#[test]
fn the_outside_comes_in_by_the_port_of_a_node_while_there_is_no_address() {
    for (form, external, ways) in [
        ("NodePort", "", 3),
        ("LoadBalancer", PENDING, 3),
        ("LoadBalancer", "203.0.113.7", 4),
    ] {
        let scene = layout(&opened(form, external), &Traffic::NONE, None, 800.0);
        assert_eq!(
            scene
                .edges
                .iter()
                .filter(|edge| edge.key.starts_with("outside/"))
                .count(),
            ways,
            "{form} {external}"
        );
        assert_eq!(
            scene
                .labels
                .iter()
                .any(|label| label.text.contains("cloud provider")),
            external == PENDING
        );
        let outside = scene
            .items
            .iter()
            .find(|item| item.label.starts_with("outside the cluster"))
            .unwrap();
        assert!(
            outside
                .label
                .ends_with("node-1, :30080, node-2, :30080, +3 nodes, :30080"),
            "{}",
            outside.label
        );
        let meet = |a: &Rect, b: &Rect| {
            a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
        };
        for (at, one) in scene.items.iter().enumerate() {
            assert!(
                scene.items[..at]
                    .iter()
                    .all(|other| !meet(&one.rect, &other.rect)),
                "{}",
                one.label
            );
        }
    }
    // A ClusterIP Service has no outside.
    assert!(
        !layout(&some("ClusterIP", "10.96.0.7"), &Traffic::NONE, None, 800.0)
            .items
            .iter()
            .any(|item| item.label.starts_with("outside"))
    );
}

#[test]
fn nothing_is_wider_than_the_stage() {
    let forms = [
        ("headless", ""),
        ("ClusterIP", "10.96.0.7"),
        ("ExternalName", "db.example.com"),
        ("LoadBalancer", "10.96.0.7"),
    ];
    for form in forms {
        let mut model = if form.0 == "LoadBalancer" {
            opened(form.0, PENDING)
        } else {
            some(form.0, form.1)
        };
        let other = Service {
            id: Id::named("Service", "other"),
            ..(*model.services[0]).clone()
        };
        model.services.extend([
            Rc::new(other.clone()),
            Rc::new(Service {
                id: Id::named("Service", "third"),
                ..other
            }),
        ]);
        for width in [
            390.0, 656.0, 700.0, 800.0, 1000.0, 1020.0, 1080.0, 1200.0, 1500.0,
        ] {
            let wide = layout(&model, &Traffic::NONE, None, width).width;
            assert!(wide <= width + 1.0, "{form:?} {width}: {wide}");
        }
    }
}

#[test]
fn on_a_phone_a_pod_in_no_endpoint_slice_has_no_port() {
    let mut model = some("ClusterIP", "10.96.0.7");
    first(&mut model).selector = "app=web".into();
    first(&mut model).endpoints.remove(0);
    let group = &mut model.roots[0].groups[0];
    let mut pod = (**group.pods.get(1).unwrap()).clone();
    (pod.state, pod.labels) = (PodState::Pending, Rc::new(["app=web".to_string()]));
    group.pods.replace(1, Rc::new(pod));
    let scene = layout(&model, &Traffic::NONE, None, 390.0);
    assert_eq!(scene.ports.len(), 1);
    let said: Vec<&str> = scene
        .labels
        .iter()
        .filter(|label| label.role == views::shape::LabelRole::Trouble)
        .map(|label| label.text.as_str())
        .collect();
    assert_eq!(said, ["in no EndpointSlice", "not ready: gets no traffic"]);
}

#[test]
fn selecting_moves_no_band() {
    let mut model = some("ClusterIP", "10.96.0.7");
    let mut other = (*model.services[0]).clone();
    (other.id, other.endpoints, other.form) = (
        Id::named("Service", "other"),
        vec![endpoint("busybox", "10.244.1.9", true)],
        "headless".into(),
    );
    model.services.push(Rc::new(other));
    let bands = |selected| {
        let scene = layout(&model, &Traffic::NONE, selected, 800.0);
        let at = |uid: &str| {
            scene
                .items
                .iter()
                .find(|item| item.id.uid == uid)
                .unwrap()
                .rect
        };
        (at("Service/nginx"), at("Service/other"), scene.width)
    };
    assert_eq!(bands(None), bands(Some("Pod/web-1")));
    assert_eq!(bands(None), bands(Some("Service/nginx")));
}

#[test]
fn a_selected_pod_is_the_one_that_is_asked_for() {
    let mut model = some("headless", "");
    first(&mut model).endpoints[1].ready = true;
    let scene = layout(&model, &Traffic::NONE, Some("Pod/web-1"), 1200.0);
    let CardBody::Terminal { lines, .. } = &scene.items[0].body else {
        panic!("the client")
    };
    assert_eq!(lines[0], "/ # nslookup web-1.nginx");
}

/// Creates `old` endpoints of an old and `new` of a new revision; every tenth is not ready.
fn many(old: usize, new: usize) -> Vec<Endpoint> {
    let of = |hash: &str, n: usize| {
        let name = format!(
            "web-{hash}-{}",
            i18n::format::count(n * 7919 % 9973).replace(',', "x")
        );
        Endpoint {
            terminating: n % 10 == 1,
            ..endpoint(&name, "10.244.1.2", n % 10 > 2)
        }
    };
    let mut all: Vec<Endpoint> = (0..old)
        .map(|n| of("aaaa", n))
        .chain((0..new).map(|n| of("bbbb", n)))
        .collect();
    all.iter_mut().for_each(|one| one.hostname.clear());
    all.sort_by(|a, b| natural_cmp(&a.pod, &b.pod));
    all
}

#[test]
fn of_thousands_there_is_one_of_each_revision_and_condition() {
    let shown = telling(&many(4_000, 1_000));
    let of = |hash: &str, ready, terminating| {
        shown
            .iter()
            .filter(|one| {
                one.pod.contains(hash) && (one.ready, one.terminating) == (ready, terminating)
            })
            .count()
    };
    for hash in ["aaaa", "bbbb"] {
        assert_eq!(
            (
                of(hash, true, false),
                of(hash, false, true),
                of(hash, false, false)
            ),
            (2, 1, 1),
            "{shown:?}"
        );
    }
    // All alike: eight of them, each once.
    let mut alike = many(4_000, 0);
    alike
        .iter_mut()
        .for_each(|one| (one.ready, one.terminating) = (true, false));
    let names: std::collections::BTreeSet<String> =
        telling(&alike).into_iter().map(|one| one.pod).collect();
    assert_eq!(names.len(), MOST);
    // The first Pods of a StatefulSet.
    let sets: Vec<Endpoint> = (0..40)
        .map(|n| endpoint(&format!("db-{n}"), "10.244.1.2", n != 33))
        .collect();
    let names: Vec<String> = telling(&sets).into_iter().map(|one| one.pod).collect();
    assert_eq!(
        names,
        [
            "db-0", "db-1", "db-2", "db-3", "db-4", "db-5", "db-6", "db-33"
        ]
    );
    let service = Service {
        endpoints: many(4_000, 1_000),
        ..Service::default()
    };
    assert_eq!(
        rest(&service, &shown, 4_992),
        [
            "+4,992 more",
            "3,496 ready",
            "498 terminating",
            "998 not ready"
        ]
    );
}

#[test]
fn a_revision_without_an_endpoint_is_there_too() {
    let mut model = some("ClusterIP", "10.96.0.7");
    first(&mut model).endpoints = many(5_000, 0);
    first(&mut model).selector = "app=web".into();
    let pod = |at: usize| Pod {
        id: Id::named("Pod", &format!("web-cccc-{at}")),
        state: PodState::Creating,
        ..Pod::default()
    };
    let of = ControllerCard {
        id: Id::named("ReplicaSet", "web-cccc"),
        labels: vec!["app=web".into()],
        ..ControllerCard::default()
    };
    let old = ControllerCard {
        id: Id::named("ReplicaSet", "web-aaaa"),
        ..of.clone()
    };
    let ready = |at: usize| Pod {
        id: Id::named("Pod", &format!("web-aaaa-{at}")),
        state: PodState::Ready,
        ..Pod::default()
    };
    for (of, pods) in [
        (old, (0..5_000).map(ready).collect()),
        (of, (0..50).map(pod).collect()),
    ] {
        model.roots[0].groups.push(Group {
            controller: Some(Rc::new(of)),
            pods,
        });
    }
    let (shown, more) = drawn(&model, &model.services[0], None);
    // The other forty-eight new ones are counted too.
    assert_eq!((shown.len(), more), (MOST, 5_042));
    assert_eq!([&shown[6].pod, &shown[7].pod], ["web-cccc-0", "web-cccc-1"]);
    assert_eq!(
        rest(&model.services[0], &shown, more),
        [
            "+5,042 more",
            "3,496 ready",
            "498 terminating",
            "1,000 not ready",
            "48 in no EndpointSlice"
        ]
    );
}

#[test]
fn a_row_keeps_its_pod_while_others_change() {
    let mut all = many(2_000, 500);
    let before = telling(&all);
    // Other endpoints are removed: nothing moves.
    all.retain(|one| {
        before.iter().any(|kept| kept.pod == one.pod) || one.pod.len() % 2 == 0 || one.terminating
    });
    assert_eq!(telling(&all), before);
    // When a shown endpoint is removed its row is reused, and the rest stay.
    for gone in 0..MOST {
        let left: Vec<Endpoint> = all
            .iter()
            .filter(|one| one.pod != before[gone].pod)
            .cloned()
            .collect();
        let after = telling(&left);
        let changed: Vec<usize> = (0..MOST)
            .filter(|row| after[*row] != before[*row])
            .collect();
        assert_eq!(changed, [gone]);
    }
}

const TRAFFIC: &str = "
{apiVersion: v1, kind: Pod, metadata: {name: client}, spec: {containers: [{name: c, image: busybox, command: [sleep, '9999']}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: wall}, spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {role: guest}}}], ports: [{port: 80}]}]}}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: door}, spec: {ingressClassName: nginx, rules: [{host: a.example.com, http: {paths: [
  {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}, {path: /none, pathType: Exact, backend: {service: {name: none, port: {number: 80}}}}]}}]}}
";

fn settled(text: &str) -> session::State {
    let mut state = session::State::new(text, 1);
    state.update(TimelineMsg::Seconds(10));
    state
}

/// Draws Network in a simulated cluster.
fn drawn_of(state: &mut session::State) -> Rc<Scene> {
    use session::selection::SelectionMsg;
    state.update(SelectionMsg::View(views::by_id("network").unwrap()));
    state.picture().scene.clone()
}

#[test]
fn a_policy_decides_the_request_that_is_drawn() {
    let mut state = settled(TRAFFIC);
    let scene = drawn_of(&mut state);
    let texts = |scene: &Scene| {
        scene
            .labels
            .iter()
            .map(|label| label.text.english())
            .collect::<Vec<_>>()
    };
    assert!(
        texts(&scene)
            .contains(&"✕ client → web: denied by NetworkPolicy wall (Ingress)".to_string()),
        "{:?}",
        texts(&scene)
    );
    // The client Pod reports the failure itself.
    let standing = |state: &session::State| {
        explain::standing::of(
            state.timeline.run.sim(),
            &ObjectRef::new(Kind::Pod, "default", "client"),
        )
        .sentence
        .english()
    };
    let denied = "; its requests to Service web fail: denied by NetworkPolicy wall (Ingress)";
    assert!(standing(&state).ends_with(denied), "{}", standing(&state));
    let travels = |scene: &Scene, key: &str| {
        scene
            .edges
            .iter()
            .any(|edge| edge.line == Line::Travels && edge.key.starts_with(key))
    };
    let web = state
        .timeline
        .run
        .sim()
        .store()
        .get(&ObjectRef::new(Kind::Service, "default", "web"))
        .unwrap()
        .meta
        .uid
        .to_string();
    assert!(!travels(&scene, &format!("to/{web}")));
    // A failure is marked along the whole path, in a word too, not by colour alone.
    let fails = |scene: &Scene, key: &str| {
        scene
            .edges
            .iter()
            .any(|edge| edge.line == Line::Fails && edge.key.starts_with(key))
    };
    assert!(fails(&scene, &format!("ask/{web}")) && fails(&scene, &format!("to/{web}")));
    assert!(
        texts(&scene).contains(&"✕ denied".to_string()),
        "{:?}",
        texts(&scene)
    );
    let card = scene
        .items
        .iter()
        .find(|item| item.id.kind == "NetworkPolicy")
        .unwrap();
    assert_eq!(
        card.label.english(),
        "NetworkPolicy wall, Ingress: from Pods role=guest, on TCP 80"
    );
    assert!(
        scene
            .edges
            .iter()
            .any(|edge| edge.line == Line::Selects && edge.key.starts_with("isolates/"))
    );

    state.update(ConsoleMsg::Enter(
        "kubectl label pod client role=guest".into(),
    ));
    state.update(TimelineMsg::Seconds(3));
    assert!(
        !standing(&state).contains("requests"),
        "{}",
        standing(&state)
    );
    let scene = drawn_of(&mut state);
    assert!(
        texts(&scene)
            .contains(&"client → web: allowed by NetworkPolicy wall, Ingress rule 1".to_string()),
        "{:?}",
        texts(&scene)
    );
    assert!(travels(&scene, &format!("to/{web}")) && travels(&scene, &format!("ask/{web}")));
    assert!(!fails(&scene, &format!("ask/{web}")) && !fails(&scene, &format!("to/{web}")));

    // The client is a Pod like any other.
    assert!(
        scene
            .items
            .iter()
            .any(|item| matches!(item.body, CardBody::Terminal { .. })
                && (&*item.id.kind, &*item.id.name) == ("Pod", "client"))
    );

    // A wrong port is shown at the Service, whatever a policy decides, and fails the request by itself.
    state.update(ConsoleMsg::Enter(
        "kubectl patch service web -p '{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":8081}]}}'"
            .into(),
    ));
    state.update(TimelineMsg::Seconds(3));
    let scene = drawn_of(&mut state);
    assert!(
        texts(&scene).contains(&"no Pod listens on port 8081".to_string()),
        "{:?}",
        texts(&scene)
    );
    assert!(
        texts(&scene).contains(&"✕ denied".to_string()),
        "{:?}",
        texts(&scene)
    );
    state.update(ConsoleMsg::Enter(
        "kubectl delete networkpolicy wall".into(),
    ));
    state.update(TimelineMsg::Seconds(3));
    let scene = drawn_of(&mut state);
    let refused = "✕ client → web: connection refused: nothing in web listens on port 8081";
    assert!(
        texts(&scene).contains(&refused.to_string()),
        "{:?}",
        texts(&scene)
    );

    // Without a ready endpoint it is refused.
    state.update(ConsoleMsg::Enter(
        "kubectl delete pod web --wait=false".into(),
    ));
    state.update(TimelineMsg::Seconds(60));
    let scene = drawn_of(&mut state);
    assert!(
        fails(&scene, &format!("ask/{web}")) && texts(&scene).contains(&"✕ refused".to_string()),
        "{:?}",
        texts(&scene)
    );
}

#[test]
fn an_ingress_tells_what_each_path_gets() {
    let mut state = settled(TRAFFIC);
    // The policy admits neither the controller nor the requests it forwards; without the policy the path is open.
    for (answer, line) in [
        ("504: denied by policy", Line::Fails),
        ("1 ready endpoint", Line::Travels),
    ] {
        let scene = drawn_of(&mut state);
        let item = scene
            .items
            .iter()
            .find(|item| item.id.kind == "Ingress")
            .unwrap();
        let CardBody::Table(table) = &item.body else {
            panic!("a table")
        };
        let rows: Vec<String> = table
            .rows
            .iter()
            .map(|(cells, _)| Message::list(cells.clone()).english())
            .collect();
        let first = format!("a.example.com/, web:80, {answer}");
        assert_eq!(
            rows,
            [
                first.as_str(),
                "a.example.com/none, none:80, 503: no such Service",
                "any other request, , 404"
            ]
        );
        let way = scene
            .edges
            .iter()
            .find(|edge| edge.key.starts_with(&format!("to/{}/", item.id.uid)));
        assert_eq!(
            way.map(|edge| edge.line),
            Some(line),
            "on to the Service below"
        );
        state.update(ConsoleMsg::Enter(
            "kubectl delete networkpolicy wall".into(),
        ));
        state.update(TimelineMsg::Seconds(3));
    }
    // Without a controller that serves it, nothing answers.
    let mut state = settled(&TRAFFIC.replace("ingressClassName: nginx", "ingressClassName: none"));
    let scene = drawn_of(&mut state);
    let item = scene
        .items
        .iter()
        .find(|item| item.id.kind == "Ingress")
        .unwrap();
    assert_eq!(
        item.label.english(),
        "Ingress door, not served: a.example.com/, web:80, a.example.com/none, none:80"
    );
}

#[test]
fn the_words_below_a_band_are_of_the_pod_that_its_request_is_drawn_to() {
    let shop = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {replicas: 4, selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 80}]}]}}}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: shop}, spec: {selector: {app: shop}, ports: [{port: 80, targetPort: 8080}]}}";
    let client = "{apiVersion: v1, kind: Pod, metadata: {name: client}, spec: {containers: [{name: c, image: busybox, command: [sleep, '1000']}]}}";
    for seed in 1..6 {
        let mut state = session::State::new(&[shop, service, client].join("\n---\n"), seed);
        state.update(TimelineMsg::Seconds(10));
        let scene = drawn_of(&mut state);
        let drawn = scene
            .edges
            .iter()
            .find(|edge| edge.line == Line::Fails && edge.key.starts_with("to/"))
            .unwrap();
        let pod = drawn.key.rsplit('/').next().unwrap();
        let words: Vec<String> = scene
            .labels
            .iter()
            .map(|label| label.text.english())
            .collect();
        assert!(
            words
                .iter()
                .any(|words| words.contains(&format!("nothing in {pod} listens"))),
            "{pod}: {words:?}"
        );
    }
}

/// Gateway with a route: two backends, one that does not exist, and a redirect.
const GATEWAY: &str = "
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: nginx}, spec: {controllerName: gateway.nginx.org/nginx-gateway-controller}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: front}, spec: {gatewayClassName: nginx, listeners: [{name: http, port: 80, protocol: HTTP}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: shop}, spec: {parentRefs: [{name: front}], hostnames: [a.example.com], rules: [
  {backendRefs: [{name: web, port: 80, weight: 3}, {name: none, port: 80}]},
  {matches: [{path: {value: /old}, method: GET}], filters: [{type: RequestRedirect, requestRedirect: {hostname: b.example.com, statusCode: 301}}]}]}}
";

#[test]
fn a_gateway_tells_what_the_rules_of_its_routes_get() {
    use actions::Action;
    let mut state = settled(TRAFFIC);
    state
        .timeline
        .run
        .command(Action::Kubectl(kubectl::published::GATEWAY_INSTALL.into()));
    state.update(TimelineMsg::Seconds(2));
    state.timeline.run.command(Action::Apply(GATEWAY.into()));
    state.update(TimelineMsg::Seconds(5));
    let scene = drawn_of(&mut state);
    let item = scene
        .items
        .iter()
        .find(|item| item.id.kind == "Gateway")
        .unwrap();
    let CardBody::Table(table) = &item.body else {
        panic!("a table")
    };
    let rows: Vec<String> = table
        .rows
        .iter()
        .map(|(cells, _)| Message::list(cells.clone()).english())
        .collect();
    assert_eq!(
        rows,
        [
            "a.example.com/, web:80 75 %, 1 ready endpoint",
            "a.example.com/, none:80 25 %, 500: no such Service",
            "GET a.example.com/old, b.example.com, 301: sent elsewhere",
            "any other request, , 404"
        ]
    );
    assert_eq!(table.caption.english(), "Gateway · 172.18.255.200");
    let way = scene
        .edges
        .iter()
        .find(|edge| edge.key.starts_with(&format!("to/{}/", item.id.uid)));
    assert_eq!(
        way.map(|edge| edge.line),
        Some(Line::Travels),
        "on to the Service below"
    );
}

#[test]
fn the_name_of_a_member_that_is_gone_is_still_what_is_asked() {
    let text = (session::examples::ALL[2].text)();
    let mut state = session::State::new(text, 1);
    state.update(session::selection::SelectionMsg::View(
        &views::network::VIEW,
    ));
    state.update(TimelineMsg::Seconds(30));
    state.update(ConsoleMsg::Enter(
        "kubectl delete pod web-0 --wait=false".into(),
    ));
    let (mut gone, mut lines) = (false, Vec::new());
    for _ in 0..12 {
        state.update(TimelineMsg::Step);
        gone |= state
            .timeline
            .run
            .sim()
            .store()
            .get(&ObjectRef::new(Kind::Pod, "default", "web-0"))
            .is_none();
        let scene = state.picture().scene.clone();
        let asked = scene.items.iter().find_map(|item| match &item.body {
            CardBody::Terminal { lines, .. } => lines.first().cloned(),
            _ => None,
        });
        lines.extend(asked);
    }
    assert!(gone && lines.len() == 12, "{lines:?}");
    assert!(
        lines
            .iter()
            .all(|line| line.contains("nslookup web-0.nginx")),
        "{lines:?}"
    );
}
