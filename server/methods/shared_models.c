/* SPDX-License-Identifier: BSD-2-Clause */
/* Models that all daemons at a NATS server share: follows, fetches and changes the names and descriptions in the
 * bucket. */
#include "methods/shared_models.h"

#include <ctype.h>
#include <dynamics/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dynamics/v1/recording.pb-c.h"
#include "methods/persistent_models.h"
#include "methods/recorded_model.h"
#include "observe/clock.h"
#include "transport/bucket.h"

static const char BUCKET[] = "dynamics-models", NAMES[] = "name.", DIGESTS[] = "digest.", ALL_NAMES[] = "name.*";

/* Earlier digests of a name that stay. */
enum { EARLIER = 15 };

/* Longest wait of the thread for a change, pause between two attempts to open the bucket, and longest wait of the start
 * for the models that are there, ms. */
enum { WATCH_MILLISECONDS = 100, RETRY_MILLISECONDS = 500, START_MILLISECONDS = 2000 };

/* Time after which all names are read again. */
#define REREAD_INTERVAL (300 * NANOSECONDS)

/* Name that the bucket has, or had. */
typedef struct shared_name {
    Dynamics__V1__SharedModel *record; /* NULL: removed */
    char name[MODEL_NAME_SIZE];
    uint64_t revision; /* of its last change */
    bool is_seen;      /* reported since the last watch began */
} shared_name;

struct shared_models {
    live *live;
    transport *transport;  /* NULL: nothing is shared */
    pthread_mutex_t mutex; /* guards the members below; held during a change */
    pthread_cond_t changed;
    transport_bucket *bucket; /* NULL: not open */
    shared_name *names;
    size_t count, room;
    bool is_lost;       /* the bucket did not answer: open it again */
    bool is_complete;   /* all names are known, or the bucket cannot be opened */
    bool has_jetstream; /* as far as the last attempt to open the bucket found */
    bool must_end, is_started;
    char problem[TRANSPORT_ERROR_SIZE]; /* reason for which the bucket is not open */
    unsigned failures;                  /* attempts to open the bucket since the last success */
    log_episode full, alone;
    pthread_t thread;
};

/* ---- keys and records -------------------------------------------------------------------------------------------- */

static void name_key(const char *name, char key[BUCKET_KEY_SIZE]) {
    int used = snprintf(key, BUCKET_KEY_SIZE, "%s", NAMES);
    for (const char *c = name; *c && used < BUCKET_KEY_SIZE - 4; c++) {
        bool is_plain = isascii(*c) && (isalnum((unsigned char)*c) || *c == '-' || *c == '_');
        used += snprintf(key + used, (size_t)(BUCKET_KEY_SIZE - used), is_plain ? "%c" : "=%02X", (unsigned char)*c);
    }
}

static void digest_key(const char *digest, char key[BUCKET_KEY_SIZE]) {
    snprintf(key, BUCKET_KEY_SIZE, "%s%s", DIGESTS, digest + strlen("sha256:"));
}

static shared_name *find_name(shared_models *m, const char *name) {
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->names[i].name, name) == 0) {
            return &m->names[i];
        }
    }
    return NULL;
}

