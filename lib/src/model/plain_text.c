/* SPDX-License-Identifier: BSD-2-Clause */
#include "plain_text.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>

#include "error.h"

void print_name(FILE *out, const char *name) {
    fputc('"', out);
    for (; name && *name != '\0'; name++) {
        if (*name == '"' || *name == '\\') {
            fputc('\\', out);
        }
        fputc(*name, out);
    }
    fputc('"', out);
}

void print_numbers(FILE *out, const char *word, const double *values, int count) {
    fprintf(out, " %s", word);
    for (int i = 0; i < count; i++) {
        fprintf(out, " %.17g", values[i] + 0.0);
    }
}

void print_limits(FILE *out, const dyn_joint_limits *limits) {
    if (limits) {
        const double values[] = {limits->lower, limits->upper, limits->velocity, limits->effort};
        print_numbers(out, "limits", values, 4);
    }
}

const char *const motion_kinds[MOTION_KIND_COUNT] = {"rotation", "translation"};
const char *const function_kinds[FUNCTION_KIND_COUNT] = {"polynomial", "cubic", "quintic"};

void print_motion(FILE *out, const dyn_joint_motion *motion) {
    const dyn_joint_function *f = &motion->function;
    const double count = f->count;
    bool is_polynomial = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL;
    fprintf(out, " motion %s", motion_kinds[motion->kind]);
    print_numbers(out, "along", motion->axis, 3);
    fprintf(out, " %s", function_kinds[f->kind]);
    print_numbers(out, "terms", &count, 1);
    print_numbers(out, is_polynomial ? "coefficients" : "knots", is_polynomial ? f->coefficients : f->knots, f->count);
    if (!is_polynomial) {
        print_numbers(out, "values", f->values, f->count);
    }
    if (f->kind == DYN_FUNCTION_KIND_QUINTIC_SPLINE) {
        print_numbers(out, "slopes", f->slopes, f->count);
        print_numbers(out, "curvatures", f->curvatures, f->count);
    }
}

dyn_status plain_text_write(void (*print)(FILE *out, const void *what), const void *what, dyn_error *error, char **text,
                            size_t *length) {
    *text = NULL;
    *length = 0;
    FILE *out = open_memstream(text, length);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    dyn_status status = DYN_OK;
    if (!out || plain == (locale_t)0) {
        status = dyn_error_memory(error);
    } else {
        locale_t callers = uselocale(plain);
        print(out, what);
        uselocale(callers);
    }
    bool has_failed = out && ferror(out);
    if (out && (fclose(out) != 0 || has_failed) && status == DYN_OK) {
        status = dyn_error_memory(error);
    }
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    if (status != DYN_OK) {
        free(*text);
        *text = NULL;
        *length = 0;
    }
    return status;
}
