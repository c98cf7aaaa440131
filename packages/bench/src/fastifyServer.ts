/**
 * The peer of the HTTP benchmarks: a server written by hand with Fastify and `pg`,
 * optimised for speed only. It checks the key, charges credits and inserts the job under
 * its idempotency key in one transaction of prepared statements. It has no rate limits,
 * lanes, lots, double entry or fingerprints, so its figures are an upper bound. It
 * creates images instantly, without a queue or workers.
 *
 * `node fastifyServer.ts <database url> <directory for images>` prints `{"base_url": …}` when it is ready.
 */
import fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { createHash, randomUUID } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Pool, PoolClient } from "pg"
import * as PgPool from "./PgPool.ts"

interface Create {
  readonly model: string
  readonly params: { readonly prompt: string }
}

interface JobRow {
  readonly id: string
  readonly account: string
  readonly model: string
  readonly status: string
  readonly params: object
  readonly cost: number
  readonly created_at: Date
}

interface CreateImage {
  readonly model: string
  readonly prompt: string
}

const pool = PgPool.make(process.argv[2])
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

const find = async (on: Pool | PoolClient, id: string, account: string): Promise<JobRow | undefined> => {
  const { rows: [row] } = await on.query<JobRow>({
    name: "find",
    text: "SELECT id, account, model, status, params, cost, created_at FROM job WHERE id = $1 AND account = $2",
    values: [id, account]
  })
  return row
}

/** The job, and whether an earlier request created it. */
const create = async (account: string, key: string, { model, params }: Create) => {
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
      return { row: await find(client, earlier?.job ?? id, account), replayed: true }
    }
    const { rowCount: charged } = await client.query({
      name: "charge",
      text: "UPDATE account SET credits = credits - 2 WHERE id = $1 AND credits >= 2",
      values: [account]
    })
    if (charged === 0) throw new Error("out of credits")
    const { rows: [row] } = await client.query<JobRow>({
      name: "job",
      text: "INSERT INTO job (id, account, model, params, cost) VALUES ($1, $2, $3, $4, 2) RETURNING *",
      values: [id, account, model, JSON.stringify(params)]
    })
    await client.query("COMMIT")
    return { row, replayed: false }
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

const answer = (reply: FastifyReply, status: number, row: JobRow | undefined) =>
  row === undefined ? reply.code(404).send({ error: "not_found" }) : reply.code(status).send({
    ...row,
    created_at: row.created_at.toISOString(),
    next: { action: "poll", after_seconds: 1 }
  })

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
  if (account === undefined) return reply.code(401).send({ error: "unauthorized" })
  const key = request.headers["idempotency-key"]
  const { replayed, row } = await create(account, typeof key === "string" ? key : randomUUID(), request.body)
  return answer(reply, replayed ? 200 : 201, row)
})

server.get<{ Params: { readonly id: string } }>("/v1/generations/:id", async (request, reply) => {
  const account = await accountOf(request)
  if (account === undefined) return reply.code(401).send({ error: "unauthorized" })
  return answer(reply, 200, await find(pool, request.params.id, account))
})

const picture = Buffer.alloc(4096, 1)

server.post<{ Body: CreateImage }>("/v1/images/generations", { schema: imageSchema }, async (request, reply) => {
  const account = await accountOf(request)
  if (account === undefined) return reply.code(401).send({ error: "unauthorized" })
  const key = request.headers["idempotency-key"]
  const { model, prompt } = request.body
  const { row } = await create(account, typeof key === "string" ? key : randomUUID(), { model, params: { prompt } })
  if (row === undefined) return reply.code(404).send({ error: "not_found" })
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
