# Loopscope: `make serve` opens the page, `make test` is what CI runs: formatting, lints and every test.
SHELL := bash
export PATH := $(CURDIR)/target/tools/bin:$(HOME)/.cargo/bin:$(PATH)
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
PORT ?= 8080

.PHONY: help serve build dist test test-native test-browser check fmt clippy engine size split opening frames actions drawing memory fuzz screenshots gallery docs editor release test-packages clean tools tools-wasm tools-npm tools-browser tools-binaryen tools-sphinx tools-firefox

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

serve: tools-wasm editor ## Build the page and serve it, and build it again when a source changes; the address is printed
	cargo xtask page
	@cargo xtask watch & trap "kill $$!" EXIT; node tests/browser/server.mjs $(PORT) --cors

dist: tools-wasm editor ## Build the release page into dist/ and check its size
	cargo xtask page --release
	@$(MAKE) --no-print-directory split
	@if command -v node >/dev/null; then node scripts/offline.mjs && node scripts/single.mjs && node scripts/licences.mjs && node scripts/size.mjs; else echo "node is missing: the size of the page is not checked"; fi

split: # What the opening runs comes first (scripts/split.mjs); without the tools for it the page is one piece
	@if command -v wasm-split >/dev/null && command -v node >/dev/null && [ -d node_modules/@playwright/test ] && scripts/tools.sh has-browser; \
	then node scripts/split.mjs; else echo "The module stays in one piece: splitting it needs Binaryen's wasm-split, Node.js with the npm packages, and Chromium."; fi

build: dist

editor: ## Bundle the code editor; without Node.js or its packages the page keeps its text area
	@{ command -v node >/dev/null && scripts/tools.sh npm && node scripts/editor.mjs; } \
	  || echo "The code editor was not bundled (it needs Node.js and the npm packages): the page will use a text area."

test: fmt clippy engine test-native test-browser ## Format, lints with warnings denied, engine alone, all tests

test-native: tools-clients
	cargo test --quiet --no-fail-fast
	@if command -v python3 >/dev/null; then python3 packages/python/tests/test_block.py; else echo "python3 is missing: the blocks of the Python package are not tested."; fi

test-browser: tools-npm tools-browser tools-binaryen tools-sphinx tools-firefox dist
	@$(MAKE) --no-print-directory docs || echo "The documentation site was not built (it needs mdBook, which cargo installs): its tests are left out."
	npx playwright test

check: test

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

opening: tools-npm tools-browser tools-binaryen dist ## Measure how long a reader waits for the first Pod, on a slow network and processor
	node scripts/measure.mjs opening

frames: tools-npm tools-browser tools-binaryen dist ## Measure how smoothly the page draws
	node scripts/measure.mjs frames

actions: tools-npm tools-browser tools-binaryen dist ## Measure how long each thing that a person does keeps the page busy
	node scripts/measure.mjs actions

drawing: tools-wasm editor tools-npm tools-browser ## Measure what a frame costs and which components it draws anew
	cargo xtask page --release --features renders
	node scripts/measure.mjs drawing

memory: tools-npm tools-browser tools-binaryen dist ## Measure what an hour of rollouts leaves in memory
	node scripts/measure.mjs memory

FUZZ_SECONDS ?= 600
fuzz: ## Fuzz each kind of input, for FUZZ_SECONDS each (600)
	LOOPSCOPE_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --quiet --test fuzz any_ -- --test-threads=1

screenshots: tools-npm tools-browser tools-binaryen dist ## Take the pictures in docs/
	node tests/browser/screenshots.mjs

gallery: tools-npm tools-browser tools-binaryen dist ## Make docs/gallery.md and its pictures
	node scripts/gallery.mjs

release: tools-npm tools-browser tools-binaryen dist ## Build every package into release/
	@scripts/tools.sh maturin
	rm -rf release
	node scripts/release.mjs

test-packages: ## Install each package of release/ into an empty folder and use it (make release; some minutes, and the registries)
	npx playwright test --config tests/packages

docs: ## Build the documentation site, in English and Chinese, into dist/docs, beside the page (make dist)
	@scripts/tools.sh mdbook
	mdbook build site
	mdbook build site/zh
	@if [ -f dist/sw.js ] && command -v node >/dev/null; then node scripts/offline.mjs; fi # the page has a link to it

tools: tools-wasm tools-npm tools-browser tools-binaryen tools-clients tools-sphinx tools-firefox ## Install whatever is missing

tools-wasm:
	@scripts/tools.sh wasm

tools-npm:
	@scripts/tools.sh npm

tools-binaryen:
	@scripts/tools.sh binaryen

tools-sphinx:
	@scripts/tools.sh sphinx

tools-firefox:
	@scripts/tools.sh firefox

tools-clients: # kubectl and Helm, for tests/serve
	@scripts/clients.sh

tools-browser:
	@scripts/tools.sh browser

clean: ## Remove what was built (the tools stay)
	rm -rf dist release test-results playwright-report
	cargo clean --release
