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
}

impl Default for Informers {
    fn default() -> Informers {
        Informers {
            controller_manager: Informer::new(Process::ControllerManager),
            scheduler: Informer::new(Process::Scheduler),
            kubelet: Informer::new(Process::Kubelet),
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
        }
    }
}

impl IndexMut<Process> for Informers {
    fn index_mut(&mut self, process: Process) -> &mut Informer {
        match process {
            Process::ControllerManager => &mut self.controller_manager,
            Process::Scheduler => &mut self.scheduler,
            Process::Kubelet => &mut self.kubelet,
        }
    }
}

impl Informers {
    fn iter(&self) -> impl Iterator<Item = &Informer> {
        Process::ALL.into_iter().map(|process| &self[process])
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

/// Returns the process with this name.
pub(crate) fn process_named(name: &Str) -> Result<Process, FaultError> {
    Process::ALL
        .into_iter()
        .find(|process| process.name() == name)
        .ok_or_else(|| FaultError::NoComponent(name.clone()))
}
