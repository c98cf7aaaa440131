/** The frameworks that the package has middleware for. */
import * as HttpServers from "@kinora/testkit/HttpServers"
import type { Request } from "express"
import type { FastifyRequest } from "fastify"
import type { Context } from "hono"
import * as onExpress from "../../src/express.ts"
import * as onFastify from "../../src/fastify.ts"
import * as onHono from "../../src/hono.ts"
import type { RateLimitOptions } from "../../src/http.ts"

/** A framework. */
export interface Framework {
  readonly name: string
  /** Starts a server with these limits in front of a handler. Returns its URL. */
  readonly start: (
    limits: ReadonlyArray<RateLimitOptions<object>>,
    handle?: HttpServers.Handler
  ) => Promise<string>
  /** Reads a header of a request of the framework. */
  readonly headerOf: (native: object, name: string) => string | undefined
}

const hello: HttpServers.Handler = async () => ({ body: "hello" })

/** All of them. */
export const frameworks: ReadonlyArray<Framework> = [
  {
    name: "express",
    start: (limits, handle = hello) =>
      HttpServers.express((app) => {
        for (const options of limits) app.use(onExpress.rateLimit(options))
      }, handle),
    headerOf: (native, name) => (native as Request).get(name)
  },
  {
    name: "fastify",
    start: (limits, handle = hello) =>
      HttpServers.fastify((app) => {
        for (const options of limits) app.addHook("onRequest", onFastify.rateLimit(options))
      }, handle),
    headerOf: (native, name) => (native as FastifyRequest).headers[name]?.toString()
  },
  {
    name: "hono",
    start: (limits, handle = hello) =>
      HttpServers.hono((app) => {
        for (const options of limits) app.use(onHono.rateLimit(options))
      }, handle),
    headerOf: (native, name) => (native as Context).req.header(name)
  }
]
