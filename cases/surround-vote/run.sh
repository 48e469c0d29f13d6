#!/usr/bin/env bash
# Reproduces the incident and checks the diagnosis against expect.txt; see README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go run ./cases/run "$@" surround-vote
