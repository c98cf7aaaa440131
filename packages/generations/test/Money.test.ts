import { Layer } from "effect"
import * as Services from "../src/Services.ts"
import { mediaThatTrusts, servicesWith } from "./Assembly.ts"
import { layerCrashing, planTable, suite } from "./MoneyContract.ts"

suite(
  "memory",
  servicesWith({}, mediaThatTrusts, planTable).pipe(
    Layer.provideMerge(layerCrashing),
    Layer.provideMerge(Services.layerMemoryStores)
  ),
  { runs: 20, steps: 500 }
)
