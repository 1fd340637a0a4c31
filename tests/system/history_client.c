/* SPDX-License-Identifier: BSD-2-Clause */
/* Random changes of a daemon's state, and what its replies promise about it. */
#include "system/history_client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Timeout of a request in s. The daemon with a sanitizer is several times slower. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const double USUAL_PATIENCE = 2;
#else
static const double USUAL_PATIENCE = 0.4;
#endif

/* Result of a request. */
typedef enum outcome {
    DONE,
    REFUSED,  /* nothing has changed */
    DOUBTFUL, /* no reply */
} outcome;

/* Kinds of changes, in the order of their names. */
typedef enum change_kind {
    LOAD,
    REPLACE,
    UNLOAD,
    CREATE,
    STEP,
    DELETE,
    SAVE,
    RECORD,
    STOP,
    ERASE,
    KINDS,
} change_kind;

static const char *const kind_names[KINDS] = {"load",   "replace", "unload", "create", "step",
                                              "delete", "save",    "record", "stop",   "erase"};
const size_t history_kind_count = KINDS;

const char *history_kind_name(size_t kind) {
    return kind_names[kind];
}

/* ---- knowledge --------------------------------------------------------------------------------------------------- */

static void add_kept(history_object *o, unsigned value) {
    for (size_t i = 0; i < o->kept_count; i++) {
        if (o->kept[i] == value) {
            return;
        }
    }
    ck_assert_uint_lt(o->kept_count, HISTORY_VALUES);
    o->kept[o->kept_count++] = value;
}

static bool may_be(const history_object *o, unsigned value) {
    for (size_t i = 0; i < o->kept_count; i++) {
        if (o->kept[i] == value) {
            return true;
        }
    }
    return false;
}

/* Sets the value of an object, now and after a restart. */
static void settle(history_object *o, unsigned now, unsigned kept) {
    o->now = now;
    o->kept[0] = kept;
    o->kept_count = 1;
    o->is_doubtful = false;
}

/* Takes the outcome of a change of an object: its new value is `now`, after a restart `kept`. Of a change that is done
 * but not durable, the value after a restart may also be an earlier one. */
static void take(history_object *o, outcome result, bool durable, unsigned now, unsigned kept) {
    if (result == DONE && durable) {
        settle(o, now, kept);
    } else if (result == DONE) {
        o->now = now;
        add_kept(o, kept);
    } else if (result == DOUBTFUL) {
        add_kept(o, kept);
        o->is_doubtful = true;
    }
}

/* Classifies a status. A refusal is allowed for a full disk, and while the daemon stops. */
static outcome judge(history_client *c, change_kind k, dyn_client_status status, const dyn_client_error *error) {
    bool is_tight = atomic_load(&c->disk) == HISTORY_TIGHT;
    switch (status) {
    case DYN_CLIENT_OK:
        c->changes++;
        c->kinds[k]++;
        return DONE;
    case DYN_CLIENT_UNREACHABLE:
    case DYN_CLIENT_TIMEOUT:
    case DYN_CLIENT_DEADLINE_EXCEEDED:
        c->unanswered++;
        return DOUBTFUL;
    case DYN_CLIENT_UNAVAILABLE:
        return REFUSED;
    default:
        ck_assert_msg(is_tight && (status == DYN_CLIENT_FAILED_PRECONDITION || status == DYN_CLIENT_RESOURCE_EXHAUSTED),
                      "%s: %s %s: %s", kind_names[k], dyn_client_status_name(status), error->field, error->message);
        c->refusals++;
        return REFUSED;
    }
}

static void give_name(history_client *c, history_object *o, const char *prefix) {
    memset(o, 0, sizeof *o);
    snprintf(o->name, sizeof o->name, "%s%u-%u", prefix, c->number, c->names++);
    settle(o, 0, 0);
}

