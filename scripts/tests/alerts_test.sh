#!/usr/bin/env bash
# The Prometheus rules of envoy/alerts: sound, tested one by one, and explained.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

RULES=envoy/alerts/rudolph.yaml
TESTS=envoy/alerts/rudolph.test.yaml
passed=0 failed=0

expect() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then
    echo "test $name ... ok"
    passed=$((passed + 1))
  else
    printf '%s\n' "$said"
    echo "test $name ... FAILED"
    failed=$((failed + 1))
  fi
}

alerts() { awk '$2 == "alert:" { print $3 }' "$RULES"; }

# each_alert_in FILE: its name stands there, as a word.
each_alert_in() {
  local alert missing=0
  for alert in $(alerts); do
    grep -qw "$alert" "$1" || {
      echo "$1 does not have $alert"
      missing=1
    }
  done
  return "$missing"
}

# Metrics of the filter that the rules read are those that the page of metrics explains.
each_metric_documented() {
  local metric missing=0
  while read -r metric; do
    grep -qF "\`$metric\`" docs/metrics.md || {
      echo "docs/metrics.md does not have $metric"
      missing=1
    }
  done < <(grep -oE '\brudolph_[a-z_]+' "$RULES" | sort -u)
  return "$missing"
}

expect "every alert has a test" each_alert_in "$TESTS"
expect "every alert is explained to operators" each_alert_in docs/operations.md
expect "every metric of an alert is a documented one" each_metric_documented
if PROMTOOL=$(find_promtool); then
  expect "the rules are sound" "$PROMTOOL" check rules "$RULES"
  expect "alerts fire when they should and not else" "$PROMTOOL" test rules "$TESTS"
else
  echo "SKIP promtool's tests of the alerts: promtool is not installed"
fi
echo "test result: $([ "$failed" -eq 0 ] && echo ok || echo FAILED). $passed passed; $failed failed"
[ "$failed" -eq 0 ]
