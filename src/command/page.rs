//! The folder of the built page, and `loopscope page`, which copies it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Copies the built page into a folder, to serve it from there
#[derive(clap::Args)]
pub(super) struct PageArgs {
    /// Folder to write
    folder: PathBuf,
}

/// Folder into which `make dist` builds the page.
const BUILT: &str = "dist";
/// Folder of the page in a package, seen from the folder of the command.
const INSTALLED: &str = "../share/loopscope/page";

/// Returns the folder of the page: `dist` in a work tree, else the one installed with the command.
pub(super) fn page_folder() -> PathBuf {
    let has_page = |folder: &Path| folder.join("index.html").exists();
    let built = PathBuf::from(BUILT);
    let command = std::env::current_exe().and_then(fs::canonicalize).ok();
    let installed = command.and_then(|path| Some(path.parent()?.join(INSTALLED)));
    match installed {
        Some(installed) if !has_page(&built) && has_page(&installed) => installed,
        _ => built,
    }
}

/// Returns the folder of the page.
///
/// # Errors
/// The page is not there.
pub(super) fn built_page() -> Result<PathBuf, String> {
    let folder = page_folder();
    match folder.join("index.html").exists() {
        true => Ok(folder),
        false => Err("the page is not built: make dist builds it".to_owned()),
    }
}

pub(super) fn page(args: &PageArgs) -> Result<u8, String> {
    let from = built_page()?;
    copy(&from, &args.folder).map_err(|error| format!("{}: {error}", args.folder.display()))?;
    Ok(0)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
