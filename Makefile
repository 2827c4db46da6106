# Everything to learn is in `make help`. Each target prepares what it needs and says what it installs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

# What is built or fetched once is kept outside the repository and shared by every checkout.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ingestor
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# The pinned tools, named by their version and the Go that built them: a change of either builds anew.
pinned = $(shell awk '$$1 == "$(1)" {print $$2}' test/tools/go.mod)-$(shell go env GOVERSION)
LINT := $(CACHE)/bin/golangci-lint-$(call pinned,github.com/golangci/golangci-lint/v2)
VULN := $(CACHE)/bin/govulncheck-$(call pinned,golang.org/x/vuln)

# Modules beside the main one, each with tests of its own. `each` runs a command in every one of them, compiling as
# `make devcluster` does: otherwise lint would compile a whole API server a second time.
MODULES := $(filter-out test/tools,$(patsubst %/go.mod,%,$(wildcard */go.mod */*/go.mod test/*/*/go.mod)))
each = @export CGO_ENABLED=0; for m in $(MODULES); do echo "== $$m"; (cd $$m && $(1)); done

# Real definitions and real judges, when they lie beside the checkout; tests that need them are skipped without.
# Setting a variable, to another folder or to nothing, wins.
ifneq ($(wildcard ../shared/corpus),)
export INGESTOR_CORPUS ?= $(abspath ../shared/corpus)
endif
ifneq ($(wildcard ../shared/oracle),)
export INGESTOR_ORACLE ?= $(abspath ../shared/oracle)
endif
ifneq ($(INGESTOR_ORACLE),)
export INGESTOR_ORACLE_DIR := $(CACHE)/oracle
endif
ifneq ($(wildcard ../shared/reference/transcripts),)
export INGESTOR_TRANSCRIPTS ?= $(abspath ../shared/reference/transcripts)
endif

.PHONY: help image release manifests run run-cluster build web web-packages check test test-long chaos lint race bench fmt vuln oracle issuer postgres redis jq chromium wrk devcluster crossplane cluster tour clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build the programs and start the portal, which ingests the examples, until Ctrl-C
	@exec bin/portal-backend

run-cluster: build ## The same, with the examples in a real API server that the portal reads and watches
	@program=$$(go run ./test/apiserver/prepare); \
	echo "Starting a cluster; what is in it stays in data/cluster."; \
	coproc CLUSTER { exec "$$program" $(SERVE) --apply examples/cluster; }; \
	cluster=$$CLUSTER_PID; trap 'kill $$cluster 2>/dev/null || true; wait $$cluster || true' EXIT; \
	read -r ready <&$${CLUSTER[0]} || { echo "run-cluster: the cluster does not start" >&2; exit 1; }; \
	echo "The cluster is $$ready"; \
	bin/portal-backend $(addprefix --config ,app-config.yaml app-config.cluster.yaml $(wildcard app-config.local.yaml))

build: web ## Build the programs into bin/
	@mkdir -p bin
	go build -trimpath -ldflags "-X example.dev/ingestor/internal/app.Version=$(VERSION)" -o bin/ ./cmd/...

image: web ## Build the container image into data/image, as an OCI layout, without a container engine
	@rm -rf data/image
	go -C tools/release run . image -out $(abspath data/image)

release: web ## Build archives, packages, chart, SBOMs and checksums into data/release (VERSION=v1.2.3, PLATFORMS=linux/amd64,…)
	@rm -rf data/release.new
	go -C tools/release run . archives -out $(abspath data/release.new) -version "$(if $(filter command,$(firstword $(origin VERSION))),$(VERSION))" -platforms "$(PLATFORMS)"
	@rm -rf data/release && mv data/release.new data/release

manifests: ## Render deploy/manifests from the chart, and the GitLab template
	go -C test/chart test -run TestRender -count=1 . -update
	go -C tools/release test -run TestGitLab -count=1 . -update

# What the page is made of: it is built again when one of these is newer.
WEB := $(shell find web -name node_modules -prune -o -name dist -prune -o -name e2e -prune -o -type f ! -name '*.go' ! -name schema.d.ts -print) api/openapi.yaml

web: web/dist/index.html ## Build the page that browsers get

web/dist/index.html: $(WEB) | web-packages
	@echo "web: building the page into web/dist"
	@cd web && npm run --silent types >/dev/null && npm run --silent build -- --logLevel warn
	@touch $@

