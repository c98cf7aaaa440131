import * as Backends from "./Backends.ts"
import * as LedgerContract from "./LedgerContract.ts"
import * as LedgerUnitsContract from "./LedgerUnitsContract.ts"

LedgerContract.suite("memory", Backends.memory)
LedgerUnitsContract.suite("memory", Backends.memory)
