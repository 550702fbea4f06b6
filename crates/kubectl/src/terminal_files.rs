//! The files that a command reads: those of the terminal's session, and those of the machine where the engine may read them.

use super::client::{Client, NAMESPACE};
use cluster::disk::{CONSOLE, absolute};

impl Client<'_> {
    /// A file of the terminal's session.
    pub fn file(&self, path: &str) -> Option<String> {
        let disks = &self.sim().disks;
        let own = disks.read(
            CONSOLE,
            absolute(&self.folder, path).trim_start_matches('/'),
        );
        own.map(|text| text.to_string())
            .or_else(|| (disks.machine?.read)(path))
    }

    /// The namespace of the current context, where one was set.
    pub fn context_namespace(&self) -> Option<String> {
        self.sim()
            .disks
            .read(CONSOLE, NAMESPACE)
            .map(|namespace| namespace.to_string())
    }

    /// The files in a folder of it and in those below, by their paths from it, in order; none if it is not there.
    pub fn files(&self, path: &str) -> Option<Vec<String>> {
        let (disks, folder) = (&self.sim().disks, absolute(&self.folder, path));
        let within = |file: &str| {
            let rest = format!("/{file}")
                .strip_prefix(folder.trim_end_matches('/'))?
                .strip_prefix('/')?
                .to_owned();
            (!rest.is_empty()).then_some(rest)
        };
        let mut own: Vec<String> = disks
            .list(CONSOLE)
            .filter_map(|(file, _)| within(file))
            .collect();
        k8s_model::sort::sort_by(&mut own, |a, b| a.split('/').cmp(b.split('/')));
        if own.is_empty() {
            (disks.machine?.list)(path)
        } else {
            Some(own)
        }
    }
}
