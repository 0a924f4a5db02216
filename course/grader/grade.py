"""Grade a folder of submissions, headless: `make grade SUBMISSIONS=dir`."""

import argparse
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import deque
from dataclasses import fields
from multiprocessing.connection import wait
from pathlib import Path

from . import SOURCE, assignments, box, late, variants
from .collect import collect
from .execute import guards, remove
from .notebooks import Unusable, imported, parse, read_bytes, task_numbers
from .report import Report
from .sandbox import Limits, describe, die_with_parent
from .submission import Job, Result, grade_one

SLACK = 180  # seconds that the tests themselves may take beyond a submission's own time


def work(job, connection):
    """Grade one submission in this process, and send what came of it."""
    # Ctrl-C is the grader's business; it ends this process. However the grader itself ends, this
    # process ends with it, and with this one the submission's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    connection.send_bytes(json.dumps(grade_one(job).data()).encode())


def failed(job, why):
    """Return the result of a submission on which the grader itself came to grief."""
    return Result(
        job.student, job.assignment, "the grader failed", notes=[f"{why}. Grade it by hand"]
    )


def run_all(jobs, workers, modules=()):
    """Grade `jobs`, `workers` at a time, each in a process of its own; yield results as they come.

    A process that dies or does not end costs its own submission and no other. `modules` are what
    the tests import: loaded once, by the process of which each grading process is a copy.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["grader.submission", *sorted(modules)])
    waiting, running = deque(jobs), {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                job = waiting.popleft()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=work, args=(job, sender))
                process.start()
                sender.close()
                end = time.monotonic() + job.limits.total_seconds + SLACK
                running[receiver] = process, job, end
            ready = wait(list(running), timeout=1)
            for receiver, (process, job, end) in list(running.items()):
                if receiver in ready:
                    try:
                        result = Result.of(json.loads(receiver.recv_bytes()))
                    except EOFError:
                        result = failed(job, "the grader's own process died on this notebook")
                elif time.monotonic() > end:
                    result = failed(job, "the tests took too long on this notebook")
                else:
                    continue
                end_process(process)
                receiver.close()
                del running[receiver]
                yield result
    finally:
        for process, *_ in running.values():
            end_process(process)


def end_process(process):
    """End a grading process; the submission's own ends with it."""
    process.join(0.5)
    if process.is_alive():
        process.kill()
    process.join()


def grade(
    handins,
    *,
    limits=None,
    workers=2,
    hidden=(),
    source=SOURCE,
    tasks=None,
    seed="",
    scratch=None,
):
    """Grade what `collect` found; return an iterator of `Result`, in the order they are done.

    Submissions run in a temporary folder below `scratch`, by default where the system has them.

    Examples
    --------
    ``list(grade(collect("submissions")))`` grades a folder.
    """
    limits = limits or Limits()
    known = set(assignments(source)) & {each.assignment for each in handins}
    texts = {a: (Path(source) / a / f"{a}.ipynb").read_text("utf-8") for a in sorted(known)}
    modules = set().union(*(imported(parse(text.encode())) for text in texts.values()))
    scratch = Path(tempfile.mkdtemp(prefix="course-", dir=scratch))
    # A submission's own user must get through to its folder, and see nothing on the way.
    scratch.chmod(0o711)
    try:
        jobs = [
            Job(
                each.student,
                each.assignment,
                str(each.path),
                texts.get(each.assignment, ""),
                limits=limits,
                hidden=tuple(str(Path(folder).resolve()) for folder in hidden),
                tasks=None if tasks is None else frozenset(tasks),
                variant=variants.number(seed, each.student),
                number=number,
                scratch=str(scratch),
                note=each.note,
                problem=each.problem,
            )
            for number, each in enumerate(handins)
        ]
        yield from run_all(jobs, workers, modules)
    finally:
        remove(scratch)


