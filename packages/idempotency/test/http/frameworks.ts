/** The frameworks that the package has middleware for. */
import * as HttpServers from "@kinora/testkit/HttpServers"
import type { Request } from "express"
import type { FastifyRequest } from "fastify"
import type { Context } from "hono"
import * as onExpress from "../../src/express.ts"
import * as onFastify from "../../src/fastify.ts"
import * as onHono from "../../src/hono.ts"
import type { IdempotencyOptions } from "../../src/http.ts"

/** A framework. */
export interface Framework {
  readonly name: string
  /** Starts a server with idempotent requests in front of a handler. Returns its URL. */
  readonly start: (options: IdempotencyOptions<object>, handle: HttpServers.Handler) => Promise<string>
  /** Reads a header of a request of the framework. */
  readonly headerOf: (native: object, name: string) => string | undefined
}

/** All of them. A middleware before idempotency sets the header `x-request-id` to a number that differs each time. */
export const frameworks: ReadonlyArray<Framework> = [
  {
    name: "express",
    start: (options, handle) =>
      HttpServers.express((app) => {
        app.use((_request, response, next) => {
          response.set("x-request-id", `${requests++}`)
          next()
        })
        app.use(onExpress.idempotent(options))
      }, handle),
    headerOf: (native, name) => (native as Request).get(name)
  },
  {
    name: "fastify",
    start: (options, handle) =>
      HttpServers.fastify((app) => {
        app.addHook("onRequest", async (_request, reply) => void reply.header("x-request-id", `${requests++}`))
        app.addHook("preHandler", onFastify.idempotent(options))
      }, handle),
    headerOf: (native, name) => (native as FastifyRequest).headers[name]?.toString()
  },
  {
    name: "hono",
    start: (options, handle) =>
      HttpServers.hono((app) => {
        app.use((c, next) => {
          c.header("x-request-id", `${requests++}`)
          return next()
        })
        app.use(onHono.idempotent(options))
      }, handle),
    headerOf: (native, name) => (native as Context).req.header(name)
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let requests = 0
