"""The language server: documents, when to ask, what to show. Torch-free."""
