//! Loops of ControlLoops: their start and end, and traces of their passes.

use super::*;
use apiserver::ControllerId;
use controllers::scripted::ScriptedLoop;
use script::Step;

impl Sim {
    /// Starts, replaces or ends the loop of a ControlLoop that has changed. A change of anything but its spec leaves it as it is.
    pub(super) fn observe_control_loop(&mut self, event: &Event<'_>) {
        let object = event.object;
        let Some(id) = ControllerId::of_loop(&object.meta.name) else {
            return;
        };
        let process = Process::Loop(id);
        let new = match event.op {
            Op::Deleted => None,
            _ => ScriptedLoop::of(object),
        };
        let Some(new) = new else {
            let cache = &self.informers.controller_manager.cache;
            self.manager.stop_loop(id, cache, &mut self.tasks);
            self.informers.stop(process);
            return;
        };
        let running = self.manager.scripted(id);
        if running.is_some_and(|(of, _)| of.uid == new.uid && of.spec == new.spec) {
            return;
        }
        let cache = &self.informers.controller_manager.cache;
        if self.manager.start_loop(new, cache, &mut self.tasks) {
            self.run_loop(id);
        }
    }

    /// Runs a loop from the start: it remembers nothing and lists everything.
    pub(crate) fn run_loop(&mut self, id: &'static ControllerId) {
        let Some(i) = self.manager.index_of_loop(id) else {
            return;
        };
        let process = Process::Loop(id);
        self.informers.start(process);
        self.manager.restart_loop(i);
        self.set_starting(i, true);
        self.relist(process);
        self.set_starting(i, false);
    }

    fn set_starting(&mut self, i: usize, starting: bool) {
        if let Some(slot) = self.manager.slot_mut(i) {
            slot.state.starting = starting;
        }
    }

    /// Queues the objects of a controller or a loop again.
    pub(super) fn resync(&mut self, i: usize) {
        match self.manager.slot_mut(i).map(|slot| slot.id) {
            Some(id) => {
                let cache = &self.informers[Process::Loop(id)].cache;
                self.manager.resync_loop(i, cache, &mut self.tasks);
            }
            None => {
                let cache = &self.informers.controller_manager.cache;
                self.manager.resync(i, cache, &mut self.tasks);
            }
        }
    }

    /// Returns the lines that a pass of a loop over a key would execute now, found by running it on a copy.
    pub fn trace_pass(&self, id: &ControllerId, key: &ObjectRef) -> Vec<Step> {
        let Some(i) = self.manager.index_of_loop(id) else {
            return Vec::new();
        };
        let mut copy = self.clone();
        copy.server.store.now = copy.now();
        copy.run_scripted(i, key, None, true).1
    }
}
