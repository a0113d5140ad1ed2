"""Types of the arrays that pass between the rooms."""

import numpy as np
from numpy.typing import NDArray

#: Numbers: vectors, losses, probabilities.
FloatArray = NDArray[np.float64]
#: Indices and counts.
IntArray = NDArray[np.intp]
#: Masks.
BoolArray = NDArray[np.bool_]
