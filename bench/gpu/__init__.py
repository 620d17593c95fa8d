"""`bench/gpu.sh`: what one GPU does with real shapes and random weights. Needs only torch, transformers, tokenizers."""
