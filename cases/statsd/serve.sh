#!/usr/bin/env bash
# Becomes the service in the language that the pair names.
set -euo pipefail
cd "$(dirname "$0")"
[ "${LANGUAGE_OF_SERVICE:-ruby}" = python ] && exec python3 service.py
exec ruby service.rb
