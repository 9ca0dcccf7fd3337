#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""echo.py PORT: sends back whatever Send comes, to whoever connects. Port 0: any; "port N" is printed."""

import contextlib
import sys

import iwarp


def main() -> int:
    try:
        with iwarp.Context() as context:
            port = int(sys.argv[1]) if len(sys.argv) > 1 else 7174
            listener = context.listen("127.0.0.1", port, receives=64, octets=4096)
            print("port", listener.port, flush=True)
            for report in context.reports():
                if isinstance(report, iwarp.Completion) and report.work is iwarp.Work.RECEIVE and report.ok:
                    with contextlib.suppress(iwarp.Error):  # the queue pair may be ending
                        report.qp.send(report.data)
    except (iwarp.Error, ValueError) as why:
        print(f"echo.py: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
