/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planner that streams a minimum-jerk motion of an arm at 1 kHz, receives the torques and prints their latency.
 *
 *     cc planner.c $(pkg-config --cflags --libs dynamicsclient) -o planner
 *     ./planner ipc:///run/dynamicsd/dynamicsd.sock ur5 2
 *
 * The motion from q0 to q1 in T seconds: q(t) = q0 + (q1 - q0) s(t / T), s(x) = 10 x^3 - 15 x^4 + 6 x^5 (Flash and
 * Hogan 1985). One thread pushes each point at its time; the other receives the torques as the daemon publishes them.
 */
#include <dynamics_client.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RATE = 1000, MAX_JOINTS = 64 };

static const double STROKE = 0.5; /* rad or m, of every joint */

typedef struct taker {
    dyn_client_watch *watch;
    size_t points; /* expected number */
    size_t count;  /* received number, with the latency of each */
    double *latency;
    double greatest_torque;
} taker;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Thread function: receives torques until those of all points have arrived, or until none arrives for a second. */
static void *receive_torques(void *argument) {
    taker *t = argument;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_error error;
    while (t->count < t->points && dyn_client_watch_next(t->watch, 1, &update, &error) == DYN_CLIENT_OK) {
        if (update.kind == DYN_CLIENT_UPDATE_KIND_STREAM_EVENT && update.text[0] != 'c') {
            fprintf(stderr, "%s: %s\n", update.text, update.message);
        }
        if (update.kind != DYN_CLIENT_UPDATE_KIND_TORQUES) {
            continue;
        }
        double latency = now() - 1e-9 * (double)update.sent_stamp_ns;
        for (size_t i = 0; i < update.count && t->count < t->points; i++) {
            t->latency[t->count++] = latency;
        }
        for (size_t i = 0; i < update.count * update.nv; i++) {
            t->greatest_torque = fmax(t->greatest_torque, fabs(update.tau[i]));
        }
    }
    return NULL;
}

/* Computes the motion at time t. */
static void plan(size_t n, const double *start, double duration, double t, double *q, double *v, double *a) {
    double x = fmin(t / duration, 1), rate = 1 / duration;
    for (size_t i = 0; i < n; i++) {
        q[i] = start[i] + STROKE * x * x * x * (10 + x * (6 * x - 15));
        v[i] = STROKE * rate * 30 * x * x * (1 - x) * (1 - x);
        a[i] = STROKE * rate * rate * 60 * x * (1 - x) * (1 - 2 * x);
    }
}

/* Pushes each point at its time. Returns 0, or 1 after an error. */
static int push_motion(dyn_client_stream *stream, const dyn_client_description *robot, size_t points) {
    double q[MAX_JOINTS], v[MAX_JOINTS], a[MAX_JOINTS], duration = (double)points / RATE;
    struct timespec at;
    dyn_client_error error;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (size_t i = 0; i < points; i++) {
        double t = (double)i / RATE;
        plan(robot->model.nv, robot->home_q, duration, t, q, v, a);
        if (dyn_client_push_points(stream, 1, &t, q, v, a, NULL, 1, &error) != DYN_CLIENT_OK) {
            fprintf(stderr, "point %zu: %s\n", i + 1, error.message);
            return 1;
        }
        at.tv_nsec += 1000000000 / RATE;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    return 0;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void report(taker *t, const dyn_client_stream_info *s) {
    qsort(t->latency, t->count, sizeof *t->latency, compare);
    printf("%llu points accepted, %llu lost, %llu late, %llu refused; %zu torques came back, the greatest %.3f\n",
           (unsigned long long)s->accepted, (unsigned long long)s->lost, (unsigned long long)s->late,
           (unsigned long long)s->refused, t->count, t->greatest_torque);
    if (t->count > 0) {
        printf("latency from push to torque: p50 %.0f us, p99 %.0f us, max %.0f us\n", 1e6 * t->latency[t->count / 2],
               1e6 * t->latency[t->count * 99 / 100], 1e6 * t->latency[t->count - 1]);
    }
}

/* Streams the motion of one robot. */
static int stream_motion(dyn_client *client, const dyn_client_description *robot, size_t points) {
    dyn_client_error error = {0};
    dyn_client_stream *stream = NULL;
    dyn_client_stream_list *status = NULL;
    pthread_t thread;
    taker t = {.points = points, .latency = calloc(points, sizeof *t.latency)};
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = robot->model.name));
    int failed = !t.latency || dyn_client_open_stream(client, &options, &stream, &error) != DYN_CLIENT_OK ||
                 dyn_client_watch_stream(client, dyn_client_stream_name(stream), 0, &t.watch, &error) != DYN_CLIENT_OK;
    if (!failed && pthread_create(&thread, NULL, receive_torques, &t) == 0) {
        failed = push_motion(stream, robot, points);
        pthread_join(thread, NULL);
    }
    if (dyn_client_close_stream(client, stream, 0, &status, &error) == DYN_CLIENT_OK && status) {
        report(&t, &status->streams[0]);
    } else {
        fprintf(stderr, "%s: %s\n", error.field, error.message);
    }
    failed = failed || t.count < points;
    dyn_client_stream_list_free(status);
    dyn_client_watch_close(t.watch);
    free(t.latency);
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "Usage: %s ENDPOINT MODEL [SECONDS]\n", argv[0]);
        return 2;
    }
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 2;
    dyn_client *client;
    dyn_client_description *robot;
    dyn_client_error error;
    if (dyn_client_connect(argv[1], NULL, &client, &error) != DYN_CLIENT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int failed = 1;
    if (dyn_client_describe_model(client, argv[2], 0, &robot, &error) != DYN_CLIENT_OK) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        if (robot->model.nq != robot->model.nv || robot->model.nv > MAX_JOINTS ||
            !(seconds >= 0.01 && seconds <= 3600)) {
            fprintf(stderr, "pass a robot with at most %d joints of one coordinate, and 0.01 to 3600 seconds\n",
                    MAX_JOINTS);
        } else {
            failed = stream_motion(client, robot, (size_t)(seconds * RATE));
        }
        dyn_client_description_free(robot);
    }
    dyn_client_close(client);
    return failed;
}
