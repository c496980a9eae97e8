"""Changes to nested lists, arrays, matrices, texts and bytes. Each uses a random.Random, and leaves its argument unchanged."""

import copy

import numpy as np

from fuzz import hostile

DTYPES = ("f8", "f4", "f2", "i8", "i4", "i1", "u8", "u2", "?", "c16", ">f8", ">i4", "S2", "U1", "U5", "M8[s]", "m8[s]", "V3", "g")


# ---- nested lists ----


def spoil(random, tree, value=hostile.value):
    """A copy of nested lists, tuples and dicts. One entry at any depth is replaced, dropped, doubled, wrapped or moved."""
    if not isinstance(tree, (list, tuple, dict)) or not tree or random.random() < 0.15:
        return wrapped(random, tree, value)
    place = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
    found = dict(tree) if isinstance(tree, dict) else list(tree)
    act = random.randrange(10)
    if act < 5:
        found[place] = spoil(random, found[place], value)
    elif act < 7:
        found[place] = value(random)
    elif act == 7:
        del found[place]
    elif isinstance(found, dict):
        found[random.choice(hostile.TEXTS)] = found[place]
    elif act == 8:
        found[place:place] = found[place:place + 1] * random.choice((1, 2, 40))
    else:
        other = random.randrange(len(found))
        found[place], found[other] = found[other], found[place]
    return tuple(found) if isinstance(tree, tuple) else found


def wrapped(random, tree, value):
    act = random.randrange(5)
    if act == 0:
        return [tree]
    if act == 1 and isinstance(tree, (list, tuple, dict)):
        return type(tree)()
    return value(random)


def disturbed(random, tree, act=None, kind=hostile.Acts):
    """A copy of nested lists. One entry, of class `kind`, calls `act` when it is read.

    By default `act` empties or extends a list around the entry.
    """
    found = copy.deepcopy(tree)
    path = [found]
    while isinstance(path[-1], (list, dict)) and path[-1] and (len(path) == 1 or random.random() < 0.7):
        here = path[-1]
        place = random.choice(list(here)) if isinstance(here, dict) else random.randrange(len(here))
        path.append(here[place])
    if len(path) == 1:
        return kind(act or (lambda: None))
    around, victim, growth = path[-2], random.choice(path[:-1]), [1.0] * 50

    def emptied():
        victim.clear()

    def grown():
        victim.update(dict.fromkeys(growth)) if isinstance(victim, dict) else victim.extend(growth)
        growth.clear()

    actor = kind(act or random.choice((emptied, grown)))
    if isinstance(around, dict) and random.random() < 0.5:
        around[actor] = 1.0
    else:
        around[place] = actor
    return found


# ---- arrays ----


def spoil_array(random, array):
    """An array with other values, of another type, shape or order."""
    act = random.randrange(8)
    if act < 3:
        return with_values(random, array)
    if act < 5:
        return with_dtype(random, array)
    if act < 7:
        return with_shape(random, array)
    if array.dtype != object:
        return spoil_array(random, np.asfortranarray(array))
    found = np.empty((), dtype=object)
    found[()] = hostile.value(random)
    return found


def with_values(random, array):
    found = np.array(array)
    flat = found.reshape(-1)
    if not flat.size:
        return found
    act = random.randrange(4)
    if act == 0:
        flat[:] = flat[random.sample(range(flat.size), flat.size)]
    else:
        for place in random.choices(range(flat.size), k=random.choice((1, 1, 2, 5))):
            with np.errstate(all="ignore"):
                try:
                    flat[place] = random.choice(hostile.NUMBERS) if found.dtype.kind in "fiub" else hostile.value(random)
                except (TypeError, ValueError, OverflowError, SystemError, hostile.Hostility):
                    flat[place] = flat[random.randrange(flat.size)]
    return found


