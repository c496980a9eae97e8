"""C99 without dependencies: weights and one function in one source file."""

from __future__ import annotations

from structperc.engine.exports.text import numbers

SOURCE = '''/* {description}; exported by structperc. ISO C99, no libraries.

   Declarations for other files:

       extern const int {name}_n_columns;
       double {name}_score(const double *x);    the score of one row x of {n_columns} numbers: sort rows by it, the largest first
*/

enum {{ COLUMNS = {n_columns} }};

extern const int {name}_n_columns;
double {name}_score(const double *x);

const int {name}_n_columns = COLUMNS;

static const double weights[COLUMNS] = {{{weights}}};

double {name}_score(const double *x)
{{
    double sum = {bias!r};
    int j;

    for (j = 0; j < COLUMNS; j++)
        sum += weights[j] * x[j];
    return sum;
}}
'''


def written(model, name) -> bytes:
    """The source; functions begin with `name`. Parameters as of `structperc.engine.exports`."""
    return SOURCE.format(description=model.description, name=name, n_columns=len(model.weights), weights=numbers(model.weights),
                         bias=model.bias).encode()
