#!/usr/bin/env bash
# Runs what the service talks to: Redis, PostgreSQL, and a StatsD server that listens on UDP
# and on a Unix socket. For each line on stdin it prints, as JSON, what Redis says of its own
# GETs since the last one, and what the StatsD server got.
set -euo pipefail
cd "$(dirname "$0")"
bin=$PWD/work/bin
sql=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
dir=$(mktemp -d)
chmod 755 "$dir"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir" "$STATSD_SOCKET"' EXIT
trap 'exit 0' INT TERM

# start COMMAND...: in the background; it ends with this script, however that ends.
start() { setpriv --pdeathsig KILL "$@" >"$dir/$(basename "$1").log" 2>&1 & }

# as_postgres COMMAND...: the server refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi; }

start redis-server --port "$REDIS_PORT" --bind 127.0.0.1 --save '' --appendonly no --dir "$dir"

mkdir "$dir/data"
[ "$(id -u)" != 0 ] || chown postgres: "$dir/data"
as_postgres "$sql/initdb" -D "$dir/data" -A trust -U shop --no-sync >/dev/null
as=()
[ "$(id -u)" != 0 ] || as=(--reuid postgres --regid postgres --clear-groups)
start "${as[@]}" "$sql/postgres" -D "$dir/data" -p "$SQL_PORT" -k '' -c listen_addresses=127.0.0.1 -c fsync=off -c logging_collector=off
sql() { psql -q -h 127.0.0.1 -p "$SQL_PORT" -U shop -d postgres "$@"; }
until sql -c 'select 1' >/dev/null 2>&1; do sleep 0.1; done
sql <<<'create table stock (id int primary key, units int not null);
insert into stock select n, 1000000 from generate_series(0, 4999) n;'

rm -f "$STATSD_SOCKET"
start "$bin/statsd_exporter" --statsd.listen-udp="127.0.0.1:$STATSD_PORT" --statsd.listen-tcp= --log.level=error \
	--statsd.listen-unixgram="$STATSD_SOCKET" --statsd.unixsocket-mode=777 --web.listen-address="127.0.0.1:$STATSD_WEB_PORT"
until [ -S "$STATSD_SOCKET" ] && redis-cli -p "$REDIS_PORT" ping >/dev/null 2>&1; do sleep 0.1; done
# Many values, so that a request finds what it asks for.
for id in $(seq 0 999); do echo "SET product:$id $(printf '{\"id\":%d,\"name\":\"product %d\"}' "$id" "$id" | tr -d ' ')"; done | redis-cli -p "$REDIS_PORT" >/dev/null

# received NAME: how many packets the StatsD server has got in some way.
received() { curl -s "http://127.0.0.1:$STATSD_WEB_PORT/metrics" | awk -v name="statsd_exporter_$1_packets_total" '$1 == name { n = $2 } END { printf "%d", n }'; }

udp=0 unix=0
report() {
	local stats percentiles now_udp now_unix
	stats=$(redis-cli -p "$REDIS_PORT" info commandstats | tr -d '\r' | sed -n 's/^cmdstat_get:calls=\([0-9]*\),.*/\1/p')
	percentiles=$(redis-cli -p "$REDIS_PORT" info latencystats | tr -d '\r' | sed -n 's/^latency_percentiles_usec_get:p50=\([0-9.]*\),p99=\([0-9.]*\),.*/\1 \2/p')
	redis-cli -p "$REDIS_PORT" config resetstat >/dev/null
	now_udp=$(received udp) now_unix=$(received unixgram)
	awk -v count="${stats:-0}" -v at="${percentiles:-0 0}" -v udp=$((now_udp - udp)) -v unix=$((now_unix - unix)) 'BEGIN {
		split(at, p, " ")
		printf "{\"count\":%d,\"p50_ns\":%d,\"p99_ns\":%d,\"max_ns\":0,\"note\":\"the StatsD server got %d packets over UDP, %d over its Unix socket\"}\n", count, p[1] * 1000, p[2] * 1000, udp, unix
	}'
	udp=$now_udp unix=$now_unix
}

echo ready
while read -r _; do report; done
