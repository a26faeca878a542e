import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from server import StandIn, serving

from lmev2.configuration import config_for_models
from lmev2.llm.check import check_endpoints


def config_of(tmp_path, url, *, thinking=None, key=None, **sections):
    sampling = {"temperature": 0.6, "max_tokens": 1000}
    if thinking is not None:
        sampling["thinking"] = thinking
    chat = {"provider": "openai", "model": "extractive", "base_url": url, "api_key_env": key}
    config = config_for_models(None)
    for role in ("reader", "controller", "judge"):
        config["models"][role] = {**config["models"][role], **chat, "sampling": dict(sampling)}
    config["models"]["embedding"] = {
        **config["models"]["embedding"],
        **chat,
        "model": "wordllama-256",
        "sampling": {"query_instruction": ""},
    }
    config["read"]["context_tokens"] = 1000
    config["insert"]["embedding"]["max_tokens"] = 1024
    for section, values in sections.items():
        config[section].update(values)
    return config


def check(config):
    said = []
    findings = asyncio.run(check_endpoints(config, said.append))
    assert said == findings
    return {
        role: [f for f in findings if f.role == role]
        for role in ("reader", "controller", "embedding", "judge")
    }


def failures(findings):
    return [finding.text for role in findings.values() for finding in role if not finding.passed]


def test_a_sound_server_passes_every_line(tmp_path):
    with serving(StandIn(context_length=100_000)) as url:
        findings = check(config_of(tmp_path, url, thinking=True))
    assert failures(findings) == []
    reader = [finding.text for finding in findings["reader"]]
    assert "serves extractive, 100,000 tokens" in reader[0]
    assert "100,000 tokens, the config needs 4,000" in reader[1]
    assert reader[3:] == ["thinking off is obeyed", "thinking on is obeyed", "pictures are accepted"]
    assert not any("picture" in finding.text for finding in findings["judge"])
    embedding = [finding.text for finding in findings["embedding"]]
    assert "256 dimensions" in embedding[2]
    assert "two of 1,024 tokens that differ at their end differ" in embedding[3]


def test_a_second_judge_is_checked_as_well(tmp_path):
    with serving(StandIn()) as url:
        config = config_of(tmp_path, url)
        config["models"]["second_judge"] = {**config["models"]["judge"], "model": "gone"}
        findings = asyncio.run(check_endpoints(config, lambda finding: None))
    assert {finding.role for finding in findings if not finding.passed} == {"second_judge"}


def test_embedded_models_say_so_and_need_nothing(tmp_path):
    findings = check(config_for_models(None))
    assert all("embedded" in role[0].text and len(role) == 1 for role in findings.values())
    assert failures(findings) == []


def test_a_server_that_cuts_in_silence_is_found_out(tmp_path):
    with serving(StandIn(cut_at_tokens=512)) as url:
        findings = check(config_of(tmp_path, url))
    (failure,) = failures(findings)
    assert "cut in silence: two of about 1,024 tokens" in failure
    assert "insert.embedding.max_tokens" in failure


def test_a_server_that_refuses_long_texts_is_found_out(tmp_path):
    with serving(StandIn(max_input_tokens=300)) as url:
        findings = check(config_of(tmp_path, url))["embedding"]
    assert [finding.passed for finding in findings] == [True, False, True, False]
    assert "refused, from about 512 tokens on" in findings[-1].text


def test_a_blind_model_is_told_where_pictures_are_needed(tmp_path):
    with serving(StandIn(blind=True)) as url:
        told = failures(check(config_of(tmp_path, url)))
    assert len(told) == 2  # reader and controller
    assert all("pictures are refused" in text and "Serve a model that sees" in text for text in told)


@pytest.mark.parametrize(("fault", "words"), [("think_tags", "thinking off is not obeyed")])
def test_a_switch_that_is_not_obeyed(tmp_path, fault, words):
    with serving(StandIn().misbehave(fault, times=None, path="chat")) as url:
        told = failures(check(config_of(tmp_path, url, thinking=False)))
    assert len(told) == 3
    assert all(words in text and "sampling" in text for text in told)


def test_thinking_that_brings_no_reasoning(tmp_path):
    stand_in = StandIn()
    stand_in._chat = lambda body: StandIn._chat(stand_in, {**body, "chat_template_kwargs": {}})
    with serving(stand_in) as url:
        told = failures(check(config_of(tmp_path, url, thinking=True)))
    assert len(told) == 3
    assert all("--reasoning-parser" in text for text in told)


def test_too_short_a_context_names_what_to_change(tmp_path):
    with serving(StandIn(context_length=3500)) as url:
        told = failures(check(config_of(tmp_path, url)))
    assert told == [
        "context length: 3,500 tokens are served, the config needs 4,000: serve more (vLLM --max-model-len, "
        "llama.cpp -c), or lower read.context_tokens and models.reader.sampling.max_tokens"
    ]


def test_a_model_that_is_not_served(tmp_path):
    with serving(StandIn()) as url:
        config = config_of(tmp_path, url)
        config["models"]["judge"]["model"] = "gpt-none"
        told = failures(check(config))
    assert len(told) == 1
    assert "does not list gpt-none" in told[0]
    assert "extractive, wordllama-256" in told[0]


def test_no_server_at_all(tmp_path):
    told = failures(check(config_of(tmp_path, "http://127.0.0.1:9/v1")))
    assert len(told) == 4
    assert all("no connection" in text and "Is the server started" in text for text in told)


def test_a_missing_or_wrong_key(tmp_path, monkeypatch):
    with serving(StandIn(key="right")) as url:
        config = config_of(tmp_path, url, key="LMEV2_TEST_KEY")
        monkeypatch.delenv("LMEV2_TEST_KEY", raising=False)
        assert all("LMEV2_TEST_KEY is not set" in text for text in failures(check(config)))
        monkeypatch.setenv("LMEV2_TEST_KEY", "wr0ng-secret")
        told = failures(check(config))
        assert len(told) == 4
        assert all("401" in text and "valid key" in text and "wr0ng-secret" not in text for text in told)
        monkeypatch.setenv("LMEV2_TEST_KEY", "right")
        assert failures(check(config)) == []


def test_a_server_without_a_list_of_models_is_asked_all_the_same(tmp_path):
    stand_in = StandIn()
    app = stand_in.app

    def without_list():
        made = app()
        made.middlewares.append(no_models)
        return made

    from aiohttp import web

    @web.middleware
    async def no_models(request, handler):
        return web.json_response({}, status=404) if request.path == "/v1/models" else await handler(request)

    stand_in.app = without_list
    with serving(stand_in) as url:
        findings = check(config_of(tmp_path, url))
    assert failures(findings) == []
    assert "does not list its models" in findings["reader"][0].text


def test_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(StandIn()) as url:
        check(config_of(tmp_path, url))
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_no_model_server(tmp_path):
    class Plain(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Plain)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        told = failures(check(config_of(tmp_path, f"http://127.0.0.1:{server.server_port}/v1")))
    finally:
        server.shutdown()
    assert len(told) == 4
    assert all("no list" in text for text in told)
