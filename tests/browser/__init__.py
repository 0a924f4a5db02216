"""The built book in Chromium: `make test-browser`."""
