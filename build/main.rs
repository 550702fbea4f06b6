//! Writes what the crate includes and what is better generated than kept: constructors of messages, the table of time zones.

mod messages;
mod zones;

fn main() {
    println!("cargo::rerun-if-changed=build");
    messages::generate();
    zones::generate();
}
