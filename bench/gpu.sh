#!/bin/sh
# Everything worth knowing on one GPU in under five minutes, real shapes, random weights: docs/gpu.md.
#
#   bench/gpu.sh [--parts bandwidth,passes] [--out FILE] [--tiny]
#
# Runs from a plain checkout with the python that has torch and transformers: that of `make setup` if it is there, else
# python3; PYTHON names another one.
set -eu
cd "$(dirname "$0")/.."
here=python3
[ -x .venv/bin/python ] && here=.venv/bin/python
exec "${PYTHON:-$here}" -m bench.gpu "$@"
