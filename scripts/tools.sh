#!/usr/bin/env bash
# Installs what a target of the Makefile needs and does not find, and says plainly what it cannot install.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/target/tools/bin:$HOME/.cargo/bin:$PATH"
trunk_version=0.21.14

have() { command -v "$1" >/dev/null 2>&1; }
cannot() { echo "Missing: $1" >&2; echo "  $2" >&2; exit 1; }

wasm() {
  have cargo || cannot "cargo" "Install Rust from https://rustup.rs and run this again."
  local target=wasm32-unknown-unknown sysroot
  sysroot=$(rustc --print sysroot)
  if [ ! -d "$sysroot/lib/rustlib/$target" ]; then
    have rustup || cannot "the Rust target $target" "Install it with your Rust distribution; rustup was not found."
    rustup target add "$target" || cannot "the Rust target $target" "rustup could not install it. Is there a network?"
  fi

  if ! trunk --version 2>/dev/null | grep -qF "$trunk_version"; then
    echo "Installing trunk $trunk_version into target/tools (some minutes, once)"
    cargo install --quiet --root target/tools --locked "trunk@$trunk_version" \
      || cannot "trunk $trunk_version" "cargo could not install it. Try: cargo install --locked trunk@$trunk_version"
  fi

  local bindgen
  bindgen=$(grep -A1 '^name = "wasm-bindgen"$' Cargo.lock | sed -n 's/^version = "\(.*\)"/\1/p')
  if ! wasm-bindgen --version 2>/dev/null | grep -qF "$bindgen"; then
    echo "Installing wasm-bindgen-cli $bindgen into target/tools (some minutes, once)"
    cargo install --quiet --force --root target/tools "wasm-bindgen-cli@$bindgen" \
      || cannot "wasm-bindgen-cli $bindgen" "cargo could not install it. Try: cargo install wasm-bindgen-cli@$bindgen"
  fi
}

npm_packages() {
  have node && have npm || cannot "Node.js with npm" "The browser tests need Node.js 20 or newer: https://nodejs.org"
  if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci || cannot "the npm packages of package.json" "npm ci failed. Is there a network?"
  fi
}

browser() {
  [ -n "${CHROMIUM:-}" ] && [ -x "$CHROMIUM" ] && return
  for path in /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    [ -x "$path" ] && return
  done
  if have apt-get && [ "$(id -u)" = 0 ]; then
    apt-get install -y --no-install-recommends chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }
  else
    npx playwright install chromium
  fi || cannot "Chromium" "Install Chromium and set CHROMIUM=/path/to/chromium."
}

case "${1:-}" in
  wasm) wasm ;;
  npm) npm_packages ;;
  browser) browser ;;
  *) echo "usage: scripts/tools.sh wasm|npm|browser" >&2; exit 2 ;;
esac
