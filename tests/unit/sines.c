/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the sines and cosines of the kernels: compares them with those of long doubles.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "support/random.h"

enum { ANGLES = 1001, DOUBLES = 8, FLOATS = 16, SETS = 24 };

/* Largest error in units in the last place. */
static const double bound = 1;

typedef void sines_function(const double *angle, int count, double *sine, double *cosine);

void dyn_sines_scalar(const double *angle, int count, double *sine, double *cosine);
#if defined DYN_HAVE_SSE2
void dyn_sines_sse2_one(const double *angle, int count, double *sine, double *cosine);
#endif
#if defined DYN_HAVE_AVX2
void dyn_sines_avx2_one(const double *angle, int count, double *sine, double *cosine);
#endif
#if defined DYN_HAVE_AVX512
void dyn_sines_avx512_one(const double *angle, int count, double *sine, double *cosine);
void dyn_sines_avx512(const double *angle, int count, double *sine, double *cosine);
#endif

static void expect_close(double x, double got, long double exact) {
    double unit = nextafter(fabs((double)exact), INFINITY) - fabs((double)exact);
    double error = (double)fabsl(got - exact) / unit;
    ck_assert_msg(error <= bound, "of %.17g: %.17g is off by %g units", x, got, error);
}

/* Checks the errors of sines and cosines, and that their bits do not depend on the place of an angle in a batch. A
 * packed number of the instance has `lanes` doubles. */
static void check_angles(sines_function *sines, int lanes, const double *angle) {
    static double sine[ANGLES * DOUBLES], cosine[ANGLES * DOUBLES], packed[ANGLES * DOUBLES];
    for (int i = 0; i < ANGLES * lanes; i++) {
        packed[i] = angle[i % ANGLES];
    }
    sines(packed, ANGLES, sine, cosine);
    for (int i = 0; i < ANGLES * lanes; i++) {
        if (i < ANGLES) {
            expect_close(packed[i], sine[i], sinl(packed[i]));
            expect_close(packed[i], cosine[i], cosl(packed[i]));
        }
        ck_assert(memcmp(&sine[i], &sine[i % ANGLES], sizeof *sine) == 0);
        ck_assert(memcmp(&cosine[i], &cosine[i % ANGLES], sizeof *cosine) == 0);
    }
    for (int count = 1; count < 12 && lanes == 1; count++) {
        double s[12], c[12];
        sines(angle, count, s, c);
        ck_assert(memcmp(s, sine, (size_t)count * sizeof *s) == 0 && memcmp(c, cosine, (size_t)count * sizeof *c) == 0);
    }
}

typedef void float_sines_function(const float *angle, int count, float *sine, float *cosine);

void dyn_sines_scalar_float(const float *angle, int count, float *sine, float *cosine);
#if defined DYN_HAVE_SSE2
void dyn_sines_sse2_one_float(const float *angle, int count, float *sine, float *cosine);
#endif
#if defined DYN_HAVE_AVX2
void dyn_sines_avx2_one_float(const float *angle, int count, float *sine, float *cosine);
#endif
#if defined DYN_HAVE_AVX512
void dyn_sines_avx512_one_float(const float *angle, int count, float *sine, float *cosine);
void dyn_sines_avx512_float(const float *angle, int count, float *sine, float *cosine);
#endif

static void expect_float_close(float x, float got, double exact) {
    float unit = nextafterf(fabsf((float)exact), INFINITY) - fabsf((float)exact);
    double error = fabs(got - exact) / unit;
    ck_assert_msg(error <= bound, "of %.9g: %.9g is off by %g units", x, got, error);
}

/* Checks sines and cosines of the angles in single precision as check_angles does in double precision. Angles are
 * first rounded, and limited to 1e30. */
static void check_float_angles(float_sines_function *sines, int lanes, const double *angle) {
    static float sine[ANGLES * FLOATS], cosine[ANGLES * FLOATS], packed[ANGLES * FLOATS];
    for (int i = 0; i < ANGLES * lanes; i++) {
        packed[i] = (float)fmin(fmax(angle[i % ANGLES], -1e30), 1e30);
    }
    sines(packed, ANGLES, sine, cosine);
    for (int i = 0; i < ANGLES * lanes; i++) {
        expect_float_close(packed[i], sine[i], (double)sinl(packed[i]));
        expect_float_close(packed[i], cosine[i], (double)cosl(packed[i]));
        ck_assert(memcmp(&sine[i], &sine[i % ANGLES], sizeof *sine) == 0);
        ck_assert(memcmp(&cosine[i], &cosine[i % ANGLES], sizeof *cosine) == 0);
    }
}

static void check_instances(const double *angle) {
    check_angles(dyn_sines_scalar, 1, angle);
    check_float_angles(dyn_sines_scalar_float, 1, angle);
#if defined DYN_HAVE_SSE2
    check_angles(dyn_sines_sse2_one, 1, angle);
    check_float_angles(dyn_sines_sse2_one_float, 1, angle);
#endif
#if defined DYN_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        check_angles(dyn_sines_avx2_one, 1, angle);
        check_float_angles(dyn_sines_avx2_one_float, 1, angle);
    }
#endif
#if defined DYN_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        check_angles(dyn_sines_avx512_one, 1, angle);
        check_float_angles(dyn_sines_avx512_one_float, 1, angle);
        check_angles(dyn_sines_avx512, 8, angle);
        check_float_angles(dyn_sines_avx512_float, 16, angle);
    }
#endif
}

START_TEST(small_and_large_angles) {
    random_source random = random_seed("sines of angles of all sizes", 61);
    double angle[ANGLES];
    for (int k = 0; k < SETS; k++) {
        double size = pow(10, k - 9); /* to 1e14; other code computes angles beyond 5e5, or 800 for floats */
        for (int i = 0; i < ANGLES; i++) {
            angle[i] = random_uniform(&random, -size, size);
        }
        angle[17] = 0;
        check_instances(angle);
    }
}
END_TEST

START_TEST(multiples_of_a_right_angle) {
    double angle[ANGLES];
    for (int k = 0; k < ANGLES; k++) {
        angle[k] = (double)((k - ANGLES / 2) * (k % 3 ? 1 : 997) * 0x1.921fb54442d18469898cc51701b8p0L);
    }
    check_instances(angle);
    for (int k = 0; k < ANGLES; k++) {
        angle[k] = nextafter(angle[k], k % 2 ? INFINITY : -INFINITY);
    }
    check_instances(angle);
}
END_TEST

START_TEST(where_large_angles_begin) {
    double angle[ANGLES];
    for (int k = 0; k < ANGLES; k++) {
        angle[k] = (k % 2 ? 1 : -1) * (5e5 + (k - ANGLES / 2) * 1e-3);
    }
    angle[3] = 1e300, angle[4] = -1e22;
    check_instances(angle);
    for (int k = 0; k < ANGLES; k++) {
        angle[k] = (k % 2 ? 1 : -1) * (800 + (k - ANGLES / 2) * 1e-3); /* in single precision */
    }
    check_instances(angle);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("sines");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, small_and_large_angles);
    tcase_add_test(tests, multiples_of_a_right_angle);
    tcase_add_test(tests, where_large_angles_begin);
    return run_tests(tests);
}
