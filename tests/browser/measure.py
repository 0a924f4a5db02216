"""A table of what each page costs: python -m tests.browser.measure [file.csv]."""

import csv
import sys

from renyi_book import browser as serving

from .pages import pages
from .visit import Visit

WIDTHS = (1400, 390)


def rows(folder):
    """Yield a row for each page and width."""
    with serving.serve(folder) as site, serving.browser() as browser:
        for path in pages(folder):
            for width in WIDTHS:
                with Visit(browser, site, folder, path, width) as visit:
                    row = visit.measure()
                    labels = visit.label_sizes()
                    more = {
                        "label": round(min(labels)[0], 1) if labels else "",
                        "bytes_all_images": visit.weight(),
                    }
                    yield {"page": path, "width": width, **row, **more}


if __name__ == "__main__":
    reason = serving.missing()
    if reason:
        sys.exit(reason)
    with open(sys.argv[1] if len(sys.argv) > 1 else "/dev/stdout", "w", newline="") as file:
        writer = None
        for row in rows(serving.built_book()):
            if writer is None:
                writer = csv.DictWriter(file, row)
                writer.writeheader()
            writer.writerow(row)
            file.flush()
