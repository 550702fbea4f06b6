//! `cat`, `tee`, `ls`, `touch`, `rm`, `mkdir`, `cp`: files.

use super::tool::ShellTool;
use crate::shell::room::Done;

pub const CAT: ShellTool = ShellTool {
    name: "cat",
    run: |call| {
        let mut all = Done::default();
        let files: Vec<&str> = call.plain().collect();
        if files.is_empty() {
            return Done::stdout(call.stdin);
        }
        for file in files {
            // Longer output is truncated.
            if all.out.len() > call.stdin.len() + (2 << 20) {
                break;
            }
            match call.input(&[file]) {
                Ok(text) => all.out.push_str(&text),
                Err(_) => {
                    (all.err, all.code) = (
                        format!(
                            "{}cat: can't open '{file}': No such file or directory\n",
                            all.err
                        ),
                        1,
                    )
                }
            }
        }
        all
    },
    by_line: |_| true,
    ..ShellTool::PLAIN
};

pub const TEE: ShellTool = ShellTool {
    name: "tee",
    run: |call| {
        for file in call.plain() {
            let old = if call.has('a') {
                call.room.read(file).unwrap_or_default()
            } else {
                String::new()
            };
            if let Err(error) = call.room.write(file, &format!("{old}{}", call.stdin)) {
                return Done::failed(error, 1);
            }
        }
        Done::stdout(call.stdin)
    },
    reads: |_| false,
    ..ShellTool::PLAIN
};

pub const LS: ShellTool = ShellTool {
    name: "ls",
    run: |call| {
        let path = call.plain().next().unwrap_or(".");
        let names = call.room.names(path);
        if names.is_empty() && path != "." && call.room.read(path).is_some() {
            return Done::stdout(format!("{path}\n"));
        }
        Done::stdout(
            names
                .iter()
                .map(|name| format!("{name}\n"))
                .collect::<String>(),
        )
    },
    ..ShellTool::PLAIN
};

pub const TOUCH: ShellTool = ShellTool {
    name: "touch",
    run: |call| {
        for path in call.plain() {
            let old = call.room.read(path).unwrap_or_default();
            if let Err(error) = call.room.write(path, &old) {
                return Done::failed(error, 1);
            }
        }
        Done::default()
    },
    reads: |_| false,
    ..ShellTool::PLAIN
};

pub const RM: ShellTool = ShellTool {
    name: "rm",
    run: |call| {
        let mut done = Done::default();
        for path in call.plain() {
            if !call.room.remove(path) && !call.has('f') {
                done.err.push_str(&format!(
                    "rm: can't remove '{path}': No such file or directory\n"
                ));
                done.code = 1;
            }
        }
        done
    },
    reads: |_| false,
    ..ShellTool::PLAIN
};

/// `mkdir`, which does nothing: folders exist implicitly through the paths of files.
pub const MKDIR: ShellTool = ShellTool {
    name: "mkdir",
    run: |_| Done::default(),
    ..ShellTool::PLAIN
};

pub const CP: ShellTool = ShellTool {
    name: "cp",
    run: |call| {
        let plain: Vec<&str> = call.plain().collect();
        let [from, to] = plain[..] else {
            return Done::failed("cp: needs a source and a target\n", 1);
        };
        let Some(text) = call.room.read(from) else {
            return Done::failed(
                format!("cp: can't stat '{from}': No such file or directory\n"),
                1,
            );
        };
        call.room
            .write(to, &text)
            .map_or_else(|error| Done::failed(error, 1), |()| Done::default())
    },
    reads: |_| false,
    ..ShellTool::PLAIN
};
