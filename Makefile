# Swift and a shell are enough: `make run` and `make test` install everything else they need.

PORT ?= 8080
SWIFT_FLAGS ?=
SERVER ?= .build/debug/darkroom
MODULE ?=

# See Package.swift.
export OPTIMIZED_DETECTOR = 1

# An import without an arrow in Package.swift does not build.
checked = --explicit-target-dependency-import-check error $(SWIFT_FLAGS)
# Suites that share neither timeouts, a server, worker processes nor libvips, whose error buffer is process-wide.
parallel = (Eviction|HTTPCaching|Machine|Metrics|Network|Query|Store|Waiting)Tests

# Some suites need a real object store.
store = scripts/object-store run
tests = scripts/run-tests.sh swift test

# Calls within one file are faster than those into a shared Swift runtime, which then need not be installed either.
optimized = swift build -c release --product darkroom $(if $(filter Linux,$(shell uname)),--static-swift-stdlib) $(SWIFT_FLAGS)

swift_paths = $(wildcard Sources Tests Examples Benchmarks/Package.swift Package.swift \
	$(foreach bench,Bare Costs Download Floor HitRatio Quality StoreBench Widths,Benchmarks/Sources/$(bench)))

.DEFAULT_GOAL := help
.PHONY: help setup release package package-test image image-test systems nodes-test tutorial-test release-check run test contract sanitize conformance clients playground browser browser-hdr bench prove ssrf chaos corpus soak overload attack costs urls cluster edge nightly cache-tests fuzz site docs format \
	deploy-check lint fixtures clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  PORT=8080 sets the port of run. SWIFT_FLAGS is passed to every swift build and swift test.'
	@echo '  MODULE=Store limits test to one module. SERVER names the executable that conformance, clients, browser, deploy-check and the proofs drive.'
	@echo '  SEED makes conformance, chaos, costs, cluster and fuzz repeatable.'

setup:
	@scripts/setup.sh

release: setup ## Build for release into .build/dist: the executable without symbols, and its symbols
	$(optimized)
	scripts/strip.sh .build/release/darkroom .build/dist

# Packages contain the executable of `make release`, unless EXECUTABLE names one that exists.
EXECUTABLE ?=

package: $(if $(EXECUTABLE),,release) ## Build a Debian package and its bill of materials into .build/dist, from EXECUTABLE if that is given
	scripts/package.sh $(or $(EXECUTABLE),.build/dist/darkroom)

package-test: package ## Install, use, upgrade and purge the package in fresh Debian 12 and 13 that boot with systemd; requires root
	@scripts/setup-package.sh test
	python3 -B scripts/test-package.py
	python3 -B scripts/test-package.py --suite trixie

image: package ## Build the container image from the package into .build/dist, without a container engine; requires root
	@scripts/setup-package.sh image
	python3 -B scripts/make-image.py

image-test: image ## Start the container image without network, and request images and texts; requires root
	@scripts/setup-package.sh test
	python3 -B scripts/test-image.py

systems: setup ## Run SERVER and the built tests in fresh systems with other versions of libvips; requires root; SYSTEM=debian-13 for one
	@scripts/setup-package.sh test
	$(built)
	swift build --build-tests $(checked)
	python3 -B scripts/test-systems.py $(if $(named),--server $(SERVER) --quick) $(if $(SYSTEM),--system $(SYSTEM))

nodes-test: package ## Follow docs/several-nodes.md with four nodes and HAProxy in fresh Debian systems; requires root
	@scripts/setup-package.sh test
	python3 -B scripts/test-nodes.py

tutorial-test: package ## Run the commands of docs/production.md in a fresh Debian 13, and time them; requires root
	@scripts/setup-package.sh test
	python3 -B scripts/test-tutorial.py

release-check: ## Check that the last commit can be tagged as a release
	scripts/release-check.sh

run: release ## Build for release and serve Fixtures/images on 127.0.0.1:8080
	@exec .build/dist/darkroom serve --local-root Fixtures/images --host 127.0.0.1 --port $(PORT)

