/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores the loaded models, sorted by name, and notifies a listener of changes. */
#include "models/store.h"

#include <stdlib.h>
#include <string.h>

struct model_store {
    pthread_mutex_t change; /* serializes changes and their notifications */
    pthread_rwlock_t lock;  /* guards the members below */
    model_entry **entries;  /* sorted by name */
    size_t count, room;
    size_t capacity;
    model_entry *remembered[MODEL_REMEMBERED]; /* found by their digests only; NULL: none */
    size_t next_remembered;
    model_listener listener;
    void *listener_context;
    model_source source; /* NULL: none */
    void *source_context;
};

model_store *model_store_create(size_t capacity) {
    model_store *store = calloc(1, sizeof *store);
    if (store) {
        pthread_mutex_init(&store->change, NULL);
        pthread_rwlock_init(&store->lock, NULL);
        store->capacity = capacity;
    }
    return store;
}

void model_store_free(model_store *store) {
    if (!store) {
        return;
    }
    for (size_t i = 0; i < store->count; i++) {
        model_entry_release(store->entries[i]);
    }
    model_store_forget(store);
    free(store->entries);
    pthread_rwlock_destroy(&store->lock);
    pthread_mutex_destroy(&store->change);
    free(store);
}

void model_store_set_capacity(model_store *store, size_t capacity) {
    pthread_rwlock_wrlock(&store->lock);
    store->capacity = capacity;
    pthread_rwlock_unlock(&store->lock);
}

void model_store_listen(model_store *store, model_listener listener, void *context) {
    store->listener = listener;
    store->listener_context = context;
}

static void report(model_store *store, model_change change, const model_entry *entry) {
    if (store->listener) {
        store->listener(store->listener_context, change, entry);
    }
}

