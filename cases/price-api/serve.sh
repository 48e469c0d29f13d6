#!/usr/bin/env bash
# Becomes the service; STARVED=1: on a machine that is short of random numbers.
set -euo pipefail
cd "$(dirname "$0")"
starve=()
[ "${STARVED:-0}" = 0 ] || starve=("$PWD/work/starve" "$PWD/work/random")
exec "${starve[@]}" java ${JAVA_FLAGS:-} -cp 'target/classes:target/lib/*' prices.PriceApi
