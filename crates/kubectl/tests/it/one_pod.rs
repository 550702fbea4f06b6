//! A cluster with one Pod, `p`, for the tests of its kubelet.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use kubectl::Session;
use kubectl::parse::split;

pub fn started(spec: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let pod = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{{spec}}}}}");
    let session = Session::start(&mut sim, &split("apply -f -"), &pod);
    assert_eq!(session.stdout, "pod/p created\n", "{}", session.stderr);
    sim
}
