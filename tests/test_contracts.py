"""The door contract of import-linter catches what it is for."""

import pytest
from grimp import ImportGraph

from tests.contracts import DoorContract, goes_past_a_door


@pytest.mark.parametrize(
    ("importer", "module", "past"),
    [
        ("corollary.svm.svc", "corollary.kernels", False),
        ("corollary.svm.svc", "corollary.kernels.base", True),
        ("corollary.svm.svc", "corollary.svm._gram", False),
        ("corollary.svm", "corollary.svm.svc", False),
        ("corollary.svm.svc", "corollary.core.schema", False),
        ("corollary.svm.svc", "corollary.core.estimator", False),
        ("corollary.svm.svc", "corollary.core.estimator._bases", True),
        ("corollary.core.guard", "corollary.core.estimator._bases", False),
        ("corollary.cli", "corollary.reporting._report", True),
        ("corollary.svm_other", "corollary.svm.svc", True),
    ],
)
def test_what_goes_past_a_door(importer, module, past):
    assert goes_past_a_door(importer, module, ["corollary.core"]) == past


def test_a_planted_import_breaks_the_contract():
    graph = ImportGraph()
    graph.add_import(
        importer="corollary.svm.svc",
        imported="corollary.kernels.base",
        line_number=7,
        line_contents="from corollary.kernels.base import Kernel",
    )
    graph.add_import(importer="corollary.svm.svc", imported="numpy.linalg")
    contract = DoorContract(
        name="door",
        session_options={"root_packages": ["corollary"]},
        contract_options={"root": "corollary", "open_packages": ["corollary.core"]},
    )
    check = contract.check(graph, verbose=False)
    assert not check.kept
    assert check.metadata["imports"] == [("corollary.svm.svc", "corollary.kernels.base", 7)]
