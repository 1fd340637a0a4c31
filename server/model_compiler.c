/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiles models in the background: loads a model's object from the cache, or runs dynamics-compile to make it, and
 * sets the result in the model's entry. */
#include "model_compiler.h"

#include <dynamics/dynamics.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/generator.h"
#include "models/object_cache.h"

/* Interval in ms of checks for a waiting model, and bounds of a command. */
enum { TICK_MILLISECONDS = 100, WORD_SIZE = 96, WORDS = 24 };

/* Files of a compilation, in its scratch directory, where dynamics-compile runs. */
static const char description_name[] = "description", object_name[] = "object.so", messages_name[] = "messages";

struct model_compiler {
    model_compiler_options options;
    char directory[PATH_MAX], program[PATH_MAX];
    uv_timer_t tick, limit;
    uv_process_t process;
    uv_work_t work;
    bool is_busy, is_stopped, is_running, is_late;
    /* Model that is being compiled, path of its object, and directory of its compilation ("": none). */
    model_entry *entry;
    char object[PATH_MAX], scratch[PATH_MAX];
    /* Results of the last step. */
    bool must_compile, is_made;
    dyn_compiled *compiled;
    char digest[DIGEST_SIZE]; /* digest of the object file of `compiled` */
    char reason[OBJECT_REASON_SIZE];
};

/* ---- the end of a model ------------------------------------------------------------------------------------------ */

/* Writes the path of a file of the compilation; object_cache_open ensures that it fits. */
static void scratch_file(const model_compiler *c, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, c->scratch, name);
}

/* Removes the files of the compilation. Runs in a worker thread, since it may wait for processes that are being killed;
 * or when the loop has ended. */
static void remove_scratch(model_compiler *c) {
    if (c->scratch[0] != '\0') {
        object_cache_remove_scratch(c->scratch);
        c->scratch[0] = '\0';
    }
}

/* Sets the result in the entry, and releases the entry. */
static void finish(model_compiler *c) {
    if (c->compiled) {
        log_info(c->options.log, "%s computes with %zu compiled algorithms (%s)", c->entry->name,
                 dyn_compiled_count(c->compiled), dyn_instruction_set());
        model_entry_set_compilation(c->entry, MODEL_COMPILED, "", c->compiled, c->digest);
    } else if (!c->is_stopped) {
        model_entry_set_compilation(c->entry, MODEL_NOT_COMPILED, c->reason, NULL, "");
        log_warning(c->options.log, "%s is not compiled: %s", c->entry->name, c->reason);
    }
    model_entry_release(c->entry);
    c->entry = NULL;
    c->compiled = NULL;
    c->is_busy = false;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* Loads the object from the cache, in a worker thread, and checks it against the library's own results. On failure sets
 * the reason, and removes an object that does not load. */
static void load(model_compiler *c) {
    dyn_error error;
    if (!object_cache_digest(c->object, c->digest)) {
        snprintf(c->reason, sizeof c->reason, "the object's digest cannot be read");
    } else if (dyn_compiled_load(c->entry->model, c->object, &c->compiled, &error) != DYN_OK) {
        snprintf(c->reason, sizeof c->reason, "%.220s", error.message);
        object_cache_remove(c->object);
    }
}

/* Moves the new object to the cache and loads it. */
static void install_object(model_compiler *c) {
    char made[PATH_MAX];
    scratch_file(c, object_name, made);
    if (object_cache_insert(made, c->object, c->options.cache_bytes)) {
        load(c);
    } else {
        snprintf(c->reason, sizeof c->reason, "the object cannot be read, or is larger than [compile] cache_bytes");
    }
}

/* Sets the reason to the last line that dynamics-compile wrote to standard error, if any. */
static void read_messages(model_compiler *c) {
    char path[PATH_MAX], line[OBJECT_REASON_SIZE];
    scratch_file(c, messages_name, path);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(c->reason, sizeof c->reason, "%s", line);
    }
    if (file) {
        fclose(file);
    }
}

/* Ends a compilation in a worker thread: installs its object or reads the reason of its failure, removes its other
 * files, and prunes the cache. */
static void on_end(uv_work_t *work) {
    model_compiler *c = work->data;
    if (c->is_made) {
        install_object(c);
    } else if (!c->is_late) {
        read_messages(c);
    }
    remove_scratch(c);
    object_cache_prune(c->directory, c->options.cache_bytes, c->object);
}

static void on_ended(uv_work_t *work, int status) {
    (void)status;
    finish(work->data);
}

