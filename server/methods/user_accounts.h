/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts of users: the long requests of each caller that wait or are computed, their states, and the bytes that they
 * hold. A user has a share of each (limits.user_requests, user_samples, user_memory_bytes). All functions may be called
 * from any thread, except user_accounts_init and user_accounts_free.
 */
#ifndef SERVER_METHODS_USER_ACCOUNTS_H
#define SERVER_METHODS_USER_ACCOUNTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/access.h"
#include "methods/bounds.h"
#include "observe/memory_budget.h"

enum { USER_BUCKETS = 64 };

/* Account of one user. It exists while a request holds it. The mutex of the table guards all members but `memory`. */
typedef struct user_account {
    struct user_account *next;
    char name[ACCESS_NAME_SIZE];
    unsigned requests;
    uint64_t samples;
    memory_budget memory;
} user_account;

typedef struct user_accounts {
    pthread_mutex_t mutex;
    user_account *buckets[USER_BUCKETS];
    uint64_t samples; /* of all users */
} user_accounts;

/* Largest amounts of one user, and largest number of samples of all users. */
typedef struct user_shares {
    uint64_t requests, samples, samples_of_all;
    size_t bytes;
} user_shares;

/* Amounts of one request, and the account that counts them; NULL: none. */
typedef struct user_hold {
    user_account *account;
    uint64_t samples;
    size_t bytes;
} user_hold;

typedef enum user_admission { USER_ADMITTED, USER_AT_LIMIT, USER_NO_MEMORY } user_admission;

void user_accounts_init(user_accounts *accounts);

/* Frees the table. No request may hold an account. */
void user_accounts_free(user_accounts *accounts);

/* Adds a request to the account of its user, with the samples and bytes of `hold`, and sets hold->account. On
 * USER_AT_LIMIT, `exceeded` receives the limit that has no room for it. On failure hold->account is NULL. */
user_admission user_accounts_join(user_accounts *accounts, const char *name, const user_shares *shares, user_hold *hold,
                                  excess *exceeded);

/* Removes a request from its account, if it holds one. */
void user_accounts_leave(user_accounts *accounts, user_hold *hold);

/* Returns a number for a name, other than 0: the hash FNV-1a. */
uint64_t user_number(const char *name);

#endif
