import time
from types import SimpleNamespace

import pytest
from server import StandIn, serving

from lmev2.configuration import _endpoint_faults
from lmev2.llm import address as module
from lmev2.llm.address import address, located
from lmev2.llm.door import Door
from lmev2.llm.faults import EndpointError
from lmev2.llm.models import Model

LIMITS = {
    **{"concurrency": 2, "requests_per_minute": None, "tokens_per_minute": None, "connect_timeout_s": 5},
    **{"read_timeout_s": 5, "attempts": 1, "backoff_s": 0.01, "answer_attempts": 1, "batch": 8},
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)


def a_model(base_url):
    return Model("reader", "openai", "extractive", "", {}, LIMITS, base_url)


@pytest.mark.parametrize("base_url", [None, "", "http://x/v1", "https://file/v1"])
def test_an_address_stands_for_itself(base_url):
    assert address(base_url, "models.reader") == base_url


def test_a_job_waits_for_a_server_that_is_still_starting_and_asks_it(tmp_path, monkeypatch, capsys):
    """As on a cluster: the server's job begins later and tells where it runs once it answers."""
    monkeypatch.setattr(module, "PATIENCE_S", 30)
    path = tmp_path / "server"
    with serving(StandIn()) as url:
        written = iter(["", url[:9], f"{url}\n"])  # another machine may see a write half
        clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: path.write_text(next(written)))
        monkeypatch.setattr(module, "time", clock)
        with Door({"reader": a_model(f"file:{path}")}, tmp_path / "journal") as door:
            reply = door.run(door.chat("reader", [{"role": "user", "content": "what?"}]))
    assert next(written, None) is None
    assert reply.status == "ok"
    assert capsys.readouterr().err.count("waiting for a server's address") == 1


def test_the_place_of_a_server_is_no_part_of_a_result(tmp_path):
    assert a_model(f"file:{tmp_path}").identity() == a_model("http://x/v1").identity()


def test_a_server_that_never_comes_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(EndpointError, match=r"models\.reader\.base_url: no server.*within 0\.05 s; start it"):
        located(a_model(f"file:{tmp_path}/none"))


@pytest.mark.parametrize("text", ["node7:8000\n", "{}\n", "ftp://node7/v1\n", "http://\n"])
def test_a_file_with_something_else_is_an_error(tmp_path, text):
    (tmp_path / "server").write_text(text)
    with pytest.raises(EndpointError, match=r"first line of .*server should be an address like"):
        located(a_model(f"file:{tmp_path}/server"))


def test_the_config_takes_a_file_and_wants_its_name():
    assert list(_endpoint_faults("models.reader", "file:/shared/server", None)) == []
    assert "file:" in next(_endpoint_faults("models.reader", "file:", None))
