/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prelude of the functions of a shared object, after real.h, sincos_pack.h and lane_squares.h: sines, and loads and
 * stores of rows of samples. The model compiler copies all four into its output. The output is compiled twice, for one
 * sample at a time and for several.
 *
 * Numbers are checked by a sum of zero times each number, which is zero unless one is infinite or NaN. Few numbers need
 * the check: sums and products with a number that is not finite are not finite, nor is a quotient of it by another
 * number, so that checks of later results detect it.
 */
#ifndef DYNAMICS_COMPILE_OBJECT_PRELUDE_H
#define DYNAMICS_COMPILE_OBJECT_PRELUDE_H

/* Computes sines and cosines of packed angles of any size, by the library. */
typedef void sines_function(const void *angle, int count, void *sine, void *cosine);

/* Number of partial sums of the check. */
enum { SPOILT = 4 };

/* Adds zero times each number to *spoilt. */
KERNEL_STEP void note_packed(const real *packed, int count, real *spoilt) {
    for (int i = 0; i < count; i++) {
        *spoilt = real_fma(packed[i], real_set(0), *spoilt);
    }
}

/* ---- sines --------------------------------------------------------------------------------------------------------*/

#if defined PACK

/* Returns true if all angles are within the bound, given the sum of their squares. It is false for angles that are not
 * finite. */
KERNEL_STEP int are_near(pack squares) {
    return !pack_any(~(pack_bits)(squares <= pack_set(SINCOS_PACK_BOUND * SINCOS_PACK_BOUND)));
}

#endif

/* Computes sines and cosines of packed angles. Angles that exceed the bound of sincos_pack go to the library and are
 * checked. */
KERNEL_STEP void lanes_sines(const real *angle, int count, sines_function *sines, real *sine, real *cosine,
                             real *spoilt) {
#if defined PACK && DYN_LANES > 1
    pack squares = {0};
    for (int i = 0; i < count; i++) {
        sincos_pack(angle[i], &sine[i], &cosine[i]);
        squares = pack_fma(angle[i], angle[i], squares);
    }
    if (are_near(squares)) {
        return;
    }
#endif
    sines(angle, count, sine, cosine);
    note_packed(angle, count, spoilt);
}

#if defined PACK && DYN_LANES == 1

#define PADDED(count) (((count) + PACK - 1) / PACK * PACK)

/* Loads the first `count` numbers at x, and zeros into the other lanes. */
KERNEL_STEP pack pack_load(const double *x, int count) {
    if (count >= PACK) {
        pack y;
        __builtin_memcpy(&y, x, sizeof y);
        return y;
    }
    return _mm256_maskload_pd(x, (__m256i)(pack_bits){-(count > 0), -(count > 1), -(count > 2), -(count > 3)});
}

/* Computes sines and cosines of `count` angles factor x + offset of one state. All arrays except x are padded. If
 * `factor` is NULL the factors are one, and if `offset` is NULL too the offsets are zero. */
KERNEL_STEP void row_sines(const double *x, int count, const double *factor, const double *offset,
                           sines_function *sines, double *sine, double *cosine, double *spoilt) {
    pack squares = {0};
    pack angle[PADDED(count) / PACK];
    for (int i = 0; i < count; i += PACK) {
        pack s, c, y = pack_load(x + i, count - i);
        if (factor) {
            y = pack_fma(y, pack_load(factor + i, PACK), pack_load(offset + i, PACK));
        } else if (offset) {
            y = y + pack_load(offset + i, PACK);
        }
        sincos_pack(y, &s, &c);
        __builtin_memcpy(sine + i, &s, sizeof s);
        __builtin_memcpy(cosine + i, &c, sizeof c);
        squares = pack_fma(y, y, squares);
        angle[i / PACK] = y;
    }
    if (!are_near(squares)) {
        sines(angle, count, sine, cosine);
        note_packed((const double *)angle, count, spoilt);
    }
}

#endif

/* ---- rows ---------------------------------------------------------------------------------------------------------*/

#if DYN_LANES == 1
typedef int lanes_condition;
#else
typedef long long lanes_condition __attribute__((vector_size(8 * DYN_LANES)));
#endif

