/* SPDX-License-Identifier: BSD-2-Clause */
#include "under_way.h"

#include "monotonic.h"

/* The address of this variable is the number of its thread. */
static _Thread_local char own_number;

/* Number of the thread that the calling one works for; 0: for itself. */
static _Thread_local uint64_t master;

uint64_t under_way_thread(void) {
    return master != 0 ? master : (uint64_t)(uintptr_t)&own_number;
}

void under_way_work_for(uint64_t thread) {
    master = thread;
}

void under_way_add(under_way *list, under_way_request *added, request_numbers numbers, const void *content) {
    *added = (under_way_request){.numbers = numbers, .content = content, .thread = under_way_thread()};
    pthread_mutex_lock(&list->mutex);
    added->next = list->first;
    added->from = &list->first;
    if (added->next) {
        added->next->from = &added->next;
    }
    list->first = added;
    pthread_mutex_unlock(&list->mutex);
}

void under_way_remove(under_way *list, under_way_request *removed) {
    pthread_mutex_lock(&list->mutex);
    *removed->from = removed->next;
    if (removed->next) {
        removed->next->from = removed->from;
    }
    pthread_mutex_unlock(&list->mutex);
}

bool under_way_is_cancelled(under_way *list, const under_way_request *asked) {
    pthread_mutex_lock(&list->mutex);
    bool is_cancelled = asked->cancelled > 0;
    pthread_mutex_unlock(&list->mutex);
    return is_cancelled;
}

size_t under_way_of(under_way *list, uint64_t thread, size_t most, request_numbers *found) {
    size_t count = 0;
    pthread_mutex_lock(&list->mutex);
    for (const under_way_request *each = list->first; each && count < most; each = each->next) {
        if (each->thread == thread) {
            found[count++] = each->numbers;
        }
    }
    pthread_mutex_unlock(&list->mutex);
    return count;
}

void under_way_cancel(under_way *list, connection *used, request_numbers numbers, double patience) {
    double now = monotonic_now();
    pthread_mutex_lock(&list->mutex);
    for (under_way_request *each = list->first; each; each = each->next) {
        if (each->numbers.client == numbers.client && each->numbers.id == numbers.id) {
            each->cancelled = each->cancelled > 0 ? each->cancelled : now;
            if (now - each->cancelled >= patience) {
                connection_give_up(used, each->content);
            }
        }
    }
    pthread_mutex_unlock(&list->mutex);
}
