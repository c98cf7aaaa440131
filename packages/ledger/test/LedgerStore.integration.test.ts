import { Pipelining } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { suite } from "../src/testing.ts"
import * as Backends from "./Backends.ts"

for (const [name, database] of TestDatabase.all) suite(name, Backends.storeOver(database))

suite("Postgres, pipelined", Backends.storeOver(TestDatabase.postgresWith(Pipelining.over)))
