#!/usr/bin/env bash
# status.sh <name>: running, success or failed.
set -euo pipefail
case $(kubectl get job "$1" --output=jsonpath='{.status.succeeded},{.status.failed}') in
    1,*) echo success ;;
    *,1) echo failed ;;
    *) echo running ;;
esac
