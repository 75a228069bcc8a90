import pytest
from mathlib.matrix import identity, multiply, scale, shape, trace, transpose


def test_shape():
    assert shape([[1, 2, 3], [4, 5, 6]]) == (2, 3)


def test_shape_of_nothing():
    assert shape([]) == (0, 0)


def test_identity():
    assert identity(2) == [[1, 0], [0, 1]]


def test_transpose():
    assert transpose([[1, 2, 3], [4, 5, 6]]) == [[1, 4], [2, 5], [3, 6]]


def test_multiply():
    assert multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]) == [[19, 22], [43, 50]]


def test_multiply_checks_shapes():
    with pytest.raises(ValueError, match="shapes"):
        multiply([[1, 2, 3]], [[1, 2]])


def test_trace():
    assert trace([[1, 2], [3, 4]]) == 5


def test_trace_needs_a_square():
    with pytest.raises(ValueError):
        trace([[1, 2, 3], [4, 5, 6]])


def test_scale():
    assert scale([[1, 2], [3, 4]], 3) == [[3, 6], [9, 12]]
