//! Files that a command reads: those of the terminal's session, and those of the host where the engine may read them.

use super::client::{Client, NAMESPACE};
use cluster::disk::{CONSOLE, absolute};

impl Client<'_> {
    /// Returns the text of a file of the terminal's session, or else of the host.
    pub fn file(&self, path: &str) -> Option<String> {
        let disks = &self.sim().disks;
        let own = disks.read(
            CONSOLE,
            absolute(&self.folder, path).trim_start_matches('/'),
        );
        own.map(|text| text.to_string())
            .or_else(|| (disks.machine?.read)(path))
    }

    /// Returns the namespace of the current context, if one was set.
    pub fn context_namespace(&self) -> Option<String> {
        self.sim()
            .disks
            .read(CONSOLE, NAMESPACE)
            .map(|namespace| namespace.to_string())
    }

    /// Returns the files in a folder of the terminal, or else of the host, and its subfolders, by relative path, in order; `None` if the folder
    /// does not exist.
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
        own.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        if own.is_empty() {
            (disks.machine?.list)(path)
        } else {
            Some(own)
        }
    }
}
