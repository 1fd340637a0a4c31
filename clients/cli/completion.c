/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes command lines for shells. What an operand or a value can be follows from its placeholder in the help.
 */
#include "completion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "endpoint.h"

/* Longest wait for the daemon, s: a person waits. */
static const double PATIENCE = 1;

/* Command line to complete. */
typedef struct completion {
    size_t command_count;
    const command *commands;
    const command *known; /* command of the line; NULL: none yet */
    option pending;       /* option whose value is the last word, or OPTIONS */
    arguments args;       /* words before the last one */
    const char *word;     /* last word */
    const char *part;     /* its end, which the candidates replace: after a comma or an equals sign */
    const char *suffix;   /* text after each candidate */
    dyn_client *client;   /* NULL: not connected */
} completion;

static void offer(const completion *c, const char *name, const char *description) {
    if (strncmp(name, c->part, strlen(c->part)) == 0) {
        printf("%.*s%s%s%s%s\n", (int)(c->part - c->word), c->word, name, c->suffix, description ? "\t" : "",
               description ? description : "");
    }
}

/* Offers a part of a text. */
static void offer_part(const completion *c, const char *text, size_t length) {
    char *name = strndup(text, length);
    if (name) {
        offer(c, name, NULL);
    }
    free(name);
}

/* ---- names that the program knows -------------------------------------------------------------------------------- */

static void offer_commands(completion *c) {
    for (size_t i = 0; i < c->command_count; i++) {
        offer(c, c->commands[i].name, c->commands[i].summary);
    }
}

static void offer_quantities(completion *c) {
    for (int i = 1; i < DYN_CLIENT_QUANTITY_NUMBERS; i++) {
        const char *name = dyn_client_quantity_name((dyn_client_quantity)i);
        if (name) {
            offer(c, name, NULL);
        }
    }
}

static void offer_files(completion *c) {
    (void)c;
    puts(COMPLETION_FILES);
}

/* Offers the first words of the list in the details of the command: "box" of "box X,Y,Z", "lock:" of "lock:JOINT". */
static void offer_details(completion *c) {
    for (const char *line = c->known->details; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, "  ", 2) == 0 && islower((unsigned char)line[2])) {
            size_t length = strcspn(line + 2, " :\n");
            offer_part(c, line + 2, length + (line[2 + length] == ':'));
        }
    }
}

/* Offers the words of a placeholder: "fixed|floating", "[q|v]", "[list|show NAME]". */
static void offer_choices(completion *c, const char *words) {
    for (words += *words == '['; *words != '\0'; words += strcspn(words, "|"), words += *words == '|') {
        offer_part(c, words, strcspn(words, "| ]"));
    }
}

/* Offers the options of the command, or those of every command. */
static void offer_options(completion *c) {
    char name[64];
    for (int i = 0; i < OPTIONS; i++) {
        if ((((c->known ? c->known->options : 0) | COMMON_OPTIONS) & WITH(i)) != 0) {
            snprintf(name, sizeof name, "--%s", OPTION_TEXTS[i].name);
            offer(c, name, OPTION_TEXTS[i].help);
        }
    }
}

/* ---- names that the daemon knows --------------------------------------------------------------------------------- */

/* Returns a client of the daemon that the command line names, or NULL. */
static dyn_client *connected(completion *c) {
    char endpoint[ENDPOINT_SIZE], token[TOKEN_SIZE];
    const dyn_client_options options =
        DYN_CLIENT_OPTIONS_INIT(.timeout = PATIENCE, .connect_timeout = PATIENCE, .token = token);
    if (!c->client && find_endpoint(&c->args, endpoint) == EXIT_OK && find_token(&c->args, token) == EXIT_OK &&
        dyn_client_connect(endpoint, &options, &c->client, NULL) != DYN_CLIENT_OK) {
        c->client = NULL;
    }
    return c->client;
}

static void offer_models(completion *c) {
    dyn_client_model_list *list = NULL;
    if (connected(c) && dyn_client_list_models(c->client, 0, &list, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < list->count; i++) {
            offer(c, list->models[i].name, NULL);
        }
        dyn_client_model_list_free(list);
    }
}

