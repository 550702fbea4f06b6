//! Tests of this crate together with those below it.

mod kubectl_edit;
mod kubectl_kustomize;