/* Queues the end of a compilation. The members is_made and reason hold its outcome. */
static void end(model_compiler *c) {
    uv_queue_work(c->options.loop, &c->work, on_end, on_ended);
}

/* ---- the process that compiles ----------------------------------------------------------------------------------- */

static void on_exit_of_process(uv_process_t *process, int64_t code, int signal) {
    model_compiler *c = process->data;
    c->is_running = false;
    c->is_made = code == 0 && signal == 0 && !c->is_stopped;
    uv_timer_stop(&c->limit);
    if (signal != 0) {
        kill(-process->pid, SIGKILL); /* a compiler process that is still running */
    }
    uv_close((uv_handle_t *)process, NULL);
    if (c->is_late) {
        snprintf(c->reason, sizeof c->reason, "compiling took longer than %g s; raise [compile] time", c->options.time);
    } else if (!c->is_made) {
        snprintf(c->reason, sizeof c->reason, "dynamics-compile ended with %s %d", signal ? "signal" : "exit code",
                 signal ? signal : (int)code);
    }
    end(c);
}

/* Kills the process and all processes that it started. */
static void kill_process(model_compiler *c) {
    if (c->is_running) {
        kill(-c->process.pid, SIGKILL);
    }
}

static void on_limit(uv_timer_t *timer) {
    model_compiler *c = timer->data;
    c->is_late = true;
    kill_process(c);
}

/* Command line under construction. */
typedef struct command_line {
    char text[WORDS][WORD_SIZE], sandbox[SANDBOX_WORD_SIZE];
    char *words[WORDS + 1];
    int count;
} command_line;

static void add_word(command_line *l, char *word) {
    l->words[l->count++] = word;
    l->words[l->count] = NULL;
}

static void add_number(command_line *l, const char *option, double value) {
    snprintf(l->text[l->count], WORD_SIZE, "%s=%.0f", option, value);
    add_word(l, l->text[l->count]);
}

static void write_command(model_compiler *c, command_line *l) {
    l->count = 0;
    add_word(l, c->program);
    generator_write_sandbox(c->options.sandbox, l->sandbox);
    if (l->sandbox[0] != '\0') {
        add_word(l, l->sandbox);
    }
    add_word(l, (char *)description_name);
    add_word(l, "--shared");
    add_word(l, "-o");
    add_word(l, (char *)object_name);
    add_number(l, "--cpu-seconds", c->options.time > 1 ? c->options.time : 1);
    add_number(l, "--memory-megabytes", (double)(c->options.memory_bytes >> 20));
    if (c->options.compiler[0] != '\0' && l->sandbox[0] == '\0') {
        add_word(l, "--compiler");
        add_word(l, (char *)c->options.compiler);
    }
}

static void start_process(model_compiler *c) {
    command_line line;
    char path[PATH_MAX];
    scratch_file(c, messages_name, path);
    int messages = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = messages < 0 ? UV_IGNORE : UV_INHERIT_FD}};
    stdio[2].data.fd = messages;
    write_command(c, &line);
    uv_process_options_t options = {.exit_cb = on_exit_of_process,
                                    .file = c->program,
                                    .args = line.words,
                                    .flags = UV_PROCESS_DETACHED,
                                    .cwd = c->scratch,
                                    .stdio = stdio,
                                    .stdio_count = 3};
    int status = uv_spawn(c->options.loop, &c->process, &options);
    if (messages >= 0) {
        close(messages);
    }
    if (status != 0) {
        uv_close((uv_handle_t *)&c->process, NULL);
        snprintf(c->reason, sizeof c->reason, "%.160s cannot be started: %s", c->program, uv_strerror(status));
        end(c);
        return;
    }
    c->is_running = true;
    uv_timer_start(&c->limit, on_limit, (uint64_t)(c->options.time * 1000), 0);
}

/* ---- the beginning of a model ------------------------------------------------------------------------------------ */

static bool write_description(model_compiler *c) {
    char *text = NULL, path[PATH_MAX];
    size_t length;
    dyn_error error;
    if (!object_cache_create_scratch(c->directory, c->scratch)) {
        c->scratch[0] = '\0';
        snprintf(c->reason, sizeof c->reason, "no directory can be made in %.160s: %s", c->directory, strerror(errno));
        return false;
    }
    if (dyn_description_write(c->entry->model, &text, &length, &error) != DYN_OK) {
        snprintf(c->reason, sizeof c->reason, "%.80s: %.140s", error.place, error.message);
        return false;
    }
    scratch_file(c, description_name, path);
    FILE *file = fopen(path, "we");
    bool is_written = file && fwrite(text, 1, length, file) == length;
    if (!file || fclose(file) != 0 || !is_written) {
        snprintf(c->reason, sizeof c->reason, "%.160s: %s", path, strerror(errno));
        is_written = false;
    }
    dyn_text_free(text);
    return is_written;
}

