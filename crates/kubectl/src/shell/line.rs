//! Line of the terminal.

use super::machine::Machine;
use crate::Failure;
use crate::client::Client;
use crate::verb::PendingCommand;
use k8s_model::Time;

/// Line of the terminal as a polled command.
#[derive(Clone, Debug)]
pub struct LineCommand {
    pub machine: Machine,
    /// True for a command over the network, whose exit code is reported on stderr.
    pub remote: bool,
}

impl PendingCommand for LineCommand {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if !self.machine.run(client) {
            return Ok(false);
        }
        if self.machine.code != 0 && !self.remote {
            client.streams.failure = self.machine.failure.take();
        }
        match self.machine.code {
            0 => Ok(true),
            code if self.remote => Err(Failure::exit(
                format!("command terminated with exit code {code}\n"),
                code,
            )),
            code => Err(Failure::exit("", code)),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }

    fn progress(&self) -> usize {
        self.machine.progress()
    }

    fn goes_on(&self) -> bool {
        self.machine.goes_on()
    }

    fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        match self.machine.waits.as_mut() {
            Some((command, _)) => command.input(client, line),
            None => self.machine.input(client, line),
        }
    }

    fn takes_input(&self) -> bool {
        self.machine
            .waits
            .as_ref()
            .map_or(self.machine.takes_input(), |(command, _)| {
                command.takes_input()
            })
    }

    fn edits(&self) -> Option<&str> {
        self.machine
            .waits
            .as_ref()
            .and_then(|(command, _)| command.edits())
    }

    fn interrupt(&mut self, client: &mut Client<'_>) -> bool {
        match self.machine.waits.as_mut() {
            Some((command, _)) => command.interrupt(client),
            None => self.remote && self.machine.interactive && self.machine.interrupt(),
        }
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
