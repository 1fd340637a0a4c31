/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues the points of a simulation's input by time, and interpolates between them. */
#include "simulations/input_queue.h"

#include <dynamics/configuration_space.h>
#include <stdlib.h>
#include <string.h>

bool input_queue_create(input_queue *q, size_t nq, size_t nv, size_t capacity) {
    *q = (input_queue){.nq = nq, .nv = nv, .width = 1 + nq + 3 * nv, .capacity = capacity};
    q->heap = calloc(capacity, sizeof *q->heap);
    q->rows = calloc(capacity, q->width * sizeof *q->rows);
    q->now = calloc(q->width, sizeof *q->now);
    if (!q->heap || !q->rows || !q->now) {
        input_queue_free(q);
        return false;
    }
    for (size_t i = 0; i < capacity; i++) {
        q->heap[i].row = i;
    }
    return true;
}

void input_queue_free(input_queue *q) {
    free(q->heap);
    free(q->rows);
    free(q->now);
    *q = (input_queue){0};
}

static bool is_before(const queued_point *a, const queued_point *b) {
    return a->t < b->t || (a->t == b->t && a->number < b->number);
}

double *input_queue_insert(input_queue *q, double t) {
    if (q->count == q->capacity) {
        return NULL;
    }
    size_t place = q->count++;
    const queued_point point = {t, q->inserted++, q->heap[place].row};
    while (place > 0 && is_before(&point, &q->heap[(place - 1) / 2])) {
        q->heap[place] = q->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    q->heap[place] = point;
    double *row = q->rows + point.row * q->width;
    row[0] = t;
    return row;
}

/* Returns the row of the earliest point. */
static const double *first_row(const input_queue *q) {
    return q->rows + q->heap[0].row * q->width;
}

/* Removes the earliest point. Its heap entry moves behind those of the waiting points, so that its row is used
 * again. */
static void remove_first(input_queue *q) {
    const queued_point removed = q->heap[0], last = q->heap[--q->count];
    size_t place = 0;
    for (size_t child = 1; child < q->count; child = 2 * place + 1) {
        child += child + 1 < q->count && is_before(&q->heap[child + 1], &q->heap[child]);
        if (!is_before(&q->heap[child], &last)) {
            break;
        }
        q->heap[place] = q->heap[child];
        place = child;
    }
    q->heap[place] = last;
    q->heap[q->count] = removed;
}

/* Computes y = x + s (z - x). */
static void mix(size_t n, const double *x, const double *z, double s, double *y) {
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] + s * (z[i] - x[i]);
    }
}

/* Writes to `input` the parts of the point at the fraction s between the rows x and z; s = 0 is x. */
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
    while (q->count > 0 && q->heap[0].t <= t) {
        q->period = q->has_now ? q->heap[0].t - q->now[0] : 0;
        memcpy(q->now, first_row(q), q->width * sizeof *q->now);
        q->has_now = true;
        remove_first(q);
        (*used)++;
    }
    if (!q->has_now) {
        return false;
    }
    const double *next = q->count > 0 && is_linear ? first_row(q) : q->now;
    double length = next[0] - q->now[0];
    write_input(q, model, q->now, next, length > 0 ? (t - q->now[0]) / length : 0, input);
    return true;
}

bool input_queue_is_empty(const input_queue *q, double t) {
    return q->count == 0 && t > q->now[0] + 1.5 * q->period;
}
