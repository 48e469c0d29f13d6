# The corpus of recordings with their truth, see corpus.go; included by the Makefile above.
.PHONY: corpus

# What the services need beside their sources: kept where git does not look.
CORPUS := bin/corpus

corpus: build ## record the corpus anew, about 6 minutes; ONLY="node-http loop-full" records some
	@$(NEED) node:nodejs npm:npm python3:python3 pip3:python3-pip gcc:gcc /usr/include/stdio.h:libc6-dev ruby:ruby puma:puma javac:openjdk-17-jdk-headless cargo:cargo
	mkdir -p $(CORPUS)
	cp internal/truth/corpus/services/package.json $(CORPUS)
	npm install --silent --no-audit --no-fund --prefix $(CORPUS)
	pip3 install --quiet --target $(CORPUS)/py --upgrade -r internal/truth/corpus/services/requirements.txt
	gcc -O2 -Wall -o $(CORPUS)/loop internal/truth/corpus/services/loop.c
	cp -r internal/truth/corpus/services/tokio $(CORPUS)
	cargo build --quiet --release --manifest-path $(CORPUS)/tokio/Cargo.toml
	$(GO) build -o $(CORPUS)/service ./internal/truth/cmd/service
	$(GO) build -o $(CORPUS)/record ./internal/truth/corpus/record
	$(ROOT) $(CORPUS)/record $(ONLY)
