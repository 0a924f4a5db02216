"""The book's own code: what its chapters, its results and its exercises need.

The library that the book teaches is `renyi_lib`, which knows nothing of this package. Here are the
paper's figures and tables as functions (`experiments`), the verdicts on its claims (`scorecard`),
the checks of the exercises (`checks`), the look of the figures (`plotting`), the order of the
chapters (`chapters`), and the way back from the downloads to the data files (`rebuild`).
"""
