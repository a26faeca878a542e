#!/usr/bin/env bash
# cancel.sh <id>…: ends Batch jobs.
set -euo pipefail
for job in "$@"; do
    aws batch terminate-job --job-id "$job" --reason "Snakemake was interrupted"
done
