//! `kubectl certificate approve|deny`: decision about a certificate signing request.
//!
//! Models `kubectl/pkg/cmd/certificates/certificates.go`.

use super::client::Client;
use super::documents;
use super::failure::server_error;
use super::parse::Args;
use super::targets::name_of;
use super::{Failure, Outcome, Reads, Verb};
use apiserver::{PatchType, Subresource};
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};

const FLAGS: &str = "filename/f= force output/o= recursive/R kustomize/k=";

/// `kubectl certificate`.
pub const VERB: Verb = Verb {
    name: "certificate",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Modify certificate resources",
};

fn run(client: &mut Client<'_>, words: &[String], text: &str) -> Result<Outcome, Failure> {
    let ((condition, reason, done), rest) = match words.split_first() {
        Some((word, rest)) if word == "approve" => {
            (("Approved", "KubectlApprove", "approved"), rest)
        }
        Some((word, rest)) if word == "deny" => (("Denied", "KubectlDeny", "denied"), rest),
        Some((word, _)) if !word.starts_with('-') => {
            return Err(Failure::usage(
                "certificate",
                format!("unknown command {word:?}"),
            ));
        }
        _ => {
            return Err(Failure::usage(
                "certificate",
                "one of approve, deny is required",
            ));
        }
    };
    let args = Args::parse(&format!("certificate {}", words[0]), FLAGS, rest)?;
    client.use_flags(&args)?;
    let mut names: Vec<String> = args
        .words
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or(word).to_owned())
        .collect();
    let contents = documents::read(client, &args, text);
    names.extend(
        contents
            .documents
            .iter()
            .map(|document| name_of(&document.value).to_owned()),
    );
    client.streams.fail_all(contents.faults);
    if names.is_empty() && client.streams.failure.is_none() {
        return Err(Failure::error(
            "one or more CSRs must be specified as <name> or -f <filename>",
        ));
    }
    for name in names {
        decide(client, &name, condition, reason, done, args.on("force"))?;
    }
    Ok(Outcome::Done)
}

fn decide(
    client: &mut Client<'_>,
    name: &str,
    condition: &str,
    reason: &str,
    done: &str,
    force: bool,
) -> Result<(), Failure> {
    let kind = Kind::CertificateSigningRequest;
    let request = client.get(kind, name)?;
    let conditions = request["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let has = |wanted: &str| conditions.iter().any(|known| known["type"] == wanted);
    if has(if condition == "Approved" {
        "Denied"
    } else {
        "Approved"
    }) {
        return Err(Failure::plain(format!(
            "The CertificateSigningRequest \"{name}\" is invalid: status.conditions: Invalid value: {condition:?}: Approved and Denied \
             conditions are mutually exclusive"
        )));
    }
    let mut changed = request;
    if !has(condition) || force {
        let now = client.sim().store().wall_at(client.sim().now()).rfc3339();
        let mut all: Vec<Value> = conditions
            .into_iter()
            .filter(|known| known["type"] != condition)
            .collect();
        all.push(json!({
            "type": condition, "status": "True", "reason": reason, "message": format!("This CSR was {done} by kubectl certificate {}.",
            if done == "denied" { "deny" } else { "approve" }), "lastUpdateTime": now, "lastTransitionTime": now,
        }));
        let key = ObjectRef::new(kind, "", name);
        let change = json!({"status": {"conditions": all}});
        changed = client
            .patch(&key, Subresource::Approval, PatchType::Merge, &change)
            .map_err(|error| server_error(&error))?;
    }
    client.report(kind, &changed, done)
}
