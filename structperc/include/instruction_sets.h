/* Includes the file SP_BODY once for each instruction set that the compiler writes code for, from the narrowest registers to the widest.
 *
 *     #define SP_BODY "my_functions.h"
 *     #include "instruction_sets.h"
 *
 * In that file SP_SET is the name of the set, SP_SET_NAME the same as a text, and SP(name) a name of its own for each set. SP_WIDTH doubles
 * fill a register. On x86 there is also what C has no operator for: SP_MAX (x > y ? x : y in every lane), SP_SQRT, and with AVX-512 SP_SCALE
 * (x 2^k) and SP_ROUND (the nearest whole number), each for _F64 and _F32. */
#ifndef STRUCTPERC_INSTRUCTION_SETS_H
#define STRUCTPERC_INSTRUCTION_SETS_H

#ifndef SP_VECTORS
#if defined(__GNUC__) || defined(__clang__)
#define SP_VECTORS 1
#else
#define SP_VECTORS 0
#endif
#endif
#if SP_VECTORS && defined(__x86_64__)
#include <immintrin.h>
#define SP_X86 1
#if defined(__clang__) || __GNUC__ >= 12     /* __builtin_shufflevector */
#define SP_AVX512 1
#endif
#endif
#define SP_PASTE_(a, b) a##_##b
#define SP_PASTE(a, b) SP_PASTE_(a, b)
#define SP(name) SP_PASTE(sp_##name, SP_SET)

/* How many of the sets this machine runs. */
static int sp_n_sets(void) {
#ifdef SP_X86
    __builtin_cpu_init();
#ifdef SP_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 3;
#endif
    if (__builtin_cpu_supports("avx2")) return 2;
#endif
    return 1;
}
#endif

#define SP_SET baseline
#define SP_SET_NAME "baseline"
#if SP_VECTORS
#define SP_WIDTH 2
#else
#define SP_WIDTH 1
#endif
#ifdef SP_X86
#define SP_MAX_F64 _mm_max_pd
#define SP_MAX_F32 _mm_max_ps
#define SP_SQRT_F64 _mm_sqrt_pd
#define SP_SQRT_F32 _mm_sqrt_ps
#endif
#include SP_BODY
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH
#undef SP_MAX_F64
#undef SP_MAX_F32
#undef SP_SQRT_F64
#undef SP_SQRT_F32

#ifdef SP_X86
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define SP_SET avx2
#define SP_SET_NAME "avx2"
#define SP_WIDTH 4
#define SP_MAX_F64 _mm256_max_pd
#define SP_MAX_F32 _mm256_max_ps
#define SP_SQRT_F64 _mm256_sqrt_pd
#define SP_SQRT_F32 _mm256_sqrt_ps
#include SP_BODY
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH
#undef SP_MAX_F64
#undef SP_MAX_F32
#undef SP_SQRT_F64
#undef SP_SQRT_F32
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#ifdef SP_AVX512
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#endif
#define SP_SET avx512
#define SP_SET_NAME "avx512"
#define SP_WIDTH 8
#define SP_MAX_F64 _mm512_max_pd
#define SP_MAX_F32 _mm512_max_ps
#define SP_SQRT_F64 _mm512_sqrt_pd
#define SP_SQRT_F32 _mm512_sqrt_ps
#define SP_SCALE_F64 _mm512_scalef_pd
#define SP_SCALE_F32 _mm512_scalef_ps
#define SP_ROUND_F64 _mm512_roundscale_pd
#define SP_ROUND_F32 _mm512_roundscale_ps
#include SP_BODY
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH
#undef SP_MAX_F64
#undef SP_MAX_F32
#undef SP_SQRT_F64
#undef SP_SQRT_F32
#undef SP_SCALE_F64
#undef SP_SCALE_F32
#undef SP_ROUND_F64
#undef SP_ROUND_F32
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#undef SP_BODY
