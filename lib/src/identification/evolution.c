/* SPDX-License-Identifier: BSD-2-Clause */
#include "evolution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidate of a generation. */
typedef struct candidate {
    double value;
    size_t number;
} candidate;

/* State of the method, with the names of Hansen 2016, "The CMA evolution strategy: a tutorial". */
typedef struct strategy {
    const evolution_problem *problem;
    size_t n, lambda, mu;
    double mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi; /* constants */
    double sigma, best_value;
    double *m, *C, *p_c, *p_sigma, *step; /* mean, variances, paths, weighted step */
    double *z, *w;                        /* lambda x n: normal numbers; mu: weights */
    candidate *order;
    uint64_t random;
    size_t done;
} strategy;

/* Returns a number in (0, 1] (splitmix64; Steele, Lea and Flood 2014). */
static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return ((double)(x >> 11) + 1) / 9007199254740992.0;
}

/* Returns a normal number (Box and Muller 1958). */
static double normal(uint64_t *state) {
    static const double TURN = 6.28318530717958647692;
    double size = sqrt(-2 * log(uniform(state)));
    return size * cos(TURN * uniform(state));
}

/* Sets the constants of the method (Hansen 2016, table 1), and those of the covariance as Ros and Hansen do. */
static void set_constants(strategy *s) {
    double n = (double)s->n, sum = 0, squares = 0;
    for (size_t i = 0; i < s->mu; i++) {
        s->w[i] = log((double)s->mu + 0.5) - log((double)i + 1);
        sum += s->w[i];
    }
    for (size_t i = 0; i < s->mu; i++) {
        s->w[i] /= sum;
        squares += s->w[i] * s->w[i];
    }
    s->mu_eff = 1 / squares;
    s->c_sigma = (s->mu_eff + 2) / (n + s->mu_eff + 5);
    s->d_sigma = 1 + 2 * fmax(0, sqrt((s->mu_eff - 1) / (n + 1)) - 1) + s->c_sigma;
    s->c_c = (4 + s->mu_eff / n) / (n + 4 + 2 * s->mu_eff / n);
    double faster = (n + 2) / 3;
    s->c_1 = fmin(0.5, faster * 2 / ((n + 1.3) * (n + 1.3) + s->mu_eff));
    s->c_mu = fmin(1 - s->c_1, faster * 2 * (s->mu_eff - 2 + 1 / s->mu_eff) / ((n + 2) * (n + 2) + s->mu_eff));
    s->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static int compare(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Evaluates one generation, and sorts it. Returns false if the function ends the method. */
static bool evaluate(strategy *s, double *x, double *best) {
    for (size_t k = 0; k < s->lambda; k++) {
        double *z = s->z + k * s->n;
        s->order[k] = (candidate){INFINITY, k};
        for (size_t i = 0; i < s->n; i++) {
            z[i] = normal(&s->random);
            x[i] = s->m[i] + s->sigma * sqrt(s->C[i]) * z[i];
        }
        if (s->done == s->problem->trials) {
            continue;
        }
        s->done++;
        if (!s->problem->evaluate(s->problem->context, x, &s->order[k].value)) {
            return false;
        }
        if (s->order[k].value < s->best_value) {
            s->best_value = s->order[k].value;
            memcpy(best, x, s->n * sizeof *best);
        }
    }
    qsort(s->order, s->lambda, sizeof *s->order, compare);
    return true;
}

/* Moves the mean, and adapts the variances and the size of steps. */
static void adapt(strategy *s) {
    double length = 0, keep = sqrt(s->c_sigma * (2 - s->c_sigma) * s->mu_eff);
    for (size_t i = 0; i < s->n; i++) {
        s->step[i] = 0;
        for (size_t k = 0; k < s->mu; k++) {
            s->step[i] += s->w[k] * s->z[s->order[k].number * s->n + i];
        }
        s->p_sigma[i] = (1 - s->c_sigma) * s->p_sigma[i] + keep * s->step[i];
        length += s->p_sigma[i] * s->p_sigma[i];
    }
    length = sqrt(length);
    bool is_long = length > (1.4 + 2 / ((double)s->n + 1)) * s->chi;
    for (size_t i = 0; i < s->n; i++) {
        double deviation = sqrt(s->C[i]), spread = 0;
        s->m[i] += s->sigma * deviation * s->step[i];
        s->p_c[i] *= 1 - s->c_c;
        s->p_c[i] += is_long ? 0 : sqrt(s->c_c * (2 - s->c_c) * s->mu_eff) * deviation * s->step[i];
        for (size_t k = 0; k < s->mu; k++) {
            double z = s->z[s->order[k].number * s->n + i];
            spread += s->w[k] * z * z;
        }
        s->C[i] *= 1 - s->c_1 - s->c_mu + s->c_mu * spread;
        s->C[i] += s->c_1 * s->p_c[i] * s->p_c[i];
    }
    s->sigma *= exp(fmin(1, s->c_sigma / s->d_sigma * (length / s->chi - 1)));
}

bool evolution_minimize(const evolution_problem *problem, double *best, double *first, bool *is_ended) {
    strategy s = {.problem = problem, .n = problem->n, .sigma = problem->spread, .best_value = INFINITY};
    s.lambda = 4 + (size_t)(3 * log((double)s.n)), s.mu = s.lambda / 2, s.random = problem->seed;
    size_t n = s.n, width = 6 * n + s.lambda * n + s.mu;
    double *memory = calloc(width, sizeof *memory);
    s.order = calloc(s.lambda, sizeof *s.order);
    *is_ended = false;
    if (!memory || !s.order) {
        free(memory), free(s.order);
        return false;
    }
    s.m = memory, s.C = s.m + n, s.p_c = s.C + n, s.p_sigma = s.p_c + n, s.step = s.p_sigma + n;
    double *x = s.step + n;
    s.z = x + n, s.w = s.z + s.lambda * n;
    for (size_t i = 0; i < n; i++) {
        s.C[i] = 1;
    }
    set_constants(&s);
    for (bool is_first = true; s.done < problem->trials && !*is_ended; is_first = false) {
        *is_ended = !evaluate(&s, x, best);
        *first = is_first ? s.best_value : *first;
        if (!*is_ended) {
            adapt(&s);
        }
    }
    free(memory), free(s.order);
    return !*is_ended;
}
