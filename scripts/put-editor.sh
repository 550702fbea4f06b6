#!/bin/sh
# The editor stands beside the page if it was built (scripts/editor.mjs, which needs Node.js); else an empty file stands in
# for it, and the page keeps its text area.
set -eu
dir=${TRUNK_STAGING_DIR:-dist}
if [ -f target/editor/editor.js ]; then
  cp target/editor/editor.js "$dir/editor.js"
else
  echo '// Not built: see scripts/editor.mjs.' > "$dir/editor.js"
fi
