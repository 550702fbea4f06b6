//! In wasm: mounts the app. Natively: the `loopscope` command.

#[cfg(not(target_arch = "wasm32"))]
mod command;

#[cfg(target_arch = "wasm32")]
fn main() {
    // static/start.js calls `open` when the parts of the module that it needs are there.
    let _ = loopscope::web::open as fn();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    command::main()
}
