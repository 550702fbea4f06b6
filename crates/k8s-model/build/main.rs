//! Generates the tables that the crate includes: time zones, and the types of the Kubernetes API with their descriptions.

mod types;
mod zones;

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let types = types::tables();
    for (name, text) in [
        ("zones.txt", zones::table()),
        ("schema.txt", types.schema),
        ("openapi.txt", types.openapi),
        ("descriptions.txt", types.descriptions),
        ("protobuf.txt", types.protobuf),
    ] {
        std::fs::write(out.join(name), text).expect("the build directory can be written");
    }
}
