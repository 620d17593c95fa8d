"""`python -m completion_server` is `foretype`."""

from completion_server.cli import main

if __name__ == "__main__":
    main()
