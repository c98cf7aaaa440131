import * as Backends from "./Backends.ts"
import * as LedgerContract from "./LedgerContract.ts"
import * as LedgerUnitsContract from "./LedgerUnitsContract.ts"
import * as LotTermsContract from "./LotTermsContract.ts"
import * as NotesContract from "./NotesContract.ts"
import * as PartialRefundsContract from "./PartialRefundsContract.ts"

LedgerContract.suite("memory", Backends.memory)
LedgerUnitsContract.suite("memory", Backends.memory)
LotTermsContract.suite("memory", Backends.memoryWith(LotTermsContract.options))
NotesContract.suite("memory", Backends.memory)
PartialRefundsContract.suite("memory", Backends.memory)
