import * as Backends from "./Backends.ts"
import * as LotTermsContract from "./LotTermsContract.ts"
import * as NotesContract from "./NotesContract.ts"
import * as PartialRefundsContract from "./PartialRefundsContract.ts"

LotTermsContract.suite("memory", Backends.memoryWith(LotTermsContract.options))
NotesContract.suite("memory", Backends.memory)
PartialRefundsContract.suite("memory", Backends.memory)
