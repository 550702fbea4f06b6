//! Processes of containers: what a command does is known to the shell, which stands above the simulation.

use crate::Sim;
use crate::tasks::Task;
use k8s_model::{Duration, Object, Str};
use kubelet::PodJob;
use std::rc::Rc;

/// Container whose process starts.
pub struct ContainerProcess {
    /// Pod.
    pub pod: Rc<Object>,
    /// Place among its containers, as in `PodSpec::every_container`.
    pub container: usize,
}

/// End of a process, and the files that it writes until then.
pub struct ProcessEnd {
    /// Time from its start, in microseconds.
    pub after: Duration,
    /// Exit code.
    pub code: i32,
    /// Files.
    pub files: Vec<WrittenFile>,
}

/// File written by a process.
pub struct WrittenFile {
    /// Time from the start of the process, in microseconds.
    pub after: Duration,
    /// Disk, and path on it.
    pub disk: String,
    pub path: String,
    /// Text; `None` if the file is removed.
    pub text: Option<String>,
}

/// Runs a process ahead of time; `None` if its end is not known, or if it has none.
pub type ProcessRunner = fn(&mut Sim, &ContainerProcess) -> Option<ProcessEnd>;

impl Sim {
    /// Runs the process that a kubelet has started.
    pub(crate) fn run_process(&mut self, job: &PodJob, process: &ContainerProcess) {
        let now = self.now();
        let end = self.processes.and_then(|run| run(self, process));
        let told = end.as_ref().map(|end| (end.after, end.code));
        for file in end.into_iter().flat_map(|end| end.files) {
            let WrittenFile {
                disk, path, text, ..
            } = file;
            let (disk, path) = (Str::from(disk), Str::from(path));
            let text = text.map(Str::from);
            self.tasks
                .push(now.after(file.after), Task::WriteFile { disk, path, text });
        }
        self.tasks.push_kubelet_jobs(job.process_ended(told, now));
    }
}
