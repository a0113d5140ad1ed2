"""Errors for optional packages that are not installed."""

from importlib import import_module


def check_installed(caller: str, extra: str, *packages: str) -> None:
    """Raise an ImportError that names `caller` and an extra if a package is not installed."""
    for package in packages:
        try:
            import_module(package)
        except ImportError as exc:
            raise ImportError(
                f"{caller} needs {package}, which is not installed. Install the extra with "
                f"`pip install 'skauto[{extra}]'`."
            ) from exc
