/* The functions of tiles.h for each instruction set; included by instruction_sets.pyx alone. */
#ifndef STRUCTPERC_TILES_SETS_H
#define STRUCTPERC_TILES_SETS_H

#include "tiles.h"
#include <math.h>

/* Results stand in registers for SP_TILE_ROWS slots; 16 KB of queries stay in the first-level cache, and so do all results. */
enum { SP_TILE_ROWS = 4, SP_TILE_SLOTS = 64, SP_TILE_FEATURES = 128 };

/* 2^r = 1 + r (c[0] + c[1] r + ..) for |r| <= 1/2: best relative approximations (Remez), 1.8e-17 and 2.6e-9 off. */
static const double sp_power_terms_f64[] = {
    0.6931471805599457, 0.24022650695910097, 0.05550410866479037, 0.009618129107606985, 0.0013333558153444181, 0.00015403530441601037,
    1.5252727382615871e-05, 1.3215442657685074e-06, 1.0180648174432433e-07, 7.0725739457588305e-09, 4.0780725444187853e-10};
static const float sp_power_terms_f32[] = {
    0.6931472149896993f, 0.24022652784202006f, 0.05550310508908672f, 0.009617692789644725f, 0.0013406659219079627f,
    0.00015594718461240807f};

#define SP_TILE_PASTE_(a, b) a##_##b
#define SP_TILE_PASTE(a, b) SP_TILE_PASTE_(a, b)
#define SPT(name) SP_TILE_PASTE(sp_tile_##name, SP_SET)

#if SP_VECTORS
#define SP_UNROLL _Pragma("GCC unroll 16")
#define SP_APART __attribute__((noinline))   /* with all registers for itself */
#else
#define SP_UNROLL
#define SP_APART
#endif

/* SP_MAX, x > y ? x : y, and SP_SQRT: what C has no operator for; SP_SCALE and SP_ROUND: x 2^k and the nearest whole number (AVX-512). */
#define SP_SET baseline
#define SP_SET_NAME "baseline"
#if SP_VECTORS && defined(__x86_64__)
#include <immintrin.h>
#define SP_WIDTH 2
#define SP_MAX_F64 _mm_max_pd
#define SP_MAX_F32 _mm_max_ps
#define SP_SQRT_F64 _mm_sqrt_pd
#define SP_SQRT_F32 _mm_sqrt_ps
#else
#define SP_WIDTH 1
#define SP_MAX_F64(x, y) ((x) > (y) ? (x) : (y))
#define SP_MAX_F32(x, y) ((x) > (y) ? (x) : (y))
#define SP_SQRT_F64 sqrt
#define SP_SQRT_F32 sqrtf
#endif
#include "tiles_set.h"

#if SP_VECTORS && defined(__x86_64__)
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
#include "tiles_set.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

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
#include "tiles_set.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* All sets that this machine can run, widest last. */
static int sp_tiles_available(const sp_tiles **sets) {
    int n = 0;
    sets[n++] = &sp_tile_set_baseline;
#if SP_VECTORS && defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) sets[n++] = &sp_tile_set_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        sets[n++] = &sp_tile_set_avx512;
#endif
    return n;
}

#endif