/* Returns true if a condition holds in every lane. */
KERNEL_STEP int in_all_lanes(lanes_condition condition) {
#if DYN_LANES == 1
    return condition;
#elif defined PACK
    return !pack_any(~condition);
#else
    int all = 1;
    for (int l = 0; l < DYN_LANES; l++) {
        all = all && condition[l];
    }
    return all;
#endif
}

KERNEL_STEP int is_zero(real x) {
    return in_all_lanes((lanes_condition)(x == real_set(0)));
}

KERNEL_STEP int is_positive(real x) {
    return in_all_lanes((lanes_condition)(x > real_set(0)));
}

/* Returns x, with a positive zero. */
KERNEL_STEP real plain(real x) {
    return x + real_set(0);
}

/* Adds one to *spoilt in lanes in which the norm of the quaternion x, y, z, w differs too much from one. */
KERNEL_STEP void note_quaternion(const real *x, real *spoilt) {
    real off = real_sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]) - real_set(1);
    real beyond = real_where_positive(off, off, -off) - real_set(QUATERNION_TOLERANCE);
    *spoilt += real_where_positive(beyond, real_set(1), real_set(0));
}

/* Returns samples sample .. sample + DYN_LANES - 1 of rows as a packed array: in `room`, or the rows themselves if
 * there is one lane. If `rows` is NULL all numbers are zero. */
KERNEL_STEP const real *load_rows(const double *rows, size_t sample, int width, real *room) {
    if (!rows) {
        for (int i = 0; i < width; i++) {
            room[i] = real_set(0);
        }
        return room;
    }
#if DYN_LANES == 1
    return rows + sample * (size_t)width;
#else
    rows_to_lanes(rows + sample * (size_t)width, (size_t)width, room);
    return room;
#endif
}

/* Inlining of formulas and of blocks of states. Formulas of several states are inlined into each caller, so that inputs
 * and results need not be stored in between. Blocks are not inlined into their loop, where compilers would have fewer
 * registers for them. */
#if DYN_LANES == 1
#define COMPUTATION static __attribute__((noinline))
#define BLOCK static inline
#else
#define COMPUTATION static inline __attribute__((always_inline))
#define BLOCK static __attribute__((noinline))
#endif

/* Input that is loaded after the sines: a packed array or rows. While rows are transposed there, the processor executes
 * their shuffles together with the arithmetic of the function. */
typedef struct late_input {
    const real *packed;
    const double *rows;
} late_input;

KERNEL_STEP late_input late_packed(const real *packed) {
    return (late_input){packed, 0};
}

KERNEL_STEP late_input late_rows(const double *rows, size_t sample, int width) {
    return (late_input){0, rows ? rows + sample * (size_t)width : rows};
}

KERNEL_STEP const real *load_late(late_input input, int width, real *room) {
    return input.packed ? input.packed : load_rows(input.rows, 0, width, room);
}

/* Returns the address at which a matrix of `width` numbers is computed: the row of the caller for single states,
 * scratch memory for several. */
KERNEL_STEP real *room_of(double *rows, size_t sample, size_t width, double *scratch, size_t offset) {
#if DYN_LANES == 1
    (void)scratch, (void)offset;
    return rows + sample * width;
#else
    (void)rows, (void)sample, (void)width;
    return (real *)scratch + offset;
#endif
}

/* Stores packed results in rows. */
KERNEL_STEP void store_rows(const real *packed, size_t sample, int width, double *rows) {
#if DYN_LANES == 1
    for (int i = 0; i < width; i++) {
        rows[sample * (size_t)width + (size_t)i] = packed[i];
    }
#else
    lanes_to_rows(packed, (size_t)width, real_set(-0.0), rows + sample * (size_t)width);
#endif
}

/* Stores matrices in rows. Single states have computed them there. */
KERNEL_STEP void store_matrices(const real *packed, size_t sample, int width, double *rows) {
#if DYN_LANES == 1
    (void)packed, (void)sample, (void)width, (void)rows;
#else
    store_rows(packed, sample, width, rows);
#endif
}

/* Returns the smaller number, or b if one is NaN. */
KERNEL_STEP real lesser(real a, real b) {
#if DYN_LANES == 1
    return a < b ? a : b;
#elif DYN_LANES == 8 && defined PACK
    return _mm512_min_pd(a, b);
#elif DYN_LANES == 4 && defined PACK
    return _mm256_min_pd(a, b);
#else
    return real_where_positive(b - a, a, b);
#endif
}

#endif
