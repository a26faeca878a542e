import http.client
import json
import socket

import pytest
from model_server import model_server

from lmev2.agent.interface import AgentSetupError
from lmev2.agent.proxy import ModelProxy

BODY = json.dumps({"model": "m", "messages": []})


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def post(proxy, path, body=BODY, headers=None):
    connection = UnixConnection(proxy.socket)
    connection.request("POST", path, body, headers or {})
    response = connection.getresponse()
    return response.status, response.read()


def test_it_puts_the_key_in_place_of_what_the_agent_sends(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "sk-true")
    with model_server([]) as server, ModelProxy(server.url, "AGENT_KEY") as proxy:
        status, body = post(proxy, "/v1/chat/completions", headers={"Authorization": "Bearer sk-false"})
        assert status == 200
        assert json.loads(body)["choices"][0]["message"]["content"] == "Done."
        assert [headers["authorization"] for _, headers, _ in server.requests] == ["Bearer sk-true"]
        assert (proxy.calls, proxy.fault) == (1, "")


@pytest.mark.parametrize(
    "path", ["/v1/files", "/", "/v1/../admin", "/v1/chat/completions/../../x", "http://other/v1"]
)
def test_only_a_models_own_paths_are_passed_on(path):
    with model_server([]) as server, ModelProxy(server.url, None) as proxy:
        assert post(proxy, path)[0] == 403
        assert server.requests == []


def test_a_server_that_is_away_is_a_fault_until_it_answers():
    with ModelProxy("http://127.0.0.1:9/v1", None) as proxy:
        assert post(proxy, "/v1/responses")[0] == 502
        assert "ConnectionRefusedError" in proxy.fault
    with model_server([], status=429) as server, ModelProxy(server.url, None) as proxy:
        assert post(proxy, "/v1/responses")[0] == 429
        assert proxy.fault.startswith("HTTP 429")
        server.status = 200
        post(proxy, "/v1/chat/completions")
        assert proxy.fault == ""


def test_what_is_missing_is_named(monkeypatch):
    with pytest.raises(AgentSetupError, match=r"models\.agent\.base_url: missing"):
        ModelProxy(None, None)
    with pytest.raises(AgentSetupError, match="no http"):
        ModelProxy("ftp://x", None)
    monkeypatch.delenv("AGENT_KEY", raising=False)
    with pytest.raises(AgentSetupError, match="AGENT_KEY is not set"):
        ModelProxy("http://x/v1", "AGENT_KEY")
