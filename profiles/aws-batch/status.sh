#!/usr/bin/env bash
# status.sh <id>: running, success or failed.
set -euo pipefail
case $(aws batch describe-jobs --jobs "$1" --query 'jobs[0].status' --output text) in
    SUCCEEDED) echo success ;;
    FAILED) echo failed ;;
    *) echo running ;;
esac
