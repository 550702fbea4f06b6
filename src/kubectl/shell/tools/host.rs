//! `echo`, `printf`, `date`, `env`, `hostname`, `ps`, `id`, `test`: what a machine says of itself.

use super::tool::{Call, Tool};
use crate::api::Timestamp;
use crate::api::pod::Pod;
use crate::kubectl::shell::room::Done;
use serde_json::Value;

pub const ECHO: Tool = Tool {
    name: "echo",
    run: |call| {
        let flags = call.words.iter().take_while(|word| matches!(word.as_str(), "-n" | "-e" | "-ne" | "-en")).count();
        let (quiet, escapes) = (call.words[..flags].iter().any(|f| f.contains('n')), call.words[..flags].iter().any(|f| f.contains('e')));
        let text = call.words[flags..].join(" ");
        let text = if escapes { text.replace("\\n", "\n").replace("\\t", "\t") } else { text };
        Done::said(if quiet { text } else { format!("{text}\n") })
    },
    ..Tool::PLAIN
};

pub const PRINTF: Tool = Tool {
    name: "printf",
    run: |call| {
        let Some((format, rest)) = call.words.split_first() else { return Done::failed("printf: no format\n", 1) };
        let mut parts = format.split("%s");
        let mut out = parts.next().unwrap_or("").to_owned();
        for (index, part) in parts.enumerate() {
            out.push_str(rest.get(index).map_or("", String::as_str));
            out.push_str(part);
        }
        Done::said(out.replace("\\n", "\n").replace("\\t", "\t"))
    },
    ..Tool::PLAIN
};

pub const DATE: Tool = Tool { name: "date", run: |call| Done::said(format!("{}\n", Timestamp(call.room.now()).rfc3339())), ..Tool::PLAIN };

fn environment(call: &mut Call<'_, '_, '_>) -> Vec<(String, String)> {
    let mut all = call.room.env();
    for (name, value) in call.room.vars.iter().filter(|(name, _)| *name != "PWD") {
        all.retain(|(known, _)| known != name);
        all.push((name.clone(), value.clone()));
    }
    all
}

pub const ENV: Tool = Tool {
    name: "env",
    run: |call| Done::said(environment(call).iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>()),
    ..Tool::PLAIN
};

pub const PRINTENV: Tool = Tool {
    name: "printenv",
    run: |call| {
        let Some(name) = call.plain().next() else { return (ENV.run)(call) };
        match environment(call).into_iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => Done::said(format!("{value}\n")),
            None => Done { code: 1, ..Done::default() },
        }
    },
    ..Tool::PLAIN
};

pub const HOSTNAME: Tool = Tool {
    name: "hostname",
    run: |call| {
        let pod = call.room.pod.as_ref().map(|(pod, _)| pod.body::<Pod>());
        Done::said(match pod {
            Some(_) if call.has('f') => format!("{}\n", call.room.full_name()),
            Some(pod) if call.has('i') || call.has('I') => format!("{}\n", pod.status.pod_ip),
            _ => format!("{}\n", call.room.hostname()),
        })
    },
    ..Tool::PLAIN
};

pub const PS: Tool = Tool {
    name: "ps",
    run: |call| {
        let words = |field: &str| -> Vec<String> {
            call.room.spec()[field].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut first = [words("command"), words("args")].concat().join(" ");
        if first.is_empty() {
            let image = call.room.spec()["image"].as_str().unwrap_or("sh");
            first = image.rsplit('/').next().and_then(|name| name.split([':', '@']).next()).unwrap_or("sh").to_owned();
        }
        Done::said(format!(
            "PID   USER     TIME  COMMAND\n    1 root      0:00 {first}\n    7 root      0:00 sh\n   13 root      0:00 ps\n"
        ))
    },
    ..Tool::PLAIN
};

/// The user of the container's security context, root without one.
fn user(call: &Call<'_, '_, '_>) -> i64 {
    let of = |value: &Value| value["securityContext"]["runAsUser"].as_i64();
    let pod = call.room.pod.as_ref().and_then(|(pod, _)| of(&pod.body::<Pod>().spec.raw));
    of(call.room.spec()).or(pod).unwrap_or(0)
}

pub const ID: Tool = Tool {
    name: "id",
    run: |call| match user(call) {
        uid if call.has('u') => Done::said(format!("{uid}\n")),
        0 => Done::said("uid=0(root) gid=0(root) groups=0(root)\n"),
        uid => Done::said(format!("uid={uid} gid=0(root) groups=0(root)\n")),
    },
    ..Tool::PLAIN
};

pub const WHOAMI: Tool = Tool {
    name: "whoami",
    run: |call| match user(call) {
        0 => Done::said("root\n"),
        uid => Done::failed(format!("whoami: unknown uid {uid}\n"), 1),
    },
    ..Tool::PLAIN
};

pub const PWD: Tool = Tool { name: "pwd", run: |call| Done::said(format!("{}\n", call.room.absolute("."))), ..Tool::PLAIN };

pub const TEST: Tool = Tool { name: "test", run: |call| check(call, call.words), ..Tool::PLAIN };

pub const BRACKET: Tool = Tool {
    name: "[",
    run: |call| match call.words.split_last() {
        Some((end, words)) if end == "]" => check(call, words),
        _ => Done::failed("sh: [: missing ]\n", 2),
    },
    ..Tool::PLAIN
};

fn check(call: &Call<'_, '_, '_>, words: &[String]) -> Done {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (not, words) = match words[..] {
        ["!", ref rest @ ..] => (true, rest),
        _ => (false, &words[..]),
    };
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    let holds = match *words {
        [] => false,
        [text] => !text.is_empty(),
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        ["-f" | "-e" | "-s" | "-r", file] => call.room.read(file).is_some(),
        ["-d", folder] => !call.room.names(folder).is_empty(),
        [a, "=" | "==", b] => a == b,
        [a, "!=", b] => a != b,
        [a, "-eq", b] => number(a) == number(b),
        [a, "-ne", b] => number(a) != number(b),
        [a, "-lt", b] => number(a) < number(b),
        [a, "-le", b] => number(a) <= number(b),
        [a, "-gt", b] => number(a) > number(b),
        [a, "-ge", b] => number(a) >= number(b),
        _ => return Done::failed("sh: test: unknown operand\n", 2),
    };
    Done { code: i32::from(holds == not), ..Done::default() }
}
