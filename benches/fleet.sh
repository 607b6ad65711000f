#!/usr/bin/env bash
# Sums up the logs of 1,000 made-up machines with DuckDB, ClickHouse and Spark (a master and two workers, one killed in the middle) and
# holds the figures against `ahp log stats`: benches/fleet.sh [MACHINES [MEGABYTES]]. It takes long, most of it to write and carry the logs.
set -euo pipefail
cd "$(dirname "$0")/.."
exec .ci/fleet --sums-only --machines "${1:-1000}" --megabytes "${2:-1.5}" --kills 0
