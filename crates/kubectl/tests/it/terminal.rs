//! A kubectl line run to its end, for tests of what it prints.

use cluster::Sim;
use k8s_model::time::MS;
use kubectl::parse::split;
use kubectl::{Progress, Session};

/// Runs a line until it ends, or for a minute, and gives what it printed and what it complained about.
pub fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let mut session = Session::start(sim, &split(line), stdin);
    for _ in 0..600 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100 * MS), usize::MAX);
    }
    session.interrupt();
    session.stdout + &session.stderr
}
