//! Description of a Pod template: containers, mounts, volumes, selectors, tolerations. Pods share these sections.

use super::{pairs, show};
use crate::printers::{self, or_none};
use serde_json::Value;

/// Formats a template with raw tabs, as `rollout history --revision` prints it.
pub fn describe(template: &Value) -> String {
    let mut text = String::from("Pod Template:\n");
    let empty = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
    let metadata = &template["metadata"];
    text.push_str(&indent(&pairs("Labels", &metadata["labels"], '='), 2));
    if !empty(&metadata["annotations"]) {
        text.push_str(&indent(
            &pairs("Annotations", &metadata["annotations"], ':'),
            2,
        ));
    }
    let spec = &template["spec"];
    if let Some(account) = spec["serviceAccountName"]
        .as_str()
        .filter(|name| !name.is_empty())
    {
        text.push_str(&format!("  Service Account:\t{account}\n"));
    }
    for (title, field) in [
        ("Init Containers", "initContainers"),
        ("Containers", "containers"),
    ] {
        let list = spec[field].as_array().map_or(&[][..], Vec::as_slice);
        if !list.is_empty() {
            text.push_str(&format!("  {title}:\n"));
            list.iter()
                .for_each(|c| text.push_str(&container(c, None, None, "   ")));
        }
    }
    text.push_str(&volumes(spec, "  "));
    if let Some(class) = spec["priorityClassName"].as_str() {
        text.push_str(&format!("  Priority Class Name:\t{class}\n"));
    }
    text.push_str(&spread(spec, "  "));
    text.push_str(&placement(spec, "  "));
    text
}

