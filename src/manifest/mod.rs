//! YAML or JSON text to documents and diagnostics; never fails.
