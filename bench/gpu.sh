#!/bin/sh
# Everything worth knowing on one GPU in under five minutes, real shapes, random weights: docs/gpu.md.
#
#   bench/gpu.sh [--parts bandwidth,passes] [--out FILE] [--tiny]
#
# Runs from a plain checkout with the python that has torch and transformers; PYTHON names another one.
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m bench.gpu "$@"
