import * as Backends from "./Backends.ts"
import * as HoldRacesContract from "./HoldRacesContract.ts"
import * as HoldsContract from "./HoldsContract.ts"

HoldsContract.suite("memory", Backends.memory)
HoldRacesContract.suite("memory", Backends.memory)
