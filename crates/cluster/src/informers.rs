//! Informers of all processes.

use apiserver::journal::{EntryId, Journal};
use controller_runtime::informer::Informer;
use controller_runtime::process::Process;
use controller_runtime::watch_faults::MissingEvent;
use fault::{FaultError, ResolvedTarget};
use k8s_model::{Kind, Object, Str};
use std::ops::{Index, IndexMut};

/// Informer of each process.
#[derive(Clone, Debug)]
pub struct Informers {
    /// Informer that all controllers share.
    pub controller_manager: Informer,
    /// Informer of the scheduler.
    pub scheduler: Informer,
    /// Informer that the kubelets share.
    pub kubelet: Informer,
    /// Informers of the loops of ControlLoops.
    pub loops: Vec<Informer>,
}

impl Default for Informers {
    fn default() -> Informers {
        Informers {
            controller_manager: Informer::new(Process::ControllerManager),
            scheduler: Informer::new(Process::Scheduler),
            kubelet: Informer::new(Process::Kubelet),
            loops: Vec::new(),
        }
    }
}

impl Index<Process> for Informers {
    type Output = Informer;

    fn index(&self, process: Process) -> &Informer {
        match process {
            Process::ControllerManager => &self.controller_manager,
            Process::Scheduler => &self.scheduler,
            Process::Kubelet => &self.kubelet,
            // A process is named only while it has an informer.
            Process::Loop(_) => match self.loops.iter().find(|one| one.process == process) {
                Some(informer) => informer,
                None => &self.controller_manager,
            },
        }
    }
}

impl IndexMut<Process> for Informers {
    fn index_mut(&mut self, process: Process) -> &mut Informer {
        match process {
            Process::ControllerManager => &mut self.controller_manager,
            Process::Scheduler => &mut self.scheduler,
            Process::Kubelet => &mut self.kubelet,
            Process::Loop(_) => match self.loops.iter_mut().find(|one| one.process == process) {
                Some(informer) => informer,
                None => &mut self.controller_manager,
            },
        }
    }
}

impl Informers {
    fn iter(&self) -> impl Iterator<Item = &Informer> {
        let own = Process::ALL.into_iter().map(|process| &self[process]);
        own.chain(&self.loops)
    }

    /// Returns all informers, those of the cluster first.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Informer> {
        let Informers {
            controller_manager,
            scheduler,
            kubelet,
            loops,
        } = self;
        [controller_manager, scheduler, kubelet]
            .into_iter()
            .chain(loops)
    }

    /// Returns the processes with an informer, those of the cluster first.
    pub fn processes(&self) -> impl Iterator<Item = Process> {
        self.iter().map(|informer| informer.process)
    }

    /// Returns true if a process has an informer: that of a loop ends with it.
    pub fn has(&self, process: Process) -> bool {
        self.processes().any(|known| known == process)
    }

    /// Adds the informer of a loop, with an empty cache.
    pub(crate) fn start(&mut self, process: Process) {
        self.stop(process);
        self.loops.push(Informer::new(process));
    }

    /// Removes the informer of a loop.
    pub(crate) fn stop(&mut self, process: Process) {
        self.loops.retain(|informer| informer.process != process);
    }

    /// Returns the number of journal entries that every process has received.
    pub(crate) fn seen(&self) -> usize {
        self.iter().map(Informer::seen).min().unwrap_or(0)
    }

    /// Returns true if any watch has lost or delayed events.
    pub fn is_disturbed(&self) -> bool {
        self.iter().any(|informer| informer.watch_faults.is_some())
    }

    /// Returns the first delayed or lost watch event about a matching object.
    pub fn missing_event(
        &self,
        journal: Journal<'_>,
        about: &dyn Fn(Process, &Object) -> bool,
    ) -> Option<MissingEvent> {
        self.iter().find_map(|informer| {
            let (watch_faults, process) = (informer.watch_faults.as_ref()?, informer.process);
            let late = watch_faults.late(process, journal, &|object| about(process, object));
            late.or_else(|| watch_faults.missed(process, journal, &|object| about(process, object)))
        })
    }

    /// Returns the delay or loss of the watch event of one entry, with its component, if any.
    pub fn missing_event_of(&self, journal: Journal<'_>, id: EntryId) -> Option<MissingEvent> {
        self.iter().find_map(|informer| {
            let watch_faults = informer.watch_faults.as_ref()?;
            watch_faults.late_event(informer.process, journal, id)
        })
    }

    /// Returns the process with this name.
    pub(crate) fn process_named(&self, name: &Str) -> Result<Process, FaultError> {
        self.processes()
            .find(|process| process.name() == name)
            .ok_or_else(|| FaultError::NoComponent(name.clone()))
    }

    /// Returns true if a fault delays events to the controllers about an object, or about any of a kind if the name is empty.
    pub fn is_delayed(&self, journal: Journal<'_>, kind: Kind, name: &Str) -> bool {
        let target = ResolvedTarget {
            kind,
            name: name.clone(),
        };
        let watch_faults = self.controller_manager.watch_faults.as_ref();
        watch_faults.is_some_and(|watch_faults| watch_faults.delays(&target, journal))
    }
}
