//! Integration tests of this crate together with those below it.

mod apiserver_services;
mod autoscaler;
mod cluster_event_ttl;
mod cluster_forget;
mod connectivity;
mod controller_runtime_event_series;
mod debugging;
mod deletions;
mod disturbed;
mod expansion;
mod gateway;
mod hostile;
mod limits;
mod load_generator;
mod one_pod;
mod pod_security;
mod pressure;
mod probes;
mod refused_writes;
mod resources;
mod scheduler_flush;
mod selectors;
mod sidecars;
mod sources;
mod terminal;
mod workloads;