web-packages: # The packages of the page, as package-lock.json has them. Nothing of them runs when they are installed.
	@command -v npm >/dev/null || { echo "web: no npm; on Debian: apt-get install nodejs npm (Node 20.19 or later)" >&2; exit 1; }
	@mkdir -p $(CACHE); cd web; exec 9>$(CACHE)/web.lock; flock 9; stamp=node_modules/.installed-$$(sha256sum package-lock.json | cut -c1-16); \
	if [ ! -e $$stamp ]; then \
		echo "web: installing its npm packages into web/node_modules; the first time takes a minute"; \
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; touch $$stamp; \
	fi

# The folders with Go files that differ from BASE, committed or not.
BASE ?= HEAD
changed = $(sort $(dir $(addprefix ./,$(wildcard $(shell { git diff --name-only $(BASE); git ls-files --others --exclude-standard; } | grep '\.go$$' | grep -v testdata/)))))

check: $(LINT) web-packages ## The inner loop: lint what differs from BASE (HEAD), run the tests that need no server
	@if [ -n "$(changed)" ]; then echo "$(notdir $(LINT)) run $(changed)"; $(LINT) run $(changed); fi
	cd web && npm run --silent check
	INGESTOR_NO_CLUSTER=1 INGESTOR_NO_POSTGRES=1 INGESTOR_NO_REDIS=1 go test -short ./test/rules $$(go list ./... | grep -v /test/)

test: lint web oracle issuer postgres redis jq pre-commit chromium devcluster crossplane ## Lint, then run every test
	@# What takes longest begins first: browsers, replicas and API servers. Many tests wait for a server much
	@# of the time, so there is one package more than there are processors, and the page's own tests beside.
	@mkdir -p data; (cd web && npm run --silent check && npm test --silent) >data/web.log 2>&1 & web=$$!; status=0; set -x; \
	go test -timeout 80m -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) ./test/web ./test/service ./test/portal ./test/chaos ./test/scaffolder/... ./... || status=$$?; \
	set +x; wait $$web || status=$$?; cat data/web.log; exit $$status
	@# Lint has vetted these; go test would vet all of Kubernetes with them.
	$(call each,go test -vet=off ./...)

test-long: export INGESTOR_LONG := 1
test-long: test ## The same at full size, and held to the times of a machine that has nothing else to do

chaos: postgres devcluster ## Ten minutes of failures under three replicas, held against a model (SEED=... repeats, MINUTES=...)
	INGESTOR_CHAOS_MINUTES=$(or $(MINUTES),10) INGESTOR_CHAOS_SEED=$(SEED) go test -v -count 1 -timeout 60m -run TestChaos ./test/chaos

lint: $(LINT) ## Check formatting, imports, comments, language, vet, and that go.mod is tidy
	$(LINT) run ./...
	go test ./test/rules
	go mod tidy -diff
	$(call each,$(LINT) run ./... && go mod tidy -diff)

race: web oracle issuer postgres redis jq chromium devcluster crossplane ## Run every test under the race detector (needs a C compiler)
	@command -v $$(go env CC) >/dev/null || { echo "race: no C compiler; on Debian: apt-get install gcc libc6-dev" >&2; exit 1; }
	CGO_ENABLED=1 go test -race -timeout 60m ./...

bench: devcluster crossplane postgres wrk ## Run every benchmark
	@echo "looking for benchmarks"
	@files=$$(go list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}}{{"\n"}}{{end}}' ./...); \
	pkgs=$$(grep -l '^func Benchmark' $$files | xargs -n1 dirname | sort -u); \
	go test -run '^$$' -bench . -benchmem $$pkgs
	@# A test, because it compares with a limit whenever tests run; its figures are shown here.
	INGESTOR_LONG=1 go test -count=1 -v -run 'TestBlastRadiusLoad$$' ./test/service
	@go run ./test/bench
	@go run ./test/bench/portal
	@go run ./test/bench/battery -only sqlite
	@go run ./test/bench/service
	@go run ./test/bench/scaffolder
	@go run ./test/bench/tools
	@go run ./test/bench/memory
	@go run ./test/bench/manyclusters -clusters 20 -definitions 500 -common 400 -kinds 100 -steady 20s -changes 100

fmt: $(LINT) ## Format every Go file
	$(LINT) fmt

vuln: $(VULN) ## Look for known vulnerabilities (asks the Go vulnerability database over the network)
	$(VULN) ./...
	$(call each,$(VULN) ./...)

oracle: ## Prepare the JavaScript judges the tests ask
ifeq ($(INGESTOR_ORACLE),)
	@echo "oracle: INGESTOR_ORACLE is not set; tests that ask it are skipped"
