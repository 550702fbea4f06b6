#!/usr/bin/env bash
# Installs what a target of the Makefile needs and does not find, and says plainly what it cannot install.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/target/tools/bin:$HOME/.cargo/bin:$PATH"
mdbook_version=0.5.4
maturin_version=1.16.0

have() { command -v "$1" >/dev/null 2>&1; }
cannot() { echo "Missing: $1" >&2; echo "  $2" >&2; exit 1; }

# Installs a command of Rust into target/tools, with further arguments of cargo install: prebuilt where cargo binstall is at hand, else
# built with the versions its authors locked, else, where a registry lacks one of those, with the newest it has.
install() {
  local name=$1 version=$2
  shift 2
  if cargo binstall -V >/dev/null 2>&1 && cargo binstall --no-confirm --quiet --root target/tools "$name@$version"; then return; fi
  echo "Building $name $version into target/tools (some minutes, once; cargo binstall would fetch it prebuilt)"
  cargo install --quiet --force --locked --root target/tools "$name@$version" "$@" \
    || { echo "Not all versions that $name locks are at hand: building it with the newest that are"; false; } \
    || cargo install --quiet --force --root target/tools "$name@$version" "$@" \
    || cannot "$name $version" "cargo could not install it. Try: cargo install $name@$version"
}

wasm() {
  have cargo || cannot "cargo" "Install Rust from https://rustup.rs and run this again."
  local target=wasm32-unknown-unknown sysroot
  sysroot=$(rustc --print sysroot)
  if [ ! -d "$sysroot/lib/rustlib/$target" ]; then
    have rustup || cannot "the Rust target $target" "Install it with your Rust distribution; rustup was not found."
    rustup target add "$target" || cannot "the Rust target $target" "rustup could not install it. Is there a network?"
  fi
}

# The documentation site's builder (`make docs`).
mdbook() {
  have cargo || cannot "cargo" "Install Rust from https://rustup.rs and run this again."
  command mdbook --version 2>/dev/null | grep -qF "$mdbook_version" || install mdbook "$mdbook_version" --no-default-features --features search
}

# Sphinx, for a course page that the browser tests build and open; without it they leave that page out.
sphinx() {
  [ -d target/tools/sphinx/sphinx ] && return
  have python3 && python3 -m pip install --quiet --disable-pip-version-check --target target/tools/sphinx -r tests/hosts/requirements.txt >/dev/null 2>&1 \
    || { rm -rf target/tools/sphinx; echo "Sphinx was not fetched (it needs Python 3 with pip, and a network): the test of a Sphinx page is left out."; }
}

# Makes wheels (scripts/release.mjs).
maturin() {
  local folder=target/tools/maturin
  "$folder/bin/maturin" --version 2>/dev/null | grep -qF "$maturin_version" && return
  [ -x "$folder/Scripts/maturin.exe" ] && return
  have python3 || cannot "python3" "Wheels need Python 3 with venv and pip."
  python3 -m venv "$folder" || cannot "a virtual environment" "On Debian: apt-get install python3-venv"
  local bin=$folder/bin
  [ -d "$bin" ] || bin=$folder/Scripts
  "$bin/python" -m pip install --quiet --disable-pip-version-check "maturin==$maturin_version" || cannot "maturin" "pip could not install it. Is there a network?"
}

# Binaryen's wasm-split (scripts/split.mjs). The page builds without it.
binaryen() {
  have wasm-split && return
  if have apt-get && [ "$(id -u)" = 0 ]; then
    apt-get install -y --no-install-recommends binaryen >/dev/null || { apt-get update && apt-get install -y --no-install-recommends binaryen; }
  elif have brew; then
    brew install --quiet binaryen
  fi || echo "Binaryen's wasm-split was not installed: the page will come in one piece." >&2
}

npm_packages() {
  have node && have npm || cannot "Node.js with npm" "The browser tests need Node.js 20 or newer: https://nodejs.org"
  if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci || cannot "the npm packages of package.json" "npm ci failed. Is there a network?"
  fi
}

has_browser() {
  [ -n "${CHROMIUM:-}" ] && [ -x "$CHROMIUM" ] && return
  for path in /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome "$HOME"/.cache/ms-playwright/chromium-*; do
    [ -x "$path" ] && return
  done
  return 1
}

browser() {
  has_browser && return
  if have apt-get && [ "$(id -u)" = 0 ]; then
    apt-get install -y --no-install-recommends chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }
  else
    npx playwright install chromium
  fi || cannot "Chromium" "Install Chromium and set CHROMIUM=/path/to/chromium."
}

# Debian's Firefox, for one test of the single file; without it that test is left out.
firefox() {
  [ -x "${FIREFOX:-/usr/bin/firefox-esr}" ] && return
  if have apt-get && [ "$(id -u)" = 0 ]; then apt-get install -y --no-install-recommends firefox-esr >/dev/null 2>&1; else false; fi \
    || echo "firefox-esr was not installed: the test in Firefox is left out."
}

case "${1:-}" in
  wasm) wasm ;;
  binaryen) binaryen ;;
  has-browser) has_browser ;;
  npm) npm_packages ;;
  mdbook) mdbook ;;
  sphinx) sphinx ;;
  maturin) maturin ;;
  firefox) firefox ;;
  browser) browser ;;
  *) echo "usage: scripts/tools.sh wasm|binaryen|npm|browser|mdbook|sphinx|maturin|firefox|has-browser" >&2; exit 2 ;;
esac
