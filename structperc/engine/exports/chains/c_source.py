"""C99 without dependencies, of labels in chains: the scores of tokens, then the best labels together.

Feature names are found in a hash table that is part of the file. No memory is allocated: the caller's array of scores holds the sums too.
"""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.chains.features import entries
from structperc.engine.exports.text import c_string, label_literals, numbers, table

SOURCE = '''/* {description}; exported by structperc. ISO C99, no libraries.

   Declarations for other files:

       extern const int {name}_n_labels;
       extern const {label_type} {name}_labels[{n_labels}];
{declared}
       int {name}_predict(int n_tokens, double *scores, int *best);

   First the scores of a sentence's tokens, {n_labels} of each, one token after the other. Then {name}_predict gives each token
   the number of its label, the lowest of equals from the last token back; 0: the constraints leave no labels. It overwrites
   the scores.
*/

#include <math.h>
#include <stddef.h>

#define inf INFINITY

enum {{ LABELS = {n_labels} }};

extern const int {name}_n_labels;
extern const {label_type} {name}_labels[LABELS];
int {name}_predict(int n_tokens, double *scores, int *best);

const int {name}_n_labels = LABELS;
const {label_type} {name}_labels[LABELS] = {{{labels}}};

static const double bias[LABELS] = {{{bias}}};
static const double start[LABELS] = {{{start}}};
static const double end[LABELS] = {{{end}}};

/* Row: the label before, column: the label after; -inf: forbidden. */
static const double transitions[LABELS][LABELS] = {{
{transitions}
}};
{tokens}
/* The label before from which most comes, and how much that is. */
static int origin(const double *before, int after, double *most)
{{
    int l, found = 0;

    *most = before[0] + transitions[0][after];
    for (l = 1; l < LABELS; l++)
        if (before[l] + transitions[l][after] > *most) {{
            *most = before[l] + transitions[l][after];
            found = l;
        }}
    return found;
}}

int {name}_predict(int n_tokens, double *scores, int *best)
{{
    double *last = scores + (ptrdiff_t)(n_tokens - 1) * LABELS, most;
    int t, l;

    if (n_tokens <= 0)
        return 1;
    for (l = 0; l < LABELS; l++)
        scores[l] = start[l] + scores[l];
    for (; scores < last; scores += LABELS)
        for (l = 0; l < LABELS; l++) {{
            origin(scores, l, &most);
            scores[LABELS + l] = most + scores[LABELS + l];
        }}
    best[n_tokens - 1] = 0;
    most = last[0] + end[0];
    for (l = 1; l < LABELS; l++)
        if (last[l] + end[l] > most) {{
            most = last[l] + end[l];
            best[n_tokens - 1] = l;
        }}
    if (most == -inf)
        return 0;
    for (t = n_tokens - 2; t >= 0; t--) {{
        last -= LABELS;
        best[t] = origin(last, best[t + 1], &most);
    }}
    return 1;
}}
'''
OF_ROW = "void {name}_scores(const double *x, double *scores);    one token's row x of {n_columns} numbers"
ROWS = '''
enum {{ COLUMNS = {n_columns} }};

/* A line for each column. */
static const double weights[COLUMNS][LABELS] = {{
{weights}
}};

void {name}_scores(const double *x, double *scores);

void {name}_scores(const double *x, double *scores)
{{
    int j, l;

    for (l = 0; l < LABELS; l++)
        scores[l] = 0;
    for (j = 0; j < COLUMNS; j++)
        for (l = 0; l < LABELS; l++)
            scores[l] += x[j] * weights[j][l];
    for (l = 0; l < LABELS; l++)
        scores[l] += bias[l];
}}
'''
OF_NAMES = '''void {name}_scores(int n, const char *const *names, const double *values, double *scores);
                  one token's n features by their names in UTF-8; values NULL: each is 1'''
OF_CELLS = '''void {name}_scores(int n_tokens, const char *const *cells, int token, double *scores);
                  one token of a sentence, whose tokens have {n_columns} strings in UTF-8 each, one token after the other'''
