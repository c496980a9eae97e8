"""C99 without dependencies: weights and functions in one source file.

Labels without weights, such as the lowest rank, cost nothing. The others are taken in blocks, whose sums stay in registers: several at once
hide the latency of additions, without any flag of a compiler. GCC and Clang have a type of two numbers, which halves the operations. Cost
at 136 columns and 5 ranks: 80 ns a row, 110 with other compilers.
"""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.text import label_literals, table

SUMS = 8                # registers
BLOCKS = (8, 4, 2, 1)   # labels of a block
PAIRS = '''#ifdef __GNUC__

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));    /* two numbers in a register */

{pairs}
#else

{doubles}
#endif
'''
ADD_BLOCK = '''static void add_block(const double *x, const double (*w)[BLOCK], double *sums)
{{
    {kind} {declared};
    int j;

    for (j = 0; j + {strides} <= COLUMNS; j += {strides}) {{
{steps}
    }}
    for (; j < COLUMNS; j++) {{
{rest}
    }}
{ends}
}}
'''
SOURCE = '''/* {description}; exported by structperc. ISO C99, no libraries.

   Declarations for other files:

       extern const int {name}_n_columns, {name}_n_labels;
       extern const {label_type} {name}_labels[{n_labels}];
       void {name}_scores(const double *x, double *scores);    one row x of {n_columns} numbers, {n_labels} scores
       int {name}_predict(const double *x);                    which of {name}_labels has the largest score, the {tie} of equals
*/

enum {{ COLUMNS = {n_columns}, LABELS = {n_labels}, WITHOUT = {without}, BLOCK = {block}, BLOCKS = {n_blocks} }};

extern const int {name}_n_columns, {name}_n_labels;
extern const {label_type} {name}_labels[LABELS];
void {name}_scores(const double *x, double *scores);
int {name}_predict(const double *x);

const int {name}_n_columns = COLUMNS, {name}_n_labels = LABELS;
const {label_type} {name}_labels[LABELS] = {{{labels}}};

static const double bias[LABELS] = {{{bias}}};

/* Of blocks of labels, behind the first WITHOUT ones, whose weights are zero: a line for each column. */
static const double weights[BLOCKS][COLUMNS][BLOCK] = {{
{weights}
}};

{add_block}
void {name}_scores(const double *x, double *scores)
{{
    double sums[BLOCKS * BLOCK];
    int l;

    for (l = 0; l < BLOCKS; l++)
        add_block(x, weights[l], sums + l * BLOCK);
    for (l = 0; l < LABELS; l++)
        scores[l] = l < WITHOUT ? bias[l] : bias[l] + sums[l - WITHOUT];
}}

int {name}_predict(const double *x)
{{
    double scores[LABELS];
    int l, best = 0;

    {name}_scores(x, scores);
    for (l = 1; l < LABELS; l++)
        if (scores[l] {beats} scores[best])
            best = l;
    return best;
}}
'''


def written(model, name) -> bytes:
    """The source file; functions begin with `name`. Parameters as of `structperc.engine.exports`."""
    kind, labels = label_literals(model.labels)
    without, block = shape_of(model.weights)
    blocks = in_blocks(model.weights[without:], block)
    return SOURCE.format(
        description=model.description.replace("*/", "* /"), name=name, n_columns=model.weights.shape[1], n_labels=len(model.labels),
        without=without, block=block, n_blocks=len(blocks), label_type=kind, labels=", ".join(labels),
        bias=", ".join(map(repr, model.bias.tolist())), weights=",\n".join(f"  {{\n{table(one, brackets='{}')}\n  }}" for one in blocks),
        add_block=PAIRS.format(pairs=adding("pair", 2, block), doubles=adding("double", 1, block)) if block > 1 else adding("double", 1, 1),
        tie="last" if model.last else "first", beats=">=" if model.last else ">").encode()


def adding(kind, width, block) -> str:
    """The function that adds up a block, in registers of a type that holds so many numbers."""
    strides, lanes = SUMS * width // block, range(0, block, width)

    def step(k, i):
        return f"s{k}_{i} += x[j + {k}] * *(const {kind} *)(w[j + {k}] + {i});"

    return ADD_BLOCK.format(
        kind=kind, strides=strides, declared=", ".join(f"s{k}_{i} = {{0}}" for k in range(strides) for i in lanes),
        steps=lines(step(k, i) for k in range(strides) for i in lanes), rest=lines(step(0, i) for i in lanes),
        ends=lines((f"*({kind} *)(sums + {i}) = {' + '.join(f's{k}_{i}' for k in range(strides))};" for i in lanes), 4))


def shape_of(weights):
    """The number of first labels without weights, and the number of other labels in a block. So blocks have the least padding."""
    without = 0
    while without < len(weights) - 1 and not weights[without].any():
        without += 1
    n = len(weights) - without
    return without, min(BLOCKS, key=lambda block: -(-n // block) * block)


def in_blocks(weights, block):
    """Arrays of shape (columns, block), the last filled with zeros."""
    padded = np.vstack([weights, np.zeros((-len(weights) % block, weights.shape[1]))])
    return [part.T for part in padded.reshape(-1, block, weights.shape[1])]


def lines(statements, indent=8) -> str:
    return "\n".join(f"{' ' * indent}{statement}" for statement in statements)
