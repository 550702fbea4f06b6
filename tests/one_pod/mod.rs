//! A cluster with one Pod, `p`, for the tests of its kubelet.

use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::{Session, parse::split};

pub fn started(spec: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let pod = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{{spec}}}}}");
    let session = Session::start(&mut sim, &split("apply -f -"), &pod);
    assert_eq!(session.stdout, "pod/p created\n", "{}", session.stderr);
    sim
}
