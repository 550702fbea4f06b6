#!/bin/sh
# A page in <iframe sandbox="allow-scripts"> has an opaque origin: it may load scripts, but it may fetch only
# from servers that send Access-Control-Allow-Origin. For the others the module is kept as a script as well;
# static/start.js loads it only when the fetch was refused.
set -eu
dir=${TRUNK_STAGING_DIR:-dist}
{ printf 'window.loopscopeWasm="'; base64 < "$dir/loopscope_bg.wasm" | tr -d '\n'; printf '";\n'; } > "$dir/loopscope_bg.wasm.js"
