/* SPDX-License-Identifier: BSD-2-Clause */
#include "contest.h"

#include <string.h>

#include "child.h"
#include "robots.h"

static const contestant contestants[CONTESTANTS] = {
    [OURS_1] = {"one", "batch_1", NULL, 1, DYN_PRECISION_DOUBLE},
    [OURS_8] = {"of 8", "batch_8", NULL, 8, DYN_PRECISION_DOUBLE},
    [OURS_64] = {"of 64", "batch_64", NULL, 64, DYN_PRECISION_DOUBLE},
    [OURS_4096] = {"of 4096", "batch_4096", NULL, LARGEST_BATCH, DYN_PRECISION_DOUBLE},
    [SINGLE_1] = {"single, one", "single_batch_1", NULL, 1, DYN_PRECISION_SINGLE},
    [SINGLE_8] = {"single, of 8", "single_batch_8", NULL, 8, DYN_PRECISION_SINGLE},
    [SINGLE_64] = {"single, of 64", "single_batch_64", NULL, 64, DYN_PRECISION_SINGLE},
    [SINGLE_4096] = {"single, of 4096", "single_batch_4096", NULL, LARGEST_BATCH, DYN_PRECISION_SINGLE},
    [KDL] = {"KDL", "kdl", "kdl", 1, DYN_PRECISION_DOUBLE},
    [MUJOCO] = {"MuJoCo", "mujoco", "mujoco", 1, DYN_PRECISION_DOUBLE},
    [DART] = {"DART", "dart", "dart", 1, DYN_PRECISION_DOUBLE},
    [SIMBODY] = {"Simbody", "simbody", "simbody", 1, DYN_PRECISION_DOUBLE},
};

const contestant *contestant_get(int who) {
    return &contestants[who];
}

const bench_robot bench_robots[] = {
    {"arm 6", 0},
    {"arm 7", 0},
    {"quadruped 18", 0},
    {"humanoid 38", 0},
    {"chain of 6", 6},
    {"chain of 12", 12},
    {"chain of 25", 25},
    {"chain of 50", 50},
    {"chain of 100", 100},
    {"chain of 200", 200},
    {"chain of 500", 500},
    {"chain of 1000", 1000},
    {NULL, 0},
};

const bench_robot *bench_robot_find(const char *title) {
    const bench_robot *robot = bench_robots;
    while (robot->title && strcmp(robot->title, title) != 0) {
        robot++;
    }
    return robot->title ? robot : NULL;
}

/* Creates the model of a robot: a chain; the UR5, the Panda or the quadruped of the sample robots; or else the
 * humanoid. The caller frees it. */
static dyn_model *create_model(const bench_robot *robot) {
    if (robot->bodies > 0) {
        return robot_chain(robot->bodies);
    }
    if (strncmp(robot->title, "arm", 3) == 0) {
        return robot_load(strcmp(robot->title, "arm 6") == 0 ? "ur5" : "panda", DYN_BASE_FIXED);
    }
    return strncmp(robot->title, "quadruped", 9) == 0 ? robot_load("quadruped", DYN_BASE_FLOATING) : robot_humanoid();
}

void contest_open(contest *c, const bench_robot *robot, bool with_peers) {
    *c = (contest){0};
    workload_open(&c->load, robot->title, create_model(robot));
    for (int who = PEERS_FROM; who < CONTESTANTS && with_peers; who++) {
        char reason[PEER_REASON_SIZE];
        c->library[who] = peer_find(contestants[who].library);
        c->peer[who] = c->library[who] ? c->library[who]->create(c->load.model, true, reason) : NULL;
    }
}

void contest_close(contest *c) {
    for (int who = PEERS_FROM; who < CONTESTANTS; who++) {
        if (c->peer[who]) {
            c->library[who]->destroy(c->peer[who]);
        }
    }
    workload_close(&c->load);
}

bool contest_has(contest *c, int who, algorithm_id id) {
    if (who < PEERS_FROM) {
        size_t batch = contestants[who].batch;
        return workload_has(&c->load, id, batch) &&
               (contestants[who].precision == DYN_PRECISION_DOUBLE || compute_single(&c->load, id, 0, batch));
    }
    if (!c->peer[who] || !compute_peer(&c->load, c->library[who], c->peer[who], id, 0)) {
        return false;
    }
    assert_agreement(&c->load, c->library[who], c->peer[who], id);
    return true;
}

contest_entry contest_enter(const contest *c, int who, algorithm_id id) {
    const contestant *self = &contestants[who];
    const workload *load = &c->load;
    size_t batch = self->batch;
    contest_entry e = {.load = load,
                       .batch = batch,
                       .places = (batch < SINGLE_STATES ? SINGLE_STATES : batch) / batch,
                       .may_fail = self->precision == DYN_PRECISION_SINGLE,
                       .in = workload_input(load, 0, batch)};
    e.in.workspace = e.may_fail ? load->single : load->workspace;
    algorithm_lay_out(id, load->model, batch, load->out, e.out);
    if (who < PEERS_FROM) {
        e.ours = algorithm_get(id)->compute;
    } else {
        e.theirs = peer_algorithm_of(c->library[who], id);
        e.robot = c->peer[who];
    }
    return e;
}

void contest_call(contest_entry *e, size_t call) {
    dyn_error error;
    workload_go_to(e->load, (call & (e->places - 1)) * e->batch, &e->in);
    if (!e->ours) {
        e->theirs(e->robot, &e->in, NULL);
    } else if (e->ours(&e->in, &error, e->out) != DYN_OK && !e->may_fail) {
        die("%s: %s", error.place, error.message);
    }
}
