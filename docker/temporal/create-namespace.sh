#!/bin/sh
# Creates the namespace unless it is there. A server that has just begun to listen may still refuse: try for a minute.
set -eu
attempt=1
until temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"; do
  if [ "$attempt" -ge 20 ]; then
    echo "Temporal at $TEMPORAL_ADDRESS did not create namespace $TEMPORAL_NAMESPACE in a minute" >&2
    exit 1
  fi
  attempt=$((attempt + 1))
  sleep 3
done
