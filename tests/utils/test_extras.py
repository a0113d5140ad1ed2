"""Optional packages."""

import pytest

from skauto.utils import check_installed


def test_the_error_names_the_caller_the_package_and_the_extra():
    check_installed("save", "plot", "json")
    with pytest.raises(ImportError, match=r"save needs no_package, .*'skauto\[plot\]'"):
        check_installed("save", "plot", "json", "no_package")
