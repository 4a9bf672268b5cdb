/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_siphash.c - SipHash-2-4 against the vectors of its authors: key 00 01 .. 0f,
 * message of n bytes 00 01 .. n-1.
 */
#include "test/support/base_helper.h"
#include "base/siphash.h"

static void known_vectors(void **state)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } known[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
        {2, UINT64_C(0x0d6c8009d9a94f5a)},  {3, UINT64_C(0x85676696d7fb7e2d)},
        {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
        {15, UINT64_C(0xa129ca6149be45e5)}, {63, UINT64_C(0x958a324ceb064572)},
    };
    unsigned char key[16], message[64];
    (void)state;
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    for (unsigned i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_true(siphash(key, message, known[i].len) == known[i].hash);
}

/* Each bit of key and message matters. */
static void every_bit_matters(void **state)
{
    unsigned char key[16] = {0}, message[16] = {0};
    const uint64_t plain = siphash(key, message, sizeof message);
    (void)state;
    for (unsigned bit = 0; bit < 128; bit++) {
        key[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(siphash(key, message, sizeof message) != plain);
        key[bit / 8] = 0;
        message[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(siphash(key, message, sizeof message) != plain);
        message[bit / 8] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_vectors),
                                       cmocka_unit_test(every_bit_matters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
