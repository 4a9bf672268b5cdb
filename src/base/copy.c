/*
 * copy.c - see copy.h. No state, no locks.
 *
 * Streaming stores are not ordered by a release store (they leave by buffers of their own): a store
 * fence is.
 */
#include "base/copy.h"

#include <stdint.h>

#include "base/atomic.h"

#if COPY_CAN_STREAM
#include <emmintrin.h>

/* Whole lines, to a line's begin. */
static void stream_lines(char *to, const char *from, size_t lines)
{
    for (size_t i = 0; i < lines; i++, to += MRMA_CACHE_LINE, from += MRMA_CACHE_LINE)
        for (size_t at = 0; at < MRMA_CACHE_LINE; at += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(to + at),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
    _mm_sfence();
}

void copy_streamed(void *to, const void *from, size_t len)
{
    size_t head = -(uintptr_t)to % MRMA_CACHE_LINE;
    if (head > len)
        head = len;
    const size_t lines = (len - head) / MRMA_CACHE_LINE, tail = head + lines * MRMA_CACHE_LINE;
    memcpy(to, from, head);
    memcpy((char *)to + tail, (const char *)from + tail, len - tail);
    stream_lines((char *)to + head, (const char *)from + head, lines);
}
#else
void copy_streamed(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}
#endif
