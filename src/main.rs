//! In wasm: mounts the app. Natively: the `loopscope` command.

#[cfg(not(target_arch = "wasm32"))]
mod command;

#[cfg(target_arch = "wasm32")]
fn main() {
    loopscope::web::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    command::main(std::env::args().skip(1).collect())
}