else
	@mkdir -p $(CACHE)/oracle
	@exec 9>$(CACHE)/oracle.lock; flock 9; \
	cp -Ru --no-preserve=mode $(INGESTOR_ORACLE)/. $(CACHE)/oracle; \
	cd $(CACHE)/oracle; stamp=.installed-$$(sha256sum package-lock.json | cut -c1-16); \
	if [ ! -e $$stamp ]; then \
		echo "oracle: installing its npm packages into $(CACHE)/oracle; the first time takes half a minute"; \
		npm ci --no-audit --no-fund; rm -f .installed-*; touch $$stamp; \
	fi
endif

issuer: ## Prepare the OpenID Connect provider the tests sign in at
	@go run ./test/issuer/prepare >/dev/null

postgres: ## Install the PostgreSQL that tests start, if it is missing
	@go run ./test/postgres/prepare >/dev/null

redis: ## Install the Redis that tests start, if it is missing
	@go run ./test/redis/prepare >/dev/null

jq: ## Install jq, and the yq that hands YAML to it, which tests put into pipes, if they are missing
	@command -v jq >/dev/null && command -v yq >/dev/null || { \
		echo "jq: installing Debian's packages jq and yq"; \
		sudo=$$([ $$(id -u) = 0 ] || echo sudo); $$sudo apt-get install -y --no-install-recommends jq yq >/dev/null; \
	}

pre-commit: ## Install the program that runs hooks before a commit, which a test uses, if it is missing
	@command -v pre-commit >/dev/null || { \
		echo "pre-commit: installing Debian's package"; \
		sudo=$$([ $$(id -u) = 0 ] || echo sudo); $$sudo apt-get install -y --no-install-recommends pre-commit >/dev/null || \
		echo "pre-commit: cannot install it; the test of the hook is skipped"; \
	}

chromium: ## Install the browser that tests drive, if it is missing
	@command -v chromium >/dev/null || { \
		echo "chromium: installing Debian's package"; \
		sudo=$$([ $$(id -u) = 0 ] || echo sudo); $$sudo apt-get install -y --no-install-recommends chromium >/dev/null; \
	}

wrk: ## Install the load generator that benchmarks use, if it is missing
	@command -v wrk >/dev/null || { \
		echo "wrk: installing Debian's package"; \
		sudo=$$([ $$(id -u) = 0 ] || echo sudo); $$sudo apt-get install -y --no-install-recommends wrk >/dev/null; \
	}

devcluster: ## Build the API server that tests start, once; it takes minutes
	@if [ -n "$${INGESTOR_NO_CLUSTER:-}" ]; then \
		echo "devcluster: INGESTOR_NO_CLUSTER is set; tests that need a cluster are skipped"; \
	else \
		go run ./test/apiserver/prepare >/dev/null; \
	fi

crossplane: ## Build the core of Crossplane and the function that tests start, once; it takes minutes
	@go run ./test/crossplane/prepare

# How `make cluster` and `make run-cluster` serve: the same cluster.
SERVE = serve --dir data/cluster --crds both --xr-crds --ready-after 5s $(addprefix --apply ,$(wildcard examples/*.yaml))

cluster: ## Run an API server with the examples in it, until Ctrl-C
	@program=$$(go run ./test/apiserver/prepare); \
	echo "Starting a cluster. When it is ready, try in another terminal:"; \
	echo "  export KUBECONFIG=$(abspath data/cluster/kubeconfig)"; \
	echo "  go run ./cmd/composer-ingestor discover"; \
	echo "Ctrl-C stops it. What is in it stays in data/cluster."; \
	exec "$$program" $(SERVE)

tour: export INGESTOR_SCREENSHOTS ?= $(abspath data/screenshots)
tour: web issuer chromium devcluster postgres ## Take screenshots of all pages, and from them the pictures of docs/pictures
	go test -count=1 -timeout 30m -run 'TestJourneys$$|TestBackstage$$' ./test/web ./test/backstage
	go run ./test/web/pictures $(INGESTOR_SCREENSHOTS)

clean: ## Remove what was built here; the tools in the cache stay
	rm -rf bin coverage.out web/node_modules web/src/api/schema.d.ts
	@find web/dist -mindepth 1 ! -name .keep -delete
	@echo "kept: $(CACHE)"

$(LINT):
	@echo "lint: building $(notdir $@) from the versions in test/tools/go.mod, once; it is a large program and takes minutes"
	@mkdir -p $(@D)
	@go -C test/tools build -o $@.$$$$ github.com/golangci/golangci-lint/v2/cmd/golangci-lint && mv $@.$$$$ $@

$(VULN):
	@echo "vuln: building $(notdir $@) from the versions in test/tools/go.mod, once"
	@mkdir -p $(@D)
	@go -C test/tools build -o $@.$$$$ golang.org/x/vuln/cmd/govulncheck && mv $@.$$$$ $@