def fingerprint(handin, source, limits, tasks, seed):
    """Return a text that changes when grading this submission anew could change its result."""
    try:
        content = read_bytes(handin.path)
    except Unusable as problem:
        content = str(problem).encode()
    parts = [
        content,
        repr((limits, sorted(tasks or []), seed, handin.note, handin.problem)).encode(),
    ]
    ours = Path(source) / handin.assignment / f"{handin.assignment}.ipynb"
    parts += [
        path.read_bytes()
        for path in (ours, *sorted(Path(__file__).parent.glob("*.py")))
        if path.exists()
    ]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def options():
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="make grade", description=__doc__)
    parser.add_argument("submissions", type=Path, help="one folder a student")
    parser.add_argument("--out", type=Path, default=Path("grades"), help="where results go")
    parser.add_argument("--source", type=Path, default=SOURCE, help="where the assignments are")
    parser.add_argument("--workers", type=int, default=2, help="submissions at the same time")
    parser.add_argument("--tasks", default="", help="the tasks that count, such as 1-5,8")
    parser.add_argument("--student", default=None, help="grade this student anew, and nobody else")
    parser.add_argument("--fresh", action="store_true", help="grade all anew, not what changed")
    parser.add_argument("--seed", default="", help="the seed of the students' variants")
    parser.add_argument("--due", type=Path, help="CSV: assignment, due")
    parser.add_argument("--submitted", type=Path, help="CSV: student, assignment, submitted")
    parser.add_argument("--box", choices=["bwrap"], help="grade inside bubblewrap")
    parser.add_argument("--late-budget", type=int, default=0, help="free late days a student")
    parser.add_argument("--late-penalty", type=float, default=10, help="percent a day after that")
    for limit in fields(Limits):
        option = "--" + limit.name.replace("_", "-")
        parser.add_argument(option, type=limit.type, default=limit.default)
    return parser.parse_args()


def main():
    """Read the command line, grade, and write what came of it, each result as it comes."""
    chosen = options()
    if not chosen.submissions.is_dir():
        sys.exit(f"There is no folder {chosen.submissions}: say make grade SUBMISSIONS=dir")
    if chosen.box and "RENYI_COURSE_BOX" not in os.environ:
        os.environ["RENYI_COURSE_BOX"] = chosen.box
        box.enter(chosen.submissions, chosen.out, sys.argv[1:])
    handins = collect(chosen.submissions, chosen.source)
    if not handins:
        sys.exit(f"No notebook in {chosen.submissions}: expected <student>/<assignment>.ipynb")
    if chosen.student and chosen.student not in {each.student for each in handins}:
        sys.exit(f"No student {chosen.student!r} in {chosen.submissions}")
    try:
        tasks = task_numbers(chosen.tasks)
        policy = late.Policy.read(
            chosen.due, chosen.submitted, chosen.late_budget, chosen.late_penalty
        )
    except ValueError as problem:
        sys.exit(str(problem))
    limits = Limits(**{limit.name: getattr(chosen, limit.name) for limit in fields(Limits)})
    for line in describe(**guards(limits)):
        print(line)
    times = {(each.student, each.assignment): late.handed_in(each.path) for each in handins}
    report = Report(chosen.out, policy, times)
    for problem in report.problems:
        print(problem)
    prints = {}
    todo = []
    for each in handins:
        key = each.student, each.assignment
        prints[key] = fingerprint(each, chosen.source, limits, tasks, chosen.seed)
        wanted = chosen.student in (None, each.student)
        again = wanted and (chosen.fresh or chosen.student)
        if again or not report.keep(key, None if not wanted else prints[key]):
            todo.append(each)
    if len(todo) < len(handins):
        print(f"{len(handins) - len(todo)} graded before and unchanged, {len(todo)} to grade")
    report.write()
    hidden = [chosen.submissions, chosen.out]
    try:
        for result in grade(
            todo,
            limits=limits,
            workers=chosen.workers,
            hidden=hidden,
            source=chosen.source,
            tasks=tasks,
            seed=chosen.seed,
        ):
            report.add(result, prints[result.student, result.assignment])
            points = f"{result.score:g}/{result.max_points:g}"
            print(result.student, result.assignment, points, result.status, sep="  ", flush=True)
    except KeyboardInterrupt:
        print(f"Stopped. What is graded is in {chosen.out}; run the command again to go on.")
        sys.exit(130)
    print(f"grades and feedback pages are in {chosen.out}")


if __name__ == "__main__":
    main()
