# Loopscope: `make serve` opens the page, `make test` runs every test, `make check` is what CI runs.
SHELL := bash
export PATH := $(CURDIR)/target/tools/bin:$(HOME)/.cargo/bin:$(PATH)
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
PORT ?= 8080

.PHONY: help serve build dist test test-native test-browser check fmt clippy engine size profile frames actions drawing memory screenshots editor clean tools tools-wasm tools-npm tools-browser

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

serve: tools-wasm editor ## Build the page and serve it; the address is printed
	@echo "Loopscope: http://127.0.0.1:$(PORT)/"
	trunk serve --offline --address 127.0.0.1 --port $(PORT)

dist: tools-wasm editor ## Build the release page into dist/ and check its size
	trunk build --release --offline
	@if command -v node >/dev/null; then node scripts/size.mjs; else echo "node is missing: the size of the page is not checked"; fi

build: dist

editor: ## Bundle the code editor; without Node.js or its packages the page keeps its text area
	@{ command -v node >/dev/null && scripts/tools.sh npm && node scripts/editor.mjs; } \
	  || echo "The code editor was not bundled (it needs Node.js and the npm packages): the page will use a text area."

test: test-native test-browser ## Run every test

test-native:
	cargo test --quiet

test-browser: dist tools-npm tools-browser
	npx playwright test

check: fmt clippy engine test ## Format, lints with warnings denied, engine alone, all tests

fmt:
	cargo fmt --all --check

clippy: tools-wasm
	cargo clippy --all-targets -- -D warnings
	cargo clippy --target wasm32-unknown-unknown --bin loopscope -- -D warnings

engine: ## The engine builds natively without one web crate
	@! cargo tree --edges normal --prefix none 2>/dev/null | grep -E '^(yew|web-sys|js-sys|gloo|wasm-bindgen)' \
	  || { echo "a web crate has crept into the native build"; exit 1; }

size:
	node scripts/size.mjs

profile: tools-wasm editor tools-npm tools-browser ## Record what the page's opening runs, and build it again
	trunk build --release --offline
	node scripts/profile.mjs
	trunk build --release --offline
	node scripts/size.mjs

frames: dist tools-npm tools-browser ## Measure how smoothly the page draws
	node scripts/frames.mjs

actions: dist tools-npm tools-browser ## Measure how long each thing that a person does keeps the page busy
	node scripts/actions.mjs

drawing: tools-wasm editor tools-npm tools-browser ## Measure what a frame costs and which components it draws anew
	trunk build --release --offline --features renders
	node scripts/drawing.mjs

memory: dist tools-npm tools-browser ## Measure what an hour of rollouts leaves in memory
	node scripts/memory.mjs

screenshots: dist tools-npm tools-browser ## Take the pictures in docs/
	node tests/browser/screenshots.mjs

tools: tools-wasm tools-npm tools-browser ## Install whatever is missing

tools-wasm:
	@scripts/tools.sh wasm

tools-npm:
	@scripts/tools.sh npm

tools-browser:
	@scripts/tools.sh browser

clean: ## Remove what was built (the tools stay)
	rm -rf dist test-results playwright-report
	cargo clean --release
