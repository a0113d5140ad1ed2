"""Run the command line as ``python -m skauto``."""

import sys

from skauto.cli._main import main

if __name__ == "__main__":
    sys.exit(main())
