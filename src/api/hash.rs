//! The hashes that name ReplicaSets and ControllerRevisions.
