/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues trajectories and pushes their points to a stream, one trajectory at a time.
 */
#include "stream_trajectory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "daemon_link.h"

/* Number of trajectories of one stream that may wait. */
enum { WAITING = 64 };

/* Timeouts of the daemon, in s: PUSH_TIME to receive the points, CHECK_TIME to check them. */
static const double PUSH_TIME = 1, CHECK_TIME = 1;

enum { Q, V, A, TAU, PARTS };

static const char *const members[PARTS] = {"positions", "velocities", "accelerations", "effort"};

/* Trajectory of one message. */
typedef struct trajectory {
    struct trajectory *next;
    live_stream *to;
    peer *from; /* shared */
    uint64_t key;
    size_t n, size;           /* number of points, and of all their numbers */
    double *t, *parts[PARTS]; /* rows; NULL: absent */
    double values[];
} trajectory;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_key(const json_t *message, uint64_t *key, char *error) {
    const char *text = json_string_value(json_object_get(json_object_get(message, "header"), "frame_id"));
    char *end = NULL;
    errno = 0;
    *key = text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && *end == '\0' && errno == 0 && *key != 0) {
        return true;
    }
    snprintf(error, TOPIC_ERROR_SIZE, "msg.header.frame_id: send the key that OpenStream returned, in digits");
    return false;
}

/* Coordinates that the names of a message denote, and sizes of its rows. */
typedef struct layout {
    size_t count, widths[PARTS]; /* number of names; width of the rows of each part */
    const coordinate **places;
} layout;

/* Reads one part of a point into its row; NULL for a part that the first point lacks. Returns false and writes `error`
 * if the number of values is wrong. */
static bool read_row(const json_t *points, size_t index, int part, const layout *of, double *row, char *error) {
    const json_t *values = json_object_get(json_array_get(points, index), members[part]);
    size_t count = json_array_size(values), wanted = row ? of->count : 0;
    if (count != wanted) {
        snprintf(error, TOPIC_ERROR_SIZE, "msg.points[%zu].%s: %zu values; send %zu%s", index, members[part], count,
                 wanted, index > 0 ? ", as in the first point" : ", one for each name, or none");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = !of->places[i] ? SIZE_MAX : part == Q ? of->places[i]->q : of->places[i]->v;
        if (place != SIZE_MAX) {
            row[place] = json_number_value(json_array_get(values, i));
        }
    }
    return true;
}

static bool read_points(const json_t *points, const layout *of, trajectory *to, char *error) {
    for (size_t i = 0; i < to->n; i++) {
        const json_t *time = json_object_get(json_array_get(points, i), "time_from_start");
        to->t[i] = json_number_value(json_object_get(time, "sec")) +
                   1e-9 * json_number_value(json_object_get(time, "nanosec"));
        for (int part = 0; part < PARTS; part++) {
            if (!read_row(points, i, part, of, to->parts[part] ? to->parts[part] + i * of->widths[part] : NULL,
                          error)) {
                return false;
            }
        }
    }
    return true;
}

/* Allocates the points of a message with the parts that the first one has. On failure returns NULL and writes
 * `error`. */
static trajectory *allocate(const json_t *points, const layout *of, char *error) {
    size_t n = json_array_size(points), width = 1;
    bool has[PARTS];
    for (int part = 0; part < PARTS; part++) {
        has[part] = json_array_size(json_object_get(json_array_get(points, 0), members[part])) > 0;
        width += has[part] ? of->widths[part] : 0;
    }
    trajectory *made = n > 0 ? calloc(1, sizeof *made + n * width * sizeof(double)) : NULL;
    if (!made) {
        snprintf(error, TOPIC_ERROR_SIZE, n == 0 ? "msg.points: send one point or more" : "out of memory");
        return NULL;
    }
    made->n = n;
    made->size = n * width;
    made->t = made->values;
    double *next = made->values + n;
    for (int part = 0; part < PARTS; part++) {
        if (!has[part]) {
            continue;
        }
        made->parts[part] = next;
        next += n * of->widths[part];
    }
    return made;
}

/* ---- pushing: on a thread of the pool ---------------------------------------------------------------------------- */

/* Requests the daemon's counters of the stream. Returns false with an error on failure. */
static bool read_counters(dyn_client *client, const live_stream *of, dyn_client_stream_info *info,
                          dyn_client_error *error) {
    dyn_client_stream_list *list;
    if (dyn_client_get_stream(client, of->object.name, LIVE_REQUEST_TIME, &list, error) != DYN_CLIENT_OK) {
        return false;
    }
    *info = list->streams[0];
    dyn_client_stream_list_free(list);
    return true;
}

static bool join(dyn_client *client, live_stream *of, uint64_t key, dyn_client_error *error) {
    if (of->pusher && of->key == key) {
        return true;
    }
    dyn_client_leave_stream(of->pusher);
    of->key = key;
    return dyn_client_join_stream(client, of->object.name, key, LIVE_REQUEST_TIME, &of->pusher, error) == DYN_CLIENT_OK;
}

/* Waits until the daemon has counted more than `chunks` chunks, and so has checked the one that was pushed. Returns
 * false, with an error, after CHECK_TIME or if the daemon cannot be reached. */