static void offer_simulations(completion *c) {
    dyn_client_simulation_list *list = NULL;
    if (connected(c) && dyn_client_list_simulations(c->client, 0, &list, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < list->count; i++) {
            offer(c, list->simulations[i].name, list->simulations[i].model);
        }
        dyn_client_simulation_list_free(list);
    }
}

static void offer_streams(completion *c) {
    dyn_client_stream_list *list = NULL;
    if (connected(c) && dyn_client_list_streams(c->client, 0, &list, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < list->count; i++) {
            offer(c, list->streams[i].name, list->streams[i].model);
        }
        dyn_client_stream_list_free(list);
    }
}

static void offer_watched(completion *c) {
    offer_simulations(c);
    offer_streams(c);
}

static void offer_recordings(completion *c) {
    dyn_client_recording_list *list = NULL;
    if (connected(c) && dyn_client_list_recordings(c->client, 0, &list, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < list->count; i++) {
            offer(c, list->recordings[i].name, NULL);
        }
        dyn_client_recording_list_free(list);
    }
}

static void offer_jobs(completion *c) {
    dyn_client_job_list *list = NULL;
    if (connected(c) && dyn_client_get_jobs(c->client, NULL, 0, &list, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < list->count; i++) {
            offer(c, list->jobs[i].name, list->jobs[i].method);
        }
        dyn_client_job_list_free(list);
    }
}

static void offer_methods(completion *c) {
    dyn_client_server_info *info = NULL;
    if (connected(c) && dyn_client_get_server_info(c->client, 0, &info, NULL) == DYN_CLIENT_OK) {
        for (size_t i = 0; i < info->method_count; i++) {
            offer(c, info->methods[i].name, NULL);
        }
        dyn_client_server_info_free(info);
    }
}

/* Offers parts of the model that the first operand names. */
static void offer_elements(completion *c, bool joints, bool links) {
    dyn_client_description *d = NULL;
    if (c->args.positional_count == 0 || !connected(c) ||
        dyn_client_describe_model(c->client, c->args.positional[0], 0, &d, NULL) != DYN_CLIENT_OK) {
        return;
    }
    for (size_t i = 0; joints && i < d->joint_count; i++) {
        offer(c, d->joints[i].name, dyn_client_joint_type_name(d->joints[i].type));
    }
    for (size_t i = 0; links && i < d->link_count; i++) {
        offer(c, d->links[i].name, NULL);
    }
    dyn_client_description_free(d);
}

static void offer_joints(completion *c) {
    offer_elements(c, true, false);
}

static void offer_links(completion *c) {
    offer_elements(c, false, true);
}

static void offer_both(completion *c) {
    offer_elements(c, true, true);
}

/* Offers the joints, each with an equals sign: a value follows. */
static void offer_assignments(completion *c) {
    c->suffix = "=";
    offer_joints(c);
}

/* Offers the links, each with a colon: the components of a force or a body follow. */
static void offer_loaded_links(completion *c) {
    c->suffix = ":";
    offer_links(c);
}

/* ---- choice of the names ----------------------------------------------------------------------------------------- */

/* Names for a placeholder of a command; command NULL: of every command that none of the entries above names. */
static const struct {
    const char *command, *placeholder;
    void (*offer)(completion *c);
} OPERANDS[] = {{"watch", "NAME", offer_watched},       {"jobs", "NAME", offer_jobs},
                {NULL, "NAME", offer_models},           {NULL, "SIMULATION", offer_simulations},
                {NULL, "RECORDING", offer_recordings},  {NULL, "FILE", offer_files},
                {NULL, "COMMAND", offer_commands},      {NULL, "METHOD", offer_methods},
                {NULL, "JOINT|LINK|FRAME", offer_both}, {NULL, "SHAPE", offer_details},
                {NULL, "OPERATION", offer_details},     {NULL, "OPERATION..", offer_details}};

/* Names for the values of options whose placeholder is a name. */
static const struct {
    option of;
    void (*offer)(completion *c);
} VALUES[] = {{OPTION_FRAME, offer_both},           {OPTION_SUBTREE, offer_joints},
              {OPTION_HOLD, offer_joints},          {OPTION_JOINTS, offer_joints},
              {OPTION_QUANTITY, offer_quantities},  {OPTION_FORCE, offer_loaded_links},
              {OPTION_PAYLOAD, offer_loaded_links}, {OPTION_DELETE, offer_recordings},
              {OPTION_DESCRIBE, offer_recordings},  {OPTION_FETCH, offer_recordings}};

