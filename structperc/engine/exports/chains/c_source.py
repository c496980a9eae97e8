"""C99 without dependencies, of labels in chains: the scores of tokens, then the best labels together.

Feature names are found in a hash table that is part of the file. No memory is allocated: the caller's array of scores holds the sums too.
"""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.chains.features import entries
from structperc.engine.exports.text import c_string, label_literals, numbers, table

ALL_LETTERS = 0x20000       # code points of letters with capitals, and of digits, are below

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
enum {{ WHOLE, PREFIX, SUFFIX, LOWER, SHAPE, DIGITS }};
static const struct {{ const char *text; int offset, column, spelling, letters, last; }} pieces[PIECES] = {{
{pieces}
}};

/* Capitals, small letters and digits beyond ASCII, and what capitals become, as far as the template needs them. */
static const struct {{ long first, last; int sign; }} signs[] = {{
    {signs}
}};
static const struct {{ long capital, small; }} smalls[] = {{
    {smalls}
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

/* X, x or d for a capital, a small letter or a digit; others as they are. */
static long sign_of(long letter)
{{
    int low = 0, high = (int)(sizeof signs / sizeof *signs) - 1, middle;

    if (letter < 128)
        return letter >= 'A' && letter <= 'Z' ? 'X' : letter >= 'a' && letter <= 'z' ? 'x' : letter >= '0' && letter <= '9' ? 'd' : letter;
    while (low <= high) {{
        middle = (low + high) / 2;
        if (letter < signs[middle].first)
            high = middle - 1;
        else if (letter > signs[middle].last)
            low = middle + 1;
        else
            return signs[middle].sign;
    }}
    return letter;
}}

static long small_of(long letter)
{{
    int low = 0, high = (int)(sizeof smalls / sizeof *smalls) - 1, middle;

    if (letter < 128)
        return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter;
    while (low <= high) {{
        middle = (low + high) / 2;
        if (letter < smalls[middle].capital)
            high = middle - 1;
        else if (letter > smalls[middle].capital)
            low = middle + 1;
        else
            return smalls[middle].small;
    }}
    return letter;
}}

/* The letter that begins here in UTF-8, and the place of the next. */
static long letter_at(const char **text)
{{
    long letter = (unsigned char)*(*text)++;
    int more = letter < 0x80 ? 0 : letter < 0xE0 ? 1 : letter < 0xF0 ? 2 : 3;

    if (more > 0)
        letter &= 0x3F >> more;
    for (; more > 0 && **text != 0; more--)
        letter = letter << 6 | ((unsigned char)*(*text)++ & 0x3F);
    return letter;
}}

static void append_letter(struct name *name, long letter)
{{
    char bytes[5] = {{0}};
    int more = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3, i;

    for (i = more; i > 0; i--, letter >>= 6)
        bytes[i] = (char)(0x80 | (letter & 0x3F));
    bytes[0] = (char)(more == 0 ? letter : (0xF0 << (3 - more) & 0xFF) | letter);
    append(name, bytes);
}}

/* A part of a text, its small letters, its shape, or the text with 0 for each digit. */
static void append_spelled(struct name *name, const char *text, int spelling, int letters)
{{
    const char *end;
    long letter, sign, before = 0;

    if (spelling == SUFFIX) {{
        for (end = text; *end != 0; end++)
            ;
        while (letters > 0 && end > text)
            if (((unsigned char)*--end & 0xC0) != 0x80)
                letters--;
        text = end;
    }}
    if (spelling == WHOLE || spelling == SUFFIX)
        append(name, text);
    else
        while (*text != 0 && (spelling != PREFIX || letters-- > 0)) {{
            letter = letter_at(&text);
            sign = sign_of(letter);
            if (spelling == SHAPE) {{
                if (sign != before)
                    append_letter(name, sign);
                before = sign;
            }} else
                append_letter(name, spelling == LOWER ? small_of(letter) : spelling == DIGITS && sign == 'd' ? '0' : letter);
        }}
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
            append_spelled(&made, cells[(ptrdiff_t)t * COLUMNS + pieces[i].column], pieces[i].spelling, pieces[i].letters);
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
    pieces, spellings = [], set()
    for line in model.lines:
        for place, piece in enumerate(line, 1):
            text, macro = (piece, ()) if isinstance(piece, str) else (None, piece)
            offset, column, spelling, letters = (*macro, *(0, 0, "whole", 0)[len(macro):])
            spellings.add(spelling)
            pieces.append(f"    {{{'NULL' if text is None else c_string(text)}, {offset}, {column}, {spelling.upper()}, {letters}, "
                          f"{int(place == len(line))}}}")
    return {"n_pieces": len(pieces), "pieces": ",\n".join(pieces), "longest": max((len(text.encode()) for text in model.names), default=1),
            "signs": in_braces(signs() if spellings & {"shape", "digits"} else [(0, 0, 0)]),
            "smalls": in_braces(smalls() if "lower" in spellings else [(0, 0)])}


def signs() -> list:
    """First and last of runs of capitals, small letters and digits beyond ASCII, and the sign of their shape."""
    runs = []
    for code in range(128, ALL_LETTERS):
        letter = chr(code)
        sign = "X" if letter.isupper() else "x" if letter.islower() else "d" if letter.isdecimal() else None
        if sign is not None and runs and runs[-1][1:] == (code - 1, ord(sign)):
            runs[-1] = (runs[-1][0], code, ord(sign))
        elif sign is not None:
            runs.append((code, code, ord(sign)))
    return runs


def smalls() -> list:
    """Capitals beyond ASCII and their small letters."""
    return [(code, ord(small)) for code in range(128, ALL_LETTERS) for small in chr(code).lower()[0] if ord(small) != code]


def in_braces(rows) -> str:
    """Rows of numbers, some on each line."""
    texts = [f"{{{', '.join(map(str, row))}}}" for row in rows]
    return ",\n    ".join(", ".join(texts[i:i + 8]) for i in range(0, len(texts), 8))


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
