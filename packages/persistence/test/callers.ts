/** Programs with drivers of their own, on an empty database. */
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as External from "../src/external.ts"
import * as Client from "../src/internal/external/client.ts"
import * as Connection from "../src/internal/external/connection.ts"
import { fromDriver } from "../src/internal/external/sqlError.ts"
import { layerSql } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

/** A program whose transactions units join. */
export type Program = CallerTransactions.Program<External.Transaction>

export const drivers = [
  ...CallerTransactions.all<External.Transaction>(External),
  ...CallerTransactions.variants<External.Transaction>(External)
]

/** Units and cells, each of whose units and statements runs in a transaction of a program. */
export const layer = (driver: (url: string) => Program) =>
  Layer.merge(layerSql, Cells.layerSql).pipe(
    Layer.provideMerge(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.flatMap(CallerTransactions.open(driver), ({ program }) => Client.make(lease(program)))
      )
    ),
    Layer.provide(Reactivity.layer)
  )

/** Begins a transaction of a program, which is committed afterwards. */
const lease = ({ transaction }: Program) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        new Promise<{ readonly connection: Connection.ExternalConnection; readonly commit: () => Promise<void> }>(
          (resolve, reject) => {
            const finished = Promise.withResolvers<void>()
            const committed = transaction(({ tx }) => {
              const commit = () => {
                finished.resolve()
                return committed
              }
              resolve({ connection: Connection.joining(tx), commit })
              return finished.promise
            })
            committed.catch(reject)
          }
        ),
      catch: fromDriver
    }),
    ({ commit }) => Effect.promise(commit)
  ).pipe(Effect.map(({ connection }) => connection))
