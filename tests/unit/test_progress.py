from lmev2 import progress as progress_module
from lmev2.progress import Progress


def test_lines_come_every_two_seconds_and_at_the_end(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    progress = Progress("read rag small", "questions", 10)
    for _ in range(10):
        now[0] += 0.9
        progress.step()
    progress.close("10 ok")
    assert capsys.readouterr().err.splitlines() == [
        "[read rag small] 3 of 10 questions, 3 s",
        "[read rag small] 6 of 10 questions, 5 s",
        "[read rag small] 9 of 10 questions, 8 s",
        "[read rag small] 10 of 10 questions, 9 s; 10 ok",
    ]