static bool await_check(dyn_client *client, const live_stream *of, uint64_t chunks, dyn_client_stream_info *after,
                        dyn_client_error *error) {
    double end = monotonic_time() + CHECK_TIME;
    for (long pause = 100000; read_counters(client, of, after, error); pause += pause < 10000000 ? pause : 0) {
        if (after->chunks > chunks) {
            return true;
        }
        if (monotonic_time() > end) {
            snprintf(error->message, sizeof error->message,
                     "msg.header.frame_id: the points did not arrive; is this the key that OpenStream returned?");
            error->status = DYN_CLIENT_PERMISSION_DENIED;
            error->field[0] = '\0';
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    return false;
}

/* Writes `reason` if the daemon refused points or found them late. */
static void report_rejected(const trajectory *pushed, const dyn_client_stream_info *before,
                            const dyn_client_stream_info *after, char *reason) {
    uint64_t refused = after->refused - before->refused, late = after->late - before->late;
    uint64_t accepted = after->accepted - before->accepted;
    if (refused > 0 || late > 0) {
        snprintf(reason, METHOD_ERROR_SIZE,
                 "msg.points: %" PRIu64 " of %zu points were taken, %" PRIu64 " refused, %" PRIu64
                 " late; the stream's events say why",
                 accepted, pushed->n, refused, late);
    }
}

/* Pushes the points, once they fit into the stream. Returns false with an error on failure. */
static bool push_checked(dyn_client *client, trajectory *pushed, char *reason, dyn_client_error *error) {
    live_stream *to = pushed->to;
    double *const *part = pushed->parts;
    dyn_client_stream_info before, after;
    if (!join(client, to, pushed->key, error) || !read_counters(client, to, &before, error)) {
        return false;
    }
    uint64_t room = before.credit > before.last_point_number ? before.credit - before.last_point_number : 0;
    if (pushed->n > room) {
        snprintf(reason, METHOD_ERROR_SIZE, "msg.points: %zu points, but the stream takes %" PRIu64 " more for now",
                 pushed->n, room);
        return true;
    }
    dyn_client_stream_seek(to->pusher, before.last_point_number + 1);
    if (dyn_client_push_points(to->pusher, pushed->n, pushed->t, part[Q], part[V], part[A], part[TAU], PUSH_TIME,
                               error) != DYN_CLIENT_OK ||
        !await_check(client, to, before.chunks, &after, error)) {
        return false;
    }
    report_rejected(pushed, &before, &after, reason);
    return true;
}

static void push_points(daemon_link *link, void *user, char *reason) {
    dyn_client_error error = {0};
    dyn_client *client = daemon_link_get(link, &error);
    if (!client || !push_checked(client, user, reason, &error)) {
        snprintf(reason, METHOD_ERROR_SIZE, "%s (%s)", error.message, dyn_client_status_name(error.status));
    }
    daemon_link_put(link, client, &error);
}

/* ---- on the event loop ------------------------------------------------------------------------------------------- */

static void on_pushed(bridge *in, void *user, const ProtobufCMessage *result, const char *reason);

static void push_next(live_stream *of) {
    of->is_pushing = of->first != NULL;
    if (!of->is_pushing) {
        return;
    }
    of->object.questions++;
    call_work(of->object.bridge, push_points, on_pushed, of->first);
}

static void drop_first(live_stream *of) {
    trajectory *dropped = of->first;
    of->first = dropped->next;
    of->waiting--;
    of->values -= dropped->size;
    peer_release(dropped->from);
    free(dropped);
}

/* Reports to its publisher why a trajectory is not in the stream; an empty reason means that it is. */
static void report_error(const trajectory *of, const char *reason) {
    if (reason[0] != '\0' && !of->from->is_gone) {
        peer_status(of->from, STATUS_ERROR, NULL, "publish: the trajectory for the stream %s: %s", of->to->object.name,
                    reason);
    }
}

static void on_pushed(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    trajectory *pushed = user;
    live_stream *to = pushed->to;
    (void)in, (void)result;
    report_error(pushed, reason);
    drop_first(to);
    if (!to->object.is_gone) {
        push_next(to);
    }
    live_object_answered(&to->object);
}

bool stream_trajectory(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]) {
    live_stream *of = to->user;
    const json_t *points = json_object_get(message, "points");
    const coordinates *known = &of->object.coordinates;
    const json_t *names = json_object_get(message, "joint_names");
    layout rows = {.count = json_array_size(names), .widths = {known->nq, known->nv, known->nv, known->nv}};
    uint64_t key;
    if (known->count == 0) {
        return live_object_hold(&of->object, from, to, message, error);
    }
    if (!read_key(message, &key, error)) {
        return false;
    }
    rows.places = coordinates_arrange(known, names, true, "msg.joint_names", error);
    trajectory *read = rows.places ? allocate(points, &rows, error) : NULL;
    bool is_good = read && read_points(points, &rows, read, error);
    if (is_good &&
        (of->waiting >= WAITING || (of->values + read->size) * sizeof(double) > from->bridge->config->queued_bytes)) {
        snprintf(error, TOPIC_ERROR_SIZE, "%zu trajectories wait for this stream already; send it again soon",
                 of->waiting);
        is_good = false;
    }
    free(rows.places);
    if (!is_good) {
        free(read);
        return false;
    }
    read->to = of;
    read->from = peer_share(from);
    read->key = key;
    trajectory **link = &of->first;
    while (*link) {
        link = &(*link)->next;
    }
    *link = read;
    of->waiting++;
    of->values += read->size;
    if (!of->is_pushing) {
        push_next(of);
    }
    return true;
}

void stream_trajectory_free(live_object *freed) {
    live_stream *of = (live_stream *)freed;
    while (of->first) {
        report_error(of->first, "the stream has ended (NOT_FOUND)");
        drop_first(of);
    }
    dyn_client_leave_stream(of->pusher);
}
