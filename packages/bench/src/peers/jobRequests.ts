/** The requests that create a job, and the responses with it, of the servers of peers. */
import type { FastifyReply, FastifyRequest } from "fastify"
import { createHash, randomUUID } from "node:crypto"
import type { Pool, PoolClient } from "pg"

/** The body of a request that creates a job. */
export interface Create {
  readonly model: string
  readonly params: { readonly prompt: string }
}

/** A job as stored. */
export interface JobRow {
  readonly id: string
  readonly account: string
  readonly model: string
  readonly status: string
  readonly params: object
  readonly cost: number
  readonly created_at: Date
}

/** Credits that a job costs, as much as one of `kinora-draft`. */
export const cost = 1

/** Returns the key of the request, or a new one. */
export const idempotencyKeyOf = ({ headers }: FastifyRequest): string => {
  const key = headers["idempotency-key"]
  return typeof key === "string" ? key : randomUUID()
}

/** The schema of a request that creates a job, with every parameter of the model. */
export const createSchema = {
  body: {
    type: "object",
    required: ["model", "params"],
    additionalProperties: false,
    properties: {
      plan: { enum: ["studio", "credits"] },
      model: { type: "string" },
      params: {
        type: "object",
        required: ["prompt"],
        additionalProperties: false,
        properties: {
          prompt: { type: "string", maxLength: 2000 },
          aspect_ratio: { enum: ["1:1", "16:9", "9:16", "auto"] }
        }
      }
    }
  }
}

/** Returns the fingerprint of a body, by which a key that is used for another request is recognised. */
export const fingerprintOf = (body: Create): string => createHash("sha256").update(JSON.stringify(body)).digest("hex")

/** Returns a job of an account, if it exists. */
export const findJob = async (on: Pool | PoolClient, id: string, account: string): Promise<JobRow | undefined> => {
  const { rows: [row] } = await on.query<JobRow>({
    name: "find",
    text: "SELECT id, account, model, status, params, cost, created_at FROM job WHERE id = $1 AND account = $2",
    values: [id, account]
  })
  return row
}

/** Responds with an error. */
export const refuse = (reply: FastifyReply, status: number, error: string) => reply.code(status).send({ error })

/** Responds with a job, or with 404. */
export const sendJob = (reply: FastifyReply, status: number, row: JobRow | null | undefined) =>
  row === undefined || row === null ? refuse(reply, 404, "not_found") : reply.code(status).send({
    ...row,
    created_at: new Date(row.created_at).toISOString(),
    next: { action: "poll", after_seconds: 1 }
  })
