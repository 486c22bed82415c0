"""A contract of import-linter: a package is entered by its door.

What lies behind ``corollary.X`` is imported by ``corollary.X`` alone; everybody else imports names
from the package itself. The modules and folders of core are doors themselves. Names that are passed
around the door as attributes or strings are not seen here.
"""

from collections.abc import Collection, Iterator

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def goes_past_a_door(importer: str, module: str, open_packages: Collection[str]) -> bool:
    """Tell whether an import from outside reaches behind the door of a package.

    Doors lie one level below the root, and two in a package whose parts are doors themselves.
    """
    parts = module.split(".")
    package = ".".join(parts[:2])
    if importer == package or importer.startswith(f"{package}."):
        return False
    return len(parts) > (3 if package in open_packages else 2)


class DoorContract(Contract):
    """No module imports what lies behind the door of another package."""

    type_name = "door"

    root = fields.StringField()
    open_packages = fields.ListField(subfield=fields.StringField(), required=False, default=[])

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        found = sorted(self._past_doors(graph))
        return ContractCheck(kept=not found, metadata={"imports": found})

    def _past_doors(self, graph: ImportGraph) -> Iterator[tuple[str, str, int]]:
        for importer in graph.modules:
            for module in graph.find_modules_directly_imported_by(importer):
                if not module.startswith(f"{self.root}."):
                    continue
                if goes_past_a_door(importer, module, self.open_packages):
                    details = graph.get_import_details(importer=importer, imported=module)
                    yield importer, module, details[0]["line_number"]

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, module, line in check.metadata["imports"]:
            output.print_error(f"{importer}:{line} imports {module}, which lies behind a door")
