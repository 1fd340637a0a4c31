/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the events of contacts of a simulation against closed forms: the times and impulses of a ball that bounces,
 * and the slip of a puck until friction has stopped it.
 */
#include <check.h>
#include <dynamics_client.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

enum { NQ = 7, NV = 6, MOST_EVENTS = 8 };

static const double MASS = 2, GRAVITY = 9.81, FRICTION = 0.4, RESTITUTION = 0.8, STEP = 0.001;

/* Event of a contact, without the texts that the next one replaces. */
typedef struct contact_event {
    char text[16];
    double time, force[3], impulse[3], slip;
} contact_event;

static dyn_client *client;
static dyn_client_error error;

static void require(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s", error.field, error.message);
}

static void connect_client(void) {
    require(dyn_client_connect(served.request_ipc, NULL, &client, &error));
}

static void close_client(void) {
    dyn_client_close(client);
}

/* Loads a body that touches a floor with its centre of mass, so that friction does not turn it. */
static void load_puck(const char *name, double restitution) {
    char text[1024], line[512];
    snprintf(text, sizeof text,
             "{\"name\": \"puck\", \"base_type\": \"BASE_FLOATING\", \"links\": [{\"name\": \"body\", \"inertia\": "
             "{\"mass\": %g, \"rotational\": [1, 0, 0, 1, 0, 1]}}], \"contact_surfaces\": ["
             "{\"name\": \"floor\", \"shape\": \"CONTACT_SHAPE_PLANE\", \"friction\": %g, \"restitution\": %g}, "
             "{\"name\": \"tip\", \"link\": \"body\", \"shape\": \"CONTACT_SHAPE_POINT\", \"friction\": %g}]}",
             MASS, FRICTION, restitution, FRICTION);
    write_file(scratch("puck.json"), text);
    snprintf(line, sizeof line, "$ctl load --name %s --description %s", name, scratch("puck.json"));
    must_say(line, ": ");
}

/* Reads the events of contacts that have been published. Returns their number. */
static int read_events(dyn_client_watch *watch, contact_event *events) {
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    int count = 0;
    while (dyn_client_watch_next(watch, 1, &update, &error) == DYN_CLIENT_OK) {
        if (update.kind != DYN_CLIENT_UPDATE_KIND_STATES && update.contact_surface[0]) {
            ck_assert_str_eq(update.contact_surface, "tip");
            ck_assert_int_lt(count, MOST_EVENTS);
            contact_event *e = &events[count++];
            snprintf(e->text, sizeof e->text, "%s", update.text);
            e->time = update.time[0];
            e->slip = update.contact_slip;
            memcpy(e->force, update.contact_force, sizeof e->force);
            memcpy(e->impulse, update.contact_impulse, sizeof e->impulse);
        }
    }
    return count;
}

/* Simulates a puck in lockstep from a height and a velocity along x, and reads its events. Returns their number. */
static int simulate(const char *model, double height, double along, uint64_t steps, contact_event *events) {
    const double q[NQ] = {0, 0, height, 0, 0, 0, 1}, v[NV] = {along};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = STEP);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = model, .query = &query, .nq = NQ, .nv = NV, .q = q, .v = v,
                                           .stepping = &stepping);
    dyn_client_simulation *state;
    dyn_client_watch *watch;
    uint64_t token;
    require(dyn_client_create_simulation(client, &options, &token, &state, &error));
    dyn_client_simulation_free(state);
    require(dyn_client_watch_simulation(client, model, 0, &watch, &error));
    require(dyn_client_step_simulation(client, model, token, steps, NULL, 0, &state, &error));
    dyn_client_simulation_free(state);
    int count = read_events(watch, events);
    dyn_client_watch_close(watch);
    require(dyn_client_delete_simulation(client, model, token, 0, NULL, &error));
    return count;
}

/* Checks that an event is that of a bounce at a time, seen at the end of a step. */
static void check_bounce(const contact_event *touchdown, const contact_event *lift_off, double time, double speed) {
    ck_assert_str_eq(touchdown->text, "touchdown");
    ck_assert_str_eq(lift_off->text, "lift_off");
    ck_assert_double_eq_tol(touchdown->time, time, 3 * STEP);
    ck_assert_double_eq_tol(lift_off->time, touchdown->time, 2 * STEP);
    double impulse = MASS * (1 + RESTITUTION) * speed;
    ck_assert_double_eq_tol(touchdown->impulse[2], impulse, 0.01 * impulse);
    ck_assert_double_eq_tol(touchdown->impulse[2], STEP * touchdown->force[2], 1e-12 * impulse);
    ck_assert_double_eq_tol(hypot(touchdown->impulse[0], touchdown->impulse[1]), 0, 1e-9);
}

START_TEST(a_ball_that_bounces_touches_down_and_lifts_off_at_the_times_of_the_closed_form) {
    const double height = 0.5, fall = sqrt(2 * height / GRAVITY), speed = GRAVITY * fall;
    contact_event events[MOST_EVENTS];
    load_puck("ball", RESTITUTION);
    int count = simulate("ball", height, 0, 1000, events);
    ck_assert_int_eq(count, 4);
    check_bounce(&events[0], &events[1], fall, speed);
    check_bounce(&events[2], &events[3], fall + 2 * RESTITUTION * fall, RESTITUTION * speed);
}
END_TEST

START_TEST(a_puck_slips_once_until_friction_has_stopped_it) {
    const double speed = 1;
    contact_event events[MOST_EVENTS];
    load_puck("puck", 0);
    int count = simulate("puck", 0, speed, 600, events);
    ck_assert_int_eq(count, 2);
    ck_assert_str_eq(events[0].text, "touchdown");
    ck_assert_str_eq(events[1].text, "slip");
    ck_assert_double_eq_tol(events[1].time, events[0].time, 2 * STEP);
    ck_assert_double_eq_tol(events[1].force[2], MASS * GRAVITY, 1e-6);
    ck_assert_double_eq_tol(events[1].force[0], -FRICTION * MASS * GRAVITY, 1e-6);
    ck_assert_double_eq_tol(events[1].slip, speed - FRICTION * GRAVITY * events[1].time, 1e-6);
}
END_TEST

START_TEST(a_puck_at_rest_touches_and_does_nothing_else) {
    contact_event events[MOST_EVENTS];
    load_puck("resting", 0);
    ck_assert_int_eq(simulate("resting", 0, 0, 300, events), 1);
    ck_assert_str_eq(events[0].text, "touchdown");
    ck_assert_double_eq_tol(events[0].force[2], MASS * GRAVITY, 1e-6);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("contact_events");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_checked_fixture(all, connect_client, close_client);
    tcase_add_test(all, a_ball_that_bounces_touches_down_and_lifts_off_at_the_times_of_the_closed_form);
    tcase_add_test(all, a_puck_slips_once_until_friction_has_stopped_it);
    tcase_add_test(all, a_puck_at_rest_touches_and_does_nothing_else);
    return run_unforked("contact_events", all);
}
