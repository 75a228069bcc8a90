"""Small matrices as lists of rows."""

Matrix = list[list[float]]


def shape(matrix: Matrix) -> tuple[int, int]:
    if not matrix:
        return 0, 0
    return len(matrix), len(matrix[0])


def identity(size: int) -> Matrix:
    return [[1 if row == column else 0 for column in range(size)] for row in range(size)]


def transpose(matrix: Matrix) -> Matrix:
    rows, columns = shape(matrix)
    return [[matrix[row][column] for row in range(rows)] for column in range(columns)]


def multiply(left: Matrix, right: Matrix) -> Matrix:
    if shape(left)[1] != shape(right)[0]:
        raise ValueError("the shapes do not fit")
    columns = transpose(right)
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left
    ]


def trace(matrix: Matrix) -> float:
    rows, columns = shape(matrix)
    if rows != columns:
        raise ValueError("trace needs a square matrix")
    return sum(matrix[i][i] for i in range(rows))


def scale(matrix: Matrix, factor: float) -> Matrix:
    return [[value * factor for value in row] for row in matrix]
