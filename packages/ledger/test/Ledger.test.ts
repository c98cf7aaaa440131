import * as Backends from "./Backends.ts"
import { suite } from "./LedgerContract.ts"

suite("memory", Backends.memory)
