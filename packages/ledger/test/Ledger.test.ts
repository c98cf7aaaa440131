import * as Backends from "./Backends.ts"
import * as LedgerContract from "./LedgerContract.ts"
import * as LedgerUnitsContract from "./LedgerUnitsContract.ts"
import * as PartialRefundsContract from "./PartialRefundsContract.ts"

LedgerContract.suite("memory", Backends.memory)
LedgerUnitsContract.suite("memory", Backends.memory)
PartialRefundsContract.suite("memory", Backends.memory)
