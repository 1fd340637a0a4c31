/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roles of callers. Each caller has a name and a role. Over a unix socket, and over tcp of the same machine, the
 * system states the user; elsewhere a token of the request does.
 */
#ifndef SERVER_ACCESS_ACCESS_H
#define SERVER_ACCESS_ACCESS_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "access/tokens.h"

/* Largest number of rules, and size of the name of a caller in bytes: "token:" and the longest name. */
enum { ACCESS_RULES = 64, ACCESS_NAME_SIZE = 64 };

/* Role of a user or of a group of the system, or of the holder of a certificate. */
typedef struct access_rule {
    access_role role;
    bool is_group;
    uint32_t number;
    char certificate[ACCESS_TOKEN_NAME + 1]; /* name of a client's certificate; "": a user or a group */
} access_rule;

/* Rules about users and groups, and the roles of all others. */
typedef struct access_policy {
    access_rule rules[ACCESS_RULES];
    size_t rule_count;
    access_role unix_role, tcp_role, nats_role;
    access_role certificate_role; /* of clients with a valid certificate */
    char tokens[PATH_MAX];        /* path of the file of tokens; "": none */
} access_policy;

/* Facts that the system states about a connection. */
typedef struct access_peer {
    bool is_unix;  /* connected by a unix socket */
    bool is_nats;  /* reached the daemon over NATS; neither: connected by tcp */
    bool has_user; /* `user` is known */
    uint32_t user;
    char certificate[ACCESS_TOKEN_NAME + 1]; /* name in a valid certificate of the client; "": none */
    const gid_t *groups;                     /* of the process; over tcp they are not known */
    size_t group_count;
} access_peer;

/* Name of the callers over NATS that send no token. */
#define ACCESS_NATS_NAME "nats"

/* Name and role of a caller. */
typedef struct access_caller {
    access_role role;
    char name[ACCESS_NAME_SIZE]; /* "uid:1000", "token:planner", "certificate:planner", "address:127.0.0.1" */
} access_caller;

/* Policy and tokens in force. Every function may be called from any thread, except access_init and access_free. */
typedef struct access_guard {
    pthread_rwlock_t lock;
    access_policy policy;
    access_token *tokens;
    size_t token_count;
    atomic_uint edition; /* of the policy and the tokens */
} access_guard;

/* Initializes a guard that denies everything to all but the daemon's own user and root. */
void access_init(access_guard *guard);
void access_free(access_guard *guard);

/* Adds rules for users, groups and certificates that are separated by blanks: names, numbers, groups after "@", and
 * names of certificates after "cn:". Returns false, with a sentence in `error`, for one that the system does not know,
 * or that cannot be the name of a certificate. */
bool access_add_rules(access_policy *policy, access_role role, const char *text, char error[ACCESS_ERROR_SIZE]);

/* Replaces the policy, and reads its file of tokens. On failure writes a sentence with the file and the line to
 * `error`, changes nothing, and returns false. */
bool access_set(access_guard *guard, const access_policy *policy, char error[ACCESS_ERROR_SIZE]);

/* Returns the role that the policy assigns to a connection: the highest of its user and groups, and of all others of
 * its kind. The daemon's own user is an administrator, and so is root over a unix socket. Over tcp root is nobody
 * special: programs that forward connections of others often run as root. */
access_role access_find_role(access_guard *guard, const access_peer *peer);

/* Finds the caller of a token. Returns false if there is none. */
bool access_find(access_guard *guard, const char *token, access_caller *caller);

/* Returns the number of the present policy and tokens, which changes with each access_set that succeeds. A role that is
 * found after this call is at least as new. */
unsigned access_edition(access_guard *guard);

#endif
