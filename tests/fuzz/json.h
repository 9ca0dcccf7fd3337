/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutations of JSON that leave it JSON: octets changed at random hardly ever get past a parser. A value becomes one
 * of another type, a number that is near some limit, or a copy of another value; members and elements come, go and
 * change places.
 */
#ifndef TESTS_FUZZ_JSON_H
#define TESTS_FUZZ_JSON_H

#include "tests/fuzz/fuzz.h"

/* As LLVMFuzzerCustomMutator(): the input is one JSON document, or (`lines`) one on each line. */
size_t fuzz_json_mutate(uint8_t *data, size_t size, size_t room, unsigned seed, bool lines);

#endif
