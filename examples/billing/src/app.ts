/** The HTTP API of a print shop whose customers pay with prepaid credits: one credit per copy. */
import { AlreadyChargedError, GrantExpiredError, InsufficientCreditsError, type Ledger } from "@kinora/ledger/promise"
import express, { type ErrorRequestHandler, type Express, type Request } from "express"
import { DatabaseError, type Pool } from "pg"
import { transaction } from "./database.ts"

/** Returns the app of the shop, on its pool and a ledger in the same database. */
export const makeApp = (pool: Pool, ledger: Ledger): Express => {
  const app = express().use(express.json())

  // Your payment provider calls this after a payment. A repeated call grants nothing.
  app.post("/payments", async (request, response) => {
    const reference = text(request, "id")
    const credits = count(request, "credits")
    const expiresAt = new Date(text(request, "expiresAt"))
    if (Number.isNaN(expiresAt.getTime())) throw new Refusal(400, "expiresAt is not a time")
    await ledger.grant({ account: text(request, "account"), reference, kind: "addon", credits, expiresAt })
    response.status(204).end()
  })

  // The print, its charge and its shipment are committed together, or none of them.
  app.post("/prints", async (request, response) => {
    const account = accountOf(request)
    const id = text(request, "id")
    const copies = count(request, "copies")
    const country = text(request, "country")
    await transaction(pool, async (tx) => {
      await tx.query("INSERT INTO print (id, account, copies) VALUES ($1, $2, $3)", [id, account, copies])
      await ledger.charge({ account, reference: id, credits: copies, tx })
      await tx.query("INSERT INTO shipment VALUES ($1, $2)", [id, country])
    })
    response.status(201).json({ id, copies })
  })

  // The print is cancelled and refunded, or neither.
  app.delete("/prints/:id", async (request, response) => {
    const account = accountOf(request)
    const reference = request.params.id
    await transaction(pool, async (tx) => {
      const cancel = "UPDATE print SET cancelled = true WHERE id = $1 AND account = $2 AND NOT cancelled"
      const { rowCount } = await tx.query(cancel, [reference, account])
      if (rowCount === 0) throw new Refusal(404, "The account has no such print, or it was cancelled before")
      await ledger.refund({ account, reference, tx })
    })
    response.status(204).end()
  })

  app.get("/balance", async (request, response) => {
    const { credits } = await ledger.balances({ account: accountOf(request) })
    response.json({ credits })
  })

  return app.use(respondToError)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A request that is refused with a status. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The header stands for your authentication. */
const accountOf = (request: Request): string => {
  const account = request.get("x-account")
  if (account === undefined) throw new Refusal(401, "The header X-Account is missing")
  return account
}

const text = ({ body }: Request<object, unknown, unknown>, name: string): string => {
  const value: unknown = Object(body)[name]
  if (typeof value !== "string" || !/^[ -~]{1,128}$/.test(value)) {
    throw new Refusal(400, `${name} must have 1 to 128 characters`)
  }
  return value
}

const count = ({ body }: Request<object, unknown, unknown>, name: string): number => {
  const value: unknown = Object(body)[name]
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > 1_000_000) {
    throw new Refusal(400, `${name} must be a whole number from 1 to 1,000,000`)
  }
  return value
}

/** The response to an error, or `undefined` if the error is one of the service. */
const refusalOf = (error: unknown): { readonly status: number; readonly message: string } | undefined => {
  if (error instanceof Refusal) return error
  if (error instanceof InsufficientCreditsError) {
    return { status: 402, message: `The account has ${error.available} of ${error.required} credits` }
  }
  if (error instanceof AlreadyChargedError) return { status: 409, message: "The print was ordered before" }
  if (error instanceof GrantExpiredError) return { status: 400, message: "expiresAt is in the past" }
  if (!(error instanceof DatabaseError)) return undefined
  if (error.constraint === "print_pkey") return { status: 409, message: "The print was ordered before" }
  if (error.constraint === "shipment_country_fkey") return { status: 422, message: "The shop does not ship there" }
  return undefined
}

const respondToError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const refusal = refusalOf(error)
  if (refusal === undefined) return next(error)
  response.status(refusal.status).json({ error: refusal.message })
}
