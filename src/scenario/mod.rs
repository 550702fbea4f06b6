//! Scenario files: a cluster, steps and faults.
