/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the points of a stream, the order of their numbers (point_order) and the queue by time (input_queue), and the
 * random numbers of a disturbance.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "simulations/disturbance.h"
#include "simulations/input_queue.h"
#include "simulations/point_order.h"
#include "unit/server/support.h"

enum { NUMBERS = 4000 };

START_TEST(numbers_in_order_are_new) {
    point_order order = {0};
    for (uint64_t n = 1; n <= NUMBERS; n++) {
        ck_assert_int_eq(point_order_add(&order, n), POINT_NEW);
    }
    ck_assert_uint_eq(order.lost, 0);
    ck_assert(point_order_has(&order, 0) && point_order_has(&order, NUMBERS) && !point_order_has(&order, NUMBERS + 1));
    ck_assert_int_eq(point_order_add(&order, 0), POINT_DUPLICATE);
    ck_assert_int_eq(point_order_add(&order, NUMBERS), POINT_DUPLICATE);
    ck_assert_int_eq(point_order_add(&order, 1), POINT_DUPLICATE);
}
END_TEST

/* Compares point_order, which has a window of numbers, with a table of all numbers that arrived. */
START_TEST(any_order_is_counted_as_a_table_of_all_counts) {
    static bool came[NUMBERS + 1];
    random_source random = random_seed("any order is counted", 23);
    point_order order = {0};
    uint64_t last = 0;
    memset(came, 0, sizeof came);
    for (int i = 0; i < 20000; i++) {
        double jump = random_uniform(&random, -60, 64);
        uint64_t n = (double)last + jump < 1 ? 1 : (uint64_t)((double)last + jump);
        if (n > NUMBERS) {
            break;
        }
        point_kind wanted = n > last ? POINT_NEW : came[n] ? POINT_DUPLICATE : POINT_REORDERED;
        ck_assert_int_eq(point_order_add(&order, n), wanted);
        came[n] = true;
        last = n > last ? n : last;
        uint64_t lost = 0;
        for (uint64_t k = 1; k < last; k++) {
            lost += !came[k];
        }
        ck_assert_uint_eq(order.lost, lost);
    }
    ck_assert_uint_gt(last, NUMBERS / 2);
}
END_TEST

START_TEST(jump_beyond_the_window_forgets_it) {
    point_order order = {0};
    point_order_add(&order, 1);
    ck_assert_int_eq(point_order_add(&order, 1 + 5 * POINT_ORDER_WINDOW), POINT_NEW);
    ck_assert_uint_eq(order.lost, 5 * POINT_ORDER_WINDOW - 1);
    ck_assert_int_eq(point_order_add(&order, 2), POINT_DUPLICATE);
    ck_assert_int_eq(point_order_add(&order, 5 * POINT_ORDER_WINDOW), POINT_REORDERED);
    ck_assert_int_eq(point_order_add(&order, UINT64_MAX), POINT_NEW);
    ck_assert_uint_eq(order.last, UINT64_MAX);
}
END_TEST

/* ---- queue ------------------------------------------------------------------------------------------------------- */

static model_entry *entry;
static double tau[2], q[2], v[2], a[2];
static stepper_forces forces;
static stepper_input input = {.tau = tau, .q_ref = q, .v_ref = v, .a_ref = a, .forces = &forces};

static void load(void) {
    entry = load_robot("two_link", "two_link");
}

static void unload(void) {
    model_entry_release(entry);
}

static void push(input_queue *queue, double t, double value) {
    double *place = input_queue_insert(queue, t);
    ck_assert_ptr_nonnull(place);
    for (size_t i = 1; i < queue->width; i++) {
        place[i] = value;
    }
}

static size_t pop(input_queue *queue, double t, bool is_linear) {
    size_t used;
    ck_assert(input_queue_at(queue, entry->model, t, is_linear, &input, &used));
    return used;
}

START_TEST(points_hold_until_the_next_or_go_in_a_line) {
    input_queue queue;
    size_t used;
    ck_assert(input_queue_create(&queue, 2, 2, 8));
    queue.parts = POINT_TAU | POINT_Q | POINT_V | POINT_A;
    ck_assert(!input_queue_at(&queue, entry->model, 1, false, &input, &used));
    /* The points arrive out of order. */
    push(&queue, 2, 20);
    push(&queue, 1, 10);
    push(&queue, 3, 40);
    ck_assert(!input_queue_at(&queue, entry->model, 0.5, false, &input, &used));
    ck_assert_uint_eq(pop(&queue, 1.5, false), 1);
    ck_assert_double_eq(tau[0], 10);
    ck_assert_double_eq(q[1], 10);
    ck_assert_uint_eq(pop(&queue, 1.5, true), 0);
    ck_assert_double_eq(tau[1], 15);
    ck_assert_double_eq_tol(q[0], 15, 1e-12);
    ck_assert_uint_eq(pop(&queue, 2.25, true), 1);
    ck_assert_double_eq(v[0], 25);
    ck_assert(!input_queue_is_empty(&queue, 2.25));
    ck_assert_uint_eq(pop(&queue, 7, true), 1);
    ck_assert_double_eq(a[0], 40);
    /* The queue is empty one and a half periods after the last point, at 3. */
    ck_assert(!input_queue_is_empty(&queue, 4.4));
    ck_assert(input_queue_is_empty(&queue, 4.6));
    input_queue_free(&queue);
}
END_TEST

