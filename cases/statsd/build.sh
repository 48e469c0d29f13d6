#!/usr/bin/env bash
# Installs the components once.
set -euo pipefail
cd "$(dirname "$0")"
gems=/usr/share/rubygems-integration/all/gems
../../.ci/need puma:puma redis-server:redis-server redis-cli:redis-tools psql:postgresql-client pg_ctlcluster:postgresql \
	curl:curl setpriv:util-linux /usr/lib/ruby/vendor_ruby/pg.rb:ruby-pg \
	"$(ls -d $gems/redis-[0-9]* 2>/dev/null || echo $gems/redis)":ruby-redis \
	"$(ls -d $gems/connection_pool-* 2>/dev/null || echo $gems/connection_pool)":ruby-connection-pool
[ -x work/bin/statsd_exporter ] || GOBIN=$PWD/work/bin go install github.com/prometheus/statsd_exporter@v0.31.0