void history_client_init(history_client *c, unsigned number, random_source random, const char *address) {
    memset(c, 0, sizeof *c);
    c->number = number;
    c->random = random;
    c->address = address;
    c->patience = USUAL_PATIENCE;
    for (int i = 0; i < HISTORY_MODELS; i++) {
        give_name(c, &c->models[i], "m");
    }
    for (int i = 0; i < HISTORY_SIMULATIONS; i++) {
        give_name(c, &c->simulations[i].object, "s");
    }
    for (int i = 0; i < HISTORY_RECORDINGS; i++) {
        give_name(c, &c->recordings[i].object, "r");
    }
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Returns the simulation number i, of which the orphans are the last ones. */
static history_simulation *simulation_at(history_client *c, size_t i) {
    return i < HISTORY_SIMULATIONS ? &c->simulations[i] : &c->orphans[i - HISTORY_SIMULATIONS];
}

static size_t count_simulations(const history_client *c) {
    return HISTORY_SIMULATIONS + c->orphan_count;
}

/* Notes that simulations have a model that was unloaded or replaced. Without a reply it may still have its name. */
static void lose_name(history_client *c, const history_object *model, outcome result) {
    for (size_t i = 0; i < count_simulations(c) && result == DONE; i++) {
        history_simulation *s = simulation_at(c, i);
        s->has_name = s->has_name && s->model != model;
    }
}

static outcome load(history_client *c, history_object *model) {
    char text[512];
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    unsigned mass = 1 + c->names++;
    bool keep = random_index(&c->random, 4) > 0;
    snprintf(text, sizeof text,
             "<robot name='pendulum'><link name='base'/><link name='rod'><inertial><origin xyz='0 0 -0.5'/>"
             "<mass value='%u'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.01'/></inertial></link>"
             "<joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/><axis xyz='0 1 0'/></joint>"
             "</robot>",
             mass);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text, .name = model->name, .replace = model->now != 0, .keep = keep,
                                     .timeout = c->patience);
    dyn_client_status status = dyn_client_load_model(c->own, &request, &loaded, &error);
    outcome result = judge(c, model->now ? REPLACE : LOAD, status, &error);
    if (result == DONE) {
        ck_assert(loaded->model.kept == keep);
        dyn_client_loaded_model_free(loaded);
    }
    lose_name(c, model, result);
    take(model, result, true, mass, keep ? mass : 0);
    return result;
}

static outcome unload(history_client *c, history_object *model) {
    dyn_client_error error;
    outcome result = judge(c, UNLOAD, dyn_client_unload_model(c->own, model->name, c->patience, &error), &error);
    lose_name(c, model, result);
    take(model, result, true, 0, 0);
    return result;
}

static outcome change_model(history_client *c) {
    history_object *model = &c->models[random_index(&c->random, HISTORY_MODELS)];
    return model->now != 0 && random_index(&c->random, 3) == 0 ? unload(c, model) : load(c, model);
}

/* ---- simulations ------------------------------------------------------------------------------------------------- */

/* Returns the recording that is under way of a simulation, or NULL. */
static history_recording *recording_of(history_client *c, const history_simulation *s) {
    for (int i = 0; i < HISTORY_RECORDINGS; i++) {
        if (c->recordings[i].of == s) {
            return &c->recordings[i];
        }
    }
    return NULL;
}

static outcome create(history_client *c, history_simulation *s) {
    const history_object *own = &c->models[random_index(&c->random, HISTORY_MODELS)];
    dyn_client_error error;
    dyn_client_simulation *created;
    s->model = own->now != 0 && random_index(&c->random, 2) == 0 ? own : NULL;
    s->mass = own->now;
    s->has_name = s->model != NULL;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = s->model ? own->name : "two_link", .timeout = c->patience);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = s->object.name, .query = &query, .lease = 3600);
    outcome result =
        judge(c, CREATE, dyn_client_create_simulation(c->own, &options, &s->token, &created, &error), &error);
    bool durable = result == DONE && created->durable;
    if (result == DONE) {
        ck_assert_msg(durable || atomic_load(&c->disk) == HISTORY_TIGHT, "%s is not durable", s->object.name);
        dyn_client_simulation_free(created);
    }
    s->least = s->most = s->steps = 0;
    take(&s->object, result, durable, 1, 1);
    return result;
}

static outcome step(history_client *c, history_simulation *s) {
    dyn_client_error error;
    uint64_t steps = 1 + (uint64_t)random_index(&c->random, 30);
    history_recording *r = recording_of(c, s);
    s->most = s->steps + steps;
    if (r) {
        r->most = s->most - r->first;
    }
    outcome result = judge(
        c, STEP, dyn_client_step_simulation(c->own, s->object.name, s->token, steps, NULL, c->patience, NULL, &error),
        &error);
    s->steps += result == DONE ? steps : 0;
    s->object.is_doubtful |= result == DOUBTFUL;
    return result;
}

