/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the long requests of each user, in a hash table of accounts. */
#include "methods/user_accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void user_accounts_init(user_accounts *accounts) {
    memset(accounts, 0, sizeof *accounts);
    pthread_mutex_init(&accounts->mutex, NULL);
}

void user_accounts_free(user_accounts *accounts) {
    pthread_mutex_destroy(&accounts->mutex);
}

uint64_t user_number(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = name; *c; c++) {
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    }
    return hash | 1;
}

static user_account **bucket_of(user_accounts *accounts, const char *name) {
    return &accounts->buckets[(user_number(name) >> 32) % USER_BUCKETS];
}

/* Returns the account of the user, and creates it if necessary. Returns NULL when out of memory. Called with the mutex
 * held. */
static user_account *find_or_enter(user_accounts *accounts, const char *name) {
    user_account **bucket = bucket_of(accounts, name), *account = *bucket;
    while (account && strcmp(account->name, name) != 0) {
        account = account->next;
    }
    if (account) {
        return account;
    }
    account = calloc(1, sizeof *account);
    if (account) {
        snprintf(account->name, sizeof account->name, "%s", name);
        account->next = *bucket;
        *bucket = account;
    }
    return account;
}

/* Frees an account that no request holds. Called with the mutex held. */
static void remove_unused(user_accounts *accounts, user_account *account) {
    user_account **place = bucket_of(accounts, account->name);
    if (account->requests > 0) {
        return;
    }
    while (*place != account) {
        place = &(*place)->next;
    }
    *place = account->next;
    free(account);
}

/* Returns whether a limit has room for the samples of a further request beside those that are held. */
static bool has_samples(uint64_t limit, uint64_t held, uint64_t samples) {
    return samples == 0 || (samples <= limit && held <= limit - samples);
}

/* Returns whether the shares have room for a further request. Reserves its bytes then. Called with the mutex held. */
static bool has_room(const user_accounts *accounts, user_account *account, const user_shares *shares,
                     const user_hold *hold, excess *exceeded) {
    if (account->requests >= shares->requests) {
        *exceeded = (excess){BOUND_USER_REQUESTS, shares->requests, account->requests + 1};
        return false;
    }
    if (!has_samples(shares->samples, account->samples, hold->samples)) {
        *exceeded = (excess){BOUND_USER_SAMPLES, shares->samples, account->samples + hold->samples};
        return false;
    }
    if (!has_samples(shares->samples_of_all, accounts->samples, hold->samples)) {
        uint64_t requested = accounts->samples + hold->samples;
        *exceeded = (excess){BOUND_SAMPLES_UNDER_WAY, shares->samples_of_all, requested};
        return false;
    }
    memory_budget_set(&account->memory, shares->bytes, 0);
    if (!memory_budget_reserve(&account->memory, hold->bytes)) {
        *exceeded = (excess){BOUND_USER_MEMORY_BYTES, shares->bytes, atomic_load(&account->memory.held) + hold->bytes};
        return false;
    }
    return true;
}

user_admission user_accounts_join(user_accounts *accounts, const char *name, const user_shares *shares, user_hold *hold,
                                  excess *exceeded) {
    user_admission result = USER_NO_MEMORY;
    hold->account = NULL;
    pthread_mutex_lock(&accounts->mutex);
    user_account *account = find_or_enter(accounts, name);
    if (account && has_room(accounts, account, shares, hold, exceeded)) {
        account->requests++;
        account->samples += hold->samples;
        accounts->samples += hold->samples;
        hold->account = account;
        result = USER_ADMITTED;
    } else if (account) {
        remove_unused(accounts, account);
        result = USER_AT_LIMIT;
    }
    pthread_mutex_unlock(&accounts->mutex);
    return result;
}

void user_accounts_leave(user_accounts *accounts, user_hold *hold) {
    user_account *account = hold->account;
    if (!account) {
        return;
    }
    memory_budget_release(&account->memory, hold->bytes);
    pthread_mutex_lock(&accounts->mutex);
    account->requests--;
    account->samples -= hold->samples;
    accounts->samples -= hold->samples;
    remove_unused(accounts, account);
    pthread_mutex_unlock(&accounts->mutex);
    hold->account = NULL;
}
