//! `kubectl cp`: copies files and folders between the terminal and a container.
//!
//! Models `kubectl/pkg/cmd/cp/{cp,filespec}.go`, without `tar`.

use super::client::Client;
use super::parse::Args;
use super::shell::room::{CommandRoom, Variables};
use super::{Failure, Outcome, Reads, Verb, exec};

const FLAGS: &str = "container/c= ~no-preserve ~retries=";

/// `kubectl cp`.
pub const VERB: Verb = Verb {
    name: "cp",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Copy files and directories to and from containers",
};

/// Maximum depth of nested folders.
const DEPTH: usize = 16;

/// Source or destination: `[[namespace/]pod:]path`.
struct Side<'a> {
    pod: Option<&'a str>,
    path: &'a str,
}

impl Side<'_> {
    fn parse(word: &str) -> Result<Side<'_>, Failure> {
        let Some((pod, path)) = word.split_once(':') else {
            return Ok(Side {
                pod: None,
                path: word,
            });
        };
        if pod.is_empty() || pod.matches('/').count() > 1 {
            return Err(Failure::error(
                "filespec must match the canonical format: [[namespace/]pod:]file/path",
            ));
        }
        Ok(Side {
            pod: Some(pod),
            path,
        })
    }
}

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("cp", FLAGS, words)?;
    client.use_flags(&args)?;
    let [from, to] = args.words.as_slice() else {
        return Err(Failure::error("source and destination are required"));
    };
    let (from, to) = (Side::parse(from)?, Side::parse(to)?);
    if from.path.is_empty() || to.path.is_empty() {
        return Err(Failure::error("filepath can not be empty"));
    }
    if from.pod.is_some() && to.pod.is_some() {
        return Err(Failure::error(
            "one of src or dest must be a local file specification",
        ));
    }
    if from.pod.is_none() && to.pod.is_none() {
        return Err(Failure::error(
            "one of src or dest must be a remote file specification",
        ));
    }
    let found = in_room(client, &args, &from, |room| {
        let mut found = Vec::new();
        collect(room, from.path.trim_end_matches('/'), "", DEPTH, &mut found);
        found
    })?;
    if found.is_empty() {
        return Err(match from.pod {
            None => Failure::error(format!("{} doesn't exist in local filesystem", from.path)),
            Some(_) => Failure::exit(
                format!(
                    "tar: {}: No such file or directory\ntar: error exit delayed from previous errors\n",
                    from.path
                ),
                1,
            ),
        });
    }
    if from.pod.is_some() && from.path.starts_with('/') {
        client
            .streams
            .warn("tar: Removing leading `/' from member names");
    }
    in_room(client, &args, &to, |room| {
        // An existing folder receives the source under its own name.
        let base = from
            .path
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or("");
        let is_folder = to.path.ends_with('/')
            || matches!(to.path, "." | "..")
            || (room.read(to.path).is_none() && !room.names(to.path).is_empty());
        let target = if is_folder {
            format!("{}/{base}", to.path.trim_end_matches('/'))
        } else {
            to.path.to_owned()
        };
        found
            .iter()
            .try_for_each(|(under, text)| room.write(&format!("{target}{under}"), text))
    })?
    .map_err(|problem| Failure::exit(problem, 1))?;
    Ok(Outcome::Done)
}

/// Collects the files at a path and below it: relative path and text.
fn collect(
    room: &CommandRoom<'_, '_>,
    path: &str,
    under: &str,
    depth: usize,
    found: &mut Vec<(String, String)>,
) {
    let at = format!("{path}{under}");
    if let Some(text) = room.read(&at) {
        found.push((under.to_owned(), text));
    } else if depth > 0 {
        for name in room.names(&at) {
            collect(room, path, &format!("{under}/{name}"), depth - 1, found);
        }
    }
}

/// Runs an action on a side: in the terminal or in a container.
fn in_room<T>(
    client: &mut Client<'_>,
    args: &Args,
    side: &Side<'_>,
    act: impl FnOnce(&mut CommandRoom<'_, '_>) -> T,
) -> Result<T, Failure> {
    let own = client.namespace.clone();
    let pod = match side.pod {
        None => None,
        Some(word) => {
            let name = word.split_once('/').map_or(word, |(namespace, name)| {
                client.namespace = namespace.to_owned();
                name
            });
            let found = exec::find(client, name, exec::ATTACH_TO)
                .and_then(|pod| Ok((exec::container(client, args, &pod)?, pod)));
            client.namespace.clone_from(&own);
            let (container, pod) = found?;
            Some((pod, container))
        }
    };
    let vars = Variables::default();
    Ok(act(&mut CommandRoom {
        client,
        pod,
        vars: &vars,
        replay: None,
        replayed: &std::cell::RefCell::default(),
    }))
}
