"""The program that runs a submission: an IPython kernel behind the guards of `sandbox`.

Started by `execute` as a script of its own; what it may do comes as JSON in an environment
variable, because the command line belongs to Jupyter.
"""

import json
import os
import sys

SETTINGS = "COURSE_GRADER_SANDBOX"


def cap_output(limit):
    """Stop a cell in the middle of printing, once the notebook has printed `limit` bytes."""
    from ipykernel.iostream import OutStream

    plain_write = OutStream.write
    printed = 0

    def write(self, text):
        nonlocal printed
        printed += len(text)
        if printed > limit:
            raise RuntimeError(
                f"This notebook printed more than {limit // 1024} KB, so the grader stopped this "
                "cell. Look for a print inside a loop, or for a whole array or table."
            )
        return plain_write(self, text)

    OutStream.write = write


def main():
    """Set the guards, the strictest last, and become a kernel."""
    # As a script, Python has put this file's folder on the path; a submission must not import
    # the grader.
    folder = sys.path.pop(0)
    settings = json.loads(os.environ.pop(SETTINGS))
    sys.path.insert(0, folder)
    import sandbox

    sys.path.remove(folder)
    limits = sandbox.Limits(**settings["limits"])
    report = os.open(settings["report"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    sandbox.die_with_parent()
    sandbox.limit_resources(limits)
    sandbox.landlock(settings["readable"], settings["writable"])

    from ipykernel.kernelapp import IPKernelApp

    cap_output(limits.output_kb << 10)
    app = IPKernelApp.instance()
    app.initialize(sys.argv[1:])
    # ipykernel opens a port of its own while it starts; from here on there is no network.
    sandbox.seccomp()
    sandbox.audit(settings["writable"], settings["hidden"], report)
    app.start()


if __name__ == "__main__":
    main()
