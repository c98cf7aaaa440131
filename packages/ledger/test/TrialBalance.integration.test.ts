import { assert, layer } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chargeOf, grantOf, newAccount } from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"
import * as Backends from "./Backends.ts"

for (const [name, database] of TestDatabase.all) {
  layer(Backends.over(database))(`Books that were tampered with (${name})`, (it) => {
    it.effect("do not balance while an entry has another amount or book", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 100))
        yield* ledger.charge(chargeOf(account, "job", 30))
        const sound = yield* ledger.trialBalance
        assert.isTrue(sound.balanced)

        yield* sql`ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only`
        const change = (book: string, amount: number) =>
          Effect.andThen(
            sql`UPDATE ledger_entry SET to_book = ${book}, amount = ${amount} WHERE from_book LIKE 'lot:%'`,
            ledger.trialBalance
          )
        const lower = yield* change("consumed", 20)
        assert.deepStrictEqual([lower.balanced, lower.booked], [false, sound.booked])
        assert.isFalse((yield* change("allowance", 30)).balanced)
        assert.isFalse((yield* change("lost", 30)).balanced)
        assert.deepStrictEqual(yield* change("consumed", 30), sound)
      }))
  })
}
