"""Code of the book, used by its chapters, results and exercises.

The library that the book teaches is `renyi_lib`, which does not depend on this package. This
package contains, among other things, the paper's figures and tables as functions (`experiments`),
the verdicts on its claims (`scorecard`), the checks of the exercises (`checks`), the style of the
figures (`plotting`), the order of the chapters (`chapters`), and a script that rebuilds the data
files from downloads (`rebuild`).
"""
