//! Kubernetes quantities (`500m`, `1Gi`).
