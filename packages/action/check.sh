#!/usr/bin/env bash
# Validates manifests and checks scenarios: annotations at their lines, a JUnit file and a picture for each scenario, and the
# reports in the job summary.
# Exits with 1 if something was found. Reads LOOPSCOPE, MANIFESTS, SCENARIOS, SEEDS, FAULTS,
# IGNORE_UNKNOWN_KINDS, JUNIT, PAGE.
set -uo pipefail
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
code=0

# As GitHub's commands want a message.
escaped() { sed 's/%/%25/g'; }

lines() { printf '%s\n' "$1" | sed '/^[[:space:]]*$/d'; }

mapfile -t manifests < <(lines "${MANIFESTS:-}")
if [ ${#manifests[@]} -gt 0 ]; then
  flags=()
  [ "${IGNORE_UNKNOWN_KINDS:-false}" = true ] && flags+=(--ignore-unknown-kinds)
  report=$("$LOOPSCOPE" validate "${flags[@]}" -- "${manifests[@]}")
  exit=$?
  [ "$exit" = 0 ] || code=1
  # FILE:LINE: error: MESSAGE
  printf '%s\n' "$report" | escaped | sed -nE 's/^([^:]+):([0-9]+): (error|warning): (.*)$/::\3 file=\1,line=\2,title=loopscope::\4/p'
  if [ -n "$report" ]; then
    printf '### Manifests\n\n```text\n%s\n```\n\n' "$report" >> "$summary"
  fi
fi

mapfile -t scenarios < <(lines "${SCENARIOS:-}")
[ ${#scenarios[@]} -eq 0 ] || mkdir -p "${JUNIT:=loopscope-junit}"
for scenario in "${scenarios[@]}"; do
  name=$JUNIT/$(printf '%s' "${scenario%.*}" | tr '/ ' '--')
  flags=(--seeds "${SEEDS:-20}" --junit "$name.xml")
  [ "${FAULTS:-false}" = true ] && flags+=(--faults)
  report=$("$LOOPSCOPE" check "${flags[@]}" -- "$scenario" 2>&1)
  exit=$?
  echo "$report"
  printf '### %s\n\n```text\n%s\n```\n\n' "$scenario" "$report" >> "$summary"
  [ "$exit" = 0 ] && continue
  # The link opens the page at the instant of the violation; the picture is of that instant.
  link=$(printf '%s\n' "$report" | grep -oE '#(pako|base64):[A-Za-z0-9_-]+' | head -1)
  if [ -n "$link" ]; then
    [ -z "${PAGE:-}" ] || printf '[Open the violation](%s%s)\n\n' "$PAGE" "$link" >> "$summary"
    printf '%s' "$link" > "$name.link"
    "$LOOPSCOPE" picture "$name.link" > "$name.svg" || rm -f "$name.svg"
    rm -f "$name.link"
  fi
  code=1
  # A violation names the line of its expectation, an error of the scenario its own.
  line=$(printf '%s\n' "$report" | sed -nE -e 's/^.*\(line ([0-9]+).*$/\1/p' -e 's/^[^ ]*:([0-9]+): .*$/\1/p' | head -1)
  first=$(printf '%s\n' "$report" | grep -m1 '^VIOLATED' || printf '%s\n' "$report" | grep -m1 .)
  first=$(printf '%s' "$first" | escaped)
  echo "::error file=$scenario,line=${line:-1},title=loopscope check::$first"
done
exit "$code"
