#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every name that the installed headers of libiwarp declare begins with iwarp_ or IWARP_ (tools/public-names.pl), so that a program may
# have a `sentence`, a `terminate` and an `mpa_start` of its own: each header alone, and all of them, in C and in C++, linked both ways.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
export CC
mapfile -t headers < <(printf '%s\n' reference-stack/include/iwarp/*.h; make -s library-headers)

expect 0 "each public name has the prefix" tools/public-names.pl --without iwarp_ "${headers[@]}"
holds "none is shown" test ! -s "$WORK/stdout"
expect 0 "all public names" tools/public-names.pl "${headers[@]}"
names=$(cut -d' ' -f1 "$WORK/stdout")
exported() { LC_ALL=C comm -23 <(nm -D --defined-only "$B/libiwarp.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | LC_ALL=C sort) <(LC_ALL=C sort <<<"$names"); }
holds "each exported function is among them" test -z "$(exported)"

# declares NAME TEXT: in a header with this text, the name is found, and no other.
declares() {
	printf '#include <stdint.h>\n%s\n' "$2" >"$WORK/planted.h"
	expect 1 "$2" tools/public-names.pl --without iwarp_ "$WORK/planted.h"
	holds "$1 is found, alone" test "$(cut -d' ' -f1 "$WORK/stdout" | paste -sd' ')" = "$1"
}
declares planted 'struct planted;'
declares planted 'struct planted { int member; struct iwarp_other *other; };'
declares planted 'union planted { int member; };'
declares planted 'enum planted { IWARP_ONE };'
declares ONE 'enum iwarp_kind { IWARP_ZERO, ONE = 1 };'
declares ONE 'enum { ONE };'
declares ONE 'struct iwarp_row { int before; enum { ONE } kind; int after; };'
declares planted 'struct iwarp_row { struct planted { int member; } inner; };'
declares planted 'typedef uint32_t planted;'
declares planted 'typedef struct iwarp_row planted;'
declares planted 'typedef int (*planted)(int count, const char *text);'
declares planted 'void (*planted)(void);'
declares planted 'int planted(struct iwarp_row *row, int count);'
declares planted 'const struct iwarp_row *planted(void);'
declares planted 'static inline int planted(int count) { int local = count; { local++; } return local; }'
declares planted '__attribute__((format(printf, 2, 3))) int planted(int count, const char *format, ...);'
declares planted 'extern const struct iwarp_row planted[];'
declares PLANTED '#define PLANTED(value) (value)'
declares 'one two' $'int one(void);\nint two(void);'
printf '#include <stdint.h>\n#define LOCAL 1\nenum { IWARP_ONE = LOCAL };\n#undef LOCAL\n' >"$WORK/planted.h"
expect 0 "a macro that is taken back" tools/public-names.pl --without iwarp_ "$WORK/planted.h"
expect 2 "a header that is not there" tools/public-names.pl "$WORK/absent.h"

# The program's own names: a type, a function and a macro of each kind.
cat >"$WORK/own.h" <<'END'
struct sentence { int words; };
struct mpa_start { int of_mine; };
enum rdmap_opcode { RDMAP_SEND, MPA_REQUEST };
typedef struct { int x; } wire_result;
#define TERMINATE_TRIPLE "mine"
END
own() { # own LANGUAGE HEADERS...: a program with names of its own before and after these headers
	local language=$1 header
	shift
	{
		echo "#include \"$WORK/own.h\""
		for header; do echo "#include <${header#reference-stack/include/}>"; done
		[ "$language" = c ] || echo 'extern "C" {'
		echo 'int sentence(struct sentence own); int terminate(void); int mpa_start(struct mpa_start own); int sentence_set(void);'
		[ "$language" = c ] || echo '}'
		echo 'int sentence(struct sentence own) { return own.words; } int terminate(void) { return RDMAP_SEND; }'
		echo 'int mpa_start(struct mpa_start own) { return own.of_mine; } int sentence_set(void) { return sizeof(wire_result) != 0; }'
		echo 'int main(void) { struct sentence own = {0}; return sentence(own) + terminate(); }'
	} >"$WORK/own.$language"
}
compile() { # compile LANGUAGE OPTIONS...
	local language=$1
	shift
	case $language in
	c) "${cc[@]}" -std=c17 -pedantic -Wall -Wextra -Werror -I. -Ireference-stack/include -o "$WORK/own" "$WORK/own.c" "$@" ;;
	cc) clang -x c++ -std=c++17 -Wall -Wextra -Werror -I. -Ireference-stack/include -c -o "$WORK/own.o" "$WORK/own.cc" ;;
	esac
}
for header in "${headers[@]}"; do
	own c "$header"
	holds "$header, alone" compile c -c
	own cc "$header"
	holds "$header, alone, in C++" compile cc
done
own c "${headers[@]}"
holds "all of them, with the static library" compile c "${libiwarp[@]}"
holds "the program runs" "$WORK/own"
holds "all of them, with the shared library" compile c -L"$B" -liwarp
own cc "${headers[@]}"
holds "all of them, in C++" compile cc
finish
