/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_code.h - codes whose text says what was wrong with the call that returned them (MPI 4.1,
 * 9.4 and 9.5).
 *
 * There is one code for each enum mrma_err, made when it is needed and used again: its text is that
 * of the last error of its kind in this process. MPI_Error_class gives its MPI class.
 */
#ifndef MRMA_MPI_PROCESS_ERROR_CODE_H
#define MRMA_MPI_PROCESS_ERROR_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* error_code returns a code of the class, which belongs to err (enum mrma_err), with this text. It
 * returns the class itself where the host makes no code, or where MPIRMA_ERROR_CODES=class asks for
 * that. Any thread.
 */
int error_code(int err, int class, const char *text) __attribute__((cold));

/* error_code_text writes the text of a code of error_code, at most len bytes with the zero, into
 * text. False: it is no such code. Any thread. */
bool error_code_text(int code, char *text, size_t len);

/* error_code_class sets *class to the class of a code of error_code. False: it is no such code. Any
 * thread.
 */
bool error_code_class(int code, int *class);

#endif
