import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import * as Backends from "./Backends.ts"
import * as ForgetContract from "./ForgetContract.ts"

for (const [name, database] of TestDatabase.all) {
  ForgetContract.suite(name, SqlLedgerStore.layer.pipe(Layer.provideMerge(Backends.over(database))))
}
