//! ServiceAccount of Pods: it must exist, its token is mounted unless it says otherwise, and its image pull secrets are the default.
//!
//! Models `plugin/pkg/admission/serviceaccount`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use serde_json::Value;

/// Checks the account of a Pod, and gives the volume of its token a name of its own; an empty name stands for no volume.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    let Body::Pod(pod) = &mut object.body else {
        return Ok(());
    };
    pod.token = store.rng.suffix();
    check_account(store, &object.meta.name, &object.meta.namespace, pod)?;
    let name = match pod.spec.service_account_name.as_str() {
        "" => "default",
        name => name,
    };
    let key = ObjectRef::new(Kind::ServiceAccount, &object.meta.namespace, name);
    let account = store.get(&key).map(|account| &account.body);
    let Some(Body::Other(account)) = account else {
        return Ok(());
    };
    let is_set = |field: &str| !pod.spec.raw[field].is_null();
    if account.get("automountServiceAccountToken") == Some(&Value::Bool(false))
        && !is_set("automountServiceAccountToken")
    {
        pod.token = Str::default();
    }
    let secrets = account.get("imagePullSecrets");
    if let Some(Value::Array(secrets)) = secrets
        && !secrets.is_empty()
        && pod.spec.raw["imagePullSecrets"]
            .as_array()
            .is_none_or(Vec::is_empty)
    {
        let mut raw = pod.spec.raw.clone();
        raw["imagePullSecrets"] = secrets.clone().into();
        pod.spec = PodSpec::from_raw(raw).map_err(ApiError::bad_request)?;
    }
    Ok(())
}

/// Refuses a Pod whose service account does not exist.
fn check_account(store: &Store, name: &str, namespace: &str, pod: &Pod) -> Result<(), ApiError> {
    let account = &pod.spec.service_account_name;
    if account.is_empty()
        || account == "default"
        || store
            .get(&ObjectRef::new(Kind::ServiceAccount, namespace, account))
            .is_some()
    {
        return Ok(());
    }
    Err(ApiError::forbidden(format!(
        "pods {name:?} is forbidden: error looking up service account {namespace}/{account}: serviceaccount {:?} not found",
        account.as_str()
    )))
}
