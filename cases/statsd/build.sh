#!/usr/bin/env bash
# Installs once what is not in need.
set -euo pipefail
cd "$(dirname "$0")"
[ -x work/bin/statsd_exporter ] || GOBIN=$PWD/work/bin go install github.com/prometheus/statsd_exporter@v0.31.0
