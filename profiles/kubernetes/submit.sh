#!/usr/bin/env bash
# submit.sh <megabytes> <processors> <script>: starts a Kubernetes job that runs the script, and prints its name.
set -euo pipefail
kubectl create --output=jsonpath='{.metadata.name}' --filename=- <<YAML
apiVersion: batch/v1
kind: Job
metadata: {generateName: lmev2-}
spec:
  backoffLimit: 0 # Snakemake tries again, with more memory
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: job
          image: "$LMEV2_IMAGE"
          workingDir: "$PWD"
          command: [bash, "$3"]
          envFrom: [{secretRef: {name: lmev2-keys, optional: true}}]
          resources: {requests: {memory: ${1}M, cpu: "$2"}, limits: {memory: ${1}M}}
          volumeMounts: [{name: work, mountPath: "$LMEV2_MOUNT"}]
      volumes: [{name: work, persistentVolumeClaim: {claimName: "$LMEV2_CLAIM"}}]
YAML
