#!/usr/bin/env bash
# bubblewrap for the tests of the grader's sandbox. On Debian and Ubuntu root installs it; elsewhere this says what is
# missing, and fails where CI is set.
set -euo pipefail
command -v bwrap > /dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  apt-get update -qq > /dev/null 2>&1 && apt-get install -y -qq bubblewrap > /dev/null 2>&1 || true
fi
command -v bwrap > /dev/null && exit 0
echo "bubblewrap is not installed: the tests of the sandbox are skipped (apt-get install bubblewrap)"
[ -z "${CI:-}" ]
