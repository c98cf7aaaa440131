/** Transactions of postgres.js 3.4 whose session ends: it connects again if another query waits for the connection. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import postgres from "postgres"
import * as External from "../src/external.ts"
import { layerSql, type UnitOfWork } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import * as PgPool from "./PgPool.ts"

type Services = Cells.Cells | UnitOfWork

const put = (key: string) => Cells.Cells.use(({ put }) => put(key, 1))

/** Runs a test within a transaction. `reconnect` ends its session and waits until the client has another one. */
const inTransaction = (
  test: (
    tx: External.Transaction,
    reconnect: Effect.Effect<void>,
    run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
  ) => Promise<void>
) =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const pool = yield* PgPool.over(url)
    const sql = yield* Effect.acquireRelease(
      Effect.sync(() => postgres(url, { max: 1, onnotice: () => {} })),
      (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
    )
    const layer = Cells.layerSql.pipe(Layer.provideMerge(layerSql), Layer.provideMerge(External.layerPg(pool)))
    const services = yield* Layer.build(layer)
    const tested = Promise.withResolvers<void>()
    const transacted = sql.begin(async (tx) => {
      const [session] = await tx`SELECT pg_backend_pid() AS pid`
      const reconnect = Effect.promise(async () => {
        // Outside of the transaction, so it waits for the connection.
        const answered = sql`SELECT 1`.execute()
        await pool.query("SELECT pg_terminate_backend($1)", [session!["pid"]])
        await answered
      })
      const run = <A, E>(effect: Effect.Effect<A, E, Services>) =>
        Effect.runPromise(Effect.provideContext(effect, services))
      await test(External.fromPostgres(tx), reconnect, run).then(tested.resolve, tested.reject)
    }).catch((error: unknown) => error)
    yield* Effect.promise(() => tested.promise)
    assert.instanceOf(yield* Effect.promise(() => transacted), Error)
    const { rows } = yield* Effect.promise(() => pool.query<{ key: string }>("SELECT key FROM cells ORDER BY key"))
    return rows.map(({ key }) => key)
  })

it.effect("a call writes nothing after postgres.js has connected again within the transaction", () =>
  Effect.gen(function*() {
    const keys = yield* inTransaction(async (tx, reconnect, run) => {
      await run(External.join(tx)(put("before")))
      await run(reconnect)
      const error = await run(Effect.flip(External.join(tx)(put("after"))))
      assert.strictEqual(error._tag, "StorageError")
    })
    assert.deepStrictEqual(keys, [])
  }))

it.effect("a call fails at its next statement if postgres.js connects again within the call", () =>
  Effect.gen(function*() {
    const keys = yield* inTransaction(async (tx, reconnect, run) => {
      const call = put("first").pipe(
        Effect.andThen(reconnect),
        Effect.andThen(put("next")),
        Effect.andThen(put("last"))
      )
      const error = await run(Effect.flip(External.join(tx)(call)))
      assert.deepInclude(error, { _tag: "StorageError", reason: "unavailable" })
    })
    // postgres.js runs that statement on its own.
    assert.deepStrictEqual(keys, ["next"])
  }))
