import * as Backends from "./Backends.ts"
import * as HoldsContract from "./HoldsContract.ts"

HoldsContract.suite("memory", Backends.memory)
