"""Hash of settings that a search and its continuation must have in common."""

import pickle
import types
from typing import Any

from joblib.hashing import NumpyHasher


class _Hasher(NumpyHasher):
    """joblib's, which hashes functions by name; this one hashes what is in them."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            name = value.__module__, value.__qualname__
            defaults = value.__defaults__, value.__kwdefaults__
            return object, (), (name, value.__code__, defaults, cells)
        if isinstance(value, types.CodeType):
            return object, (), (value.co_code, value.co_names, value.co_consts)
        if isinstance(value, type) and "<locals>" in value.__qualname__:  # not to be imported
            return object, (), (value.__module__, value.__qualname__)
        return NotImplemented


def fingerprint(value: Any) -> str:
    """Hash of a value that is equal in another process.

    Functions, lambdas too, have equal hashes if their code and the values that they enclose are
    equal, wherever they are. Classes are compared by their names.
    """
    try:
        return str(_Hasher("md5").hash(value))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            "A search that is continued compares its settings with those of the last one. They "
            f"must be objects that can be pickled. Got {value!r}, which cannot: {error}."
        ) from error
