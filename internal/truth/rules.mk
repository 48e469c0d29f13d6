# What is measured on services that run, by root; included by the Makefile above.
.PHONY: faults bench-overhead bench-attach

# What the faults are drawn from ("1,2,3"; three seeds of the day without), and which are played (fault/runtime/seed).
SEEDS ?=
ONLY ?=

faults: build ## services with planted faults and without; writes docs/accuracy.md, or plays ONLY="^disk/(go|node)/" for SEEDS=7
	@$(NEED) node:nodejs python3:python3 ruby:ruby puma:puma /usr/share/doc/ruby-connection-pool:ruby-connection-pool javac:openjdk-17-jdk-headless
	$(GO) build -o bin/faults ./internal/truth/faults
	$(if $(ROOT),$(ROOT) env "PATH=$$PATH") bin/faults -seeds "$(SEEDS)" $(if $(ONLY),-only "$(ONLY)",-into docs/accuracy.md) $(if $(RESUME),-resume)

bench-overhead: build ## what recording costs; writes docs/overhead.md
	@$(NEED) node:nodejs javac:openjdk-17-jdk-headless taskset:util-linux
	$(GO) build -o bin/bench-overhead ./internal/truth/overhead
	$(ROOT) bin/bench-overhead

bench-attach: build ## how soon it records a running service, and ends; about 12 minutes
	@$(NEED) node:nodejs python3:python3 ruby:ruby puma:puma javac:openjdk-17-jdk-headless
	$(GO) build -o bin/bench-attach ./internal/truth/attaching
	$(ROOT) bin/bench-attach
