"""Where models are loaded and wrapped: the only place that imports transformers."""
