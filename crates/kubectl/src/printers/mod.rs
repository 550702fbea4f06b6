//! Output formats of objects: aligned tables, YAML, templates. The cells of tables are the server's (`apiserver::printers`).

pub mod kyaml;
pub mod table;
pub mod tabs;
pub mod template;
pub mod yaml;

pub use apiserver::printers::*;
pub use k8s_model::jsonpath;

#[cfg(test)]
mod tests;
