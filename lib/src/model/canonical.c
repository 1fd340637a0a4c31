/*
 * The canonical description of a model: one line for each fact, numbers exact and independent of the locale.
 */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "normal_form.h"

/* A name in quotes, unambiguous whatever it holds (names have no control characters). */
static void print_name(FILE *out, const char *name) {
    fputc('"', out);
    for (; name != NULL && *name != '\0'; name++) {
        if (*name == '"' || *name == '\\') {
            fputc('\\', out);
        }
        fputc(*name, out);
    }
    fputc('"', out);
}

/* Numbers with 17 digits, which tell any two doubles apart; both zeros are 0. */
static void print_numbers(FILE *out, const char *what, const double *values, int count) {
    fprintf(out, " %s", what);
    for (int i = 0; i < count; i++) {
        fprintf(out, " %.17g", values[i] + 0.0);
    }
}

static void print_pose(FILE *out, const dyn_pose *pose) {
    print_numbers(out, "position", pose->position, 3);
    print_numbers(out, "rotation", pose->rotation, 9);
}

static void print_link(FILE *out, const dyn_link *link) {
    fputs("link ", out);
    print_name(out, link->name);
    fputs(" parent ", out);
    print_name(out, link->parent_joint);
    fprintf(out, " joint %d", link->moving_joint);
    print_pose(out, &link->pose);
    print_numbers(out, "mass", &link->inertia.mass, 1);
    print_numbers(out, "center", link->inertia.center_of_mass, 3);
    print_numbers(out, "inertia", link->inertia.rotational, 6);
    fputc('\n', out);
}

static void print_joint(FILE *out, const dyn_joint *joint) {
    fputs("joint ", out);
    print_name(out, joint->name);
    fprintf(out, " type %d parent %d child %d", (int)joint->type, joint->parent_link, joint->child_link);
    print_pose(out, &joint->origin);
    print_numbers(out, "axis", joint->axis, 3);
    print_numbers(out, "second", joint->second_axis, 3);
    print_numbers(out, "pitch", &joint->pitch, 1);
    if (joint->has_limits) {
        const dyn_joint_limits *limits = &joint->limits;
        const double values[] = {limits->lower, limits->upper, limits->velocity, limits->effort};
        print_numbers(out, "limits", values, 4);
    }
    print_numbers(out, "damping", &joint->damping, 1);
    print_numbers(out, "friction", &joint->friction, 1);
    if (joint->master >= 0) {
        fprintf(out, " master %d", joint->master);
        print_numbers(out, "multiplier", &joint->multiplier, 1);
        print_numbers(out, "offset", &joint->offset, 1);
    }
    fputc('\n', out);
}

static void print_model(FILE *out, const dyn_model *model) {
    fprintf(out, "dynamics model 1\nbase %s\n", model->floating ? "floating" : "fixed");
    print_numbers(out, "gravity", model->gravity, 3);
    fputc('\n', out);
    for (int i = 0; i < model->link_count; i++) {
        print_link(out, &model->links[i]);
    }
    for (int i = 0; i < model->joint_count; i++) {
        print_joint(out, &model->joints[i]);
    }
}

dyn_status dyn_model_canonical(const dyn_model *model, dyn_error *error, char **text, size_t *length) {
    *text = NULL;
    *length = 0;
    FILE *out = open_memstream(text, length);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    dyn_status status = DYN_OK;
    if (out == NULL || plain == (locale_t)0) {
        status = dyn_error_memory(error);
        goto cleanup;
    }
    locale_t callers = uselocale(plain);
    print_model(out, model);
    uselocale(callers);
cleanup:
    if (out != NULL && (ferror(out) | fclose(out)) != 0 && status == DYN_OK) {
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
