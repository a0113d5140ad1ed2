"""How worker processes are started and looked up."""

import os
import subprocess
import sys

import psutil
import pytest

from skauto.engines import ProcessEngine
from tests.polling import drain

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def test_no_descriptor_reaches_a_program_that_a_task_starts():
    def count():
        code = "import os; print(len(os.listdir('/proc/self/fd')))"
        text = subprocess.run(
            [sys.executable, "-S", "-c", code], capture_output=True, text=True, close_fds=False
        ).stdout
        return int(text)

    before = count()
    with ProcessEngine(count) as engine:
        engine.submit(0)
        assert drain(engine)[0].value == before


def test_a_worker_that_is_gone_when_it_is_looked_up(monkeypatch):
    """A worker can end between its message and the look at its process."""
    lost = []

    class Vanishing(psutil.Process):
        def __init__(self, pid=None, *args):
            if pid not in (None, os.getpid()) and not lost:
                lost.append(pid)
                raise psutil.NoSuchProcess(pid)
            super().__init__(pid, *args)

    monkeypatch.setattr(psutil, "Process", Vanishing)
    with ProcessEngine(abs) as engine:
        engine.submit("one", (-1,))
        assert drain(engine)["one"].value == 1
    assert lost


def test_a_program_that_closed_the_standard_descriptors(tmp_path):
    script = tmp_path / "closed.py"
    script.write_text(
        "import os, sys\n"
        "from skauto.engines import ProcessEngine\n"
        "for descriptor in (0, 1, 2):\n"
        "    os.close(descriptor)\n"
        "with ProcessEngine(abs) as engine:\n"
        "    engine.submit('one', (-1,))\n"
        "    [(key, outcome)] = engine.wait()\n"
        "open(sys.argv[1], 'w').write(f'{outcome.status} {outcome.value}')\n"
    )
    subprocess.run([sys.executable, script, tmp_path / "result"], check=True, timeout=60)
    assert (tmp_path / "result").read_text() == "ok 1"