test: setup ## Build and run all tests, or the tests of one MODULE
	swift build --product darkroom $(checked)
ifeq ($(MODULE),)
	$(tests) --parallel --filter '^$(parallel)\.' $(checked)
	$(store) $(tests) --skip-build --no-parallel --skip '^$(parallel)\.' $(SWIFT_FLAGS)
else
	DARKROOM_TESTS=$(MODULE) $(if $(filter ObjectStorage,$(MODULE)),$(store)) $(tests) --no-parallel $(checked)
endif

contract: setup ## Write the contract, and the tables of pages, from the tables of parameters, settings and problems
	DARKROOM_TESTS=Command WRITE_GENERATED=1 $(tests) --no-parallel --filter GeneratedFileTests $(checked)

sanitize: setup ## Run the concurrent suites under Thread Sanitizer, and the sandbox under Address Sanitizer
	scripts/sanitize.sh

conformance: setup ## Drive the server with a client generated from openapi.yaml, fuzz it against that document, run the IIIF validator
	@scripts/setup-ci.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	.venv/bin/python -B scripts/conformance --server $(SERVER) $(if $(SEED),--seed $(SEED))

clients: setup ## Test the packages in clients/ that sign URLs, in each language and against the server
	@scripts/setup-clients.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	python3 -B scripts/test-clients.py --server $(SERVER)

deploy-check: setup ## Check the deployment files: manifests, chart, proxies in front of a server, dashboard, alerts, release workflows
	@scripts/setup-ci.sh
	@scripts/setup-proxies.sh
	@scripts/setup-promtool.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	.venv/bin/python -B scripts/deploy --server $(SERVER)

playground: setup ## Test the page at / in headless Chromium; writes screenshots to .build/playground/screenshots
	@scripts/setup-playground.sh
	swift build --product darkroom $(SWIFT_FLAGS)
	.build/playground/bin/python -B scripts/test-playground.py --screenshots .build/playground/screenshots

browser: setup ## Compare results with headless Chromium over Fixtures/images or FOLDER=dir; ONLY=pattern; PICTURES=dir, STORE=dir, REFERENCES=dir
	@scripts/setup-browser.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	.build/browser/bin/python -B scripts/browser --server $(SERVER) $(if $(ONLY),--only '$(ONLY)') $(if $(PICTURES),--pictures $(PICTURES)) \
		$(if $(STORE),--store $(STORE)) $(if $(REFERENCES),--references $(REFERENCES)) $(FOLDER)

browser-hdr: setup ## Compare the gain maps of sources and results in headless Chromium; FILES='photo.jpg …'
	@scripts/setup-browser.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	.build/browser/bin/python -B scripts/browser/hdr.py --server $(SERVER) $(FILES)

bench: setup ## Measure the service against baselines, nginx and goals, ROUNDS=5 times; SECTION=costs for declared costs
	Benchmarks/run.sh $(SECTION)

prove: setup ## Kill the server 200 times under load; check that it serves only complete, correct images afterward
	$(optimized)
	scripts/prove-durability.py

# The proofs attack the release build unless SERVER names another executable.
named = $(filter command environment,$(firstword $(origin SERVER)))
built = $(if $(named),,$(optimized))
proofs = python3 -B scripts/proofs $(if $(named),--server $(SERVER))

ssrf: setup ## Check in a network namespace that no forbidden address is contacted
	$(built)
	$(proofs) ssrf $(if $(CORPUS),--corpus $(CORPUS))

chaos: setup ## Break origins, clients, disk and processes for MINUTES=10 and check every response
	$(built)
	$(proofs) chaos --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

corpus: setup ## Send every fixture, and every file of the corpus at CORPUS=dir
	$(built)
	$(proofs) corpus $(if $(CORPUS),--corpus $(CORPUS))

soak: setup ## Request REQUESTS=50000 different images and check that memory does not grow
	$(built)
	$(proofs) soak --requests $(or $(REQUESTS),50000)