/* Loads the object from the cache, or else writes the description to compile. Runs in a worker thread. */
static void on_prepare(uv_work_t *work) {
    model_compiler *c = work->data;
    c->must_compile = false;
    switch (object_cache_look(c->object)) {
    case OBJECT_WHOLE:
        load(c);
        if (c->compiled) {
            return;
        }
        log_warning(c->options.log, "%s does not fit: %s; it is compiled again", c->object, c->reason);
        c->reason[0] = '\0';
        break;
    case OBJECT_DAMAGED:
        log_warning(c->options.log,
                    "%s was changed since it was compiled, or others may write to it; it is compiled again", c->object);
        object_cache_remove(c->object);
        break;
    case OBJECT_MISSING:
        break;
    }
    c->must_compile = write_description(c);
    if (!c->must_compile) {
        remove_scratch(c);
    }
}

static void on_prepared(uv_work_t *work, int status) {
    model_compiler *c = work->data;
    (void)status;
    if (!c->must_compile) {
        finish(c);
    } else if (c->is_stopped) {
        end(c);
    } else {
        start_process(c);
    }
}

/* Returns whether a model waits to be compiled: once it is loaded, or with COMPILE_FIRST_USE once it is used. */
static bool is_waiting(const model_compiler *c, model_entry *entry) {
    return model_entry_compilation(entry, NULL) == MODEL_COMPILATION_WAITS &&
           (c->options.mode == COMPILE_ON || model_entry_is_used(entry));
}

static void begin(model_compiler *c, model_entry *entry) {
    c->is_busy = true;
    c->is_made = c->is_late = false;
    c->entry = model_entry_retain(entry);
    c->reason[0] = '\0';
    if (!object_cache_path(c->directory, entry->digest, dyn_instruction_set(), c->object)) {
        snprintf(c->reason, sizeof c->reason, "the name of the state directory is too long");
        finish(c);
        return;
    }
    model_entry_set_compilation(entry, MODEL_COMPILING, "", NULL, "");
    uv_queue_work(c->options.loop, &c->work, on_prepare, on_prepared);
}

static void on_tick(uv_timer_t *timer) {
    model_compiler *c = timer->data;
    model_entry **entries;
    size_t count;
    if (c->is_busy || c->is_stopped || !model_store_list(c->options.store, &entries, &count)) {
        return;
    }
    for (size_t i = 0; i < count && !c->is_busy; i++) {
        if (is_waiting(c, entries[i])) {
            begin(c, entries[i]);
        }
    }
    model_store_release_list(entries, count);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

model_compiler *model_compiler_create(const model_compiler_options *options) {
    model_compiler *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->options = *options;
    c->tick.data = c->limit.data = c->process.data = c->work.data = c;
    c->is_stopped = options->mode == COMPILE_OFF;
    if (c->is_stopped) {
        return c;
    }
    char reason[OBJECT_REASON_SIZE] = "/proc is not there to find dynamics-compile by; set [compile] program";
    if (!generator_find_program(options->program, c->program) ||
        !object_cache_open(options->state_directory, c->directory, reason)) {
        log_warning(options->log, "models are not compiled: %s", reason);
        c->is_stopped = true;
        return c;
    }
    size_t left = object_cache_clean(c->directory);
    if (left > 0) {
        log_info(options->log, "%zu files and directories of compilations that were cut short are removed from %s",
                 left, c->directory);
    }
    object_cache_prune(c->directory, options->cache_bytes, "");
    uv_timer_init(options->loop, &c->tick);
    uv_timer_init(options->loop, &c->limit);
    uv_timer_start(&c->tick, on_tick, 0, TICK_MILLISECONDS);
    return c;
}

void model_compiler_stop(model_compiler *compiler) {
    compiler->is_stopped = true;
    kill_process(compiler);
}

void model_compiler_free(model_compiler *compiler) {
    if (compiler && compiler->entry) {
        kill_process(compiler);
        if (compiler->is_running) {
            waitpid(compiler->process.pid, NULL, 0); /* the loop has ended and waits for no process */
        }
        remove_scratch(compiler);
        model_entry_release(compiler->entry);
    }
    free(compiler);
}
