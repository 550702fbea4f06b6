//! Integration tests of this crate together with those below it.

mod apiserver_services;
mod cluster_event_ttl;
mod cluster_forget;
mod controller_runtime_event_series;
