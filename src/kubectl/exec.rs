//! `kubectl exec`: what a container's shell would answer. Containers do not run; a few commands are modelled: `hostname`,
//! `echo`, `cat`, `ls`, `env`, `nslookup`, `ping`, `curl` and `wget`, `touch`, `rm`, `mkdir`, in a small shell with
//! variables, `$(…)`, `;`, `&&`, `||` and redirections. Files on a volume are still there for the next Pod.

mod network;

use super::client::Client;
use super::parse::Args;
use super::targets;
use super::{Failure, Outcome, Reads, Verb};
use crate::api::pod::Pod;
use crate::api::selector::LabelSelector;
use crate::api::{Kind, Object};
use crate::engine::disk::{FilePlace, place};
use crate::engine::dns;
use serde_json::Value;
use std::rc::Rc;

const FLAGS: &str = "container/c= stdin/i tty/t quiet/q filename/f= pod-running-timeout=";
/// Nested `$(…)`.
const DEEPEST: usize = 8;

/// `kubectl exec`.
pub const VERB: Verb =
    Verb { name: "exec", aliases: &[], flags: FLAGS, reads: Reads::No, run: Some(run), help: "Execute a command in a container" };

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    // Flags of the command in the container are not kubectl's.
    let split = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let args = Args::parse("exec", FLAGS, &words[..split])?;
    client.use_flags(&args)?;
    let Some((target, rest)) = args.words.split_first() else {
        return Err(Failure::error("pod, type/name or --filename must be specified"));
    };
    let command: Vec<String> = rest.iter().chain(words.get(split + 1..).unwrap_or_default()).cloned().collect();
    if command.is_empty() {
        return Err(Failure::error("you must specify at least one command for the container"));
    }
    let pod = find(client, target)?;
    let body: &Pod = pod.body();
    let name = pod.meta.name.as_str();
    if body.is_terminal() {
        return Err(Failure::error(format!("cannot exec into a container in a completed pod; current phase is {}", body.status.phase)));
    }
    if body.node_name.is_empty() {
        return Err(Failure::plain(format!("Error from server (BadRequest): pod {name} does not have a host assigned")));
    }
    let names: Vec<&str> = body.spec.containers.iter().map(|c| c.name.as_str()).collect();
    let container = match args.get("container") {
        Some(wanted) => names
            .iter()
            .position(|known| *known == wanted)
            .ok_or_else(|| Failure::plain(format!("Error from server (BadRequest): container {wanted} is not valid for pod {name}")))?,
        None => {
            if names.len() > 1 {
                client.warn(format!("Defaulted container {:?} out of: {}", names[0], names.join(", ")));
            }
            0
        }
    };
    let running =
        body.status.container_statuses.iter().any(|c| names.get(container) == Some(&c.name.as_str()) && c.state.running.is_some());
    if !running {
        let of = names.get(container).copied().unwrap_or("");
        return Err(Failure::error(format!("Internal error occurred: unable to upgrade connection: container not found ({of:?})")));
    }
    finish(client, &pod, container, &command)
}

/// Runs a command in a container and ends as it ends.
pub fn finish(client: &mut Client<'_>, pod: &Rc<Object>, container: usize, command: &[String]) -> Result<Outcome, Failure> {
    let mut shell = Shell { client, pod: pod.clone(), container, depth: 0 };
    let done = shell.call(command);
    client.out.push_str(&done.out);
    client.err.push_str(&done.err);
    match done.code {
        0 => Ok(Outcome::Done),
        code => Err(Failure::exit(format!("command terminated with exit code {code}\n"), code)),
    }
}

/// The Pod that a word names: itself, or the first of a workload.
pub fn find(client: &Client<'_>, target: &str) -> Result<Rc<Object>, Failure> {
    let (kind, name) = match target.split_once('/') {
        Some((kind, name)) => (targets::kind(kind)?, name),
        None => (Kind::Pod, target),
    };
    let key = client.key(kind, name);
    client.may_read("get", &key, "")?;
    let object = client.sim().get(&key).cloned().ok_or_else(|| super::client::not_found(kind, name))?;
    if kind == Kind::Pod {
        return Ok(object);
    }
    let selector = LabelSelector::of_pods(&object.to_value()["spec"]["selector"]);
    let matches = |pod: &Object| pod.meta.namespace == object.meta.namespace && selector.matches(&pod.meta.labels);
    let pods = || client.sim().list(Kind::Pod).filter(|pod| !selector.is_empty() && matches(pod));
    let best = pods().find(|pod| pod.pod().is_some_and(Pod::is_ready)).or_else(|| pods().next());
    best.cloned().ok_or_else(|| Failure::error(format!("unable to get pods for {target}: no pods found")))
}

