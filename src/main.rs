//! In wasm: mounts the app. Natively: the `loopscope` command.

#[cfg(target_arch = "wasm32")]
fn main() {
    loopscope::web::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {}
