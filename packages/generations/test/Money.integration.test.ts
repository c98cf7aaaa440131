import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import * as Services from "../src/Services.ts"
import { mediaThatTrusts, servicesWith } from "./Assembly.ts"
import { layerCrashing, planTable, suite } from "./MoneyContract.ts"

const steps = 500

suite(
  "memory",
  servicesWith({}, mediaThatTrusts, planTable).pipe(
    Layer.provideMerge(layerCrashing),
    Layer.provideMerge(Services.layerMemoryStores)
  ),
  { runs: 20, steps }
)

/** 20 runs are 10,000 steps on each database. They take minutes. */
const runs = Number(process.env["KINORA_MONEY_RUNS"] ?? 1)

for (const [name, database] of TestDatabase.all) {
  suite(
    name,
    servicesWith({}, mediaThatTrusts, planTable).pipe(
      Layer.provideMerge(layerCrashing),
      Layer.provideMerge(Services.layerSqlStores),
      Layer.provideMerge(Migrations.layer(...Services.migrations).pipe(Layer.provideMerge(database)))
    ),
    { runs, steps }
  )
}