overload: setup ## Send FACTOR=10 times the load that the server can process; check goodput, deadlines, fairness, memory
	$(built)
	$(proofs) overload $(if $(FACTOR),--factor $(FACTOR))
	$(proofs) overload --hostile
	$(proofs) overload --hostile --settings=--pixel-workers=1
	$(proofs) overload --worst
	$(proofs) overload --greedy-key --seconds 60

attack: setup ## Replay attacks that were found on the server, and check the bound of each; ONLY=theme
	$(built)
	$(proofs) attack $(if $(ONLY),--only $(ONLY))

costs: setup ## Search for SECONDS=600 for valid requests that exceed their predicted cost
	$(built)
	$(proofs) costs --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

urls: setup ## Request each URL that the server names for photographs of MEGAPIXELS=0.1,1,6,12,24,50; PHOTOGRAPH=file
	$(built)
	$(proofs) urls $(if $(MEGAPIXELS),--megapixels $(MEGAPIXELS)) $(if $(PHOTOGRAPH),--photograph $(PHOTOGRAPH))

cluster: setup ## Run three nodes with HAProxy and a real object store, and check every response while parts of it fail; ONLY=1 to 11; MINUTES=13; LAST=executable of the last release; PAGE=docs/proofs.md updates its figures
	@scripts/setup-proxies.sh
	$(built)
	python3 -B scripts/cluster $(if $(named),--server $(SERVER)) $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(LAST),--last $(LAST)) $(if $(SEED),--seed $(SEED)) $(if $(PAGE),--page $(PAGE))

edge: setup ## Put Varnish and nginx in front of one node and of three, purge under load for SECONDS=60 each, and count stale answers
	@scripts/setup-proxies.sh
	@scripts/setup-edge.sh
	$(built)
	$(proofs) edge $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))
	$(proofs) edge --self-test

nightly: ## Run every proof that .ci/run does not run, for some hours, and print one table; PROOFS=ssrf,chaos for some of them; run as root for all
	python3 -B scripts/nightly.py $(if $(PROOFS),--only $(PROOFS))

cache-tests: $(if $(CACHE_TESTS),setup) ## Run the public HTTP cache tests, as far as they can be asked for images; CACHE_TESTS=folder is a checkout of them
	@$(if $(CACHE_TESTS),:,echo 'Clone https://github.com/http-tests/cache-tests and name its folder: make cache-tests CACHE_TESTS=folder' >&2; exit 2)
	@scripts/setup-cache-tests.sh
	$(built)
	node --test scripts/cache-tests/adapter.test.mjs
	node scripts/cache-tests/main.mjs --suite $(CACHE_TESTS) --server $(if $(named),$(SERVER),.build/release/darkroom)

fuzz: setup ## Feed mutated input to every parser of untrusted bytes for SECONDS=60
	swift build --build-tests $(checked)
	@share=$$(grep -h 'fuzzer.run(' Tests/FuzzTests/Targets/*.swift | awk 'END { print $(or $(SECONDS),60) / NR }'); \
	FUZZ_SECONDS=$$share FUZZ_SEED=$(or $(SEED),$$(date +%s)) FUZZ_FOLDER=.build/fuzz \
		swift test --skip-build --no-parallel --filter FuzzTests $(SWIFT_FLAGS)

format: ## Format all Swift in place
	swift format --in-place --recursive --parallel $(swift_paths)

lint: ## Check the format and the rules of the project
	swift format lint --strict --recursive --parallel $(swift_paths)
	python3 scripts/lint-house.py

site: ## Build the documentation site into .build/site, which needs no network; a broken link fails
	@scripts/make-site.sh

docs: setup ## Build the library's documentation into .build/docs
	@scripts/make-docs.sh $(SWIFT_FLAGS)

fixtures: ## Generate Fixtures/images and check its table
	@scripts/setup-fixtures.sh
	.build/fixtures/bin/python -B scripts/make-fixtures.py

clean: ## Remove build products
	swift package clean
	rm -rf .venv .build/dist .build/fixtures .build-thread .build-address
