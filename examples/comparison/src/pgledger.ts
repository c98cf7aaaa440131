/** The print shop of `examples/billing`, with pgledger instead of `@kinora/ledger`. */
import { transaction } from "@kinora/example-billing/database"
import express, { type ErrorRequestHandler, type Express } from "express"
import { readFile } from "node:fs/promises"
import { DatabaseError, type Pool } from "pg"

/** Creates the tables and functions of pgledger, the account of the shop, and the table of payments. Call it once. */
export const createLedger = async (pool: Pool): Promise<void> => {
  for (const file of ["ulid-to-uuid.sql", "uuid-to-ulid.sql", "pgledger.sql"]) {
    await pool.query(await readFile(new URL(`../pgledger/${file}`, import.meta.url), "utf8"))
  }
  await pool.query("SELECT pgledger_create_account('shop', 'CREDIT')")
  // pgledger identifies neither transfers nor names of accounts, so the shop keeps both unique.
  await pool.query("CREATE TABLE payment (id text PRIMARY KEY); CREATE TABLE customer (name text PRIMARY KEY)")
}

/** Transfers credits between the accounts of two names, for a print. */
export const transfer = `
  SELECT pgledger_create_transfer(
    (SELECT id FROM pgledger_accounts_view WHERE name = $1),
    (SELECT id FROM pgledger_accounts_view WHERE name = $2),
    $3, metadata => $4
  )
`

/** Returns the app of the shop. */
export const makeApp = (pool: Pool): Express => {
  const app = express().use(express.json())

  app.post("/payments", async (request, response) => {
    const { account, credits, id } = request.body
    await transaction(pool, async (tx) => {
      const paid = await tx.query("INSERT INTO payment VALUES ($1) ON CONFLICT DO NOTHING", [id])
      if (paid.rowCount === 0) return
      const customer = await tx.query("INSERT INTO customer VALUES ($1) ON CONFLICT DO NOTHING", [account])
      if (customer.rowCount === 1) {
        await tx.query("SELECT pgledger_create_account($1, 'CREDIT', allow_negative_balance => false)", [account])
      }
      await tx.query(transfer, ["shop", account, credits, { payment: id }])
    })
    response.status(204).end()
  })

  app.post("/prints", async (request, response) => {
    const account = request.get("x-account")
    const { copies, country, id } = request.body
    await transaction(pool, async (tx) => {
      await tx.query("INSERT INTO print (id, account, copies) VALUES ($1, $2, $3)", [id, account, copies])
      await tx.query(transfer, [account, "shop", copies, { print: id }])
      await tx.query("INSERT INTO shipment VALUES ($1, $2)", [id, country])
    })
    response.status(201).json({ id, copies })
  })

  app.delete("/prints/:id", async (request, response) => {
    const account = request.get("x-account")
    const { id } = request.params
    await transaction(pool, async (tx) => {
      const cancel =
        "UPDATE print SET cancelled = true WHERE id = $1 AND account = $2 AND NOT cancelled RETURNING copies"
      const { rows: [print] } = await tx.query(cancel, [id, account])
      if (print !== undefined) await tx.query(transfer, ["shop", account, print.copies, { refund: id }])
    })
    response.status(204).end()
  })

  app.get("/balance", async (request, response) => {
    const balance = "SELECT balance FROM pgledger_accounts_view WHERE name = $1"
    const { rows } = await pool.query(balance, [request.get("x-account")])
    response.json({ credits: Number(rows[0]?.balance ?? 0) })
  })

  return app.use(respondToError)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const respondToError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof DatabaseError)) return next(error)
  // pgledger raises its errors without a code of their own.
  if (error.message.includes("does not allow negative balance")) {
    return response.status(402).json({ error: "The account has too few credits" })
  }
  if (error.constraint === "print_pkey") return response.status(409).json({ error: "The print was ordered before" })
  if (error.constraint === "shipment_country_fkey") {
    return response.status(422).json({ error: "The shop does not ship there" })
  }
  return next(error)
}
