/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escaping of external text in generated C: names of a robot, of its links and of its joints, names of files, words of
 * the command line. All text from outside of this program passes through these functions.
 */
#ifndef DYNAMICS_COMPILE_ESCAPE_H
#define DYNAMICS_COMPILE_ESCAPE_H

#include <string>

/* Returns the text for a comment or for a string literal, whose value then is the bytes of `text`. Printable ASCII is
 * unchanged except for * ? " and \: these and all other bytes become \ooo, three octal digits. So the text ends or
 * begins no comment and no string, joins no lines and contains no trigraph, and does not depend on the character set of
 * the file. */
std::string escaped(const std::string &text);

/* Returns the text as an identifier of C: each byte that is not an ASCII letter or digit becomes an underscore. An
 * underscore precedes a leading digit. */
std::string identifier(const std::string &text);

#endif
