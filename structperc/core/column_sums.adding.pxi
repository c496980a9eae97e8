# Rows are added to sums: cell by cell, or by planes of eight columns with a digit of each cell.


cdef int add_cell(ColumnSums to, Py_ssize_t j, double x, const int64_t *weight, int n_weight, Py_ssize_t first_weight) except -1 nogil:
    """Adds a value and its square, multiplied by the digits of a weight."""
    cdef int64_t digits[8]
    cdef int64_t product[16]
    cdef Py_ssize_t first, start
    cdef int n, n_product, i, k
    if not fabs(x) < SP_TOO_LARGE:
        to.too_large = True
        return 0
    n = sp_cut(x, &first, digits)
    if n_weight == 1 and weight[0] == 1 and first_weight == 0:
        for i in range(n):
            to.sums.add(j, first - i, digits[i])
            for k in range(i + 1):
                to.squares.add(j, 2 * first - i - k, digits[i] * digits[k] * (2 if k < i else 1))
        return 0
    if n == 0:
        return 0
    n_product, start = sp_multiply(weight, n_weight, digits, n, product), first_weight + first + 1
    for i in range(n_product):
        to.sums.add(j, start - i, product[i])
        for k in range(n):
            to.squares.add(j, start - i + first - k, product[i] * digits[k])
    return 0


cdef int add_dense_cells(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column,
                         const double *weights) except -1 nogil:
    """Adds dense rows cell by cell."""
    cdef int64_t weight[8]
    cdef Py_ssize_t i, j, first = 0
    cdef int n_weight = 1
    weight[0] = 1
    for i in range(n_rows):
        if weights != NULL:
            n_weight = sp_cut(weights[i], &first, weight)
        if n_weight:
            for j in range(n):
                add_cell(to, column + j, values[i * n + j], weight, n_weight, first)
    return 0


cdef int add_sparse(ColumnSums to, const real *values, const index_t *indices, const index_t *starts, Py_ssize_t n_rows,
                    const double *weights) except -1 nogil:
    """Adds sparse rows; implicit zeros add nothing."""
    cdef int64_t weight[8]
    cdef Py_ssize_t i, e, first = 0
    cdef int n_weight = 1
    weight[0] = 1
    for i in range(n_rows):
        if weights != NULL:
            n_weight = sp_cut(weights[i], &first, weight)
        if n_weight:
            for e in range(starts[i], starts[i + 1]):
                add_cell(to, indices[e], values[e], weight, n_weight, first)
    return 0


