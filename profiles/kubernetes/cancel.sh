#!/usr/bin/env bash
# cancel.sh <name>…: ends Kubernetes jobs.
set -euo pipefail
kubectl delete job "$@"
