"""Start the stand-in: `cd tests && python -m server --port 8000`, then use http://127.0.0.1:8000/v1."""

import argparse
import json

from aiohttp import web

from server.app import StandIn


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--key", help="refuse requests without this key")
    parser.add_argument("--context-length", type=int, help="refuse longer chat requests (tokens)")
    parser.add_argument("--max-input-tokens", type=int, help="refuse longer texts to embed")
    parser.add_argument("--cut-at-tokens", type=int, help="cut texts to embed, silently")
    parser.add_argument("--max-batch", type=int, help="refuse more texts at once")
    parser.add_argument("--delay-s", type=float, default=0.0)
    parser.add_argument(
        "--think-in", choices=["reasoning", "reasoning_content", "content"], default="reasoning"
    )
    parser.add_argument("--blind", action="store_true", help="refuse pictures")
    parser.add_argument("--fault", action="append", default=[], metavar="JSON", help="see server/app.py")
    options = vars(parser.parse_args())
    host, port, faults = options.pop("host"), options.pop("port"), options.pop("fault")
    stand_in = StandIn(**options)
    for fault in faults:
        stand_in.misbehave(**json.loads(fault))
    print(f"http://{host}:{port}/v1", flush=True)
    web.run_app(stand_in.app(), host=host, port=port, print=None)


main()
