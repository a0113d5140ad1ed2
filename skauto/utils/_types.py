"""Array types."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Floats in single or double precision: vectors, losses, probabilities.
FloatArray = NDArray[np.floating[Any]]
#: Indices, counts and class codes.
IntArray = NDArray[np.integer[Any]]
#: Masks.
BoolArray = NDArray[np.bool_]
