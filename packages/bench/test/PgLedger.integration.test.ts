/** The peer of the benchmarks of charges. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PgLedger from "../src/PgLedger.ts"
import * as PostgresServer from "../src/PostgresServer.ts"
import { makeEnvironment } from "./makeEnvironment.ts"

it.live("pgledger charges the accounts in turns, and refuses to overdraw one", () =>
  Effect.gen(function*() {
    const { charge, database } = yield* PgLedger.make(yield* makeEnvironment, 2)
    for (const n of [0, 1, 2]) yield* Effect.promise(() => charge(n, 2))
    const failure = yield* Effect.flip(Effect.tryPromise(() => charge(0, PgLedger.credits)))
    assert.match(String(failure.cause), /does not allow negative balance/)
    const rows = yield* Effect.promise(() =>
      PostgresServer.withClient(database, async (client) =>
        (await client.query(
          "SELECT name, balance::int FROM pgledger_accounts_view WHERE name LIKE 'spent%' ORDER BY name"
        )).rows)
    )
    assert.deepStrictEqual(rows, [{ name: "spent by 0", balance: 4 }, { name: "spent by 1", balance: 2 }])
  }), 600_000)