/* Returns the entry of a name, which it adds if necessary; NULL when out of memory. */
static shared_name *add_name(shared_models *m, const char *name) {
    shared_name *found = find_name(m, name);
    if (!found && m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        shared_name *names = realloc(m->names, room * sizeof *names);
        if (!names) {
            return NULL;
        }
        m->names = names;
        m->room = room;
    }
    if (!found) {
        found = &m->names[m->count++];
        *found = (shared_name){.revision = 0};
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    return found;
}

static bool has_digest(const Dynamics__V1__SharedModel *record, const char *digest) {
    bool is_found = record && strcmp(record->digest, digest) == 0;
    for (size_t i = 0; record && i < record->n_earlier_digests && !is_found; i++) {
        is_found = strcmp(record->earlier_digests[i], digest) == 0;
    }
    return is_found;
}

/* Returns whether another name than `except` has the digest, now or earlier. */
static bool is_used(const shared_models *m, const char *digest, const shared_name *except) {
    for (size_t i = 0; i < m->count; i++) {
        if (&m->names[i] != except && has_digest(m->names[i].record, digest)) {
            return true;
        }
    }
    return false;
}

static void set_record(shared_name *n, Dynamics__V1__SharedModel *record, uint64_t revision) {
    if (n->record) {
        dynamics__v1__shared_model__free_unpacked(n->record, NULL);
    }
    n->record = record;
    n->revision = revision;
    n->is_seen = true;
}

/* Returns the record, or NULL if it is damaged. */
static Dynamics__V1__SharedModel *read_record(const bucket_value *value) {
    Dynamics__V1__SharedModel *record = dynamics__v1__shared_model__unpack(NULL, value->size, value->bytes);
    bool is_good = record && digest_is_one(record->digest) && strlen(record->name) < MODEL_NAME_SIZE;
    if (record && !is_good) {
        dynamics__v1__shared_model__free_unpacked(record, NULL);
    }
    return is_good ? record : NULL;
}

/* ---- following --------------------------------------------------------------------------------------------------- */

static logger *log_of(const shared_models *m) {
    return m->live->options.log;
}

/* Fetches the description of a digest, and builds its model under the name `name`; "": that of the description.
 * Returns NULL if the bucket lacks it or it is damaged. */
static model_entry *fetch(shared_models *m, const char *name, const char *digest) {
    char key[BUCKET_KEY_SIZE];
    bucket_value value;
    refusal why = {0};
    digest_key(digest, key);
    bucket_status status = transport_bucket_get(m->bucket, key, &value);
    m->is_lost = m->is_lost || status == BUCKET_UNREACHABLE;
    if (status != BUCKET_OK) {
        return NULL;
    }
    Dynamics__V1__ModelDescription *from = dynamics__v1__model_description__unpack(NULL, value.size, value.bytes);
    free(value.bytes);
    model_entry *entry = from ? recorded_model_build(&m->live->options, name, digest, from, &why) : NULL;
    if (!entry) {
        log_warning(log_of(m), "the shared model %s (%.19s...) is not loaded: %s", name, digest,
                    why.message[0] ? why.message : "its description is damaged");
    }
    if (from) {
        dynamics__v1__model_description__free_unpacked(from, NULL);
    }
    return entry;
}

/* Removes the file of a model that the disk of this daemon has: the bucket has a later version, or none. */
static void forget_file(shared_models *m, const model_entry *entry) {
    refusal why = {0};
    if (entry && atomic_load(&entry->is_persistent) && !persistent_models_remove(m->live, entry->name, &why)) {
        log_warning(log_of(m), "%s", why.message);
    }
}

/* Loads the current model of a name into the store, in place of an earlier one. */
static void load(shared_models *m, const shared_name *n) {
    model_store *store = m->live->options.store;
    model_entry *present = model_store_find(store, n->name);
    bool is_current = present && strcmp(present->digest, n->record->digest) == 0;
    model_entry *entry = is_current ? NULL : fetch(m, n->name, n->record->digest);
    if (entry) {
        dyn_text_print(n->record->loaded_by, entry->loaded_by, sizeof entry->loaded_by);
        dyn_text_print(n->record->belongs_to, entry->belongs_to, sizeof entry->belongs_to);
        forget_file(m, present);
        if (model_store_insert(store, entry, MODEL_ANY, NULL) == MODEL_INSERTED) {
            log_info(log_of(m), "model %s, version %llu, shared by another daemon: nq %d, nv %d", n->name,
                     (unsigned long long)n->revision, dyn_model_nq(entry->model), dyn_model_nv(entry->model));
        } else {
            log_repeated(log_of(m), &m->full, "the shared model %s is not loaded: the store is full (limits.models)",
                         n->name);
        }
    }
    model_entry_release(entry);
    model_entry_release(present);
}

/* Removes the model of a name that another daemon has removed. */
static void unload(shared_models *m, shared_name *n, uint64_t revision) {
    model_store *store = m->live->options.store;
    set_record(n, NULL, revision);
    model_store_forget(store);
    model_entry *removed = model_store_remove(store, n->name);
    forget_file(m, removed);
    if (removed) {
        log_info(log_of(m), "model %s was unloaded at another daemon", n->name);
    }
    model_entry_release(removed);
}

/* Applies a value of a name, unless a later one is known. */
static void apply(shared_models *m, const bucket_value *value) {
    Dynamics__V1__SharedModel *record = read_record(value);
    shared_name *n = record ? add_name(m, record->name) : NULL;
    if (n && value->revision > n->revision) {
        set_record(n, record, value->revision);
        load(m, n);
        return;
    }
    if (n) {
        n->is_seen = true;
    }
    if (record) {
        dynamics__v1__shared_model__free_unpacked(record, NULL);
    }
}

/* Applies the removal of a key. A name that was never seen is read from the key. */
static void apply_removal(shared_models *m, const char *key, uint64_t revision) {
    char name[MODEL_NAME_SIZE];
    size_t used = 0;
    for (const char *c = key + strlen(NAMES); *c && used + 1 < sizeof name; c++) {
        unsigned code = (unsigned char)*c;
        if (*c == '=' && sscanf(c + 1, "%2x", &code) == 1) {
            c += 2;
        }
        name[used++] = (char)code;
    }
    name[used] = '\0';
    shared_name *n = add_name(m, name);
    if (n && revision > n->revision) {
        unload(m, n, revision);
    }
}

/* Brings one name up to date with the bucket. */
static void refresh(shared_models *m, const char *name) {
    char key[BUCKET_KEY_SIZE];
    bucket_value value;
    name_key(name, key);
    bucket_status status = m->bucket ? transport_bucket_get(m->bucket, key, &value) : BUCKET_UNREACHABLE;
    m->is_lost = m->is_lost || status == BUCKET_UNREACHABLE;
    if (status == BUCKET_OK) {
        apply(m, &value);
        free(value.bytes);
    }
    shared_name *n = status == BUCKET_ABSENT ? find_name(m, name) : NULL;
    if (n && n->record) {
        unload(m, n, n->revision);
    }
}

/* ---- thread ------------------------------------------------------------------------------------------------------ */

static void pause_briefly(shared_models *m) {
    const uint64_t until = clock_now() + RETRY_MILLISECONDS * UINT64_C(1000000);
    while (!m->must_end && clock_now() < until) {
        clock_wait(&m->changed, &m->mutex, until);
    }
}

/* Opens the bucket and begins to watch it. Called with the mutex held, which it releases meanwhile. Returns false on
 * failure, which it logs the second time: a NATS server that starts has no JetStream for a moment. */
static bool open_bucket(shared_models *m) {
    transport_bucket *bucket = NULL, *old = m->bucket;
    char error[TRANSPORT_ERROR_SIZE] = "";
    m->bucket = NULL;
    m->is_lost = false;
    pthread_mutex_unlock(&m->mutex);
    transport_bucket_close(old);
    bucket_status status = transport_bucket_open(m->transport, BUCKET, error, &bucket);
    bool is_open = status == BUCKET_OK, is_watched = is_open && transport_bucket_watch(bucket, ALL_NAMES);
    if (is_open && !is_watched) {
        snprintf(error, sizeof error, "the bucket %s of JetStream cannot be watched", BUCKET);
        transport_bucket_close(bucket);
    }
    pthread_mutex_lock(&m->mutex);
    m->has_jetstream = status != BUCKET_ABSENT;
    m->failures = is_watched ? 0 : m->failures + 1;
    snprintf(m->problem, sizeof m->problem, "%s", is_watched ? "" : error);
    if (m->failures == 2) {
        log_warning(log_of(m), "models are not shared: %s", m->problem);
    }
    m->bucket = is_watched ? bucket : NULL;
    for (size_t i = 0; i < m->count; i++) {
        m->names[i].is_seen = false;
    }
    return is_watched;
}

/* Ends the first part of a watch: names that it did not report were removed meanwhile. */
static void complete(shared_models *m) {
    for (size_t i = 0; i < m->count; i++) {
        if (m->names[i].record && !m->names[i].is_seen) {
            unload(m, &m->names[i], m->names[i].revision);
        }
    }
    m->is_complete = true;
    pthread_cond_broadcast(&m->changed);
}

/* Applies changes until the connection is lost, or all names are to be read again. */
static void follow(shared_models *m) {
    uint64_t end = clock_now() + REREAD_INTERVAL;
    while (!m->must_end && !m->is_lost && clock_now() < end) {
        bucket_change change = {.value = {NULL, 0, 0}};
        transport_bucket *bucket = m->bucket;
        pthread_mutex_unlock(&m->mutex);
        bucket_news news = transport_bucket_next(bucket, WATCH_MILLISECONDS, &change);
        pthread_mutex_lock(&m->mutex);
        if (news == BUCKET_PUT) {
            apply(m, &change.value);
        } else if (news == BUCKET_REMOVED) {
            apply_removal(m, change.key, change.value.revision);
        } else if (news == BUCKET_COMPLETE) {
            complete(m);
        } else if (news == BUCKET_LOST) {
            m->is_lost = true;
        }
        free(change.value.bytes);
    }
}

static void *run(void *argument) {
    shared_models *m = argument;
    pthread_mutex_lock(&m->mutex);
    while (!m->must_end) {
        if (open_bucket(m)) {
            follow(m);
            continue;
        }
        m->is_complete = true;
        pthread_cond_broadcast(&m->changed);
        pause_briefly(m);
    }
    pthread_mutex_unlock(&m->mutex);
    return NULL;
}

/* Returns a reference to the model of that name or digest, which it fetches if this daemon lacks it or has an earlier
 * version. Returns NULL if it is not shared, or while the bucket cannot be read. */
static model_entry *find(void *context, const char *name) {
    shared_models *m = context;
    model_entry *entry = NULL;
    if (!m->transport || name[0] == '\0' || strlen(name) >= MODEL_NAME_SIZE) {
        return NULL;
    }
    pthread_mutex_lock(&m->mutex);
    bool can_read = m->bucket && !m->is_lost;
    if (can_read && !digest_is_one(name)) {
        refresh(m, name);
    }
    if (can_read) {
        entry = model_store_find(m->live->options.store, name);
    }
    if (can_read && !entry && digest_is_one(name)) {
        entry = fetch(m, "", name);
        if (entry) {
            model_store_remember(m->live->options.store, entry);
        }
    }
    pthread_mutex_unlock(&m->mutex);
    return entry;
}

shared_models *shared_models_create(live *l) {
    shared_models *m = calloc(1, sizeof *m);
    if (m) {
        m->live = l;
        pthread_mutex_init(&m->mutex, NULL);
        clock_condition_init(&m->changed);
        model_store_set_source(l->options.store, find, m);
    }
    return m;
}

bool shared_models_start(shared_models *m, transport *t) {
    if (!transport_bucket_is_wanted(t)) {
        return true;
    }
    m->transport = t;
    if (pthread_create(&m->thread, NULL, run, m) != 0) {
        return false;
    }
    m->is_started = true;
    const uint64_t until = clock_now() + START_MILLISECONDS * UINT64_C(1000000);
    pthread_mutex_lock(&m->mutex);
    while (!m->is_complete && clock_now() < until) {
        clock_wait(&m->changed, &m->mutex, until);
    }
    pthread_mutex_unlock(&m->mutex);
    return true;
}

void shared_models_stop(shared_models *m) {
    if (!m || !m->is_started) {
        return;
    }
    pthread_mutex_lock(&m->mutex);
    m->must_end = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->mutex);
    pthread_join(m->thread, NULL);
    transport_bucket_close(m->bucket);
    m->bucket = NULL;
    m->is_started = false;
}

