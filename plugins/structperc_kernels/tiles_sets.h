/* The functions of tiles.h for each instruction set; included by vector_rows.pyx. */
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

#define SPT(name) SP_PASTE(sp_tile_##name, SP_SET)

#if SP_VECTORS
#define SP_UNROLL _Pragma("GCC unroll 16")
#else
#define SP_UNROLL
#endif

#define SP_BODY "tiles_set.h"
#include "instruction_sets.h"

/* All sets that this machine can run, widest last. */
static int sp_tiles_available(const sp_tiles **sets) {
    sets[0] = &sp_tile_set_baseline;
#ifdef SP_X86
    sets[1] = &sp_tile_set_avx2;
#endif
#ifdef SP_AVX512
    sets[2] = &sp_tile_set_avx512;
#endif
    return sp_n_sets();
}

#endif
