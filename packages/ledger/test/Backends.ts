/** The ledger on each backend. */
import type { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import * as Ledger from "../src/Ledger.ts"

export const memory = Ledger.layerMemory

export const over = (database: TestDatabase.TestDatabase) => Ledger.layerPostgres().pipe(Layer.provideMerge(database))
