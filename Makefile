# dwell: see CONTRIBUTING.md. Every target works on a machine with Go, make and apt;
# what else a target needs it installs, and says so.
SHELL := /bin/bash
GO ?= go
NEED := ./.ci/need
CASES = $(notdir $(patsubst %/expect.txt,%,$(wildcard cases/*/expect.txt)))
# How long torture runs each fuzzer, how many recorders it kills, and how long one records; how a case is played (cases/run).
FUZZTIME ?= 30m
KILLS ?= 1000
SOAK ?= 1h
HOW ?= $(if $(CI),-short -tries 3)
# Recording needs root; building does not.
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: build dist demo test test-kernels lint generate check-generated case case-parts cases bench-analysis lab torture clean

build: ## bin/dwell, which needs no library; in CI as dist is, so that it is built once
	CGO_ENABLED=0 $(GO) build $(if $(CI),-trimpath) -o bin/dwell ./cmd/dwell

dist: ## dist/: dwell for both processors
	@for arch in amd64 arm64; do CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -o dist/dwell-linux-$$arch ./cmd/dwell || exit 1; done

demo: build ## record the built-in slow service live and diagnose it
	$(ROOT) bin/dwell demo

test: build ## everything, live capture included; TESTS=still or TESTS=live, what records, runs half of it
	@$(NEED) setpriv:util-linux ip:iproute2 node:nodejs python3:python3 gcc:gcc /usr/include/stdio.h:libc6-dev ruby:ruby puma:puma /usr/share/doc/ruby-connection-pool:ruby-connection-pool rubocop:rubocop javac:openjdk-17-jdk-headless procyon:procyon-decompiler
	./.ci/test $(or $(TESTS),all) ./...

test-kernels: ## dwell on kernels of Debian, emulated; KERNELS="6.1 newest 6.12/arm64" chooses
	@$(NEED) qemu-system-x86_64:qemu-system-x86 qemu-system-aarch64:qemu-system-arm /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring
	$(GO) run ./internal/truth/kernels -kernels "$(KERNELS)" $(if $(KERNELS),,-page docs/kernel-support.md)

lint:
	@bad=$$(gofmt -l .); \
	if [ -n "$$bad" ]; then echo "not gofmt-ed: $$bad"; exit 1; fi
	$(GO) vet ./...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) vet -trimpath ./... # built as dist is, so that it is built once
	GOGC=400 $(GO) tool staticcheck ./... # a third less of the processors for 400 MB more

generate: ## rebuild the programs in bpf/ and their Go bindings
	@$(NEED) clang:clang llvm-strip:llvm /usr/include/bpf/bpf_helpers.h:libbpf-dev
	$(GO) generate ./internal/capture/...

check-generated: generate ## what is committed is what the sources give
	git diff --exit-code --stat -- internal/capture

define player
	@test -f "cases/$(NAME)/expect.txt" || { echo "usage: make case NAME=...; there are: $(CASES)"; exit 2; }
	@$(NEED) node:nodejs npm:npm taskset:util-linux $(if $(wildcard cases/$(NAME)/pom.xml),javac:openjdk-17-jdk-headless mvn:maven) $(shell cat cases/$(NAME)/need 2>/dev/null)
	$(GO) build -o bin/case ./cases/run
endef

case: build ## make case NAME=keep-alive; HOW="-quick -beside half" says how it is played
	$(player)
	$(ROOT) bin/case $(HOW) $(NAME)

case-parts: ## fetch and compile what a case is made of, for it to be played later
	$(player)
	$(ROOT) bin/case -install $(NAME)

cases: build
	@for name in $(CASES); do $(MAKE) --no-print-directory case NAME=$$name || exit 1; done

lab: ## made-up services whose truth is known; the tables of docs/accuracy.md
	$(GO) run ./internal/lab/run -into docs/accuracy.md

torture: ## kills, damaged recordings and fuzzers; docs/reliability.md has what came out
	DWELL_KILLS=$(KILLS) DWELL_SOAK=$(SOAK) $(GO) test ./internal/torture -exec "$(ROOT)$(if $(ROOT), -E)" -count=1 -v -timeout 3h
	DWELL_TORTURE=2000 $(GO) test ./cmd/dwell -run TestDamagedRecordings -count=1 -v -timeout 2h
	@for fuzzer in $$(grep -rhoE --include='*_test.go' '^func Fuzz\w+' -H . | sed 's/_test.go:func /:/'); do \
		$(GO) test ./$$(dirname $${fuzzer%:*}) -run '^$$' -fuzz "^$${fuzzer#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x || exit 1; done

bench-analysis: build ## time and memory of dwell why; REQUESTS=10000000 or PROFILE=300000 for a number of them, SEED=REC of another service
	$(GO) run ./internal/truth/analysis $(if $(SEED),-seed $(SEED)) $(if $(REQUESTS),-requests $(REQUESTS)) $(if $(PROFILE),-profile $(PROFILE))

clean:
	rm -rf bin dist

include ui/rules.mk internal/truth/rules.mk internal/truth/corpus/rules.mk
