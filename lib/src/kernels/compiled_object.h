/*
 * What is in a shared object of the model compiler: the kernels of one robot, for one instruction set.
 *
 * A function reads the packed arrays `in` and writes the packed arrays `out`, each in the order in which the kernel
 * table (kernels.h) has them; none overlaps another. It computes what the kernel of its name does for the model's own
 * gravity and without external forces. The functions of `wide` take `lanes` states at once, those of `single` one; a
 * state gets the same bits from both.
 */
#ifndef DYNAMICS_KERNELS_COMPILED_OBJECT_H
#define DYNAMICS_KERNELS_COMPILED_OBJECT_H

#define COMPILED_OBJECT_SYMBOL "dynamics_compiled_object"

/* Changes with every change of the structures below, or of what a function of a name computes. */
#define COMPILED_OBJECT_VERSION 2u

/* Sines and cosines of `count` packed angles. */
typedef void compiled_sines(const void *angle, int count, void *sine, void *cosine);

typedef struct compiled_function_entry {
    const char *name; /* NULL behind the last one */
    void (*call)(const void *const *in, compiled_sines *sines, void *const *out);
} compiled_function_entry;

typedef struct compiled_object {
    unsigned version;
    int lanes;
    const char *instruction_set;
    const char *model; /* canonical description of the robot */
    const compiled_function_entry *wide, *single;
} compiled_object;

#endif
