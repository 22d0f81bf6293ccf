"""The command line: `annotated data|preflight|rehearse|train|finish|ledger|evaluate|translate|average|export|info|...`.

Each command is a dataclass whose fields are its options; `program` reads them with tyro and runs them.
"""

from annotated.cli.program import main

__all__ = ["main"]
