"""`lmev2 runs` lists the runs of a folder with the ids that ingest gives them."""

from agentlab_data import write_run

from lmev2.cli import main
from lmev2.ingest.agentlab.runs import find_runs


def test_runs_are_listed_with_their_ids(tmp_path, capsys):
    write_run(tmp_path / "b", task="shop.buy")
    write_run(tmp_path / "a", task="desk.close", summary=False)
    ids = [run.id for run in find_runs(tmp_path).runs]
    assert main(["runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run,trajectory_id,task,status",
        f"a,{ids[0]},desk.close,incomplete",
        f"b,{ids[1]},shop.buy,done",
    ]


def test_a_run_that_is_not_read_is_named_and_listed(tmp_path, capsys):
    (write_run(tmp_path / "a") / "exp_args.pkl").write_bytes(b"cposix\nsystem\n.")
    assert main(["runs", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "a: exp_args.pkl is not read: it names posix.system" in said.err
    assert said.out.splitlines()[1].endswith(",,done")


def test_no_folder(tmp_path, capsys):
    assert main(["runs", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err
