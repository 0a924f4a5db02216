"""Grade a folder of submissions without a server (`make grade SUBMISSIONS=dir`)."""

import argparse
import hashlib
import json
import multiprocessing
import os
import select
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import fields, replace
from multiprocessing.connection import wait
from pathlib import Path

from . import SOURCE, assignments, late, options, variants
from .collect import collect
from .execute import NotStarted, guards, remove
from .notebooks import imported, known_tasks, parse, parts, read_bytes, task_numbers
from .report import NoSpace, Report, absent, put
from .sandbox import Limits, describe, die_with_parent
from .submission import FAILED, Job, Result, grade_one

SLACK = 120  # seconds that the tests may take in addition to the submission
MEMORY = 6 << 30  # bytes of address space for a process that grades
LARGEST = 4 << 20  # bytes of a result
ATTEMPTS = 3  # at a submission on which the grader itself fails


def end_with_reader(connection):
    """End this process when nobody is left to read its result.

    Its parent is the process from which all grading processes are forked, and which ends only
    after them.
    """
    poll = select.poll()
    poll.register(connection.fileno(), 0)  # no event, only the error if the other end is closed
    poll.poll()
    os._exit(1)


def work(job, connection):
    """Grade one submission in this process, and send the result."""
    # Only the grader handles Ctrl-C and then ends this process. However the grader ends, this
    # process ends with it, and so does the submission's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    threading.Thread(target=end_with_reader, args=(connection,), daemon=True).start()
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    data = json.dumps(grade_one(job).data()).encode()
    if len(data) > LARGEST:
        data = json.dumps(failed(job, "the result was too large").data()).encode()
    connection.send_bytes(data)


def failed(job, why):
    """Return the result of a submission on which the grader itself failed."""
    return Result(job.student, job.assignment, FAILED, notes=[f"{why}. Grade it by hand"])


def outcome(receiver, job):
    """Return the result that a grading process has sent, or one that says that it died."""
    try:
        return Result.of(json.loads(receiver.recv_bytes(LARGEST)))
    except (EOFError, OSError, ValueError, KeyError, TypeError):
        return failed(job, "the grader's own process died on this notebook")


