//! `create configmap` and `create secret`: keys from arguments and files.

use super::generator::{Generator, list, object};
use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use k8s_model::base64;
use serde_json::{Map, Value};

pub const CONFIG_MAP: Generator = Generator {
    name: "configmap",
    alias: "cm",
    flags: "from-literal= from-file= from-env-file= append-hash",
    fails: "failed to create configmap:",
    make: config_map,
};

pub const SECRET: Generator = Generator {
    name: "secret generic",
    alias: "",
    flags: "from-literal= from-file= from-env-file= type= append-hash",
    fails: "failed to create secret",
    make: secret,
};

pub const REGISTRY: Generator = Generator {
    name: "secret docker-registry",
    alias: "",
    flags: "docker-username= docker-password= docker-email= docker-server= from-file= append-hash",
    fails: "failed to create secret",
    make: registry,
};

pub const TLS: Generator = Generator {
    name: "secret tls",
    alias: "",
    flags: "cert= key= append-hash",
    fails: "failed to create secret",
    make: tls,
};

/// Collects the keys given by flags, with their texts.
fn sources(
    client: &Client<'_>,
    args: &Args,
    add: &mut dyn FnMut(&str, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let missing =
        |path: &str| Failure::error(format!("error reading {path}: no such file or directory"));
    if args.get("from-env-file").is_some()
        && (args.get("from-file").is_some() || args.get("from-literal").is_some())
    {
        return Err(Failure::error(
            "from-env-file cannot be combined with from-file or from-literal",
        ));
    }
    for source in list(args, "from-file") {
        let (key, path) = source
            .split_once('=')
            .unwrap_or((source.rsplit('/').next().unwrap_or(source), source));
        if let Some(text) = client.file(path) {
            add(key, &text)?;
            continue;
        }
        // A folder contributes each of its own files.
        let files = client.files(path).ok_or_else(|| missing(path))?;
        if source.contains('=') {
            return Err(Failure::error(
                "cannot give a key name for a directory path",
            ));
        }
        for name in files.iter().filter(|name| !name.contains('/')) {
            let path = format!("{path}/{name}");
            add(name, &client.file(&path).ok_or_else(|| missing(&path))?)?;
        }
    }
    for source in args.all("from-literal") {
        let (key, value) = source
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| {
                Failure::error(format!(
                    "invalid literal source {source}, expected key=value"
                ))
            })?;
        add(key, value)?;
    }
    for path in list(args, "from-env-file") {
        let text = client.file(path).ok_or_else(|| missing(path))?;
        for line in text
            .lines()
            .map(str::trim_start)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            add(key, value)?;
        }
    }
    Ok(())
}

/// Returns true for a valid key of a ConfigMap or Secret.
fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 253
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && !key.starts_with("..")
        && key != "."
}

const KEY_RULE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', \
    regex used for validation is '[-._a-zA-Z0-9]+')";

fn config_map(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let mut data = Map::new();
    sources(client, args, &mut |key, text| {
        if !is_key(key) {
            return Err(Failure::error(format!(
                "{key:?} is not a valid key name for a ConfigMap: {KEY_RULE}"
            )));
        }
        if data.insert(key.to_owned(), text.into()).is_some() {
            let already = format!(
                "cannot add key {key:?}, another key by that name already exists in Data for ConfigMap {name:?}"
            );
            return Err(Failure::error(already));
        }
        Ok(())
    })?;
    let mut map = object("v1", "ConfigMap", name);
    map["data"] = if data.is_empty() {
        Value::Null
    } else {
        data.into()
    };
    Ok(map)
}

fn new_secret(name: &str, kind: Option<&str>, data: Map<String, Value>) -> Value {
    let mut secret = object("v1", "Secret", name);
    secret["data"] = if data.is_empty() {
        Value::Null
    } else {
        data.into()
    };
    secret["type"] = kind.map_or(Value::Null, Value::from);
    secret
}

fn secret_keys(client: &Client<'_>, args: &Args) -> Result<Map<String, Value>, Failure> {
    let mut data = Map::new();
    sources(client, args, &mut |key, text| {
        if !is_key(key) {
            return Err(Failure::error(format!(
                "{key:?} is not valid key name for a Secret {KEY_RULE}"
            )));
        }
        if data
            .insert(key.to_owned(), base64::encoded(text.as_bytes()).into())
            .is_some()
        {
            return Err(Failure::error(format!(
                "cannot add key {key}, another key by that name already exists"
            )));
        }
        Ok(())
    })?;
    Ok(data)
}

fn secret(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    Ok(new_secret(
        name,
        args.get("type").filter(|kind| !kind.is_empty()),
        secret_keys(client, args)?,
    ))
}

fn registry(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    const TYPE: Option<&str> = Some("kubernetes.io/dockerconfigjson");
    if args.get("from-file").is_some() {
        return Ok(new_secret(name, TYPE, secret_keys(client, args)?));
    }
    let flag = |name: &str| args.get(name).filter(|text| !text.is_empty());
    let server = args
        .get("docker-server")
        .unwrap_or("https://index.docker.io/v1/");
    let (Some(user), Some(password), false) = (
        flag("docker-username"),
        flag("docker-password"),
        server.is_empty(),
    ) else {
        return Err(Failure::error(
            "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required",
        ));
    };
    // The order of the fields is that of Go's struct, not alphabetical.
    let email = flag("docker-email").map_or(String::new(), |email| {
        format!(",\"email\":{}", Value::from(email))
    });
    let auth = base64::encoded(format!("{user}:{password}").as_bytes());
    let text = format!(
        "{{\"auths\":{{{}:{{\"username\":{},\"password\":{}{email},\"auth\":\"{auth}\"}}}}}}",
        Value::from(server),
        Value::from(user),
        Value::from(password)
    );
    let data = [(
        ".dockerconfigjson".to_owned(),
        base64::encoded(text.as_bytes()).into(),
    )]
    .into_iter()
    .collect::<serde_json::Map<_, _>>();
    Ok(new_secret(name, TYPE, data))
}

fn tls(client: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let (Some(cert), Some(key)) = (args.get("cert"), args.get("key")) else {
        return Err(Failure::error("key and cert must be specified"));
    };
    let mut data = Map::new();
    for (entry, path, what) in [("tls.crt", cert, "certificate"), ("tls.key", key, "key")] {
        let missing = || {
            Failure::error(format!(
                "Cannot read file {path}, open {path}: no such file or directory"
            ))
        };
        let text = client.file(path).ok_or_else(missing)?;
        if !text.contains("-----BEGIN ") {
            return Err(Failure::error(format!(
                "tls: failed to find any PEM data in {what} input"
            )));
        }
        data.insert(entry.to_owned(), base64::encoded(text.as_bytes()).into());
    }
    Ok(new_secret(name, Some("kubernetes.io/tls"), data))
}
