//! Tests of this crate together with those below it.

mod interrupt;
mod kubectl_edit;
mod kubectl_kustomize;
