//! The story: a readable line for every write, with its actor and reason.

use super::why;
use apiserver::{Op, Record};
use cluster::Sim;
use k8s_model::Kind;
use scenario::{Finished, Observer};
use std::io::Write;

/// Writer of the story of a run, while it runs.
pub struct Story<W: Write> {
    to: W,
    told: usize,
    /// First error of the writer; nothing is written after it.
    pub error: Option<std::io::Error>,
}

impl<W: Write> Story<W> {
    /// Creates a story into a writer.
    pub fn new(to: W) -> Self {
        Story {
            to,
            told: 0,
            error: None,
        }
    }

    fn line(&mut self, text: &str) {
        if self.error.is_none() {
            self.error = writeln!(self.to, "{text}").err();
        }
    }
}

impl<W: Write> Observer for Story<W> {
    fn advanced(&mut self, sim: &Sim) {
        for i in self.told..sim.journal().len() {
            let entry = &sim.journal()[i];
            let clock = entry.time.clock();
            let actor = match &entry.record {
                Record::ClientFault(hit) => hit.call.client().to_owned(),
                _ => entry.actor.to_string(),
            };
            let what = match &entry.record {
                Record::Command(command) => format!("$ {}", command.line),
                Record::Fault(fault) => format!("$ {}", fault.command_line()),
                Record::Refused(refused) => format!("refused {}: {}", refused.key, refused.error),
                Record::ClientFault(hit) => format!("fault {}: {}", hit.fault, hit.call.line),
                Record::Forgotten => continue,
                Record::Write { object, .. } if object.kind == Kind::Event => continue,
                Record::Write { op, object, .. } => {
                    let verb = match op {
                        Op::Added => "created",
                        Op::Modified => "changed",
                        Op::Deleted => "removed",
                    };
                    format!("{verb} {}", object.key())
                }
            };
            let why = why::reason(&entry.why).english();
            let why = if why.is_empty() {
                String::new()
            } else {
                format!("  ({why})")
            };
            self.line(&format!("{clock}  {actor:<30} {what}{why}"));
        }
        self.told = sim.journal().len();
    }

    fn finished(&mut self, _: &Sim, step: &Finished) {
        for text in step.stdout.lines().chain(step.stderr.lines()) {
            self.line(&format!("{}  {:<30} | {text}", step.ended.clock(), ""));
        }
    }
}
