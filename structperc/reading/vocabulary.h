/* Hash and equality of names, eight bytes at a time: 3 ns for 15 bytes.
 *
 * The hash is Austin Appleby's MurmurHash64A (public domain), except that the last word overlaps the one before it, so that no byte
 * beyond the name is read. It is the same on every machine. */
#ifndef STRUCTPERC_VOCABULARY_H
#define STRUCTPERC_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define SP_FETCH(p) __builtin_prefetch(p)
#define SP_QUICK static inline __attribute__((always_inline))
#else
#define SP_QUICK static __inline
#define SP_FETCH(p) ((void)(p))
#endif

/* The n <= 8 bytes at p as a number, the first byte lowest. */
SP_QUICK uint64_t sp_word(const char *p, size_t n) {
    uint64_t word = 0;
#if defined(_WIN32) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    memcpy(&word, p, n);
#else
    while (n--)
        word = word << 8 | (unsigned char)p[n];
#endif
    return word;
}

SP_QUICK uint64_t sp_mix(uint64_t h, uint64_t word) {
    const uint64_t m = UINT64_C(0xC6A4A7935BD1E995);
    word *= m;
    word ^= word >> 47;
    return (h ^ word * m) * m;
}

SP_QUICK uint64_t sp_hash(const char *text, size_t n) {
    const uint64_t m = UINT64_C(0xC6A4A7935BD1E995);
    const char *p, *end = text + n;
    uint64_t h = (uint64_t)n * m;
    if (n >= 8) {
        h = sp_mix(h, sp_word(text, 8));
        for (p = text + 8; p + 8 < end; p += 8)
            h = sp_mix(h, sp_word(p, 8));
        h = sp_mix(h, sp_word(end - 8, 8));
    } else if (n >= 4) {
        h = sp_mix(h, sp_word(text, 4) | sp_word(end - 4, 4) << 32);
    } else if (n) {
        h = sp_mix(h, sp_word(text, 1) | sp_word(text + n / 2, 1) << 8 | sp_word(end - 1, 1) << 16);
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

SP_QUICK int sp_same(const char *a, const char *b, size_t n) {
    size_t i;
    if (n >= 8) {
        for (i = 8; i + 8 < n; i += 8)
            if (sp_word(a + i, 8) != sp_word(b + i, 8))
                return 0;
        return ((sp_word(a, 8) ^ sp_word(b, 8)) | (sp_word(a + n - 8, 8) ^ sp_word(b + n - 8, 8))) == 0;
    }
    if (n >= 4)
        return ((sp_word(a, 4) ^ sp_word(b, 4)) | (sp_word(a + n - 4, 4) ^ sp_word(b + n - 4, 4))) == 0;
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

#endif
