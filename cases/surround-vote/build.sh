#!/usr/bin/env bash
# Fetches bbolt and builds the service.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p work
go build -o work/surroundvote .
go test -c -o work/surroundvote.test .
