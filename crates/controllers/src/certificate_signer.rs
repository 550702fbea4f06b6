//! Signs the certificate signing requests that were approved, for the signers that come with a cluster.
//!
//! Models `pkg/controller/certificates/signer/signer.go`. There is no certificate authority here: the certificate is a placeholder.

use super::{Controller, Watch};
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::{Body, Kind, Object, ObjectRef, base64};
use serde_json::Value;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new(
        "certificatesigningrequest-signing-controller",
    )),
    aliases: &[&ControllerId::new("csrsigning")],
    title: "certificate signing",
    icon: "i-act",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Signers implemented by kube-controller-manager.
const SIGNERS: [&str; 4] = [
    "kubernetes.io/kube-apiserver-client",
    "kubernetes.io/kube-apiserver-client-kubelet",
    "kubernetes.io/kubelet-serving",
    "kubernetes.io/legacy-unknown",
];

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";

/// Controller that signs certificates.
pub struct CertificateSigner;

fn field<'o>(object: &'o Object, name: &str) -> &'o Value {
    match &object.body {
        Body::Other(body) => body.get(name).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}

impl Controller for CertificateSigner {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::CertificateSigningRequest)]
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(request) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        let status = field(request, "status");
        let has = |kind: &str| {
            status["conditions"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|condition| condition["type"] == kind)
        };
        let is_ours = field(request, "spec")["signerName"]
            .as_str()
            .is_some_and(|signer| SIGNERS.contains(&signer));
        if !is_ours
            || !has("Approved")
            || has("Denied")
            || has("Failed")
            || !status["certificate"].is_null()
        {
            return Ok(Action::AwaitChange);
        }
        out.update_status(request, Why::CertificateSigned, |request| {
            if let Body::Other(body) = &mut request.body {
                body["status"]["certificate"] = base64::encoded(CERTIFICATE.as_bytes()).into();
            }
        })?;
        Ok(Action::AwaitChange)
    }
}
