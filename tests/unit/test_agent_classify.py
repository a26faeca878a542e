import pytest

from lmev2.agent.classify import CLASSES, command_class, raw_kind


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat question.json", "setup"),
        ("cat INSTRUCTION.md && ls trajectories", "setup"),
        ("ls", "setup"),
        ("ls -la trajectories | head -20", "setup"),
        ("find trajectories -name trajectory.json | wc -l", "setup"),
        ("python3 scripts/inspect_trajectory.py a1 --match 'Gate code'", "harness"),
        ("sed -n 1,80p trajectories/TRAJECTORY_SUMMARY_FULL.md", "harness"),
        ("rg -n 'Depot' trajectories/TRAJECTORY_SUMMARY_CONCISE.md | head", "harness"),
        ("rg -n 'Gate code' trajectories", "raw"),
        ("grep -rl foo trajectories/*/trajectory.json", "raw"),
        ("cat trajectories/a1/trajectory.json | head -c 3000", "raw"),
        ("jq '.states[3].text' trajectories/a1/trajectory.json", "raw"),
        ("cd trajectories/a1 && sed -n 1,50p trajectory.json", "raw"),
        ("ls; grep -c x trajectories/a1/trajectory.json", "raw"),
        ("python3 - <<'P'\nimport glob\nfor p in glob.glob('trajectories/*'):\n    print(p)\nP", "raw"),
        ("for t in trajectories/*; do jq .goal $t/trajectory.json; done", "raw"),
        ("rg 'Save' .", "raw"),
        ("view_image trajectories/a1/screenshots/3.png", "visual"),
        ("python3 -c \"from PIL import Image; Image.open('x')\"", "visual"),
        ("file question_image.png", "visual"),
        ("cat > memory_module_output.json <<'J'\n{}\nJ", "validation"),
        ("python3 -m json.tool memory_module_output.json", "validation"),
        ("sleep 3", "other"),
        ("true", "other"),
    ],
)
def test_classes(command, expected):
    assert command_class(command) == expected
    assert expected in CLASSES


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg -n 'Gate code' trajectories", "search"),
        ("grep -l foo trajectories/*/trajectory.json", "search"),
        ("cat trajectories/a1/trajectory.json", "read"),
        ("grep -n foo trajectories/a1/trajectory.json", "read"),
        ("jq .goal trajectories/a1/trajectory.json", "read"),
        ("for t in trajectories/*; do head -3 $t/trajectory.json; done", "scan"),
        ("find trajectories -name '*.json' -exec grep -l foo {} +", "scan"),
        ("python3 - <<'P'\nimport glob\nglob.glob('trajectories/*')\nP", "scan"),
    ],
)
def test_kinds_of_raw_exploration(command, expected):
    assert raw_kind(command) == expected
