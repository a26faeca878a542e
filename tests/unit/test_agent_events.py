import json

import pytest

from lmev2.agent.events import Command, commands_of, kept_stream, read_stream, unwrapped


def line(**event):
    return json.dumps(event)


def command(text, code=0, output=""):
    item = {"type": "command_execution", "command": text, "aggregated_output": output, "exit_code": code}
    return line(type="item.completed", item=item)


STREAM = "\n".join(
    [
        line(type="thread.started", thread_id="x"),
        command("/bin/bash -lc 'cat question.json'"),
        command("/bin/bash -lc \"grep -n 'a b' f | head\"", 1),
        line(type="item.completed", item={"type": "reasoning", "text": "hm"}),
        line(type="item.completed", item={"type": "agent_message", "text": "first"}),
        line(type="item.completed", item={"type": "agent_message", "text": "last words"}),
        line(type="turn.completed", usage={"input_tokens": 10, "cached_input_tokens": 3, "output_tokens": 2}),
        line(type="turn.completed", usage={"input_tokens": 5, "output_tokens": 1}),
        '{"type": "item.comp',
    ]
)


def test_a_stream_becomes_commands_words_and_usage():
    stream = read_stream(STREAM)
    assert stream.commands == (Command("cat question.json", 0), Command("grep -n 'a b' f | head", 1))
    assert (stream.last_message, stream.input_tokens, stream.output_tokens) == ("last words", 15, 3)
    assert stream.unreadable == 1


def test_the_last_error_is_told():
    stream = read_stream(
        line(type="error", message="a") + "\n" + line(type="turn.failed", error={"message": "b"})
    )
    assert stream.error == "b"


def test_what_is_no_event_is_passed_over():
    assert read_stream('[1]\nnull\n"x"\n\nplain words\n{"type": "item.completed", "item": 3}').unreadable == 4


def test_a_shell_around_a_command_is_taken_off():
    assert unwrapped("/usr/bin/zsh -c 'a; b'") == "a; b"
    assert unwrapped("bash script.sh x") == "bash script.sh x"
    assert unwrapped("/bin/bash -lc 'it") == "/bin/bash -lc 'it"


def test_a_stored_stream_is_bounded_and_gives_the_same_commands():
    text = STREAM + "\n" + command("/bin/sh -c 'cat big'", 0, "y" * 50_000)
    kept = kept_stream(text)
    assert commands_of(kept) == list(read_stream(text).commands)
    assert len(json.dumps(kept)) < 5_000
    endless = "\n".join(command(f"echo {number}", 0, "z" * 1900) for number in range(1000))
    kept = kept_stream(endless)
    assert len(json.dumps(kept)) < 250_000
    assert kept[-1]["type"] == "cut"


def item(kind, number, code=None):
    found = {
        "id": f"item_{number}",
        "type": "command_execution",
        "command": f"echo {number}",
        "exit_code": code,
    }
    return line(type=f"item.{kind}", item=found)


def test_commands_come_in_order_of_their_beginnings_and_none_is_lost():
    events = [item("started", 0), item("started", 1), item("completed", 1, 0), item("started", 2)]
    text = "\n".join([*events, item("completed", 0, 1)])
    expected = [Command("echo 0", 1), Command("echo 1", 0), Command("echo 2", None)]
    assert list(read_stream(text).commands) == expected
    assert commands_of(kept_stream(text)) == expected


def test_an_item_lasts_from_its_first_event_to_its_last():
    started = line(type="item.started", item={"id": "a", "type": "command_execution", "command": "ls"})
    done = line(type="item.completed", item={"id": "a", "type": "command_execution", "command": "ls"})
    lone = command("cat f")
    text = "\n".join([line(type="turn.started"), started, lone, done, lone])
    kept = kept_stream(text, (1.0, 2.0, 2.5, 4.0, 4.25))
    assert [(found.command, found.duration_s) for found in commands_of(kept)] == [
        ("ls", 2.0),  # started and ended
        ("cat f", 0.5),  # told of when it is done: since the line before
        ("cat f", 0.25),
    ]
    assert [found.duration_s for found in commands_of(kept_stream(text))] == [None] * 3


@pytest.mark.parametrize("value", ["soon", True, None, [1]])
def test_what_is_no_duration_is_none(value):
    event = json.loads(command("ls")) | {"duration_s": value}
    assert commands_of([event])[0].duration_s is None
