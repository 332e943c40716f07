# Swift and a shell are enough: `make run` and `make test` install what else they need.

PORT ?= 8080
SWIFT_FLAGS ?=
SERVER ?= .build/debug/darkroom

swift_paths = $(wildcard Sources Tests Examples Benchmarks/Package.swift Package.swift \
	$(foreach bench,Floor HitRatio StoreBench Widths,Benchmarks/Sources/$(bench)))

.DEFAULT_GOAL := help
.PHONY: help setup run test conformance playground bench prove ssrf chaos corpus soak overload fuzz format lint docs fixtures clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  PORT=8080 chooses the port of run; SWIFT_FLAGS goes to every swift build and test;'
	@echo '  SERVER names the executable that conformance and proofs drive, and SEED what they make up.'

setup:
	@scripts/setup.sh

run: setup ## Build for release and serve Fixtures/images on 127.0.0.1:8080
	swift build -c release --product darkroom $(SWIFT_FLAGS)
	@exec .build/release/darkroom serve --local-root Fixtures/images --host 127.0.0.1 --port $(PORT)

test: setup ## Build and run all tests; some drive the executable
	swift build --product darkroom $(SWIFT_FLAGS)
	swift test --no-parallel $(SWIFT_FLAGS)

conformance: setup ## Drive the server with a client generated from its contract, then fuzz it after the contract
	@scripts/setup-ci.sh
	$(if $(filter .build/debug/darkroom,$(SERVER)),swift build --product darkroom $(SWIFT_FLAGS))
	.venv/bin/python -B scripts/conformance --server $(SERVER) $(if $(SEED),--seed $(SEED))

playground: setup ## Try the page at / in headless Chromium; screenshots go to .build/playground/screenshots
	@scripts/setup-playground.sh
	swift build --product darkroom $(SWIFT_FLAGS)
	.build/playground/bin/python -B scripts/test-playground.py --screenshots .build/playground/screenshots

bench: setup ## Measure the service against its floors on this machine
	Benchmarks/run.sh

prove: setup ## Kill the server 200 times under load; check that only whole, right pictures are served after it
	swift build -c release --product darkroom $(SWIFT_FLAGS)
	scripts/prove-durability.py

# What the proofs attack: the release build, unless SERVER names another one.
named = $(filter command environment,$(firstword $(origin SERVER)))
built = $(if $(named),,swift build -c release --product darkroom $(SWIFT_FLAGS))
proofs = python3 -B scripts/proofs $(if $(named),--server $(SERVER))

ssrf: setup ## Show in a network namespace that no address is contacted that must not be
	$(built)
	$(proofs) ssrf $(if $(CORPUS),--corpus $(CORPUS))

chaos: setup ## Break origins, clients, disk and processes for MINUTES=10 and look at every answer
	$(built)
	$(proofs) chaos --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

corpus: setup ## Send every fixture, and each picture of the corpus at CORPUS=../shared/corpus
	$(built)
	$(proofs) corpus $(if $(CORPUS),--corpus $(CORPUS))

soak: setup ## Have REQUESTS=50000 different pictures made and see that memory stays where it is
	$(built)
	$(proofs) soak --requests $(or $(REQUESTS),50000)

overload: setup ## Ask for ten times as much as the server can do; check goodput, deadlines, fairness and memory
	$(built)
	$(proofs) overload

fuzz: setup ## Feed what reads strangers' bytes with damaged ones for SECONDS=60
	swift build --build-tests $(SWIFT_FLAGS)
	@share=$$(grep -h 'fuzzer.run(' Tests/FuzzTests/Targets/*.swift | awk 'END { print $(or $(SECONDS),60) / NR }'); \
	FUZZ_SECONDS=$$share FUZZ_SEED=$(or $(SEED),$$(date +%s)) FUZZ_FOLDER=.build/fuzz \
		swift test --skip-build --no-parallel --filter FuzzTests $(SWIFT_FLAGS)

format: ## Format all Swift in place
	swift format --in-place --recursive --parallel $(swift_paths)

lint: ## Check the format, the arrows between targets and the rules of the house
	swift format lint --strict --recursive --parallel $(swift_paths)
	python3 scripts/check-imports.py

docs: setup ## Build the library's documentation into .build/docs
	@scripts/make-docs.sh $(SWIFT_FLAGS)

fixtures: ## Draw Fixtures/images anew and check its table
	@scripts/setup-fixtures.sh
	.build/fixtures/bin/python -B scripts/make-fixtures.py

clean: ## Remove what builds left behind
	swift package clean
	rm -rf .venv .build/fixtures