NAMED = '''
enum {{ FEATURES = {n_features}, SLOTS = {n_slots} }};

/* Names as they are compared: where they stand in the file's order, and how long they are. */
static const char *const names[FEATURES + 1] = {{
{names}
    ""
}};
static const int sizes[FEATURES + 1] = {{{sizes}}};

/* The labels with a weight of feature i and these weights are entries ends[i] to ends[i + 1]. */
static const int ends[FEATURES + 1] = {{{ends}}};
static const int entry_labels[] = {{{entry_labels}, 0}};
static const double entry_weights[] = {{{entry_weights}, 0}};

/* By hash: the number of a feature plus 1, of the next ones where others have taken its place; 0: none. */
static const int slots[SLOTS] = {{{slots}}};

static const unsigned long FIRST_HASH = 2166136261UL;

static unsigned long hashed(unsigned long hash, char byte)
{{
    return (hash ^ (unsigned char)byte) * 16777619UL & 0xFFFFFFFFUL;
}}

/* Adds the weights of the feature of this name and hash, if there is one. */
static void add_feature(const char *name, int size, unsigned long hash, double value, double *scores)
{{
    unsigned long slot = hash & (SLOTS - 1);
    int i, k;

    for (; slots[slot] > 0; slot = (slot + 1) & (SLOTS - 1)) {{
        i = slots[slot] - 1;
        for (k = 0; sizes[i] == size && k < size && names[i][k] == name[k]; k++)
            ;
        if (sizes[i] == size && k == size) {{
            for (k = ends[i]; k < ends[i + 1]; k++)
                scores[entry_labels[k]] += value * entry_weights[k];
            return;
        }}
    }}
}}
'''
BAGS = '''
void {name}_scores(int n, const char *const *given, const double *values, double *scores);

void {name}_scores(int n, const char *const *given, const double *values, double *scores)
{{
    unsigned long hash;
    int i, l, size;

    for (l = 0; l < LABELS; l++)
        scores[l] = 0;
    for (i = 0; i < n; i++) {{
        hash = FIRST_HASH;
        for (size = 0; given[i][size] != 0; size++)
            hash = hashed(hash, given[i][size]);
        add_feature(given[i], size, hash, values == NULL ? 1 : values[i], scores);
    }}
    for (l = 0; l < LABELS; l++)
        scores[l] += bias[l];
}}
'''
WINDOWS = '''
enum {{ COLUMNS = {n_columns}, PIECES = {n_pieces}, LONGEST = {longest} }};

/* The template. A piece is text, or a cell so many tokens further on if text is NULL. The last piece of a line ends a name. */
static const struct {{ const char *text; int offset, column, last; }} pieces[PIECES] = {{
{pieces}
}};

/* A name under construction, of which more than LONGEST bytes are not kept: no feature has so many. */
struct name {{
    char bytes[LONGEST + 1];
    int size;
    unsigned long hash;
}};

static void append(struct name *name, const char *text)
{{
    for (; *text != 0 && name->size <= LONGEST; text++) {{
        name->bytes[name->size++] = *text;
        name->hash = hashed(name->hash, *text);
    }}
}}

static void append_boundary(struct name *name, const char *mark, int distance)
{{
    char digits[16];
    int i = 15;

    append(name, mark);
    digits[i] = 0;
    for (; distance > 0; distance /= 10)
        digits[--i] = (char)('0' + distance % 10);
    append(name, digits + i);
}}

void {name}_scores(int n_tokens, const char *const *cells, int token, double *scores);

void {name}_scores(int n_tokens, const char *const *cells, int token, double *scores)
{{
    struct name made;
    int i, l, t;

    for (l = 0; l < LABELS; l++)
        scores[l] = 0;
    made.size = 0;
    made.hash = FIRST_HASH;
    for (i = 0; i < PIECES; i++) {{
        t = token + pieces[i].offset;
        if (pieces[i].text != NULL)
            append(&made, pieces[i].text);
        else if (t < 0)
            append_boundary(&made, "_B-", -t);
        else if (t >= n_tokens)
            append_boundary(&made, "_B+", t - n_tokens + 1);
        else
            append(&made, cells[(ptrdiff_t)t * COLUMNS + pieces[i].column]);
        if (pieces[i].last) {{
            add_feature(made.bytes, made.size, made.hash, 1, scores);
            made.size = 0;
            made.hash = FIRST_HASH;
        }}
    }}
    for (l = 0; l < LABELS; l++)
        scores[l] += bias[l];
}}
'''


def written(model, name) -> bytes:
    """The source file; functions begin with `name`. Parameters as of `structperc.engine.exports`."""
    kind, labels = label_literals(model.labels)
    sizes = {"name": name, "n_columns": model.weights.shape[1] if model.names is None else model.n_columns}
    if model.names is None:
        declared, tokens = OF_ROW, ROWS.format(**sizes, weights=table(model.weights.T, brackets="{}"))
    else:
        tokens = NAMED.format(**table_of(model))
        declared, read = (OF_NAMES, BAGS) if model.lines is None else (OF_CELLS, WINDOWS)
        tokens += read.format(**sizes, **({} if model.lines is None else pieces_of(model)))
    return SOURCE.format(
        description=model.description.replace("*/", "* /"), name=name, n_labels=len(labels), label_type=kind, labels=", ".join(labels),
        declared=f"       {declared.format(**sizes)}", bias=numbers(model.bias), start=numbers(model.start), end=numbers(model.end),
        transitions=table(model.transitions, brackets="{}"), tokens=tokens).encode()


def table_of(model) -> dict:
    """The hash table and the weights of named features."""
    names = [text.encode() for text in model.names]
    weights = list(entries(model))
    slots = placed([hash_of(one) for one in names])
    return {
        "n_features": len(names), "n_slots": len(slots), "names": "\n".join(f"    {c_string(text)}," for text in model.names),
        "sizes": in_lines([*map(len, names), 0]), "ends": in_lines(np.cumsum([0, *(len(labels) for labels, _ in weights)]).tolist()),
        "entry_labels": in_lines([label for labels, _ in weights for label in labels] or [0]),
        "entry_weights": in_lines([weight for _, own in weights for weight in own] or [0.0]), "slots": in_lines(slots)}


def pieces_of(model) -> dict:
    """The template."""
    pieces = [f"    {{{'NULL' if cell else c_string(piece)}, {piece[0] if cell else 0}, {piece[1] if cell else 0}, {int(last)}}}"
              for line in model.lines for piece, last in zip(line, [False] * (len(line) - 1) + [True], strict=True)
              for cell in [not isinstance(piece, str)]]
    return {"n_pieces": len(pieces), "pieces": ",\n".join(pieces), "longest": max((len(text.encode()) for text in model.names), default=1)}


def hash_of(name) -> int:
    """FNV-1a of 32 bits."""
    value = 2166136261
    for byte in name:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def placed(hashes) -> list[int]:
    """An open-addressing table of these hashes: at most half of its slots, a power of 2, hold a number plus 1."""
    slots = [0] * (1 << max(1, 2 * len(hashes)).bit_length())
    for i, value in enumerate(hashes):
        slot = value & len(slots) - 1
        while slots[slot]:
            slot = slot + 1 & len(slots) - 1
        slots[slot] = i + 1
    return slots


def in_lines(values, width=32) -> str:
    """Numbers, some on each line."""
    rows = (", ".join(map(repr, values[i:i + width])) for i in range(0, len(values), width))
    return ",\n    ".join(rows)