START_TEST(full_queue_accepts_no_point_and_goes_round) {
    input_queue queue;
    ck_assert(input_queue_create(&queue, 2, 2, 4));
    queue.parts = POINT_TAU;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++) {
            push(&queue, 4 * round + i, i);
        }
        ck_assert_ptr_null(input_queue_insert(&queue, 100));
        ck_assert_uint_eq(pop(&queue, 4 * round + 3, false), 4);
        ck_assert_double_eq(tau[0], 3);
    }
    input_queue_free(&queue);
}
END_TEST

/* Compares the queue with a table by time. The value of a point is the order of its insertion; several points have
 * equal times. */
START_TEST(points_of_any_order_leave_by_time_and_insertion) {
    enum { COUNT = 3000, TIMES = 500 };
    random_source random = random_seed("points leave by time and insertion", 8);
    static int last_of[TIMES];
    static unsigned count_of[TIMES];
    input_queue queue;
    ck_assert(input_queue_create(&queue, 2, 2, COUNT));
    queue.parts = POINT_TAU;
    for (int round = 0; round < 3; round++) {
        memset(count_of, 0, sizeof count_of);
        for (int i = 0; i < COUNT; i++) {
            int t = (int)random_index(&random, TIMES);
            push(&queue, TIMES * round + t, i);
            last_of[t] = i;
            count_of[t]++;
        }
        for (int t = 0; t < TIMES; t++) {
            if (count_of[t] > 0) {
                ck_assert_uint_eq(pop(&queue, TIMES * round + t, false), count_of[t]);
                ck_assert_double_eq(tau[0], last_of[t]);
            }
        }
        ck_assert_uint_eq(queue.count, 0);
    }
    input_queue_free(&queue);
}
END_TEST

/* Bounds the time of insertions at the front. A queue that moves all later points for each one takes half a minute. */
START_TEST(points_in_descending_order_cost_no_more_than_others) {
    enum { COUNT = 100000 };
    input_queue queue;
    ck_assert(input_queue_create(&queue, 2, 2, COUNT));
    queue.parts = POINT_TAU;
    clock_t start = clock();
    for (int i = 0; i < COUNT; i++) {
        push(&queue, COUNT - i, i);
    }
    ck_assert_double_lt((double)(clock() - start) / CLOCKS_PER_SEC, 1);
    ck_assert_uint_eq(pop(&queue, 1, false), 1);
    ck_assert_double_eq(tau[0], COUNT - 1);
    ck_assert_uint_eq(pop(&queue, COUNT, false), COUNT - 1);
    ck_assert_double_eq(tau[0], 0);
    input_queue_free(&queue);
}
END_TEST

/* ---- disturbance ------------------------------------------------------------------------------------------------- */

START_TEST(disturbance_is_normal_and_determined_by_its_seed) {
    enum { COUNT = 200000 };
    disturbance one, other;
    double sum = 0, square = 0, fourth = 0;
    disturbance_seed(&one, 5);
    disturbance_seed(&other, 5);
    for (int i = 0; i < COUNT; i++) {
        double x = disturbance_normal(&one);
        ck_assert_double_eq(x, disturbance_normal(&other));
        sum += x;
        square += x * x;
        fourth += x * x * x * x;
    }
    /* The mean is 0, the variance 1 and the fourth moment 3, within five standard errors. */
    ck_assert_double_eq_tol(sum / COUNT, 0, 5 / sqrt(COUNT));
    ck_assert_double_eq_tol(square / COUNT, 1, 5 * sqrt(2.0 / COUNT));
    ck_assert_double_eq_tol(fourth / COUNT, 3, 5 * sqrt(96.0 / COUNT));
    disturbance_seed(&other, 6);
    ck_assert_double_ne(disturbance_normal(&one), disturbance_normal(&other));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("points");
    tcase_add_checked_fixture(tests, load, unload);
    tcase_add_test(tests, numbers_in_order_are_new);
    tcase_add_test(tests, any_order_is_counted_as_a_table_of_all_counts);
    tcase_add_test(tests, jump_beyond_the_window_forgets_it);
    tcase_add_test(tests, points_hold_until_the_next_or_go_in_a_line);
    tcase_add_test(tests, full_queue_accepts_no_point_and_goes_round);
    tcase_add_test(tests, points_of_any_order_leave_by_time_and_insertion);
    tcase_add_test(tests, points_in_descending_order_cost_no_more_than_others);
    tcase_add_test(tests, disturbance_is_normal_and_determined_by_its_seed);
    return run_tests(tests);
}
