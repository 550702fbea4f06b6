#!/bin/sh
# What stands beside the page and is loaded when it is wanted: the code editor, if it was built (scripts/editor.mjs, which needs
# Node.js; an empty file stands in for it, and the page keeps its text area), and the page's words in Chinese.
set -eu
dir=${TRUNK_STAGING_DIR:-dist}
if [ -f target/editor/editor.js ]; then
  cp target/editor/editor.js "$dir/editor.js"
else
  echo '// Not built: see scripts/editor.mjs.' > "$dir/editor.js"
fi
{ printf 'window.loopscopeZh = `'; cat src/i18n/zh.txt; printf '`;\n'; cat static/zh.js; } > "$dir/zh.js"
