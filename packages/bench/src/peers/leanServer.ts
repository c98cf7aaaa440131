/**
 * The program of the lean peer. See `Lean.ts`. It creates images instantly, without a queue or workers.
 *
 * `node leanServer.ts <database url> <directory for images>` prints `{"base_url": …}` when it is ready.
 */
import * as PgPool from "@kinora/testkit/PgPool"
import fastify, { type FastifyRequest } from "fastify"
import { createHash, randomUUID } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { cost, type Create, findJob, idempotencyKeyOf, type JobRow, refuse, sendJob } from "./jobRequests.ts"

interface CreateImage {
  readonly model: string
  readonly prompt: string
}

const pool = PgPool.make(process.argv[2] ?? "")
const directory = process.argv[3] ?? "."
const server = fastify()

/** Cache of authenticated keys. Kinora has one too. */
const accounts = new Map<string, string>()

const accountOf = async ({ headers }: FastifyRequest): Promise<string | undefined> => {
  const hash = createHash("sha256").update(headers.authorization ?? "").digest("hex")
  const known = accounts.get(hash)
  if (known !== undefined) return known
  const { rows: [found] } = await pool.query<{ id: string }>({
    name: "account",
    text: "SELECT id FROM account WHERE key_hash = $1",
    values: [hash]
  })
  if (found !== undefined) accounts.set(hash, found.id)
  return found?.id
}

interface Created {
  /** 200 if an earlier request created the job, 402 if the account lacks the credits. */
  readonly status: 200 | 201 | 402
  readonly row?: JobRow | undefined
}

const create = async (account: string, key: string, { model, params }: Create): Promise<Created> => {
  const id = randomUUID()
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    const { rowCount: claimed } = await client.query({
      name: "claim",
      text: "INSERT INTO idempotency (account, key, job) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      values: [account, key, id]
    })
    if (claimed === 0) {
      await client.query("ROLLBACK")
      const { rows: [earlier] } = await client.query<{ job: string }>({
        name: "earlier",
        text: "SELECT job FROM idempotency WHERE account = $1 AND key = $2",
        values: [account, key]
      })
      return { status: 200, row: await findJob(client, earlier?.job ?? id, account) }
    }
    const { rowCount: charged } = await client.query({
      name: "charge",
      text: "UPDATE account SET credits = credits - $2 WHERE id = $1 AND credits >= $2",
      values: [account, cost]
    })
    if (charged === 0) {
      await client.query("ROLLBACK")
      return { status: 402 }
    }
    const { rows: [row] } = await client.query<JobRow>({
      name: "job",
      text: "INSERT INTO job (id, account, model, params, cost) VALUES ($1, $2, $3, $4, $5) RETURNING *",
      values: [id, account, model, JSON.stringify(params), cost]
    })
    await client.query("COMMIT")
    return { status: 201, row }
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

const createSchema = {
  body: {
    type: "object",
    required: ["model", "params"],
    properties: {
      model: { type: "string" },
      params: { type: "object", required: ["prompt"], properties: { prompt: { type: "string", maxLength: 2000 } } }
    }
  }
}

const imageSchema = {
  body: {
    type: "object",
    required: ["model", "prompt"],
    properties: { model: { type: "string" }, prompt: { type: "string", maxLength: 2000 } }
  }
}

server.post<{ Body: Create }>("/v1/generations", { schema: createSchema }, async (request, reply) => {
  const account = await accountOf(request)
  if (account === undefined) return refuse(reply, 401, "unauthorized")
  const { row, status } = await create(account, idempotencyKeyOf(request), request.body)
  return status === 402 ? refuse(reply, status, "insufficient_credits") : sendJob(reply, status, row)
})

server.get<{ Params: { readonly id: string } }>("/v1/generations/:id", async (request, reply) => {
  const account = await accountOf(request)
  if (account === undefined) return refuse(reply, 401, "unauthorized")
  return sendJob(reply, 200, await findJob(pool, request.params.id, account))
})

const picture = Buffer.alloc(4096, 1)

server.post<{ Body: CreateImage }>("/v1/images/generations", { schema: imageSchema }, async (request, reply) => {
  const account = await accountOf(request)
  if (account === undefined) return refuse(reply, 401, "unauthorized")
  const { model, prompt } = request.body
  const { row } = await create(account, idempotencyKeyOf(request), { model, params: { prompt } })
  if (row === undefined) return refuse(reply, 404, "not_found")
  // As durable as the row that refers to it.
  await writeFile(join(directory, `${row.id}.png`), picture, { flush: true })
  await pool.query({ name: "complete", text: "UPDATE job SET status = 'completed' WHERE id = $1", values: [row.id] })
  return {
    created: Math.floor(row.created_at.getTime() / 1000),
    data: [{ url: `http://${request.host}/${row.id}.png` }]
  }
})

process.once("SIGTERM", () => void server.close().then(() => pool.end()))
process.stdout.write(`${JSON.stringify({ base_url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`)
