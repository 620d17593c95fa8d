"""`python -m lsp`: the language server on stdin and stdout."""

import sys

from lsp.server import main

if __name__ == "__main__":
    sys.exit(main())
