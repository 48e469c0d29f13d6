# The page, see ui/README.md; included by the Makefile above.
.PHONY: web check-web test-web bench-page

web: ## rebuild the page's program from ui/ into internal/web/dist
	@$(NEED) node:nodejs npm:npm
	cd ui && npm ci --silent && npm run --silent check && npm run --silent build

check-web: web ## what is committed of the page is what its sources give
	git diff --exit-code --stat -- internal/web/dist

test-web: build ## drive the page in a browser, over the recordings of the cases
	@$(NEED) node:nodejs npm:npm chromium:chromium
	cd ui && npm ci --silent && npm test --silent

bench-page: ## what a page of very many requests weighs, and how fast a browser shows it
	@$(NEED) node:nodejs npm:npm chromium:chromium
	$(GO) build -o bin/pagebench ./internal/truth/pagebench
	cd ui && npm ci --silent && node test/bench.mjs
