#!/bin/sh
# After a build (xtask): what the page loads besides its module. Arguments: the directory of the page; that of the generated tables of k8s-model.
set -eu
dir=$1
tables=$2
# Files as a template literal holds them.
quoted() { sed 's/[\\`$]/\\&/g' "$@"; }
# What is loaded when it is wanted: the code editor, if it was built (scripts/editor.mjs; an empty file stands in for it, and the page
# keeps its text area), the page's words in Chinese, and what kubectl explain says of fields with the files that -f https://… finds.
if [ -f target/editor/editor.js ]; then
  cp target/editor/editor.js "$dir/editor.js"
else
  echo '// Not built: see scripts/editor.mjs.' > "$dir/editor.js"
fi
if [ -f target/editor/single.js ]; then
  cp target/editor/single.js "$dir/single.js"
else
  echo '// Not built: see scripts/editor.mjs.' > "$dir/single.js"
fi
{ printf 'window.loopscopeCatalogue = `'; quoted crates/i18n/src/zh.txt; printf '`;\n'; } > "$dir/zh.js"
{ printf 'window.loopscopeExplain = `'; quoted "$tables/openapi.txt" "$tables/descriptions.txt"; printf '`;\nwindow.loopscopePublished = `'
  quoted crates/kubectl/src/published/gateway-api.yaml; printf '`;\n'; } > "$dir/explain.js"
# The lessons: as files to learn from, and as scripts, which a frame of another site may load.
mkdir -p "$dir/lessons"
for lesson in static/lessons/*.yaml; do
  name=$(basename "$lesson" .yaml)
  cp "$lesson" "$dir/lessons/"
  { printf '(window.loopscopeLessons = window.loopscopeLessons || {})["%s"] = `' "$name"; quoted "$lesson"; printf '`;\n'; } > "$dir/lessons/$name.js"
done
if command -v node >/dev/null && [ -d node_modules/yaml ]; then node scripts/lessons.mjs "$dir"; fi
if command -v node >/dev/null && [ -d node_modules/esbuild ]; then node scripts/minify.mjs "$dir"; fi
# A page in <iframe sandbox="allow-scripts"> has an opaque origin: it may load scripts, but it may fetch only from servers that send
# Access-Control-Allow-Origin. For it the module is kept as a script as well. Until it is split (scripts/split.mjs) its later parts are
# empty modules.
for part in play linked rest; do printf '\0asm\1\0\0\0' > "$dir/$part.wasm"; done
if command -v node >/dev/null; then
  node scripts/wrap.mjs "$dir"
else
  for part in loopscope_bg play linked rest; do
    { printf '(window.loopscopeParts=window.loopscopeParts||{}).%s=atob("' $part; base64 < "$dir/$part.wasm" | tr -d '\n'; printf '");\n'; } > "$dir/$part.wasm.js"
  done
fi
