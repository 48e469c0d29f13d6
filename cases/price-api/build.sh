#!/usr/bin/env bash
# Fetches the components once and compiles what has changed since.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p work
go build -o work/starve ./starve
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
if [ -z "$(find target/built -newer pom.xml 2>/dev/null)" ] || [ -n "$(find src -newer target/built)" ]; then
	rm -rf target
	# What is cached from an earlier build needs no network.
	mvn -o -q -B compile dependency:copy-dependencies >/dev/null 2>&1 ||
		mvn -q -B -ntp compile dependency:copy-dependencies
	touch target/built
fi
