# The page, see ui/README.md; included by the Makefile above.
.PHONY: web check-web test-web bench-page

web: ui/node_modules/.package-lock.json ## rebuild the page's program from ui/ into internal/web/dist
	cd ui && npm run --silent check && npm run --silent build

ui/node_modules/.package-lock.json: ui/package.json ui/package-lock.json
	@$(NEED) node:nodejs npm:npm
	cd ui && npm ci --silent

check-web: web ## what is committed of the page is what its sources give
	git diff --exit-code --stat -- internal/web/dist

test-web: build ui/node_modules/.package-lock.json ## drive the page in a browser, over the recordings of the cases; PAGE=made or PAGE=live, what records, runs half of it
	@$(NEED) node:nodejs npm:npm chromium:chromium
	cd ui && npm test --silent -- $(PAGE)

bench-page: ui/node_modules/.package-lock.json ## what a page of very many requests weighs, and how fast a browser shows it
	@$(NEED) node:nodejs npm:npm chromium:chromium
	$(GO) build -o bin/pagebench ./internal/truth/pagebench
	cd ui && node test/bench.mjs
