"""Rules by name, each of which turns results into evidence on a claim.

A rule is a function of the results (`renyi_book.scorecard.reading.Results`), of the claim (its
frozen fields, as in ``claims.yml``) and of the thresholds. It raises `NoResult` only if the tables
lack what it needs, and not if a method fails to reach a level.
"""

from renyi_book.scorecard.rules import (
    _clusters,
    _data,
    _measure,
    _network,
    _opportunity,
    _penalties,
    _theory,
)

_MODULES = (_measure, _theory, _data, _opportunity, _penalties, _clusters, _network)
RULES = {name: function for module in _MODULES for name, function in module.RULES.items()}
