#!/bin/sh
# After a build: the module is split in two where there is node (without it the page is one piece, and larger).
#
# A page in <iframe sandbox="allow-scripts"> has an opaque origin: it may load scripts, but it may fetch only
# from servers that send Access-Control-Allow-Origin. For the others the module is kept as a script as well;
# static/start.js loads it only when the fetch was refused.
set -eu
dir=${TRUNK_STAGING_DIR:-dist}
if command -v node >/dev/null; then node scripts/split.mjs; fi
# What is loaded when it is wanted: the code editor, if it was built (scripts/editor.mjs; an empty file stands in for it, and the page
# keeps its text area), and the page's words in Chinese.
if [ -f target/editor/editor.js ]; then
  cp target/editor/editor.js "$dir/editor.js"
else
  echo '// Not built: see scripts/editor.mjs.' > "$dir/editor.js"
fi
{ printf 'window.loopscopeCatalogue = `'; cat src/i18n/zh.txt; printf '`;\n'; } > "$dir/zh.js"
if command -v node >/dev/null && [ -d node_modules/esbuild ]; then node scripts/minify.mjs; fi
for part in loopscope_bg rest; do
  if [ -f "$dir/$part.wasm" ]; then
    { printf 'window.loopscopeWasm="'; base64 < "$dir/$part.wasm" | tr -d '\n'; printf '";\n'; } > "$dir/$part.wasm.js"
  fi
done