/* Ends the recording of a simulation in the knowledge of the client. */
static void end_recording(history_recording *r, const history_simulation *s, bool is_complete) {
    r->steps = r->most = s->steps - r->first;
    r->is_complete = is_complete;
    r->of = NULL;
}

static outcome delete (history_client *c, history_simulation *s) {
    dyn_client_error error;
    bool durable = false;
    history_recording *r = recording_of(c, s);
    outcome result =
        judge(c, DELETE, dyn_client_delete_simulation(c->own, s->object.name, s->token, c->patience, &durable, &error),
              &error);
    ck_assert_msg(result != DONE || durable || atomic_load(&c->disk) == HISTORY_TIGHT, "the end of %s is not durable",
                  s->object.name);
    take(&s->object, result, durable, 0, 0);
    if (r && result == DONE) {
        end_recording(r, s, atomic_load(&c->disk) == HISTORY_ROOMY);
    }
    return result;
}

static outcome save(history_client *c) {
    dyn_client_error error;
    size_t count;
    outcome result = judge(c, SAVE, dyn_client_save_simulations(c->own, c->patience, &count, &error), &error);
    for (int i = 0; i < HISTORY_SIMULATIONS && result == DONE; i++) {
        history_simulation *s = &c->simulations[i];
        settle(&s->object, s->object.now, s->object.now);
        s->least = s->steps;
    }
    return result;
}

/* Keeps what is known of a simulation that a restart may bring back, and gives the next one of its place a new name. */
static void set_aside(history_client *c, history_simulation *s) {
    ck_assert_uint_lt(c->orphan_count, HISTORY_ORPHANS);
    c->orphans[c->orphan_count++] = *s;
    give_name(c, &s->object, "s");
}

