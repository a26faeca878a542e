"""questions.jsonl: the questions with their gold answers, evaluators and images."""

from pathlib import Path
from typing import Any

from lmev2.eval_function import EvalFunctionError, parse_eval_function
from lmev2.ingest.defects import Defect, Place, id_field, text_field
from lmev2.ingest.jsonl import read_jsonl
from lmev2.ingest.known import Known
from lmev2.ingest.screenshots import Image, Missing, find_and_load
from lmev2.records import QUESTION_TYPES

FILE = "questions.jsonl"


def read_questions(
    dataset: Path, known: Known, defects: list[Defect]
) -> tuple[list[dict[str, Any]], dict[str, Image]]:
    """Read the questions of a dataset and file the defects.

    Args:
        dataset: the dataset folder.
        known: filled with every question whose id could be read.
        defects: where defects are filed.

    Returns:
        Rows of the schema `questions` in file order, those without defect only, `image` being the path
        inside the dataset; and the question images by sha256.
    """
    rows: list[dict[str, Any]] = []
    images: dict[str, Image] = {}
    seen: dict[str, int | None] = {}
    place = Place(defects, FILE)
    found = len(defects)
    for here, row in read_jsonl(dataset / FILE, place, "id"):
        before = len(defects)
        question, image = _question(dataset, here, row, seen)
        if question["question_id"] is not None:
            known.domains[question["question_id"]] = question["domain"]
        if len(defects) == before:
            rows.append(question)
            if image is not None:
                images[image.sha256] = image
    known.complete = not any(defect.id is None for defect in defects[found:])
    if not known.domains and len(defects) == found:
        place.add("the file has no rows", "write one question a line")
    return rows, images


def _question(
    dataset: Path, place: Place, row: dict[str, Any], seen: dict[str, int | None]
) -> tuple[dict[str, Any], Image | None]:
    question_type = text_field(place, row, "question_type")
    if question_type is not None and question_type not in QUESTION_TYPES:
        place.add(
            f"the question_type {question_type!r} is unknown", f"use one of {', '.join(QUESTION_TYPES)}"
        )
        question_type = None
    ability, abstention = QUESTION_TYPES.get(question_type, (None, None))
    image = _image(dataset, place, row)
    eval_function = text_field(place, row, "eval_function")
    return {
        "question_id": id_field(place, row, "id", seen),
        "domain": text_field(place, row, "domain"),
        "environment": text_field(place, row, "environment"),
        "question_type": question_type,
        "ability": ability,
        "abstention": abstention,
        "text": text_field(place, row, "question"),
        "image": image.path if image else None,
        "image_sha256": image.sha256 if image else None,
        "answer": text_field(place, row, "answer", blank=True),
        "eval_function": eval_function,
        "evaluator": _evaluator(place, eval_function),
    }, image


def _evaluator(place: Place, eval_function: str | None) -> str | None:
    if eval_function is None:
        return None
    try:
        return parse_eval_function(eval_function).name
    except EvalFunctionError as error:
        place.add(str(error), "mend the field 'eval_function'")
        return None


def _image(dataset: Path, place: Place, row: dict[str, Any]) -> Image | None:
    value = row.get("image")
    image = find_and_load(dataset, value)
    if isinstance(image, Image):
        return image
    if image is Missing.NOT_A_PATH:
        place.add(f"the field 'image' is {value!r}, not a path or null", "make it a path or null")
    elif image is Missing.OUTSIDE:
        place.add(f"the question image {value!r} lies outside the dataset", "put it into the dataset folder")
    elif image is Missing.NO_FILE:
        place.add(f"the question image {value!r} is missing", "add the file or set 'image' to null")
    elif image is Missing.DAMAGED:
        place.add(
            f"the question image {value!r} does not open as an image",
            "replace it by a PNG, JPEG, WebP or GIF",
        )
    return None
