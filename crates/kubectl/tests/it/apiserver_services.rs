use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use kubectl::Session;
use kubectl::parse::split;

#[test]
fn slices_are_found_by_the_service_that_their_label_names_now() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let slice = |name: &str| {
        format!(
            "{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: {name}, labels: {{kubernetes.io/service-name: web}}}}, addressType: IPv4, endpoints: [{{addresses: ['10.9.9.9']}}]}}\n---\n"
        )
    };
    let run = |sim: &mut Sim, line: &str, text: &str| {
        Session::start(sim, &split(line), text);
        sim.advance(sim.now().after(5_000_000), usize::MAX);
    };
    let found = |sim: &Sim, name: &str| {
        let service = sim
            .store()
            .get(&ObjectRef::new(Kind::Service, "default", name))
            .expect("it exists");
        sim.store()
            .slices_of(service)
            .map(|slice| slice.endpoints.len())
            .collect::<Vec<_>>()
    };
    run(&mut sim, "create service clusterip web --tcp=80", "");
    run(&mut sim, "create service clusterip other --tcp=80", "");
    run(
        &mut sim,
        "apply -f -",
        &["mine-a", "mine-b"].map(slice).concat(),
    );
    // The Service's own slice has no endpoints.
    assert_eq!(
        (found(&sim, "web"), found(&sim, "other")),
        (vec![1, 1, 0], vec![0])
    );
    run(
        &mut sim,
        "label endpointslice mine-a kubernetes.io/service-name=other --overwrite",
        "",
    );
    assert_eq!(
        (found(&sim, "web"), found(&sim, "other")),
        (vec![1, 0], vec![1, 0])
    );
    run(
        &mut sim,
        "label endpointslice mine-b kubernetes.io/service-name-",
        "",
    );
    run(&mut sim, "delete endpointslice mine-a", "");
    assert_eq!(
        (found(&sim, "web"), found(&sim, "other")),
        (vec![0], vec![0])
    );
}
