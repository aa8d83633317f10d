# Rudolph. `make help` lists the targets; the work itself is in scripts/.
.DEFAULT_GOAL := help
.PHONY: help run top experiment experiments chaos soak load-limits simulate test sim sim-faults fuzz audit lint bench compose-test kubernetes-test gateways-test dist build setup clean distclean

# Bash gives SECONDS a meaning of its own, so it travels as an option and not as a variable.
unexport SECONDS STRATEGY SERVERS NAME SCENARIO PLOT AT SEED SEEDS MINUTES FAULTS
run_options = $(if $(SECONDS),--seconds '$(SECONDS)') $(if $(STRATEGY),--strategy '$(STRATEGY)') $(if $(SERVERS),--servers '$(SERVERS)')

help: ## list the targets
	@echo 'make TARGET. Each sets up what it needs and asks nothing.'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'options of run: SECONDS=20  STRATEGY=spread|pin|rotation|lpt|static  SERVERS=5'
	@echo 'of experiment:  NAME=fig5|fig6a|fig6b|fig7|fig8|rivals|rivals-open|failover|scale-out'
	@echo '                NAME=arpeggio|sequential|shared-nothing   QUICK=1 to try any'
	@echo 'of simulate:    SCENARIO=design|servers|gateways|slow_server|lost_and_back|...  PLOT=page.html'

run: ## five servers behind Envoy with the filter, and a live table
	@RUDOLPH_QUIET=1 scripts/setup.sh run
	@scripts/run.sh $(run_options)

top: ## the status page of a running gateway in the terminal: AT=127.0.0.1:9902
	@RUDOLPH_QUIET=1 scripts/setup.sh top
	@scripts/top.sh $(if $(AT),--at '$(AT)')

experiment: ## one figure, measured in real Envoy: NAME=fig6a
	@RUDOLPH_QUIET=1 scripts/setup.sh experiment
	@scripts/experiment.sh '$(NAME)'

experiments: ## all figures and a page about them: testbed/results/report.html
	@RUDOLPH_QUIET=1 scripts/setup.sh experiment
	@scripts/experiment.sh

chaos: ## faults under load in real Envoy, with the filter and with MAGLEV: FAULTS=kill,trap
	@RUDOLPH_QUIET=1 scripts/setup.sh run
	@scripts/reliability.sh chaos $(if $(FAULTS),--faults '$(FAULTS)')

soak: ## a real Envoy watched for drift: MINUTES=60
	@RUDOLPH_QUIET=1 scripts/setup.sh run
	@scripts/reliability.sh soak $(if $(MINUTES),--minutes '$(MINUTES)')

load-limits: ## 10,000 connections and 32 workers on one Envoy
	@RUDOLPH_QUIET=1 scripts/setup.sh run
	@scripts/reliability.sh load-limits

simulate: ## the same strategies at any scale, in virtual time: SCENARIO=design
	@RUDOLPH_QUIET=1 scripts/setup.sh simulate
	@scripts/simulate.sh '$(SCENARIO)' $(if $(PLOT),--plot '$(PLOT)')

test: ## every test: host, Wasm in Node, real Envoy, scripts
	@scripts/setup.sh test
	@scripts/test.sh

sim: ## the module under random schedules and faults: SEEDS=1000, or SEED=7 again
	@RUDOLPH_QUIET=1 scripts/setup.sh build
	@scripts/sim.sh $(if $(SEED),--seed '$(SEED)',$(if $(SEEDS),--seeds '$(SEEDS)'))

sim-faults: ## faults planted in the module, and whether the simulation catches each
	@RUDOLPH_QUIET=1 scripts/setup.sh build
	@scripts/sim-faults.sh

fuzz: ## every reader of outside bytes, SECONDS=60 each
	@RUDOLPH_QUIET=1 scripts/setup.sh fuzz
	@scripts/fuzz.sh $(if $(SECONDS),'$(SECONDS)')

audit: ## licences, sources and advisories of all dependencies
	@RUDOLPH_QUIET=1 scripts/setup.sh audit
	@scripts/audit.sh

lint: ## format, clippy, shellcheck and house rules
	@scripts/setup.sh lint
	@scripts/lint.sh

bench: ## speed of the core, of choosing beside rivals, Envoy's CPU
	@scripts/setup.sh bench
	@scripts/bench.sh

compose-test: ## docker-compose.yml, brought up, scaled, hurt and checked
	@scripts/setup.sh compose-test
	@scripts/compose-test.sh

kubernetes-test: ## the sidecar on a Kubernetes made for it
	@scripts/setup.sh kubernetes-test
	@scripts/kubernetes-test.sh

gateways-test: ## Envoy Gateway's and Istio's own translation, run in Envoy
	@scripts/setup.sh gateways-test
	@scripts/gateways-test.sh

dist: ## target/dist: the module, its image, schema, bill of materials
	@scripts/setup.sh build
	@scripts/dist.sh

build: ## the filter: target/rudolph.wasm
	@scripts/setup.sh build
	@scripts/build-filter.sh

setup: ## install what build, run, test, bench and lint need
	@scripts/setup.sh all

clean: ## remove what was built
	rm -rf target

distclean: clean ## remove what was built and installed
	rm -rf .tools
