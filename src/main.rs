//! In wasm: mounts the app. Natively: the `loopscope` command.

fn main() {}
