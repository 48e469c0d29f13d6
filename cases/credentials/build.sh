#!/usr/bin/env bash
# Fetches the components once: dynalite as DynamoDB, moto as STS.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p work
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
if [ ! work/venv/installed -nt requirements.txt ]; then
	rm -rf work/venv
	python3 -m venv work/venv
	work/venv/bin/pip -q --disable-pip-version-check install -r requirements.txt
	touch work/venv/installed
fi
ln -sf "$(ls "$PWD"/work/venv/lib/python3.*/site-packages/botocore/data/dynamodb/2012-08-10/service-2.json.gz)" work/dynamodb.json.gz
echo 'eyJub3QiOiJhIHNlY3JldCJ9' >work/web-identity-token
