/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from outside in generated C: names of a robot, of its links and of its joints, names of files, words of the
 * command line. Everything that is written and that this program did not choose passes through here.
 */
#ifndef DYNAMICS_COMPILE_ESCAPE_H
#define DYNAMICS_COMPILE_ESCAPE_H

#include <string>

/* The text for a comment or between the quotes of a string literal, where its value is the bytes of `text`. Printable
 * ASCII is kept, but for * ? " and \: these and all other bytes become \ooo, three octal digits. So it ends no comment
 * and no string, begins none, splices no line and holds no trigraph, and the file's character set does not matter. */
std::string escaped(const std::string &text);

/* The text as a name in C: each byte that is no ASCII letter or digit becomes an underscore. A name that begins with a
 * digit gets an underscore before it. */
std::string identifier(const std::string &text);

#endif
