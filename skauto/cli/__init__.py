"""The command line: ``skauto fit``, ``skauto predict`` and ``skauto report``."""
