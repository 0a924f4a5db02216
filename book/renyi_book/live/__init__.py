"""Live figures that learn: their data, their opening numbers by `renyi_lib`, their still pictures.

Each module belongs to one folder of ``book/explorables``. It has the data that the page computes
with, the numbers of any state by the library (which the tests compare with the page's) and
``show``, the one line of a chapter's cell.
"""