static void complete_value(completion *c) {
    const char *placeholder = OPTION_TEXTS[c->pending].value;
    const char *comma = strrchr(c->part, ',');
    if (comma && strchr(placeholder, ',')) {
        c->part = comma + 1;
    }
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        if (VALUES[i].of == c->pending) {
            VALUES[i].offer(c);
            return;
        }
    }
    if (strcmp(placeholder, "FILE") == 0) {
        offer_files(c);
    } else if (strstr(placeholder, "JOINT=")) {
        offer_assignments(c);
    } else if (strchr(placeholder, '|') && islower((unsigned char)placeholder[placeholder[0] == '['])) {
        offer_choices(c, placeholder);
    }
}

/* Copies the placeholder of operand `index`, or the last one, which stands for all that follow. */
static void find_placeholder(const char *operands, size_t index, size_t size, char *placeholder) {
    size_t length = strcspn(operands, " ");
    for (; index > 0 && operands[length] != '\0'; index--) {
        operands += length + 1;
        length = strcspn(operands, " ");
    }
    size_t bracket = operands[0] == '[';
    snprintf(placeholder, size, "%.*s", (int)(length - 2 * bracket), operands + bracket);
}

static void complete_operand(completion *c) {
    char placeholder[64];
    const char *operands = c->known->operands;
    size_t index = c->args.positional_count;
    if (index >= c->known->max_operands) {
        return;
    }
    bool has_alternatives = operands[0] == '[' && strchr(operands, ' ') && strchr(operands, '|');
    if (has_alternatives && index == 0) {
        offer_choices(c, operands);
        return;
    }
    find_placeholder(has_alternatives ? "NAME" : operands, index, sizeof placeholder, placeholder);
    for (size_t i = 0; i < sizeof OPERANDS / sizeof *OPERANDS; i++) {
        bool is_its = !OPERANDS[i].command || strcmp(OPERANDS[i].command, c->known->name) == 0;
        if (is_its && strcmp(OPERANDS[i].placeholder, placeholder) == 0) {
            OPERANDS[i].offer(c);
            return;
        }
    }
    if (islower((unsigned char)placeholder[0])) {
        offer_choices(c, placeholder);
    }
}

static const command *find(const completion *c, const char *name) {
    for (size_t i = 0; i < c->command_count; i++) {
        if (strcmp(c->commands[i].name, name) == 0) {
            return &c->commands[i];
        }
    }
    return NULL;
}

/* Reads a word that precedes the last one. */
static void read_word(completion *c, const char *word) {
    if (c->pending != OPTIONS) {
        c->args.value[c->pending] = word;
        c->pending = OPTIONS;
    } else if (strncmp(word, "--", 2) == 0) {
        const char *equals = strchr(word, '=');
        option named = option_of(word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2);
        if (named != OPTIONS && equals) {
            c->args.value[named] = equals + 1;
        } else if (named != OPTIONS && OPTION_TEXTS[named].value && OPTION_TEXTS[named].value[0] != '[') {
            c->pending = named;
        }
    } else if (!c->known) {
        c->known = find(c, word);
    } else if (c->args.positional_count < MAX_POSITIONALS) {
        c->args.positional[c->args.positional_count++] = word;
    }
}

exit_code complete_line(size_t word_count, char **words, size_t command_count, const command *commands) {
    completion c = {.command_count = command_count, .commands = commands, .pending = OPTIONS, .suffix = ""};
    for (size_t i = 0; i + 1 < word_count; i++) {
        read_word(&c, words[i]);
    }
    c.word = c.part = word_count > 0 ? words[word_count - 1] : "";
    const char *equals = strncmp(c.word, "--", 2) == 0 ? strchr(c.word, '=') : NULL;
    if (c.pending == OPTIONS && equals) {
        c.pending = option_of(c.word + 2, (size_t)(equals - c.word) - 2);
        c.part = equals + 1;
    }
    if (c.pending != OPTIONS && OPTION_TEXTS[c.pending].value) {
        complete_value(&c);
    } else if (c.word[0] == '-') {
        offer_options(&c);
    } else if (c.known) {
        complete_operand(&c);
    } else {
        offer_commands(&c);
    }
    dyn_client_close(c.client);
    return EXIT_OK;
}