/// Indents lines by blanks, except for those that begin with a tab, which are aligned later.
fn indent(text: &str, blanks: usize) -> String {
    let lines = text.lines().map(|line| {
        if line.starts_with('\t') {
            line.to_owned()
        } else {
            format!("{}{line}", " ".repeat(blanks))
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// Formats a container; Pod and status are given for a container of a Pod.
pub fn container(
    container: &Value,
    pod: Option<&Value>,
    status: Option<&Value>,
    lead: &str,
) -> String {
    let mut text = format!("{lead}{}:\n", container["name"].as_str().unwrap_or(""));
    // Fields of a container have the same indent in a template and in a Pod.
    let inner = "    ".to_owned();
    let mut field = |name: &str, value: &str| text.push_str(&format!("{inner}{name}:\t{value}\n"));
    if let Some(status) = status {
        field("Container ID", status["containerID"].as_str().unwrap_or(""));
    }
    field("Image", container["image"].as_str().unwrap_or(""));
    if let Some(status) = status {
        field("Image ID", status["imageID"].as_str().unwrap_or(""));
    }
    let (ports, host) = ports(container);
    let many = container["ports"].as_array().map_or(0, Vec::len) > 1;
    field(if many { "Ports" } else { "Port" }, &ports);
    field(if many { "Host Ports" } else { "Host Port" }, &host);
    for (title, name) in [("Command", "command"), ("Args", "args")] {
        let words: Vec<&str> = container[name]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !words.is_empty() {
            text.push_str(&format!("{inner}{title}:\n"));
            words
                .iter()
                .for_each(|word| text.push_str(&format!("{inner}  {word}\n")));
        }
    }
    if let Some(status) = status {
        text.push_str(&state(status, &inner));
    }
    for (title, name) in [("Limits", "limits"), ("Requests", "requests")] {
        let amounts = container["resources"][name]
            .as_object()
            .filter(|map| !map.is_empty());
        if let Some(amounts) = amounts {
            text.push_str(&format!("{inner}{title}:\n"));
            amounts.iter().for_each(|(name, amount)| {
                text.push_str(&format!("{inner}  {name}:\t{}\n", show(amount)))
            });
        }
    }
    for (title, name) in [
        ("Liveness", "livenessProbe"),
        ("Readiness", "readinessProbe"),
        ("Startup", "startupProbe"),
    ] {
        if container[name].is_object() {
            text.push_str(&format!("{inner}{title}:\t{}\n", probe(&container[name])));
        }
    }
    text.push_str(&environment(container, pod, &inner));
    text.push_str(&mounts(container, &inner));
    text
}

fn ports(container: &Value) -> (String, String) {
    let one = |port: &Value, field: &str| {
        let name = port["name"]
            .as_str()
            .map_or(String::new(), |name| format!(" ({name})"));
        format!(
            "{}/{}{name}",
            port[field].as_i64().unwrap_or(0),
            port["protocol"].as_str().unwrap_or("TCP")
        )
    };
    let list = container["ports"].as_array().map_or(&[][..], Vec::as_slice);
    let join = |field: &str| {
        or_none(
            &list
                .iter()
                .map(|port| one(port, field))
                .collect::<Vec<_>>()
                .join(", "),
        )
    };
    (join("containerPort"), join("hostPort"))
}

fn state(status: &Value, inner: &str) -> String {
    let mut text = String::new();
    for (title, name) in [("State", "state"), ("Last State", "lastState")] {
        let state = &status[name];
        let part = ["running", "waiting", "terminated"]
            .into_iter()
            .find(|part| state[*part].is_object());
        let Some(part) = part else {
            if name == "state" {
                text.push_str(&format!("{inner}State:\tWaiting\n"));
            }
            continue;
        };
        let word = format!("{}{}", part[..1].to_ascii_uppercase(), &part[1..]);
        text.push_str(&format!("{inner}{title}:\t{word}\n"));
        let detail = &state[part];
        let mut field =
            |name: &str, value: String| text.push_str(&format!("{inner}  {name}:\t{value}\n"));
        for (title, key) in [("Reason", "reason"), ("Message", "message")] {
            if key == "message" && part != "terminated" {
                continue;
            }
            if let Some(value) = detail[key].as_str().filter(|value| !value.is_empty()) {
                field(title, value.to_owned());
            }
        }
        if part == "terminated" {
            field(
                "Exit Code",
                detail["exitCode"].as_i64().unwrap_or(0).to_string(),
            );
        }
        for (title, key) in [("Started", "startedAt"), ("Finished", "finishedAt")] {
            if let Some(value) = detail[key].as_str() {
                field(title, printers::age::long(value));
            }
        }
    }
    let ready = if status["ready"] == true {
        "True"
    } else {
        "False"
    };
    text.push_str(&format!(
        "{inner}Ready:\t{ready}\n{inner}Restart Count:\t{}\n",
        status["restartCount"].as_i64().unwrap_or(0)
    ));
    text
}

fn probe(probe: &Value) -> String {
    let number = |name: &str| probe[name].as_i64().unwrap_or(0);
    let tail = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        number("initialDelaySeconds"),
        number("timeoutSeconds"),
        number("periodSeconds"),
        number("successThreshold"),
        number("failureThreshold")
    );
    if let Some(command) = probe["exec"]["command"].as_array() {
        let words: Vec<String> = command.iter().map(show).collect();
        return format!("exec [{}] {tail}", words.join(" "));
    }
    let get = &probe["httpGet"];
    if get.is_object() {
        let scheme = get["scheme"]
            .as_str()
            .unwrap_or("HTTP")
            .to_ascii_lowercase();
        return format!(
            "http-get {scheme}://{}:{}{} {tail}",
            get["host"].as_str().unwrap_or(""),
            show(&get["port"]),
            get["path"].as_str().unwrap_or("")
        );
    }
    if probe["tcpSocket"].is_object() {
        return format!(
            "tcp-socket {}:{} {tail}",
            probe["tcpSocket"]["host"].as_str().unwrap_or(""),
            show(&probe["tcpSocket"]["port"])
        );
    }
    format!("grpc <pod>:{} {tail}", show(&probe["grpc"]["port"]))
}

/// Returns the value of a variable's field reference. Models `ExtractFieldPathAsString` of `kubectl/pkg/util/fieldpath`.
fn field(pod: &Value, path: &str) -> String {
    let metadata = &pod["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let path = path.strip_prefix("metadata.").unwrap_or("");
    // kubectl does not support single labels or annotations here.
    match path {
        "name" | "namespace" | "uid" => text(&metadata[path]),
        "labels" | "annotations" => {
            let pairs = metadata[path].as_object().into_iter().flatten();
            pairs
                .map(|(key, value)| format!("{key}={value}"))
                .collect::<Vec<_>>()
                .join("\n")
        }
        _ => String::new(),
    }
}

fn environment(container: &Value, pod: Option<&Value>, inner: &str) -> String {
    let optional = |source: &Value| source["optional"] == true;
    let mut text = String::new();
    let whole = container["envFrom"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if !whole.is_empty() {
        text.push_str(&format!("{inner}Environment Variables from:\n"));
    }
    for source in whole {
        let (kind, from) = if source["configMapRef"].is_object() {
            ("ConfigMap", &source["configMapRef"])
        } else {
            ("Secret", &source["secretRef"])
        };
        let prefix = source["prefix"]
            .as_str()
            .filter(|prefix| !prefix.is_empty());
        let prefix = prefix.map_or(String::new(), |prefix| format!(" with prefix '{prefix}'"));
        text.push_str(&format!(
            "{inner}  {}\t{kind}{prefix}\tOptional: {}\n",
            show(&from["name"]),
            optional(from)
        ));
    }
    let list = container["env"].as_array().map_or(&[][..], Vec::as_slice);
    text.push_str(&format!(
        "{inner}Environment:{}\n",
        if list.is_empty() { "\t<none>" } else { "" }
    ));
    for variable in list {
        let from = &variable["valueFrom"];
        let value = if let Some(key) = from["configMapKeyRef"]["key"].as_str() {
            let of = &from["configMapKeyRef"];
            format!(
                "<set to the key '{key}' of config map '{}'>\tOptional: {}",
                show(&of["name"]),
                optional(of)
            )
        } else if let Some(key) = from["secretKeyRef"]["key"].as_str() {
            let of = &from["secretKeyRef"];
            format!(
                "<set to the key '{key}' in secret '{}'>\tOptional: {}",
                show(&of["name"]),
                optional(of)
            )
        } else if let Some(path) = from["fieldRef"]["fieldPath"].as_str() {
            let value = pod.map_or_else(String::new, |pod| field(pod, path));
            format!(
                "{value} ({}:{path})",
                from["fieldRef"]["apiVersion"].as_str().unwrap_or("v1")
            )
        } else if let Some(resource) = from["resourceFieldRef"]["resource"].as_str() {
            let (kind, name) = resource.split_once('.').unwrap_or(("", resource));
            let amount = container["resources"][kind][name].as_str().unwrap_or("0");
            let amount = if amount == "0" && kind == "limits" {
                "node allocatable"
            } else {
                amount
            };
            format!("{amount} ({resource})")
        } else {
            variable["value"]
                .as_str()
                .unwrap_or("")
                .replace('\n', &format!("\n{inner}  \t"))
        };
        text.push_str(&format!(
            "{inner}  {}:\t{value}\n",
            variable["name"].as_str().unwrap_or("")
        ));
    }
    text
}

fn mounts(container: &Value, inner: &str) -> String {
    let mut list: Vec<&Value> = container["volumeMounts"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    if list.is_empty() {
        return format!("{inner}Mounts:\t<none>\n");
    }
    list.sort_by_key(|mount| mount["mountPath"].as_str().unwrap_or(""));
    let mut text = format!("{inner}Mounts:\n");
    for mount in list {
        let mut how = if mount["readOnly"] == true {
            "ro"
        } else {
            "rw"
        }
        .to_owned();
        if let Some(path) = mount["subPath"].as_str() {
            how.push_str(&format!(",path=\"{path}\""));
        }
        text.push_str(&format!(
            "{inner}  {} from {} ({how})\n",
            show(&mount["mountPath"]),
            show(&mount["name"])
        ));
    }
    text
}

/// Formats the volumes of a Pod spec.
pub fn volumes(spec: &Value, lead: &str) -> String {
    let list = spec["volumes"].as_array().map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        return format!("{lead}Volumes:\t<none>\n");
    }
    let mut text = format!("{lead}Volumes:\n");
    for volume in list {
        // In a template names have one more blank of indent.
        let name = volume["name"].as_str().unwrap_or("");
        text.push_str(&format!(
            "  {}{name}:\n",
            if lead.is_empty() { "" } else { " " }
        ));
        text.push_str(&source(volume, "    "));
    }
    text
}

/// Formats the source of a volume.
pub fn source(volume: &Value, lead: &str) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: String| text.push_str(&format!("{lead}{name}:\t{value}\n"));
    let of = |source: &str, name: &str| volume[source][name].as_str().unwrap_or("").to_owned();
    let flag = |source: &str, name: &str| (volume[source][name] == true).to_string();
    let has = |source: &str| volume[source].is_object();
    if has("hostPath") {
        field("Type", "HostPath (bare host directory volume)".to_owned());
        field("Path", of("hostPath", "path"));
        field("HostPathType", of("hostPath", "type"));
    } else if has("emptyDir") {
        field(
            "Type",
            "EmptyDir (a temporary directory that shares a pod's lifetime)".to_owned(),
        );
        field("Medium", of("emptyDir", "medium"));
        field(
            "SizeLimit",
            volume["emptyDir"]["sizeLimit"]
                .as_str()
                .unwrap_or("<unset>")
                .to_owned(),
        );
    } else if has("persistentVolumeClaim") {
        field(
            "Type",
            "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"
                .to_owned(),
        );
        field("ClaimName", of("persistentVolumeClaim", "claimName"));
        field("ReadOnly", flag("persistentVolumeClaim", "readOnly"));
    } else if has("configMap") {
        field(
            "Type",
            "ConfigMap (a volume populated by a ConfigMap)".to_owned(),
        );
        field("Name", of("configMap", "name"));
        field("Optional", flag("configMap", "optional"));
    } else if has("secret") {
        field("Type", "Secret (a volume populated by a Secret)".to_owned());
        field("SecretName", of("secret", "secretName"));
        field("Optional", flag("secret", "optional"));
    } else if has("local") {
        field(
            "Type",
            "LocalVolume (a persistent volume backed by local storage on a node)".to_owned(),
        );
        field("Path", of("local", "path"));
    } else if has("nfs") {
        field(
            "Type",
            "NFS (an NFS mount that lasts the lifetime of a pod)".to_owned(),
        );
        field("Server", of("nfs", "server"));
        field("Path", of("nfs", "path"));
        field("ReadOnly", flag("nfs", "readOnly"));
    } else if has("projected") {
        field(
            "Type",
            "Projected (a volume that contains injected data from multiple sources)".to_owned(),
        );
        for part in volume["projected"]["sources"]
            .as_array()
            .into_iter()
            .flatten()
        {
            if part["serviceAccountToken"].is_object() {
                field(
                    "TokenExpirationSeconds",
                    show(&part["serviceAccountToken"]["expirationSeconds"]),
                );
            } else if part["configMap"].is_object() {
                field("ConfigMapName", show(&part["configMap"]["name"]));
                field(
                    "Optional",
                    (part["configMap"]["optional"] == true).to_string(),
                );
            } else if part["secret"].is_object() {
                field("SecretName", show(&part["secret"]["name"]));
            } else if part["downwardAPI"].is_object() {
                field("DownwardAPI", "true".to_owned());
            }
        }
    } else {
        let kind = volume
            .as_object()
            .and_then(|map| map.keys().find(|key| *key != "name"))
            .cloned();
        field("Type", kind.unwrap_or_else(|| "<unknown>".to_owned()));
    }
    text
}

/// Formats topology spread constraints, if there are any.
pub fn spread(spec: &Value, lead: &str) -> String {
    let list = spec["topologySpreadConstraints"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut lines: Vec<String> = list
        .iter()
        .map(|c| {
            let selector = if c["labelSelector"].is_null() {
                String::new()
            } else {
                format!(" for selector {}", printers::selector(&c["labelSelector"]))
            };
            format!(
                "{}:{} when max skew {} is exceeded{selector}",
                show(&c["topologyKey"]),
                show(&c["whenUnsatisfiable"]),
                show(&c["maxSkew"])
            )
        })
        .collect();
    lines.sort();
    if lines.is_empty() {
        String::new()
    } else {
        format!(
            "{lead}Topology Spread Constraints:\t{}\n",
            lines.join("\n\t")
        )
    }
}

/// Formats node selector and tolerations.
pub fn placement(spec: &Value, lead: &str) -> String {
    let selector = indent(
        &pairs("Node-Selectors", &spec["nodeSelector"], '='),
        lead.len(),
    );
    let mut all: Vec<String> = spec["tolerations"]
        .as_array()
        .into_iter()
        .flatten()
        .map(toleration)
        .collect();
    all.sort();
    let all = if all.is_empty() {
        "<none>".to_owned()
    } else {
        all.join("\n\t")
    };
    format!("{selector}{lead}Tolerations:\t{all}\n")
}

fn toleration(toleration: &Value) -> String {
    let text = |name: &str| toleration[name].as_str().unwrap_or("");
    let mut line = text("key").to_owned();
    if !text("value").is_empty() {
        line.push_str(&format!("={}", text("value")));
    }
    if !text("effect").is_empty() {
        line.push_str(&format!(":{}", text("effect")));
    }
    if text("operator") == "Exists" && text("value").is_empty() {
        if text("key").is_empty() && text("effect").is_empty() {
            line.push_str("op=Exists");
        } else {
            line.push_str(" op=Exists");
        }
    }
    if let Some(seconds) = toleration["tolerationSeconds"].as_i64() {
        line.push_str(&format!(" for {seconds}s"));
    }
    line
}
