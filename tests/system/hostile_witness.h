/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client that behaves well and measures the daemon while others attack it: every 20 ms it requests the torques of the
 * two-link arm at another state, compares the answer with the arm's closed form, and measures the waiting time.
 */
#ifndef DYNAMICS_TESTS_HOSTILE_WITNESS_H
#define DYNAMICS_TESTS_HOSTILE_WITNESS_H

typedef enum witness_kind {
    WITNESS_STEADY, /* connects once, at the start */
    WITNESS_FRESH,  /* connects again for every request */
} witness_kind;

typedef struct witness_report {
    unsigned answers, wrong; /* wrong ones are among the answers */
    unsigned failures;       /* calls or connections that failed and were retried */
    double longest;          /* s from a request, or the start of a connection, to its right answer */
    char failure[256];       /* message of the last failure */
} witness_report;

typedef struct witness witness;

/* Starts a witness in a thread of its own and returns when it has its first answer; fails the Check test without
 * one. */
witness *witness_start(const char *url, witness_kind kind);

/* Ends a witness, frees it and returns its report. A request under way counts with its time so far. */
witness_report witness_stop(witness *w);

/* Four witnesses: steady and fresh, over ipc and tcp. */
typedef struct witnesses {
    witness *members[4];
} witnesses;

witnesses witnesses_start(const char *ipc, const char *tcp);

/* Ends the witnesses, prints their reports, and fails the Check test where one got a wrong answer, none at all, or
 * waited longer than HOSTILE_STALL seconds. `attack` names the attack in messages. */
void witnesses_expect_no_stall(const witnesses *all, const char *attack);

#endif
