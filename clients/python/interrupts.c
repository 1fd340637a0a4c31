/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends calls of Python programs on SIGINT. The handler of the signal may not use the client: it wakes a thread, which
 * cancels the call.
 */
#include "interrupts.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* Pause between two cancellations of one call. */
static const struct timespec PAUSE = {.tv_nsec = 50000000};

/* Thread whose calls SIGINT ends, and its number in the library. */
static pthread_t guarded;
static uint64_t guarded_number;
static bool has_guarded;

/* Handler of SIGINT that the program has installed, and whether the signal has arrived since it was replaced. */
static struct sigaction previous;
static atomic_bool is_interrupted;
static sem_t arrived;

/* Client of the call under way; NULL: none. */
static _Atomic(dyn_client *) current;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards is_cancelling */
static pthread_cond_t cancelled = PTHREAD_COND_INITIALIZER;
static bool is_cancelling; /* the thread uses `current` */

static bool has_handler(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
    int code = errno;
    atomic_store(&is_interrupted, true);
    sem_post(&arrived);
    errno = code;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (has_handler(&previous)) {
        previous.sa_handler(number);
    } else { /* the signal came before dynamicsd_guard_begin has restored the action */
        sigaction(SIGINT, &previous, NULL);
        raise(number);
    }
}

static void set_cancelling(bool value) {
    pthread_mutex_lock(&mutex);
    is_cancelling = value;
    pthread_cond_signal(&cancelled);
    pthread_mutex_unlock(&mutex);
}

/* Cancels the interrupted call once. Returns false if there is none. */
static bool cancel_current(void) {
    set_cancelling(true);
    dyn_client *client = atomic_load(&is_interrupted) ? atomic_load(&current) : NULL;
    if (client) {
        dyn_client_cancel(client, guarded_number);
    }
    set_cancelling(false);
    return client != NULL;
}

/* Thread function: cancels the call under way, until it has ended, after each signal. */
static void *attend(void *unused) {
    for (;;) {
        while (sem_wait(&arrived) != 0) {
        }
        while (cancel_current()) {
            nanosleep(&PAUSE, NULL);
        }
    }
    return unused;
}

void dynamicsd_guard_thread(void) {
    if (has_guarded || sem_init(&arrived, 0, 0) != 0) {
        return;
    }
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_guarded = pthread_create(&thread, NULL, attend, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    guarded = pthread_self();
    guarded_number = dyn_client_thread();
}

bool dynamicsd_guard_begin(dyn_client *client) {
    if (!has_guarded || !pthread_equal(guarded, pthread_self())) {
        return false;
    }
    struct sigaction catching = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    atomic_store(&is_interrupted, false);
    atomic_store(&current, client);
    if (sigaction(SIGINT, &catching, &previous) != 0) {
        return false;
    }
    if (!has_handler(&previous)) {
        sigaction(SIGINT, &previous, NULL);
        return false;
    }
    return true;
}

void dynamicsd_guard_end(bool is_guarded) {
    if (!is_guarded) {
        return;
    }
    sigaction(SIGINT, &previous, NULL);
    atomic_store(&current, NULL);
    if (atomic_load(&is_interrupted)) {
        pthread_mutex_lock(&mutex);
        while (is_cancelling) {
            pthread_cond_wait(&cancelled, &mutex);
        }
        pthread_mutex_unlock(&mutex);
    }
}

bool dynamicsd_watch_report(void *watch, double fraction) {
    dynamicsd_watch *self = watch;
    if (__atomic_load_n(&self->is_cancelled, __ATOMIC_SEQ_CST) || (self->is_guarded && atomic_load(&is_interrupted))) {
        return false;
    }
    return !self->progress || self->progress(self->context, fraction);
}

void dynamicsd_watch_cancel(dynamicsd_watch *watch) {
    __atomic_store_n(&watch->is_cancelled, 1, __ATOMIC_SEQ_CST);
}
