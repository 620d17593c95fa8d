"""Numbers so far: what requests and suggestions came to, kept on this machine. No user text, no paths of documents."""