cdef int add_dense(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column,
                   const double *weights) except -1 nogil:
    """Adds dense rows by planes: several rows beside each other, so that they fill the lanes."""
    if n_rows < FEW:
        return add_dense_cells(to, values, n_rows, n, column, weights)
    cdef Py_ssize_t abreast = SP_LANES, i, k, step, lane
    cdef double *room = NULL
    while abreast > 1 and abreast // 2 * n % SP_LANES == 0:
        abreast //= 2
    try:
        for i in range(((n_rows + abreast - 1) // abreast + DEPTH - 1) // DEPTH):
            for k in range(abreast * n // SP_LANES):
                step, lane = i * DEPTH, k * SP_LANES
                if weights == NULL and add_five_digits(to, values, n_rows, n, column, abreast, step, lane):
                    continue
                if room == NULL:
                    room = <double *> malloc((2 + 2 * SP_PLANES + 2 * PLANES_OF_WEIGHT) * DEPTH * SP_LANES * sizeof(double))
                    if room == NULL:
                        with gil:
                            raise MemoryError
                if not add_planes(to, values, n_rows, n, column, weights, abreast, step, lane, room):
                    add_block_cells(to, values, n_rows, n, column, weights, abreast, step, lane)
    finally:
        free(room)
    return 0


cdef int add_five_digits(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column,
                         Py_ssize_t abreast, Py_ssize_t step, Py_ssize_t lane) except -1 nogil:
    """Adds cells of eight lanes in one pass. Returns 0 if a cell has more than five digits, or is too large."""
    cdef Py_ssize_t depth = min(<Py_ssize_t> DEPTH, (n_rows + abreast - 1) // abreast - step), pitch = abreast * n
    cdef Py_ssize_t total = n_rows * n - step * pitch - lane, i, c
    cdef const real *block = values + step * pitch + lane
    cdef double[DEPTH * 8] cells
    cdef double[8] most
    cdef double[40] rounders
    cdef double[160] sums
    cdef Py_ssize_t[8] first, columns
    cdef int k, m, t = SP_FIVE
    for i in range(depth - 1):
        sp_fetch(block + i * pitch + SP_LANES)          # for the next lanes
        for c in range(SP_LANES):
            cells[i * SP_LANES + c] = block[i * pitch + c]
    for c in range(SP_LANES):
        i = (depth - 1) * pitch + c
        cells[(depth - 1) * SP_LANES + c] = block[i] if i < total else 0
    PLANES.largest(cells, depth, most)
    for c in range(SP_LANES):
        if not most[c] < SP_TOO_LARGE:
            return 0
        columns[c] = column + (lane + c) % n
        first[c] = sp_first_unit(most[c]) if most[c] > 0 else 0
        if first[c] - SP_FIVE < SP_LOW_UNIT // 2:
            return 0
        for k in range(SP_FIVE):
            rounders[k * SP_LANES + c] = sp_rounder(first[c] - k)
    if PLANES.add_five(cells, depth, rounders, sums):
        return 0
    for k in range(SP_FIVE):
        add_lanes(to.sums, sums + k * SP_LANES, first, NULL, k, 1, columns)
        for m in range(k + 1):
            add_lanes(to.squares, sums + t * SP_LANES, first, first, k + m, 2 if m < k else 1, columns)
            t += 1
    return 1


cdef int add_block_cells(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column, const double *weights,
                         Py_ssize_t abreast, Py_ssize_t step, Py_ssize_t lane) except -1 nogil:
    """The cells of `add_planes`, one by one."""
    cdef Py_ssize_t i, c, row
    cdef const double *weight = NULL
    for i in range(step, step + DEPTH):
        for c in range(lane, lane + SP_LANES):
            row = i * abreast + c // n
            if row < n_rows:
                if weights != NULL:
                    weight = weights + row
                add_dense_cells(to, values + row * n + c % n, 1, 1, column + c % n, weight)
    return 0


cdef int add_planes(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column, const double *weights,
                    Py_ssize_t abreast, Py_ssize_t step, Py_ssize_t lane, double *room) except -1 nogil:
    """Adds cells of eight lanes; returns 0 if they have too many digits."""
    cdef Py_ssize_t size = DEPTH * SP_LANES, depth = min(DEPTH, (n_rows + abreast - 1) // abreast - step)
    cdef double *rest = room
    cdef double *planes = rest + size
    cdef double *weighted = planes + SP_PLANES * size           # digits of products
    cdef double *heavy = weighted + (SP_PLANES + PLANES_OF_WEIGHT) * size       # weights, and their digits
    cdef double *factors = heavy + size
    cdef double[16] most, sums
    cdef Py_ssize_t[16] first, first_weight, first_product, columns
    cdef double[512] rounders
    cdef Py_ssize_t i, c, at, pitch = abreast * n, total = n_rows * n, row
    cdef int n_digits, n_weight = 0, n_product, k, m
    cdef double x, w
    cdef bint odd = False
    for c in range(SP_LANES):
        most[c] = 0
    for i in range(depth):
        at = (step + i) * pitch + lane
        for c in range(SP_LANES):
            x = values[at + c] if at + c < total else 0
            if weights != NULL:
                row = (step + i) * abreast + (lane + c) // n
                w = weights[row] if row < n_rows else 0
                heavy[i * SP_LANES + c] = w
                if w == 0:
                    x = 0
            rest[i * SP_LANES + c] = x
            odd |= not fabs(x) < SP_TOO_LARGE
            most[c] = max(most[c], fabs(x))
    while depth % 4:                            # rows of zeros
        for c in range(SP_LANES):
            rest[depth * SP_LANES + c] = heavy[depth * SP_LANES + c] = 0
        depth += 1
    if odd:
        to.too_large = True
        return 1
    for c in range(SP_LANES):
        columns[c] = column + (lane + c) % n
        first[c] = sp_first_unit(most[c]) if most[c] > 0 else 0
    n_digits = cut(rest, depth, first, SP_PLANES, planes)
    if n_digits < 0:
        return 0
    if weights == NULL:
        for k in range(n_digits):
            PLANES.add_up(planes + k * size, depth, sums)
            add_lanes(to.sums, sums, first, NULL, k, 1, columns)
            for m in range(k + 1):
                PLANES.add_products(planes + k * size, planes + m * size, depth, sums)
                add_lanes(to.squares, sums, first, first, k + m, 2 if m < k else 1, columns)
        return 1
    w = 0
    for i in range(depth * SP_LANES):
        w = max(w, heavy[i])
    for c in range(SP_LANES):
        first_weight[c] = sp_first_unit(w)
        first_product[c] = first_weight[c] + first[c] + 1
    n_weight = cut(heavy, depth, first_weight, PLANES_OF_WEIGHT, factors)
    n_product = n_weight + n_digits
    if n_weight < 0:
        return 0
    for c in range(SP_LANES):
        if min(first_product[c], first_product[c] + first[c] - n_digits + 1) - n_product + 1 < SP_LOW_UNIT:
            return 0
        for k in range(n_product):
            rounders[k * SP_LANES + c] = sp_rounder(first_product[c] - k)
    PLANES.multiply_planes(factors, n_weight, planes, n_digits, depth, size, rounders, weighted)
    for k in range(n_product):
        PLANES.add_up(weighted + k * size, depth, sums)
        add_lanes(to.sums, sums, first_product, NULL, k, 1, columns)
        for m in range(n_digits):
            PLANES.add_products(weighted + k * size, planes + m * size, depth, sums)
            add_lanes(to.squares, sums, first_product, first, k + m, 1, columns)
    return 1


cdef int cut(double *rest, Py_ssize_t depth, const Py_ssize_t *first, int most, double *planes) noexcept nogil:
    """Cuts numbers into planes; returns how many, or -1 if there would be more than `most` or too low ones."""
    cdef double[16] rounder
    cdef int n = 0
    cdef Py_ssize_t c
    while True:
        for c in range(SP_LANES):
            if first[c] - n < SP_LOW_UNIT // 2:
                return -1
            rounder[c] = sp_rounder(first[c] - n)
        n += 1
        if not PLANES.cut_plane(rest, depth, rounder, planes + (n - 1) * DEPTH * SP_LANES):
            return n
        if n == most:
            return -1


cdef int add_lanes(Digits to, const double *sums, const Py_ssize_t *first, const Py_ssize_t *second, Py_ssize_t down, int times,
                   const Py_ssize_t *columns) except -1 nogil:
    """Adds the sums of a plane, or of products of two, to the numbers of its columns."""
    cdef Py_ssize_t c, unit
    for c in range(SP_LANES):
        if sums[c] != 0:
            unit = first[c] - down + (0 if second == NULL else second[c])
            to.add(columns[c], unit, <int64_t> (sums[c] * sp_unit(-unit)) * times)
    return 0
