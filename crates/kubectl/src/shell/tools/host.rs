//! `echo`, `env`, `hostname`, `ps`, `id`, `basename`: properties of the machine.

use super::tool::{ShellTool, ToolCall};
use crate::shell::numbers::unescaped;
use crate::shell::room::Done;
use k8s_model::pod::Pod;
use serde_json::Value;

pub const ECHO: ShellTool = ShellTool {
    name: "echo",
    run: |call| {
        let flags = call
            .words
            .iter()
            .take_while(|word| matches!(word.as_str(), "-n" | "-e" | "-ne" | "-en"))
            .count();
        let (quiet, escapes) = (
            call.words[..flags].iter().any(|f| f.contains('n')),
            call.words[..flags].iter().any(|f| f.contains('e')),
        );
        let text = call.words[flags..].join(" ");
        let text = if escapes { unescaped(&text) } else { text };
        Done::stdout(if quiet { text } else { format!("{text}\n") })
    },
    ..ShellTool::PLAIN
};

fn environment(call: &mut ToolCall<'_, '_, '_>) -> Vec<(String, String)> {
    let mut all = call.room.env();
    for (name, value) in call.room.vars.iter().filter(|(name, _)| *name != "PWD") {
        all.retain(|(known, _)| known != name);
        all.push((name.clone(), value.clone()));
    }
    all
}

pub const ENV: ShellTool = ShellTool {
    name: "env",
    run: |call| {
        Done::stdout(
            environment(call)
                .iter()
                .map(|(name, value)| format!("{name}={value}\n"))
                .collect::<String>(),
        )
    },
    ..ShellTool::PLAIN
};

pub const PRINTENV: ShellTool = ShellTool {
    name: "printenv",
    run: |call| {
        let Some(name) = call.plain().next() else {
            return (ENV.run)(call);
        };
        match environment(call)
            .into_iter()
            .rev()
            .find(|(known, _)| known == name)
        {
            Some((_, value)) => Done::stdout(format!("{value}\n")),
            None => Done {
                code: 1,
                ..Done::default()
            },
        }
    },
    ..ShellTool::PLAIN
};

pub const HOSTNAME: ShellTool = ShellTool {
    name: "hostname",
    run: |call| {
        let pod = call.room.pod.as_ref().map(|(pod, _)| pod.body::<Pod>());
        Done::stdout(match pod {
            Some(_) if call.has('f') => format!("{}\n", call.room.full_name()),
            Some(pod) if call.has('i') || call.has('I') => format!("{}\n", pod.status.pod_ip),
            _ => format!("{}\n", call.room.hostname()),
        })
    },
    ..ShellTool::PLAIN
};

pub const PS: ShellTool = ShellTool {
    name: "ps",
    run: |call| {
        let words = |field: &str| -> Vec<String> {
            call.room.spec()[field]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let mut first = [words("command"), words("args")].concat().join(" ");
        if first.is_empty() {
            let image = call.room.spec()["image"].as_str().unwrap_or("sh");
            first = image
                .rsplit('/')
                .next()
                .and_then(|name| name.split([':', '@']).next())
                .unwrap_or("sh")
                .to_owned();
        }
        Done::stdout(format!(
            "PID   USER     TIME  COMMAND\n    1 root      0:00 {first}\n    7 root      0:00 sh\n   13 root      0:00 ps\n"
        ))
    },
    ..ShellTool::PLAIN
};

/// Returns the user of the container's security context, root by default.
fn user(call: &ToolCall<'_, '_, '_>) -> i64 {
    let of = |value: &Value| value["securityContext"]["runAsUser"].as_i64();
    let pod = call
        .room
        .pod
        .as_ref()
        .and_then(|(pod, _)| of(&pod.body::<Pod>().spec.raw));
    of(call.room.spec()).or(pod).unwrap_or(0)
}

pub const ID: ShellTool = ShellTool {
    name: "id",
    run: |call| match user(call) {
        uid if call.has('u') => Done::stdout(format!("{uid}\n")),
        0 => Done::stdout("uid=0(root) gid=0(root) groups=0(root)\n"),
        uid => Done::stdout(format!("uid={uid} gid=0(root) groups=0(root)\n")),
    },
    ..ShellTool::PLAIN
};

pub const WHOAMI: ShellTool = ShellTool {
    name: "whoami",
    run: |call| match user(call) {
        0 => Done::stdout("root\n"),
        uid => Done::failed(format!("whoami: unknown uid {uid}\n"), 1),
    },
    ..ShellTool::PLAIN
};

pub const PWD: ShellTool = ShellTool {
    name: "pwd",
    run: |call| Done::stdout(format!("{}\n", call.room.absolute("."))),
    ..ShellTool::PLAIN
};

/// `basename`: the last part of a path, without a suffix.
pub const BASENAME: ShellTool = ShellTool {
    name: "basename",
    run: |call| {
        let [path, rest @ ..] = call.words else {
            return Done::failed("basename: needs a path\n", 1);
        };
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let without = rest
            .first()
            .and_then(|end| name.strip_suffix(end.as_str()))
            .filter(|rest| !rest.is_empty());
        Done::stdout(format!("{}\n", without.unwrap_or(name)))
    },
    ..ShellTool::PLAIN
};

/// `dirname`: the folder of a path.
pub const DIRNAME: ShellTool = ShellTool {
    name: "dirname",
    run: |call| {
        let Some(path) = call.words.first() else {
            return Done::failed("dirname: needs a path\n", 1);
        };
        Done::stdout(match path.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => "/\n".to_owned(),
            Some((folder, _)) => format!("{folder}\n"),
            None => ".\n".to_owned(),
        })
    },
    ..ShellTool::PLAIN
};
