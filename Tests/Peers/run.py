"""Runs the peer tests; `scripts/test` calls it with the Python of .build/peers.

    HUB_BINARY=.build/debug/hub .build/peers/bin/python Tests/Peers/run.py [--report FILE] [-k PATTERN]

FILE receives three numbers: test methods that passed, failed and were skipped. A method counts once,
however many of its sub-tests fail; a fixture of a class or module that fails counts as one failure.
"""

import argparse
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report")
    parser.add_argument("-k", action="append", dest="patterns")
    options = parser.parse_args()

    if not os.access(os.environ.get("HUB_BINARY", ""), os.X_OK):
        print("HUB_BINARY does not name the built hub", file=sys.stderr)
        return 2
    os.umask(0o022)  # the modes that the tests expect follow from it

    loader = unittest.TestLoader()
    if options.patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in options.patterns]
    result = unittest.TextTestRunner(verbosity=2).run(loader.discover(str(HERE), "test_*.py", str(HERE)))

    def methods(outcomes):
        return {getattr(test, "test_case", test).id() for test, _ in outcomes}

    failed = methods(result.failures) | methods(result.errors)
    failed |= {test.id() for test in result.unexpectedSuccesses}
    skipped = methods(result.skipped) - failed
    # A class or module whose set-up fails never reaches testsRun.
    outside = {name for name in failed | skipped if name.startswith(("setUp", "tearDown"))}
    passed = result.testsRun - len((failed | skipped) - outside)
    if options.report:
        Path(options.report).write_text(f"{passed} {len(failed)} {len(skipped)}\n")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