static outcome change_simulation(history_client *c) {
    history_simulation *s = &c->simulations[random_index(&c->random, HISTORY_SIMULATIONS)];
    if (s->object.now == 0) {
        /* Its deletion was not durable: a full disk did not take the record. */
        if (may_be(&s->object, 1)) {
            set_aside(c, s);
        }
        return create(c, s);
    }
    int choice = random_index(&c->random, 8);
    return choice == 0 ? delete (c, s) : choice == 1 ? save(c) : step(c, s);
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

static outcome record(history_client *c, history_recording *r, history_simulation *s) {
    dyn_client_error error;
    outcome result = judge(
        c, RECORD, dyn_client_record_simulation(c->own, s->object.name, s->token, r->object.name, c->patience, &error),
        &error);
    take(&r->object, result, true, 1, 1);
    r->first = s->steps;
    r->steps = r->most = 0;
    r->is_complete = false;
    r->of = result == DONE ? s : NULL;
    return result;
}

static outcome stop(history_client *c, history_recording *r) {
    dyn_client_error error;
    history_simulation *s = r->of;
    outcome result = judge(
        c, STOP, dyn_client_stop_recording(c->own, s->object.name, s->token, c->patience, NULL, NULL, &error), &error);
    /* On a full disk the recording has ended with fewer steps. */
    if (result == DONE || (result == REFUSED && atomic_load(&c->disk) == HISTORY_TIGHT)) {
        end_recording(r, s, result == DONE);
    }
    return result;
}

static outcome erase(history_client *c, history_recording *r) {
    dyn_client_error error;
    outcome result = judge(c, ERASE, dyn_client_delete_recording(c->own, r->object.name, c->patience, &error), &error);
    take(&r->object, result, true, 0, 0);
    return result;
}

static outcome change_recording(history_client *c) {
    history_recording *r = &c->recordings[random_index(&c->random, HISTORY_RECORDINGS)];
    history_simulation *s = &c->simulations[random_index(&c->random, HISTORY_SIMULATIONS)];
    if (r->of) {
        return random_index(&c->random, 3) == 0 ? stop(c, r) : step(c, r->of);
    }
    if (r->object.now != 0) {
        return erase(c, r);
    }
    return s->object.now != 0 && !recording_of(c, s) ? record(c, r, s) : change_simulation(c);
}

/* ---- thread ------------------------------------------------------------------------------------------------------ */

static void *live_through(void *argument) {
    history_client *c = argument;
    outcome result;
    do {
        int choice = random_index(&c->random, 10);
        result = choice < 3 ? change_model(c) : choice < 7 ? change_simulation(c) : change_recording(c);
    } while (result != DOUBTFUL && !atomic_load(&c->must_stop));
    return NULL;
}

void history_client_start(history_client *c, history_disk disk) {
    dyn_client_error error;
    atomic_store(&c->disk, disk);
    atomic_store(&c->must_stop, false);
    ck_assert_msg(dyn_client_connect(c->address, NULL, &c->own, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_int_eq(pthread_create(&c->thread, NULL, live_through, c), 0);
}

void history_client_join(history_client *c, bool is_waiting) {
    if (!is_waiting) {
        atomic_store(&c->must_stop, true);
    }
    pthread_join(c->thread, NULL);
    dyn_client_close(c->own);
    c->own = NULL;
}

/* ---- after the restart ------------------------------------------------------------------------------------------- */

/* Checks the value that an object has after a restart, and takes it. */
static void observe(history_object *o, unsigned value) {
    char text[256] = "";
    for (size_t i = 0, used = 0; i < o->kept_count && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " %u", o->kept[i]);
    }
    ck_assert_msg(may_be(o, value), "%s has the value %u after the restart; possible are:%s", o->name, value, text);
    settle(o, value, value);
}

/* Adds the masses that simulations of a model, which are there, may bring back under its name. */
static void add_masses_of_simulations(history_client *c, history_object *model) {
    for (size_t i = 0; i < count_simulations(c); i++) {
        const history_simulation *s = simulation_at(c, i);
        bool is_lasting = s->has_name || atomic_load(&c->disk) == HISTORY_TIGHT;
        if (s->object.now != 0 && s->model == model && is_lasting) {
            add_kept(model, s->mass);
        }
    }
}

/* Checks a model. Called after the check of the simulations, which may have brought it back. */
static void check_model(history_client *c, history_object *model, dyn_client *observer) {
    dyn_client_error error;
    dyn_client_description *description;
    add_masses_of_simulations(c, model);
    dyn_client_status status = dyn_client_describe_model(observer, model->name, 0, &description, &error);
    ck_assert_msg(status == DYN_CLIENT_OK || status == DYN_CLIENT_NOT_FOUND, "%s: %s", model->name, error.message);
    unsigned mass = status == DYN_CLIENT_OK ? (unsigned)description->model.mass : 0;
    observe(model, mass);
    if (status == DYN_CLIENT_OK) {
        model->kept[0] = description->model.kept ? mass : 0;
        dyn_client_description_free(description);
    }
    for (size_t i = 0; i < count_simulations(c); i++) {
        history_simulation *s = simulation_at(c, i);
        s->has_name = s->model == model ? s->mass == mass : s->has_name;
    }
}

/* Checks the state of a simulation of the sample robot, bit for bit, against another one of as many steps. */
static void check_state(const dyn_client_simulation *found, dyn_client *observer) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "reference", .query = &query);
    dyn_client_simulation *reference;
    dyn_client_error error;
    uint64_t token;
    if (found->step == 0) {
        return;
    }
    ck_assert_msg(dyn_client_create_simulation(observer, &options, &token, &reference, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    dyn_client_simulation_free(reference);
    ck_assert_int_eq(dyn_client_step_simulation(observer, "reference", token, found->step, NULL, 0, &reference, &error),
                     DYN_CLIENT_OK);
    ck_assert_int_eq(memcmp(found->q, reference->q, 2 * sizeof *found->q), 0);
    ck_assert_int_eq(memcmp(found->v, reference->v, 2 * sizeof *found->v), 0);
    dyn_client_simulation_free(reference);
    ck_assert_int_eq(dyn_client_delete_simulation(observer, "reference", token, 0, NULL, &error), DYN_CLIENT_OK);
}

static void check_simulation(history_client *c, history_simulation *s, dyn_client *observer, bool is_orderly) {
    dyn_client_error error;
    dyn_client_simulation *found;
    bool is_lost = s->object.is_doubtful && s->object.now == 0, is_sure = !s->object.is_doubtful;
    dyn_client_status status = dyn_client_get_simulation(observer, s->object.name, 0, 0, &found, &error);
    ck_assert_msg(status == DYN_CLIENT_OK || status == DYN_CLIENT_NOT_FOUND, "%s: %s", s->object.name, error.message);
    if (is_orderly && is_sure) {
        settle(&s->object, s->object.now, s->object.now);
        s->least = s->steps;
    }
    observe(&s->object, status == DYN_CLIENT_OK);
    if (status != DYN_CLIENT_OK) {
        return;
    }
    ck_assert_msg(found->step >= s->least && found->step <= s->most, "%s is at step %lu, not %lu to %lu",
                  s->object.name, (unsigned long)found->step, (unsigned long)s->least, (unsigned long)s->most);
    if (!s->model) {
        check_state(found, observer);
    }
    s->least = s->most = s->steps = found->step;
    dyn_client_simulation_free(found);
    if (is_lost) {
        set_aside(c, s);
    }
}

/* Checks a recording that is there: its steps, which the daemon computes again. */
static void check_steps(const history_recording *r, dyn_client *observer) {
    dyn_client_error error;
    dyn_client_replay *replay;
    ck_assert_msg(dyn_client_replay_simulation(observer, r->object.name, NULL, NULL, &replay, &error) == DYN_CLIENT_OK,
                  "%s: %s", r->object.name, error.message);
    ck_assert_msg(replay->equal_steps == replay->steps && replay->steps <= r->most,
                  "%s has %lu steps of at most %lu; %lu are equal", r->object.name, (unsigned long)replay->steps,
                  (unsigned long)r->most, (unsigned long)replay->equal_steps);
    if (r->is_complete) {
        ck_assert_msg(!replay->is_truncated && replay->steps == r->steps, "%s has %lu steps, not %lu", r->object.name,
                      (unsigned long)replay->steps, (unsigned long)r->steps);
    }
    dyn_client_replay_free(replay);
}

/* Checks a recording. A daemon that ends in order completes those that are under way. */
static void check_recording(history_recording *r, const dyn_client_recording_list *list, dyn_client *observer,
                            bool is_orderly) {
    bool is_sure = !r->object.is_doubtful && r->of && !r->of->object.is_doubtful;
    unsigned found = 0;
    for (size_t i = 0; i < list->count; i++) {
        found |= strcmp(list->recordings[i].name, r->object.name) == 0;
    }
    if (is_orderly && is_sure) {
        end_recording(r, r->of, true);
    }
    observe(&r->object, found);
    if (found) {
        check_steps(r, observer);
    }
    r->of = NULL;
}

static void check_recordings(history_client *c, dyn_client *observer, bool is_orderly) {
    dyn_client_error error;
    dyn_client_recording_list *list;
    ck_assert_msg(dyn_client_list_recordings(observer, 0, &list, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (int i = 0; i < HISTORY_RECORDINGS; i++) {
        check_recording(&c->recordings[i], list, observer, is_orderly);
    }
    dyn_client_recording_list_free(list);
}

static void drop_absent_orphans(history_client *c) {
    size_t count = 0;
    for (size_t i = 0; i < c->orphan_count; i++) {
        if (c->orphans[i].object.now != 0) {
            c->orphans[count++] = c->orphans[i];
        }
    }
    c->orphan_count = count;
}

void history_client_check(history_client *c, dyn_client *observer, bool is_orderly) {
    check_recordings(c, observer, is_orderly);
    for (int i = 0; i < HISTORY_SIMULATIONS; i++) {
        check_simulation(c, &c->simulations[i], observer, is_orderly);
    }
    for (size_t i = 0; i < c->orphan_count; i++) {
        check_simulation(c, &c->orphans[i], observer, is_orderly);
    }
    drop_absent_orphans(c);
    for (int i = 0; i < HISTORY_MODELS; i++) {
        check_model(c, &c->models[i], observer);
    }
}

static bool is_named(const history_object *o, const char *name) {
    return o->now != 0 && strcmp(o->name, name) == 0;
}

bool history_client_owns(const history_client *c, const char *name) {
    bool is_owned = false;
    for (int i = 0; i < HISTORY_MODELS; i++) {
        is_owned |= is_named(&c->models[i], name);
    }
    for (int i = 0; i < HISTORY_SIMULATIONS; i++) {
        is_owned |= is_named(&c->simulations[i].object, name);
    }
    for (int i = 0; i < HISTORY_RECORDINGS; i++) {
        is_owned |= is_named(&c->recordings[i].object, name);
    }
    for (size_t i = 0; i < c->orphan_count; i++) {
        is_owned |= is_named(&c->orphans[i].object, name);
    }
    return is_owned;
}
