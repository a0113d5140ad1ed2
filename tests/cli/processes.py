"""The command line in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


FAST = ["--max-evals", "2", "--seed", "0"]


def start(*arguments: object, program: tuple[str, ...] = ("-m", "skauto"), **streams: int):
    """Start the command line in a process of its own."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.Popen(command, text=True, env={**os.environ, "PYTHONPATH": path}, **streams)


def run(*arguments: object, **options: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    process = start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
