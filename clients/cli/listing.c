/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes rows of named values as a table, as JSON or as CSV.
 */
#include "listing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"

exit_code listing_open(const arguments *args, size_t count, const listing_column *columns, listing *opened) {
    *opened = (listing){.count = count, .columns = columns, .json = {.stream = stdout}};
    exit_code code = output_form_read(args, &opened->form);
    if (code != EXIT_OK || opened->form == OUTPUT_JSON) {
        return code;
    }
    if (opened->form == OUTPUT_CSV) {
        for (size_t i = 0; i < count; i++) {
            csv_text(&opened->csv, "%s", columns[i].key);
        }
        csv_end_line(&opened->csv);
        return EXIT_OK;
    }
    opened->lines = table_create();
    for (size_t i = 0; i < count; i++) {
        if (columns[i].heading) {
            table_add_column(opened->lines, columns[i].heading, columns[i].align);
        }
    }
    return opened->lines ? EXIT_OK : complain_memory();
}

/* Begins the next value of the row, with its key in JSON. Returns the column of the value. */
static const listing_column *begin(listing *to) {
    const listing_column *column = &to->columns[to->next];
    if (to->form == OUTPUT_JSON && to->next == 0) {
        to->json = (json_writer){.stream = stdout};
        emit_begin_object(&to->json);
    }
    if (to->form == OUTPUT_JSON) {
        emit_key(&to->json, column->key);
    }
    to->has_rows = true;
    return column;
}

static void end(listing *to) {
    to->next++;
    if (to->next < to->count) {
        return;
    }
    to->next = 0;
    if (to->form == OUTPUT_JSON) {
        emit_end_object(&to->json);
        emit_finish(&to->json);
    } else if (to->form == OUTPUT_CSV) {
        csv_end_line(&to->csv);
    }
}

void listing_text(listing *to, const char *text, const char *shown) {
    const listing_column *column = begin(to);
    if (to->form == OUTPUT_JSON) {
        emit_string(&to->json, text);
    } else if (to->form == OUTPUT_CSV) {
        csv_text(&to->csv, "%s", text);
    } else if (column->heading) {
        table_add_cell(to->lines, "%s", shown ? shown : text);
    }
    end(to);
}

void listing_count(listing *to, uint64_t count) {
    const listing_column *column = begin(to);
    if (to->form == OUTPUT_JSON) {
        emit_unsigned(&to->json, count);
    } else if (to->form == OUTPUT_CSV) {
        csv_text(&to->csv, "%" PRIu64, count);
    } else if (column->heading) {
        table_add_cell(to->lines, "%" PRIu64, count);
    }
    end(to);
}

void listing_signed(listing *to, int64_t number) {
    const listing_column *column = begin(to);
    if (to->form == OUTPUT_JSON) {
        emit_signed(&to->json, number);
    } else if (to->form == OUTPUT_CSV) {
        csv_text(&to->csv, "%" PRId64, number);
    } else if (column->heading) {
        table_add_cell(to->lines, "%" PRId64, number);
    }
    end(to);
}

void listing_flag(listing *to, bool flag) {
    const listing_column *column = begin(to);
    if (to->form == OUTPUT_JSON) {
        emit_bool(&to->json, flag);
    } else if (to->form == OUTPUT_CSV) {
        csv_text(&to->csv, "%s", flag ? "true" : "false");
    } else if (column->heading) {
        table_add_cell(to->lines, "%s", flag ? "yes" : "no");
    }
    end(to);
}

void listing_number(listing *to, double number, const char *format, ...) {
    const listing_column *column = begin(to);
    if (to->form == OUTPUT_JSON) {
        emit_double(&to->json, number);
    } else if (to->form == OUTPUT_CSV) {
        csv_numbers(&to->csv, 1, &number);
    } else if (column->heading) {
        va_list values;
        va_start(values, format);
        char *text = printable_format(format, values);
        va_end(values);
        table_add_cell(to->lines, "%s", text ? text : "");
        free(text);
    }
    end(to);
}

exit_code listing_close(listing *closed, const char *none, exit_code code) {
    if (code == EXIT_OK && closed->form == OUTPUT_TABLE) {
        if (!closed->has_rows) {
            puts(none);
        } else if (!table_print(closed->lines, 0)) {
            code = complain_memory();
        }
    }
    table_free(closed->lines);
    *closed = (listing){0};
    return code;
}