def run_all(jobs, workers, modules=()):
    """Grade `jobs` in separate processes, `workers` at a time; yield results as they arrive.

    A process that dies or does not end affects only its own submission. A submission on which the
    grader failed is tried again after all others, unless it took too long. `modules`, which the
    tests import, are loaded only once, before the grading processes are forked.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["grader.submission", *sorted(modules)])
    waiting, running, tried = deque(jobs), {}, {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                job = waiting.popleft()
                free = set(range(workers)) - {job.slot for _, job, _ in running.values()}
                job = replace(job, slot=min(free))
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=work, args=(job, sender))
                process.start()
                sender.close()
                most = job.limits.total_seconds + job.limits.cell_seconds + SLACK
                end = time.monotonic() + most
                running[receiver] = process, job, end
            ready = wait(list(running), timeout=1)
            for receiver, (process, job, end) in list(running.items()):
                if receiver in ready:
                    result = outcome(receiver, job)
                elif time.monotonic() > end:
                    result = failed(job, "the tests took too long on this notebook")
                else:
                    continue
                end_process(process)
                receiver.close()
                del running[receiver]
                tried[job.number] = tried.get(job.number, 0) + 1
                died = result.status == FAILED and receiver in ready
                if died and tried[job.number] < ATTEMPTS:
                    waiting.append(job)
                else:
                    yield result
    finally:
        for process, *_ in running.values():
            end_process(process)


def end_process(process):
    """End a grading process and, with it, the process of the submission."""
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
    seed="",
    scratch=None,
    walled=None,
):
    """Grade the submissions from `collect`; return an iterator of `Result` in order of completion.

    Parameters
    ----------
    handins : list of Handin
        Submissions.
    limits : Limits or None
        Limits on the resources of a submission; None uses the default ones.
    workers : int
        Number of submissions that are graded at the same time.
    hidden : sequence of Path
        Folders that submissions may not read.
    source : Path
        Folder with the assignments.
    seed : str
        Seed of the students' variants; "" means that everyone has the release.
    scratch : Path or None
        Folder in which a temporary one is created; None uses the system's temporary folder.
    walled : bool or None
        Whether to use bubblewrap; None uses it if it is installed.

    Examples
    --------
    ``list(grade(collect("submissions")))`` grades a folder.
    """
    limits = limits or Limits()
    known = set(assignments(source)) & {each.assignment for each in handins}
    texts = {a: (Path(source) / a / f"{a}.ipynb").read_text("utf-8") for a in sorted(known)}
    read = {name: parse(text.encode(), ours=True) for name, text in texts.items()}
    modules = set().union(*map(imported, read.values()))
    worths = {name: [[part.task, part.points] for part in parts(nb)] for name, nb in read.items()}
    scratch = Path(tempfile.mkdtemp(prefix="course-", dir=scratch))
    # The submission's user must be able to reach its folder without seeing anything else.
    scratch.chmod(0o711)
    try:
        jobs = []
        for number, each in enumerate(handins):
            if each.absent:
                yield absent(each, worths.get(each.assignment, []))
                continue
            jobs.append(
                Job(
                    each.student,
                    each.assignment,
                    str(each.path),
                    texts.get(each.assignment, ""),
                    limits=limits,
                    hidden=tuple(str(Path(folder).resolve()) for folder in hidden),
                    variant=variants.number(seed, each.student),
                    number=number,
                    scratch=str(scratch),
                    note=each.note,
                    problem=each.problem,
                    walled=walled,
                )
            )
        yield from run_all(jobs, workers, modules)
    finally:
        remove(scratch)


def fingerprint(handin, source, limits, seed):
    """Return a text that changes if grading this submission again could change its result.

    Problems with a submission are reported by `grade` and count here as its content.
    """
    try:
        content = b"absent" if handin.absent else read_bytes(handin.path)
    except Exception as problem:
        content = str(problem).encode("utf-8", "backslashreplace")
    about = repr((limits, variants.number(seed, handin.student), handin.note, handin.problem))
    found = [content, about.encode("utf-8", "backslashreplace")]
    ours = Path(source) / handin.assignment / f"{handin.assignment}.ipynb"
    if handin.assignment in assignments(source):
        found.append(ours.read_bytes())
    found += [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in found)).hexdigest()


def command_line():
    """Return the arguments of the command line or, by default, of the variables COURSE_…"""
    parser = argparse.ArgumentParser(prog="make grade", description=__doc__)

    def add(name, help, kind=str, **more):
        usual = more.pop("default", None)
        given = os.environ.get(f"COURSE_{name.upper().replace('-', '_')}", "")
        default = kind(given) if given else usual
        parser.add_argument(f"--{name}", type=kind, default=default, help=help, **more)

    folder = os.environ.get("COURSE_SUBMISSIONS", "")
    parser.add_argument("submissions", nargs="?", default=folder, help="folder of all students")
    add("out", "folder for the results", Path, default=Path("grades"))
    add("source", "folder with the assignments", Path, default=SOURCE)
    add("workers", "submissions graded at the same time", int, default=2)
    add("assignment", "grade this assignment alone; needed for --tasks")
    add("tasks", "the tasks of the assignment that count, such as 1-5,8; or all")
    add("student", "grade this student again, and nobody else")
    add("fresh", "1: grade everything again, not only what has changed")
    add("change", "1: continue although options differ from those of the earlier run")
    add("seed", "the seed of the students' variants (better in COURSE_SEED, which nobody sees)")
    add("due", "CSV: assignment, due, and student for extensions; 'none' for no dates")
    add("submitted", "CSV: student, assignment, submitted; 'none' for the files' own times")
    add("late-budget", "free late days per student", int)
    add("late-penalty", "percent of the score for each further day", float)
    add("book", "address of the book, for links in the feedback", default="")
    add("sandbox", "off: grade without bubblewrap", choices=["off"])
    for limit in fields(Limits):
        add(limit.name.replace("_", "-"), f"limit (default {limit.default:g})", limit.type)
    return parser.parse_args()


def wanted_options(chosen, stored):
    """Return the options of this run; raises ValueError for invalid ones."""
    ids = assignments(chosen.source)
    if chosen.assignment and chosen.assignment not in ids:
        raise ValueError(
            f"there is no assignment {chosen.assignment!r}: choose one of {', '.join(ids)}"
        )
    tasks = None
    if chosen.tasks:
        if not chosen.assignment:
            raise ValueError(
                "TASKS= requires ASSIGNMENT=, because task numbers belong to one assignment"
            )
        path = chosen.source / chosen.assignment / f"{chosen.assignment}.ipynb"
        tasks = task_numbers(chosen.tasks) or "all"
        if tasks != "all":
            known_tasks(tasks, parts(parse(path.read_bytes(), ours=True)), chosen.assignment)
    limits = {limit.name: getattr(chosen, limit.name) for limit in fields(Limits)}
    return options.chosen(
        stored,
        assignment=chosen.assignment,
        tasks=tasks,
        due="" if chosen.due == "none" else chosen.due,
        submitted="" if chosen.submitted == "none" else chosen.submitted,
        budget=chosen.late_budget,
        penalty=chosen.late_penalty,
        seed=chosen.seed,
        limits=limits,
    )


def agree(chosen, handins):
    """Return the options for this run, or stop and report what they would change."""
    try:
        stored = options.read(chosen.out)
        wanted = wanted_options(chosen, stored)
    except (ValueError, OSError) as problem:
        sys.exit(str(problem))
    differing = stored.differences(wanted) if stored else []
    if stored and stored.seed and chosen.seed is None:
        sys.exit(f"The grades in {chosen.out} were made with variants: give their SEED= again.")
    if differing and not chosen.change:
        report = Report(chosen.out, stored, times_of(handins))
        for each in handins:
            report.keep((each.student, each.assignment), None)
        changed = report.preview(wanted)
        print(f"These options differ from those of the grades in {chosen.out}:")
        print(*(f"  {line}" for line in differing), sep="\n")
        print(f"With them {len(changed)} grades would change:" if changed else "No grade changes.")
        print(*(f"  {line}" for line in changed[:30]), sep="\n")
        print(f"  … and {len(changed) - 30} more" if len(changed) > 30 else "", end="")
        sys.exit("Nothing was graded. Set CHANGE=1 to continue, or choose another OUT=.")
    return wanted


def times_of(handins):
    """Return the time at which each notebook was submitted."""
    return {(each.student, each.assignment): late.handed_in(each.path) for each in handins}


def main():
    """Read the command line, grade, and write each result as soon as it is available."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    chosen = command_line()
    folder = Path(chosen.submissions) if chosen.submissions else None
    if folder is None or not folder.is_dir():
        what = f"There is no folder {folder}: use" if folder else "Name the folder to grade:"
        sys.exit(f"{what} make grade SUBMISSIONS=dir")
    handins = collect(folder, chosen.source)
    if not handins:
        sys.exit(f"No notebook in {folder}: expected <student>/<assignment>.ipynb")
    if chosen.student and chosen.student not in {each.student for each in handins}:
        sys.exit(f"No student {chosen.student!r} in {folder}")
    settings = agree(chosen, handins)
    walled = False if chosen.sandbox == "off" else None
    try:
        for line in describe(**guards(settings.limits, walled)):
            print(line)
    except NotStarted as problem:
        sys.exit(f"{problem}\nSANDBOX=off grades without bubblewrap, safe only against accidents.")
    try:
        report = Report(chosen.out, settings, times_of(handins), chosen.book)
        run(chosen, folder, handins, settings, report, walled)
    except (NoSpace, OSError) as problem:
        sys.exit(
            f"Stopped: {problem}. What was graded before is safe in {chosen.out}; make room, and "
            "run the command again to go on."
        )
    for problem in report.problems:
        print(problem)
    print(f"grades and feedback pages are in {chosen.out}")
    if report.problems:
        sys.exit(f"Fix these {len(report.problems)} problems before you export the grades.")