def with_dtype(random, array):
    dtype = np.dtype(random.choice(DTYPES))
    with np.errstate(all="ignore"):
        try:
            if random.random() < 0.3 and not array.dtype.hasobject:
                raw = array.tobytes()
                return np.frombuffer(raw[:len(raw) // max(dtype.itemsize, 1) * dtype.itemsize], dtype=dtype)
            return array.astype(dtype)
        except (TypeError, ValueError, OverflowError, SystemError, RuntimeError):      # RuntimeError: a fault of numpy
            return array


def with_shape(random, array):
    act = random.randrange(9)
    if not array.ndim:
        return random.choice((array[None], array[None, None], np.stack([array] * 3), array[None][:0]))
    if act == 0:
        return array[None]
    if act == 1:
        return array[..., None]
    if act == 2:
        return array.reshape(-1)
    if act == 3:
        return array[:0]
    if act == 4:
        return array.T
    if act == 5:
        return array.reshape(-1)[:1].reshape(()) if array.size else array
    if act == 6 and len(array):
        return np.concatenate([array, array[:random.randrange(1, len(array) + 1)]])
    if act == 7:
        return array[:random.randrange(len(array) + 1)]
    return np.concatenate([array, array], axis=-1)


# ---- bytes and texts ----


def spoil_bytes(random, content, splice=b""):
    """Bytes flipped, cut, inserted, zeroed, repeated or swapped. `splice` is other content of the same kind."""
    found = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if not found:
            return random.randbytes(random.randrange(20))
        a, n = random.randrange(len(found)), random.choice((1, 1, 2, 4, 8, 50))
        act = random.randrange(10)
        if act < 3:
            found[a] ^= 1 << random.randrange(8)
        elif act == 3:
            found[a] = random.choice((0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x20))
        elif act == 4:
            del found[a:]
        elif act == 5:
            del found[a:a + n]
        elif act == 6:
            found[a:a] = random.randbytes(n)
        elif act == 7:
            found[a:a + n] = bytes(len(found[a:a + n]))
        elif act == 8:
            b = random.randrange(len(found))
            found[a:a + n], found[b:b + n] = found[b:b + n], found[a:a + n]
        else:
            b = random.randrange(len(splice) or len(found))
            found[a:a] = (splice or found)[b:b + n]
    return bytes(found)


def spoil_text(random, text, separators):
    """A text of lines and cells. Lines or cells are replaced, dropped, doubled or swapped."""
    lines = text.split("\n")
    for _ in range(random.choice((1, 1, 2, 3))):
        i = random.randrange(len(lines))
        act = random.randrange(8)
        if act < 4:
            separator = random.choice(separators)
            cells = lines[i].split(separator)
            lines[i] = separator.join(str(cell) for cell in spoil(random, cells, cell_text))
        elif act == 4 and len(lines) > 1:
            del lines[i]
        elif act == 5:
            lines[i:i] = [lines[random.randrange(len(lines))]] * random.choice((1, 3))
        elif act == 6:
            lines[i] = "" if lines[i] else " "
        else:
            lines[i] = random.choice(CELLS)
    return random.choice(("\n", "\n", "\n", "\r\n", "\r")).join(lines)


CELLS = (
    "", " ", "\t", '"', "'", "#", "1", "-1", "0", "1e5", "nan", "inf", "-inf", "1e400", "9" * 400, "2147483648", "9223372036854775808",
    "0x1", "1_0",
    "-0", "+1", "1:1", "qid:1", "qid:99999999999999999999", "3:nan", "1:1e999", "-1:1", "2147483647:1", "a", "é", "\0", "\x1b[2J",
    "\ufeff", "x" * 500,
    "%x[0,0]", "%x[", "%x[-9999999,0]", "%x[0,99]", "U1:%x[0,word]", "B", "B-x", "I-x", "_", "1-2", "8.1", ",,,,", "\\", "B:%x[0,0]",
    "\u2028",
    "=1+1", "True", "None", "$x$",
)  # fmt: skip


def cell_text(random):
    return random.choice(CELLS)
