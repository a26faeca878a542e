#!/usr/bin/env bash
# submit.sh <megabytes> <processors> <minutes> <script>: starts a Batch job that runs the script, and prints its id.
set -euo pipefail
aws batch submit-job --query jobId --output text \
    --job-name lmev2 --job-queue "$LMEV2_QUEUE" --job-definition "$LMEV2_DEFINITION" \
    --timeout "attemptDurationSeconds=$(($3 * 60))" \
    --container-overrides "{
        \"command\": [\"bash\", \"$4\"],
        \"resourceRequirements\": [
            {\"type\": \"MEMORY\", \"value\": \"$1\"},
            {\"type\": \"VCPU\", \"value\": \"$2\"}
        ]
    }"
