# The verbs that people and CI type; each is a script, so that a machine without make can do the same.

PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

.PHONY: build demo test bench soak fuzz lint format sanitize portable picture reference install uninstall release \
	release-check clean

build: ## Build everything for debugging
	scripts/build

demo: ## Build, then show the main job from end to end without the network
	scripts/demo

test: ## Run every test, those against Python's Hub client too (ARGS='--filter Catalog')
	scripts/test $(ARGS)

bench: ## Measure hub beside its peers in one run (ARGS='--only large --runs 9')
	scripts/bench $(ARGS)

soak: ## Pull through faults, kills and damage, 200 rounds (ARGS='50 --seed 7')
	scripts/soak $(ARGS)

fuzz: ## Give every parser inputs that nobody wrote, for ten minutes (ARGS='3600 --only gguf')
	scripts/fuzz $(ARGS)

lint: ## Check the form of the Swift sources and the scripts
	scripts/lint

format: ## Format the Swift sources in place
	scripts/lint --fix

sanitize: ## Run the Swift tests under the thread and the address sanitizer
	scripts/sanitize $(ARGS)

portable: ## Run the macOS and AArch64 checks that work on Linux
	scripts/portable

picture: ## Draw docs/hub.svg, the picture in README, from what hub prints
	docs/picture.py

reference: ## Write docs/reference, the pages that hub prints of its commands
	scripts/reference

install: ## Build and install under PREFIX (and DESTDIR)
	scripts/install

uninstall: ## Remove the installed files
	scripts/install --uninstall

release: ## Make what people install without a compiler, in dist/; on Debian, on x86-64
	packaging/all

release-check: ## Install and try what `make release` made, each in a clean system; as root (ARGS='deb image')
	packaging/check $(ARGS)

clean: ## Remove everything that was built
	rm -rf .build dist

help: ## List the targets
	@sed -nE 's/^([a-z-]+): ## (.*)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-14s %s\n", $$1, $$2 }'
.PHONY: help
