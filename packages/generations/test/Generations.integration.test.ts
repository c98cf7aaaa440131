import { Pipelining } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite } from "./GenerationsContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, layerSql(database))

suite("Postgres, pipelined", layerSql(TestDatabase.postgresWith(Pipelining.over)))