void shared_models_free(shared_models *m) {
    if (m) {
        for (size_t i = 0; i < m->count; i++) {
            set_record(&m->names[i], NULL, 0);
        }
        free(m->names);
        pthread_cond_destroy(&m->changed);
        pthread_mutex_destroy(&m->mutex);
        free(m);
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

void shared_models_begin_change(shared_models *m, const char *name) {
    if (m && m->transport) {
        pthread_mutex_lock(&m->mutex);
        if (m->bucket && !m->is_lost) {
            refresh(m, name);
        }
    }
}

void shared_models_end_change(shared_models *m) {
    if (m && m->transport) {
        pthread_mutex_unlock(&m->mutex);
    }
}

/* Handles a change without the bucket: of a request over NATS refuses it. */
static bool change_alone(shared_models *m, bool is_over_nats, refusal *why) {
    const char *problem = m->problem[0] ? m->problem : "JetStream of the NATS server does not answer";
    if (is_over_nats) {
        return refuse(why, m->has_jetstream ? REASON_CONNECTION_CLOSED : REASON_NOT_CONFIGURED, "",
                      "a change of models over NATS is one of all daemons, but %s", problem);
    }
    log_repeated(log_of(m), &m->alone, "a change of models is not shared with other daemons: %s", problem);
    return true;
}

/* Fills `why` with the reason for which a key was not written, and returns false. */
static bool refuse_status(shared_models *m, bucket_status status, const char *name, refusal *why) {
    if (status == BUCKET_CHANGED) {
        return refuse(why, REASON_MODEL_CHANGED, "name",
                      "the model \"%s\" was changed at another daemon at the same time; describe it, and decide again",
                      name);
    }
    if (status == BUCKET_TOO_LARGE) {
        return refuse(why, REASON_MODEL_TOO_LARGE, "",
                      "the description of the model \"%s\" exceeds the messages of the NATS server (max_payload), over "
                      "which daemons share models",
                      name);
    }
    m->is_lost = true;
    return refuse(why, REASON_CONNECTION_CLOSED, "", "JetStream of the NATS server does not answer; try again");
}

/* Puts the description of a model under its digest. An equal one may be there already. */
static bool put_description(shared_models *m, const model_entry *entry, refusal *why) {
    char key[BUCKET_KEY_SIZE];
    recorded_model described;
    bucket_value value = {NULL, 0, 0};
    recorded_model_describe(&described, &m->live->options, entry->model, UINT64_MAX);
    if (described.description) {
        value.size = dynamics__v1__model_description__get_packed_size(described.description);
        value.bytes = malloc(value.size ? value.size : 1);
    }
    if (value.bytes) {
        dynamics__v1__model_description__pack(described.description, value.bytes);
    }
    recorded_model_free(&described);
    digest_key(entry->digest, key);
    bucket_status status = value.bytes ? transport_bucket_put(m->bucket, key, &value, 0, NULL) : BUCKET_TOO_LARGE;
    free(value.bytes);
    return status == BUCKET_OK || status == BUCKET_CHANGED || refuse_status(m, status, entry->name, why);
}

/* Packs the next record of a name, in memory that the caller frees. */
static bucket_value pack_record(const model_entry *entry, const Dynamics__V1__SharedModel *before) {
    Dynamics__V1__SharedModel record = DYNAMICS__V1__SHARED_MODEL__INIT;
    char *earlier[EARLIER];
    size_t count = 0;
    if (before) {
        earlier[count++] = before->digest;
    }
    for (size_t i = 0; before && i < before->n_earlier_digests && count < EARLIER; i++) {
        earlier[count] = before->earlier_digests[i];
        count += strcmp(earlier[count], entry->digest) != 0;
    }
    record.name = (char *)(uintptr_t)entry->name;
    record.digest = (char *)(uintptr_t)entry->digest;
    record.loaded_by = (char *)(uintptr_t)entry->loaded_by;
    record.belongs_to = (char *)(uintptr_t)entry->belongs_to;
    record.stamp_ns = clock_wall();
    record.n_earlier_digests = count;
    record.earlier_digests = earlier;
    bucket_value value = {NULL, dynamics__v1__shared_model__get_packed_size(&record), 0};
    value.bytes = malloc(value.size);
    if (value.bytes) {
        dynamics__v1__shared_model__pack(&record, value.bytes);
    }
    return value;
}

/* Removes the descriptions of a record that neither `now` nor another name has. */
static void remove_descriptions(shared_models *m, const shared_name *n, const Dynamics__V1__SharedModel *record,
                                const Dynamics__V1__SharedModel *now) {
    char key[BUCKET_KEY_SIZE];
    for (size_t i = 0; record && i <= record->n_earlier_digests; i++) {
        const char *digest = i == 0 ? record->digest : record->earlier_digests[i - 1];
        if (digest_is_one(digest) && !has_digest(now, digest) && !is_used(m, digest, n)) {
            digest_key(digest, key);
            transport_bucket_remove(m->bucket, key);
        }
    }
}

bool shared_models_put(shared_models *m, const model_entry *entry, bool is_over_nats, refusal *why) {
    if (!m || !m->transport) {
        return true;
    }
    if (!m->bucket || m->is_lost) {
        return change_alone(m, is_over_nats, why);
    }
    shared_name *n = add_name(m, entry->name);
    if (!n) {
        return refuse_memory(why);
    }
    if (n->record && strcmp(n->record->digest, entry->digest) == 0) {
        return true;
    }
    if (!put_description(m, entry, why)) {
        return false;
    }
    char key[BUCKET_KEY_SIZE];
    uint64_t revision = 0;
    name_key(entry->name, key);
    bucket_value value = pack_record(entry, n->record);
    bucket_status status = value.bytes
                               ? transport_bucket_put(m->bucket, key, &value, n->record ? n->revision : 0, &revision)
                               : BUCKET_TOO_LARGE;
    Dynamics__V1__SharedModel *record = status == BUCKET_OK ? read_record(&value) : NULL;
    free(value.bytes);
    if (record) {
        remove_descriptions(m, n, n->record, record);
        set_record(n, record, revision);
    }
    return status == BUCKET_OK || refuse_status(m, status, entry->name, why);
}

bool shared_models_remove(shared_models *m, const char *name, bool is_over_nats, refusal *why) {
    char key[BUCKET_KEY_SIZE];
    if (!m || !m->transport) {
        return true;
    }
    if (!m->bucket || m->is_lost) {
        return change_alone(m, is_over_nats, why);
    }
    shared_name *n = find_name(m, name);
    if (n) {
        remove_descriptions(m, n, n->record, NULL);
    }
    name_key(name, key);
    bucket_status status = transport_bucket_remove(m->bucket, key);
    if (status != BUCKET_OK) {
        return refuse_status(m, status, name, why);
    }
    if (n) {
        set_record(n, NULL, n->revision);
    }
    model_store_forget(m->live->options.store);
    return true;
}
