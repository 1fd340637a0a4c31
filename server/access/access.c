/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the roles of connections by rules about users and groups. */
#include "access/access.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest name of a user or a group, with "@". */
enum { WORD_SIZE = 64 };

void access_init(access_guard *guard) {
    memset(guard, 0, sizeof *guard);
    pthread_rwlock_init(&guard->lock, NULL);
}

void access_free(access_guard *guard) {
    free(guard->tokens);
    pthread_rwlock_destroy(&guard->lock);
}

/* Parses a number of a user or a group. */
static bool parse_number(const char *text, uint32_t *number) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && value < UINT32_MAX;
}

/* Finds the number of a user or a group. Returns false if the system does not know it. */
static bool resolve(const char *name, bool is_group, uint32_t *number) {
    if (parse_number(name, number)) {
        return true;
    }
    if (is_group) {
        const struct group *found = getgrnam(name);
        *number = found ? (uint32_t)found->gr_gid : 0;
        return found != NULL;
    }
    const struct passwd *found = getpwnam(name);
    *number = found ? (uint32_t)found->pw_uid : 0;
    return found != NULL;
}

/* Parses "cn:NAME". Returns false if the word is not of this form. */
static bool parse_certificate(const char *word, access_rule *rule) {
    static const char prefix[] = "cn:";
    const char *name = word + sizeof prefix - 1;
    size_t length = strncmp(word, prefix, sizeof prefix - 1) == 0 ? strlen(name) : 0;
    if (length == 0 || length >= sizeof rule->certificate) {
        return false;
    }
    memcpy(rule->certificate, name, length + 1);
    return true;
}

bool access_add_rules(access_policy *policy, access_role role, const char *text, char error[ACCESS_ERROR_SIZE]) {
    static const char blanks[] = " \t";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        char word[WORD_SIZE];
        size_t length = strcspn(text, blanks);
        bool is_group = text[0] == '@', fits = length < sizeof word;
        snprintf(word, sizeof word, "%.*s", (int)(fits ? length : sizeof word - 1), text);
        text += length;
        access_rule rule = {.role = role, .is_group = is_group};
        if (policy->rule_count == ACCESS_RULES) {
            snprintf(error, ACCESS_ERROR_SIZE, "%s: there are %d users and groups already; that is the limit", word,
                     ACCESS_RULES);
            return false;
        }
        if (!fits || (!parse_certificate(word, &rule) && !resolve(word + is_group, is_group, &rule.number))) {
            snprintf(error, ACCESS_ERROR_SIZE,
                     "the system knows no %s \"%s\"; write a user as NAME or a number, a group as @NAME or @ and a "
                     "number, and the name of a certificate as cn:NAME",
                     is_group ? "group" : "user", word + is_group);
            return false;
        }
        policy->rules[policy->rule_count++] = rule;
    }
    return true;
}

bool access_set(access_guard *guard, const access_policy *policy, char error[ACCESS_ERROR_SIZE]) {
    access_token *tokens = NULL;
    size_t count = 0;
    if (policy->tokens[0] && !tokens_read(policy->tokens, &tokens, &count, error)) {
        return false;
    }
    pthread_rwlock_wrlock(&guard->lock);
    access_token *old = guard->tokens;
    guard->policy = *policy;
    guard->tokens = tokens;
    guard->token_count = count;
    atomic_fetch_add(&guard->edition, 1);
    pthread_rwlock_unlock(&guard->lock);
    free(old);
    return true;
}

static bool has_group(const access_peer *peer, uint32_t number) {
    for (size_t i = 0; i < peer->group_count; i++) {
        if (peer->groups[i] == number) {
            return true;
        }
    }
    return false;
}

static access_role find_role(const access_policy *policy, const access_peer *peer) {
    access_role role = peer->is_unix ? policy->unix_role : peer->is_nats ? policy->nats_role : policy->tcp_role;
    if (peer->certificate[0] && policy->certificate_role > role) {
        role = policy->certificate_role;
    }
    for (size_t i = 0; i < policy->rule_count; i++) {
        const access_rule *rule = &policy->rules[i];
        bool applies = rule->certificate[0] ? strcmp(peer->certificate, rule->certificate) == 0
                       : rule->is_group     ? has_group(peer, rule->number)
                                            : peer->has_user && peer->user == rule->number;
        role = applies && rule->role > role ? rule->role : role;
    }
    return role;
}

access_role access_find_role(access_guard *guard, const access_peer *peer) {
    bool is_own = peer->has_user && peer->user == geteuid(), is_root = peer->has_user && peer->user == 0;
    if (is_own || (is_root && peer->is_unix)) {
        return ACCESS_ADMINISTRATOR;
    }
    pthread_rwlock_rdlock(&guard->lock);
    access_role role = find_role(&guard->policy, peer);
    pthread_rwlock_unlock(&guard->lock);
    return role;
}

bool access_find(access_guard *guard, const char *token, access_caller *caller) {
    pthread_rwlock_rdlock(&guard->lock);
    const access_token *found = tokens_find(guard->tokens, guard->token_count, token);
    if (found) {
        caller->role = found->role;
        snprintf(caller->name, sizeof caller->name, "token:%s", found->name);
    }
    pthread_rwlock_unlock(&guard->lock);
    return found != NULL;
}

unsigned access_edition(access_guard *guard) {
    return atomic_load(&guard->edition);
}