/* Returns the index of the first entry whose name is not before `name`. */
static size_t lower_bound(const model_store *store, const char *name) {
    size_t low = 0, high = store->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(store->entries[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the index of the model of that name or digest, or the count if there is none. */
static size_t index_of(const model_store *store, const char *name) {
    if (strncmp(name, "sha256:", 7) == 0) {
        for (size_t i = 0; i < store->count; i++) {
            if (strcmp(store->entries[i]->digest, name) == 0) {
                return i;
            }
        }
        return store->count;
    }
    size_t i = lower_bound(store, name);
    return i < store->count && strcmp(store->entries[i]->name, name) == 0 ? i : store->count;
}

/* Reserves room for one more entry. Returns false when out of memory. */
static bool reserve(model_store *store) {
    if (store->count < store->room) {
        return true;
    }
    size_t room = store->room ? 2 * store->room : 16;
    model_entry **entries = realloc(store->entries, room * sizeof(model_entry *));
    if (entries) {
        store->entries = entries;
        store->room = room;
    }
    return entries != NULL;
}

/* Inserts an entry. `old` receives the store's reference to a model that was replaced. Called with the write lock
 * held. */
static model_insertion insert(model_store *store, model_entry *entry, const char *replaced, model_entry **old) {
    size_t i = lower_bound(store, entry->name);
    bool is_there = i < store->count && strcmp(store->entries[i]->name, entry->name) == 0;
    const char *digest = is_there ? store->entries[i]->digest : "";
    if (is_there && strcmp(digest, entry->digest) == 0) {
        return MODEL_PRESENT;
    }
    if (is_there && !replaced) {
        return MODEL_NAME_TAKEN;
    }
    if (replaced && replaced[0] && strcmp(digest, replaced) != 0) {
        return MODEL_NOT_EXPECTED;
    }
    if (is_there) {
        *old = store->entries[i];
        store->entries[i] = model_entry_retain(entry);
        return MODEL_INSERTED;
    }
    if (store->count >= store->capacity) {
        return MODEL_STORE_FULL;
    }
    if (!reserve(store)) {
        return MODEL_NO_MEMORY;
    }
    memmove(&store->entries[i + 1], &store->entries[i], (store->count - i) * sizeof store->entries[0]);
    store->entries[i] = model_entry_retain(entry);
    store->count++;
    return MODEL_INSERTED;
}

model_insertion model_store_insert(model_store *store, model_entry *entry, const char *replaced,
                                   model_entry **present) {
    model_entry *old = NULL;
    pthread_mutex_lock(&store->change);
    pthread_rwlock_wrlock(&store->lock);
    model_insertion result = insert(store, entry, replaced, &old);
    if (present) {
        size_t i = index_of(store, entry->name);
        *present = i < store->count ? model_entry_retain(store->entries[i]) : NULL;
    }
    pthread_rwlock_unlock(&store->lock);
    if (result == MODEL_INSERTED) {
        report(store, old ? MODEL_REPLACED : MODEL_LOADED, entry);
    }
    pthread_mutex_unlock(&store->change);
    model_entry_release(old);
    return result;
}

model_entry *model_store_find(model_store *store, const char *name) {
    pthread_rwlock_rdlock(&store->lock);
    size_t i = index_of(store, name);
    model_entry *entry = i < store->count ? store->entries[i] : NULL;
    for (size_t k = 0; k < MODEL_REMEMBERED && !entry; k++) {
        bool is_wanted = store->remembered[k] && strcmp(store->remembered[k]->digest, name) == 0;
        entry = is_wanted ? store->remembered[k] : NULL;
    }
    if (entry) {
        model_entry_retain(entry);
    }
    pthread_rwlock_unlock(&store->lock);
    return entry;
}

void model_store_set_source(model_store *store, model_source source, void *context) {
    store->source = source;
    store->source_context = context;
}

model_entry *model_store_fetch(model_store *store, const char *name) {
    return store->source ? store->source(store->source_context, name) : NULL;
}

void model_store_remember(model_store *store, model_entry *entry) {
    pthread_rwlock_wrlock(&store->lock);
    model_entry **place = &store->remembered[store->next_remembered++ % MODEL_REMEMBERED], *old = *place;
    *place = model_entry_retain(entry);
    pthread_rwlock_unlock(&store->lock);
    model_entry_release(old);
}

void model_store_forget(model_store *store) {
    model_entry *old[MODEL_REMEMBERED];
    pthread_rwlock_wrlock(&store->lock);
    memcpy(old, store->remembered, sizeof old);
    memset(store->remembered, 0, sizeof store->remembered);
    pthread_rwlock_unlock(&store->lock);
    for (size_t k = 0; k < MODEL_REMEMBERED; k++) {
        model_entry_release(old[k]);
    }
}

/* Removes the model of that name or digest and returns the store's reference to it, or NULL. If `source` is not NULL,
 * removes the model only if it came from that file and is not stored on the disk. */
static model_entry *remove_entry(model_store *store, const char *name, const char *source) {
    model_entry *entry = NULL;
    pthread_mutex_lock(&store->change);
    pthread_rwlock_wrlock(&store->lock);
    size_t i = index_of(store, name);
    bool is_wanted = i < store->count && (!source || (strcmp(store->entries[i]->source, source) == 0 &&
                                                      !atomic_load(&store->entries[i]->is_persistent)));
    if (is_wanted) {
        entry = store->entries[i];
        store->count--;
        memmove(&store->entries[i], &store->entries[i + 1], (store->count - i) * sizeof store->entries[0]);
    }
    pthread_rwlock_unlock(&store->lock);
    if (entry) {
        report(store, MODEL_UNLOADED, entry);
    }
    pthread_mutex_unlock(&store->change);
    return entry;
}

model_entry *model_store_remove(model_store *store, const char *name) {
    return remove_entry(store, name, NULL);
}

model_entry *model_store_remove_source(model_store *store, const char *name, const char *source) {
    return remove_entry(store, name, source);
}

bool model_store_list(model_store *store, model_entry ***entries, size_t *count) {
    pthread_rwlock_rdlock(&store->lock);
    model_entry **list = calloc(store->count + 1, sizeof(model_entry *));
    for (size_t i = 0; list && i < store->count; i++) {
        list[i] = model_entry_retain(store->entries[i]);
    }
    *count = list ? store->count : 0;
    pthread_rwlock_unlock(&store->lock);
    *entries = list;
    return list != NULL;
}

void model_store_release_list(model_entry **entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        model_entry_release(entries[i]);
    }
    free(entries);
}

size_t model_store_count(model_store *store) {
    pthread_rwlock_rdlock(&store->lock);
    size_t count = store->count;
    pthread_rwlock_unlock(&store->lock);
    return count;
}

size_t model_store_count_of(model_store *store, const char *belongs_to) {
    size_t count = 0;
    pthread_rwlock_rdlock(&store->lock);
    for (size_t i = 0; i < store->count; i++) {
        count += strcmp(store->entries[i]->belongs_to, belongs_to) == 0;
    }
    pthread_rwlock_unlock(&store->lock);
    return count;
}
