"""Every quick benchmark, one after the other. The long ones have commands of their own."""

import importlib
import sys

QUICK = ("jail", "copies", "alfworld", "reader", "overhead")


def main() -> None:
    sys.argv = sys.argv[:1]
    for name in QUICK:
        print(f"== bench.{name}", flush=True)
        importlib.import_module(f"bench.{name}").main()
        print(flush=True)
    print("Long ones: python -m bench.search, python -m bench.evidence")


if __name__ == "__main__":
    main()