def run(chosen, folder, handins, settings, report, walled):
    """Grade new submissions, and update all files."""
    put(chosen.out / options.FILE, json.dumps(settings.data(), indent=1))
    prints, todo, seed = {}, [], chosen.seed or ""
    for each in handins:
        key = each.student, each.assignment
        prints[key] = fingerprint(each, chosen.source, settings.limits, seed)
        wanted = chosen.student in (None, each.student)
        wanted = wanted and chosen.assignment in (None, each.assignment)
        again = wanted and (chosen.fresh or chosen.student) and not each.absent
        if not again and report.keep(key, prints[key] if wanted else None):
            continue
        if wanted or each.absent:
            todo.append(each)
    if len(todo) < len(handins):
        print(f"{len(handins) - len(todo)} graded before and unchanged, {len(todo)} to grade")
    try:
        for result in grade(
            todo,
            limits=settings.limits,
            workers=chosen.workers,
            hidden=[folder, chosen.out],
            source=chosen.source,
            seed=seed,
            walled=walled,
        ):
            key = result.student, result.assignment
            report.add(result, None if result.status == FAILED else prints[key])
            points = f"{result.score:g}/{result.max_points:g}"
            print(result.student, result.assignment, points, result.status, sep="  ", flush=True)
        report.write()
    except KeyboardInterrupt:
        report.write()
        print(f"Stopped. What is graded is in {chosen.out}; run the command again to go on.")
        sys.exit(130)


if __name__ == "__main__":
    main()
