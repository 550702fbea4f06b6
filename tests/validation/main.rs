//! Malformed manifests and wrong command lines, refused in the words of a real cluster.

mod recorded;
mod written;

use cluster::Sim;
use kubectl::parse::split;
use kubectl::{Progress, Session};

fn play(sim: &mut Sim, words: &[String], stdin: &str) -> Session {
    let mut session = Session::start(sim, words, stdin);
    for _ in 0..10_000 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.interrupt();
    session
}

fn words(line: &str) -> Vec<String> {
    split(line)
}
