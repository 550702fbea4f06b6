//! The trace: JSON Lines, one for every watch event and one for every step.

use super::runner::{Finished, Observer};
use cluster::Sim;
use serde_json::json;
use std::io::Write;

/// Writer of a trace, as the run goes on.
pub struct Trace<W: Write> {
    to: W,
    written: usize,
    /// First error of the writer; nothing is written after it.
    pub error: Option<std::io::Error>,
}

impl<W: Write> Trace<W> {
    /// Creates a trace into a writer.
    pub fn new(to: W) -> Self {
        Trace {
            to,
            written: 0,
            error: None,
        }
    }

    fn line(&mut self, value: &serde_json::Value) {
        if self.error.is_none() {
            self.error = writeln!(self.to, "{value}").err();
        }
    }
}

impl<W: Write> Observer for Trace<W> {
    fn advanced(&mut self, sim: &Sim) {
        for i in self.written..sim.journal().len() {
            let entry = &sim.journal()[i];
            if let Some((op, object)) = entry.write() {
                self.line(&json!({ "t": entry.time.seconds(), "type": op.watch_type(), "object": object.to_value() }));
            }
        }
        self.written = sim.journal().len();
    }

    fn finished(&mut self, _: &Sim, step: &Finished) {
        self.line(&json!({ "step": step.step, "t0": step.began.seconds(), "t": step.ended.seconds(), "action": step.action,
            "stdout": step.stdout, "stderr": step.stderr, "exit": step.exit }));
    }
}
