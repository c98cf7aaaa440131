import { assert, it } from "@effect/vitest"
import * as DatabaseSchema from "../src/DatabaseSchema.ts"

const qualify = DatabaseSchema.qualifier("billing", {
  tables: ["ledger_lot", "ledger_lot_note"],
  sequences: ["ledger_number"],
  functions: ["ledger_close"]
})

it("qualifies each name of the package, and no other", () => {
  const texts: ReadonlyArray<readonly [text: string, qualified: string]> = [
    ["SELECT id FROM ledger_lot", "SELECT id FROM \"billing\".ledger_lot"],
    ["SELECT FROM ledger_lot_note, ledger_lots", "SELECT FROM \"billing\".ledger_lot_note, ledger_lots"],
    [
      "UPDATE ledger_lot SET n = ledger_lot.n + 1",
      "UPDATE \"billing\".ledger_lot SET n = \"billing\".ledger_lot.n + 1"
    ],
    ["SELECT ledger_close(1)", "SELECT \"billing\".ledger_close(1)"],
    ["SELECT nextval('ledger_number')", "SELECT nextval('\"billing\".ledger_number')"],
    [
      "SELECT other.ledger_lot, \"ledger_lot\", my_ledger_lot",
      "SELECT other.ledger_lot, \"ledger_lot\", my_ledger_lot"
    ],
    [
      "CREATE INDEX ledger_lot_by_id ON ledger_lot (id)",
      "CREATE INDEX ledger_lot_by_id ON \"billing\".ledger_lot (id)"
    ],
    ["DROP INDEX ledger_lot_by_id", "DROP INDEX \"billing\".ledger_lot_by_id"],
    ["DROP INDEX IF EXISTS ledger_lot_by_id", "DROP INDEX IF EXISTS \"billing\".ledger_lot_by_id"],
    ["DROP INDEX CONCURRENTLY\n  if_known", "DROP INDEX CONCURRENTLY\n  \"billing\".if_known"]
  ]
  assert.deepStrictEqual(texts.map(([text]) => qualify(text)), texts.map(([, qualified]) => qualified))
  // A client of a schema can be made from a client of the same schema.
  assert.strictEqual(qualify(qualify("TRUNCATE ledger_lot")), qualify("TRUNCATE ledger_lot"))
})

it("quotes a name of a schema, and rejects one that is invalid", () => {
  for (const name of ["billing", "_1", "Billing_2", "p", "a".repeat(63)]) {
    assert.strictEqual(DatabaseSchema.quoted(name), `"${name}"`)
  }
  for (const name of ["", "1a", "a-b", "a.b", "a\"b", "a b", "a\n", "pg_billing", "PG_x", "ä", "a".repeat(64)]) {
    assert.throws(() => DatabaseSchema.quoted(name), TypeError, "Expected the name of a schema")
  }
})
