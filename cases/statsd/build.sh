#!/usr/bin/env bash
# Installs once what is not in need.
set -euo pipefail
cd "$(dirname "$0")"
[ -x work/bin/statsd_exporter ] || GOBIN=$PWD/work/bin go install github.com/prometheus/statsd_exporter@v0.31.0
[ -d work/python/datadog ] || python3 -m pip install -q --target work/python --no-deps -r requirements.txt 2>&1 | grep -v WARNING || true
[ -d work/python/datadog ]