/// What a command printed, and its exit code.
#[derive(Default)]
struct Done {
    out: String,
    err: String,
    code: i32,
}

impl Done {
    fn said(out: impl Into<String>) -> Done {
        Done { out: out.into(), ..Done::default() }
    }
    fn failed(err: impl Into<String>, code: i32) -> Done {
        Done { err: err.into(), code, ..Done::default() }
    }
}

struct Shell<'a, 'b> {
    client: &'a mut Client<'b>,
    pod: Rc<Object>,
    container: usize,
    depth: usize,
}

impl Shell<'_, '_> {
    fn container(&self) -> &Value {
        &self.pod.body::<Pod>().spec.raw["containers"][self.container]
    }

    fn hostname(&self) -> String {
        let spec = &self.pod.body::<Pod>().spec;
        if spec.host_network {
            return self.pod.body::<Pod>().node_name.to_string();
        }
        if spec.hostname.is_empty() { self.pod.meta.name.to_string() } else { spec.hostname.to_string() }
    }

    /// The environment, in the order of the spec.
    fn env(&self) -> Vec<(String, String)> {
        let mut env = vec![("PATH".to_string(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_string())];
        env.push(("HOSTNAME".to_string(), self.hostname()));
        let body: &Pod = self.pod.body();
        for entry in self.container()["env"].as_array().into_iter().flatten() {
            let name = entry["name"].as_str().unwrap_or("").to_string();
            let from = &entry["valueFrom"];
            let value = match from["fieldRef"]["fieldPath"].as_str() {
                Some("metadata.name") => self.pod.meta.name.to_string(),
                Some("metadata.namespace") => self.pod.meta.namespace.to_string(),
                Some("metadata.uid") => self.pod.meta.uid.to_string(),
                Some("spec.nodeName") => body.node_name.to_string(),
                Some("status.podIP") => body.status.pod_ip.to_string(),
                Some("status.hostIP") => body.status.host_ip.to_string(),
                Some(_) => String::new(),
                None => {
                    let of = |field: &str, kind: Kind| {
                        let (name, key) = (from[field]["name"].as_str()?, from[field]["key"].as_str()?);
                        self.projected(kind, name).into_iter().find(|(known, _)| known == key).map(|(_, value)| value)
                    };
                    let found = of("configMapKeyRef", Kind::ConfigMap).or_else(|| of("secretKeyRef", Kind::Secret));
                    found.unwrap_or_else(|| entry["value"].as_str().unwrap_or("").to_string())
                }
            };
            env.push((name, value));
        }
        env
    }

    /// Keys and values of a ConfigMap or Secret.
    fn projected(&self, kind: Kind, name: &str) -> Vec<(String, String)> {
        let Some(object) = self.client.find(&crate::api::ObjectRef::new(kind, &self.pod.meta.namespace, name)) else { return Vec::new() };
        let mut all = Vec::new();
        for (key, value) in object["data"].as_object().into_iter().flatten() {
            let text = value.as_str().unwrap_or("");
            all.push((key.clone(), if kind == Kind::Secret { crate::api::base64::decoded(text) } else { text.to_string() }));
        }
        all
    }

    fn read(&self, path: &str) -> Option<String> {
        match place(self.client.sim().server(), &self.pod, self.container, path) {
            FilePlace::Disk { disk, path } => self.client.sim().disks.read(&disk, &path).map(|text| text.to_string()),
            FilePlace::Projected { kind, name, path } => {
                self.projected(kind, &name).into_iter().find(|(key, _)| *key == path).map(|(_, text)| text)
            }
        }
        .or_else(|| match path {
            "/etc/hostname" => Some(format!("{}\n", self.hostname())),
            "/etc/resolv.conf" => {
                let ns = &self.pod.meta.namespace;
                Some(format!("search {ns}.{z} {z} cluster.local\nnameserver {}\noptions ndots:5\n", dns::SERVER, z = dns::ZONE))
            }
            _ => None,
        })
    }

    fn write(&mut self, path: &str, text: &str) -> Result<(), String> {
        match place(self.client.sim().server(), &self.pod, self.container, path) {
            FilePlace::Projected { .. } => Err(format!("sh: can't create {path}: Read-only file system\n")),
            FilePlace::Disk { disk, path: at } => {
                if self.client.disks().write(&disk, &at, text) {
                    Ok(())
                } else {
                    Err(format!("sh: write error: {path}: No space left on device\n"))
                }
            }
        }
    }

    /// Runs a script: commands joined by `;`, `&&`, `||` and line breaks.
    fn script(&mut self, text: &str) -> Done {
        if self.depth >= DEEPEST {
            return Done::failed("sh: too deeply nested\n", 2);
        }
        self.depth += 1;
        let mut all = Done::default();
        let mut wanted = true;
        for (part, joint) in parts(text) {
            if wanted && !part.trim().is_empty() {
                let done = self.simple(part.trim());
                all.out.push_str(&done.out);
                all.err.push_str(&done.err);
                all.code = done.code;
            }
            wanted = match joint {
                "&&" => all.code == 0,
                "||" => all.code != 0,
                _ => true,
            };
        }
        self.depth -= 1;
        all
    }

    /// One command with its redirection.
    fn simple(&mut self, text: &str) -> Done {
        let mut words = Vec::new();
        let mut file: Option<(String, bool)> = None;
        for word in self.words(text) {
            match (&mut file, word) {
                (Some((path, _)), Word::Text(text)) if path.is_empty() => *path = text,
                (_, Word::Text(text)) => words.push(text),
                (_, Word::To { append }) => file = Some((String::new(), append)),
            }
        }
        let mut done = self.call(&words);
        if let Some((path, append)) = file {
            let path = absolute(&path);
            let old = if append { self.read(&path).unwrap_or_default() } else { String::new() };
            if let Err(error) = self.write(&path, &format!("{old}{}", done.out)) {
                return Done::failed(error, 1);
            }
            done.out.clear();
        }
        done
    }

    /// Splits a command into words, with quotes, variables and `$(…)` put in.
    fn words(&mut self, text: &str) -> Vec<Word> {
        let mut out = Vec::new();
        let (mut word, mut begun) = (String::new(), false);
        let chars: Vec<char> = text.chars().collect();
        let (mut i, mut quote) = (0, '\0');
        while i < chars.len() {
            let c = chars[i];
            match c {
                '\'' | '"' if quote == '\0' => (quote, begun) = (c, true),
                _ if c == quote => quote = '\0',
                '\\' if quote != '\'' && i + 1 < chars.len() => {
                    i += 1;
                    word.push(chars[i]);
                    begun = true;
                }
                '$' if quote != '\'' => {
                    let (value, next) = self.expand(&chars, i + 1);
                    word.push_str(&value);
                    begun = true;
                    i = next;
                    continue;
                }
                '>' if quote == '\0' => {
                    if begun {
                        out.push(Word::Text(std::mem::take(&mut word)));
                        begun = false;
                    }
                    let append = chars.get(i + 1) == Some(&'>');
                    i += usize::from(append);
                    out.push(Word::To { append });
                }
                c if c.is_whitespace() && quote == '\0' => {
                    if begun {
                        out.push(Word::Text(std::mem::take(&mut word)));
                        begun = false;
                    }
                }
                c => {
                    word.push(c);
                    begun = true;
                }
            }
            i += 1;
        }
        if begun {
            out.push(Word::Text(word));
        }
        out
    }

    /// The value of what follows a `$`, and where it ends.
    fn expand(&mut self, chars: &[char], at: usize) -> (String, usize) {
        match chars.get(at) {
            Some('(') => {
                let mut depth = 0;
                let end = (at..chars.len()).find(|i| {
                    depth += match chars[*i] {
                        '(' => 1,
                        ')' => -1,
                        _ => 0,
                    };
                    depth == 0
                });
                let end = end.unwrap_or(chars.len());
                let inner: String = chars.get(at + 1..end).unwrap_or_default().iter().collect();
                (self.script(&inner).out.trim_end_matches('\n').to_string(), (end + 1).min(chars.len()))
            }
            Some(c) => {
                let braced = *c == '{';
                let start = at + usize::from(braced);
                let length = chars[start..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
                let name: String = chars[start..start + length].iter().collect();
                let value = self.env().into_iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
                (
                    if name.is_empty() { "$".into() } else { value.unwrap_or_default() },
                    (start + length + usize::from(braced)).min(chars.len()),
                )
            }
            None => ("$".into(), at),
        }
    }

    /// Runs a command given as words.
    fn call(&mut self, words: &[String]) -> Done {
        let Some((name, rest)) = words.split_first() else { return Done::default() };
        let plain: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
        let first = plain.first().map(|word| word.as_str());
        match name.rsplit('/').next().unwrap_or(name) {
            "sh" | "bash" | "ash" => match rest.iter().position(|word| word == "-c").and_then(|at| rest.get(at + 1)) {
                Some(script) => self.script(script),
                None => Done::failed("an interactive shell is not simulated; give a command, such as sh -c 'hostname'\n", 1),
            },
            "hostname" if rest.iter().any(|word| word == "-f") => Done::said(format!("{}\n", self.full_name())),
            "hostname" if rest.iter().any(|word| word == "-i") => Done::said(format!("{}\n", self.pod.body::<Pod>().status.pod_ip)),
            "hostname" => Done::said(format!("{}\n", self.hostname())),
            "echo" => {
                let quiet = rest.first().is_some_and(|word| word == "-n");
                let text = rest[usize::from(quiet)..].join(" ");
                Done::said(if quiet { text } else { format!("{text}\n") })
            }
            "printenv" | "env" if first.is_none() => {
                Done::said(self.env().iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>())
            }
            "printenv" => match self.env().into_iter().rev().find(|(name, _)| Some(name.as_str()) == first) {
                Some((_, value)) => Done::said(format!("{value}\n")),
                None => Done { code: 1, ..Done::default() },
            },
            "cat" => {
                let mut all = Done::default();
                for path in plain {
                    match self.read(&absolute(path)) {
                        Some(text) => all.out.push_str(&text),
                        None => (all.err, all.code) = (format!("{}cat: can't open '{path}': No such file or directory\n", all.err), 1),
                    }
                }
                all
            }
            "ls" => self.ls(&absolute(first.unwrap_or("/"))),
            "touch" | "mkdir" => {
                for path in plain.iter().filter(|_| name.ends_with("touch")) {
                    let path = absolute(path);
                    let old = self.read(&path).unwrap_or_default();
                    if let Err(error) = self.write(&path, &old) {
                        return Done::failed(error, 1);
                    }
                }
                Done::default()
            }
            "rm" => {
                let mut code = 0;
                for path in plain {
                    if let FilePlace::Disk { disk, path } = place(self.client.sim().server(), &self.pod, self.container, &absolute(path)) {
                        code = i32::from(!self.client.disks().remove(&disk, &path) && !rest.iter().any(|word| word.contains('f')));
                    }
                }
                Done { code, ..Done::default() }
            }
            "nslookup" => self.nslookup(first.unwrap_or("")),
            "ping" => self.ping(first.unwrap_or("")),
            "curl" | "wget" => self.fetch(name, plain.last().map_or("", |word| word.as_str())),
            "true" | "sleep" | ":" => Done::default(),
            "false" => Done { code: 1, ..Done::default() },
            "whoami" => Done::said("root\n"),
            "pwd" => Done::said("/\n"),
            "date" => Done::said(format!("{}\n", crate::api::Timestamp(self.client.wall()).rfc3339())),
            other => Done::failed(format!("sh: {other}: not found\n"), 127),
        }
    }
}

enum Word {
    Text(String),
    To { append: bool },
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') { path.to_string() } else { format!("/{}", path.trim_start_matches("./")) }
}

/// The commands of a script, each with what joins it to the next.
fn parts(text: &str) -> Vec<(&str, &'static str)> {
    let mut out = Vec::new();
    let (mut start, mut quote, mut depth) = (0, '\0', 0_usize);
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i] as char;
        match c {
            '\\' => i += 1,
            '\'' | '"' if quote == '\0' => quote = c,
            _ if c == quote => quote = '\0',
            '(' if quote != '\'' => depth += 1,
            ')' if quote != '\'' => depth = depth.saturating_sub(1),
            _ if quote != '\0' || depth > 0 => {}
            ';' | '\n' => {
                out.push((&text[start..i], ";"));
                start = i + 1;
            }
            '&' | '|' if bytes.get(i + 1) == Some(&bytes[i]) => {
                out.push((&text[start..i], if c == '&' { "&&" } else { "||" }));
                start = i + 2;
                i += 1;
            }
            _ => {}
        }
        i += 1;
    }
    out.push((&text[start.min(text.len())..], ";"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_split_where_the_shell_would() {
        assert_eq!(parts("a; b && c 'x;y' || $(d; e)"), [("a", ";"), (" b ", "&&"), (" c 'x;y' ", "||"), (" $(d; e)", ";")]);
    }
}
