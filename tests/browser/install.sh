#!/usr/bin/env bash
# Is there a Chromium? Installs Debian's where that is possible; else says what to do, and fails.
set -u
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if [ -n "$name" ] && command -v "$name" > /dev/null; then
        echo "The browser: $(command -v "$name")"
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Chromium (apt-get) ..."
    export DEBIAN_FRONTEND=noninteractive
    # Ubuntu's package of that name is a snap's front, which does not run in a container.
    if apt-get update -qq > /dev/null && apt-get install -y -qq --no-install-recommends chromium > /dev/null \
        && chromium --version --no-sandbox > /dev/null 2>&1; then
        echo "The browser: $(command -v chromium)"
        exit 0
    fi
    echo "apt-get could not install Chromium."
fi
echo "NO PAGE WAS LOOKED AT: there is no Chromium here. Install it (Debian: apt install chromium; macOS:"
echo "brew install --cask chromium), or set CHROMIUM to the path of Chrome or Chromium; then: make test-browser"
exit 1
