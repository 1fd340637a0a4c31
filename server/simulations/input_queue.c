/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue of points, ordered by time. */
#include "simulations/input_queue.h"

#include <dynamics/configuration_space.h>
#include <stdlib.h>
#include <string.h>

bool input_queue_create(input_queue *q, size_t nq, size_t nv, size_t capacity) {
    *q = (input_queue){.nq = nq, .nv = nv, .width = 1 + nq + 3 * nv, .capacity = capacity};
    q->rows = calloc(capacity, q->width * sizeof *q->rows);
    q->now = calloc(q->width, sizeof *q->now);
    if (q->rows && q->now) {
        return true;
    }
    input_queue_free(q);
    return false;
}

void input_queue_free(input_queue *q) {
    free(q->rows);
    free(q->now);
    *q = (input_queue){0};
}

static double *row(const input_queue *q, size_t i) {
    return q->rows + (q->first + i) % q->capacity * q->width;
}

double *input_queue_insert(input_queue *q, double t) {
    if (q->count == q->capacity) {
        return NULL;
    }
    size_t place = q->count++;
    for (; place > 0 && row(q, place - 1)[0] > t; place--) {
        memcpy(row(q, place), row(q, place - 1), q->width * sizeof *q->rows);
    }
    row(q, place)[0] = t;
    return row(q, place);
}

/* Computes y = x + s (z - x). */
static void mix(size_t n, const double *x, const double *z, double s, double *y) {
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] + s * (z[i] - x[i]);
    }
}

/* Writes the point at the fraction s between two rows; s = 0 is the first row. */
static void write_input(const input_queue *q, const dyn_model *model, const double *x, const double *z, double s,
                        stepper_input *input) {
    size_t nq = q->nq, nv = q->nv;
    if (q->parts & POINT_TAU) {
        mix(nv, x + 1, z + 1, s, input->tau);
    }
    if (q->parts & POINT_Q) {
        memcpy(input->q_ref, x + 1 + nv, nq * sizeof *x);
        if (s > 0) {
            dyn_interpolate(model, 1, x + 1 + nv, z + 1 + nv, s, input->q_ref, NULL);
        }
    }
    if (q->parts & POINT_V) {
        mix(nv, x + 1 + nv + nq, z + 1 + nv + nq, s, input->v_ref);
    }
    if (q->parts & POINT_A) {
        mix(nv, x + 1 + 2 * nv + nq, z + 1 + 2 * nv + nq, s, input->a_ref);
    }
}

bool input_queue_at(input_queue *q, const dyn_model *model, double t, bool is_linear, stepper_input *input,
                    size_t *used) {
    *used = 0;
    while (q->count > 0 && row(q, 0)[0] <= t) {
        q->period = q->has_now ? row(q, 0)[0] - q->now[0] : 0;
        memcpy(q->now, row(q, 0), q->width * sizeof *q->now);
        q->has_now = true;
        q->first = (q->first + 1) % q->capacity;
        q->count--;
        (*used)++;
    }
    if (!q->has_now) {
        return false;
    }
    const double *next = q->count > 0 && is_linear ? row(q, 0) : q->now;
    double length = next[0] - q->now[0];
    write_input(q, model, q->now, next, length > 0 ? (t - q->now[0]) / length : 0, input);
    return true;
}

bool input_queue_is_empty(const input_queue *q, double t) {
    return q->count == 0 && t > q->now[0] + 1.5 * q->period;
}
