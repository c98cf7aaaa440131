import * as AdvancesContract from "./AdvancesContract.ts"
import * as AlgorithmsContract from "./AlgorithmsContract.ts"
import * as Backend from "./Backend.ts"
import * as BudgetContract from "./BudgetContract.ts"
import * as PlacesContract from "./PlacesContract.ts"
import * as RateLimitContract from "./RateLimitContract.ts"
import * as WaitsContract from "./WaitsContract.ts"
import * as WindowsContract from "./WindowsContract.ts"

RateLimitContract.suite("memory", Backend.memory)
PlacesContract.suite("memory", Backend.memory)
BudgetContract.suite("memory", Backend.memory)
AdvancesContract.suite("memory", Backend.memory)
WaitsContract.suite("memory", Backend.memory)
WindowsContract.suite("memory", Backend.memory)
AlgorithmsContract.suite("memory", Backend.memory)
