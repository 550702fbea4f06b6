//! Kubernetes quantities (`500m`, `1Gi`).
use serde_json::Value;
/// thousandths
pub fn milli_of(_v: &Value) -> i64 { 0 }
/// whole units
pub fn units_of(_v: &Value) -> i64 { 0 }
