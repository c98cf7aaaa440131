/**
 * Servers of Express, Fastify and Hono with one handler, for tests of middleware. Not a part of the index, since it loads
 * all three.
 */
import { serve } from "@hono/node-server"
import createExpress, { type Express, type NextFunction, type Request, type Response } from "express"
import createFastify, { type FastifyInstance, type FastifyServerOptions } from "fastify"
import { Hono } from "hono"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { onTestFinished } from "vitest"

/** A request as the handler sees it. */
export interface Handled {
  readonly method: string
  /** With the query. */
  readonly url: string
  /** The parsed JSON body, or `undefined` without one. */
  readonly json: unknown
  /** The request of the framework: `request` of Express and Fastify, the context of Hono. */
  readonly native: object
}

/** A response of the handler. */
export interface Answer {
  /** Default 200. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A text, or chunks that are sent as they come. Default: no body. */
  readonly body?: string | AsyncIterable<Uint8Array> | undefined
}

/** Handles all requests. If it rejects, the framework responds. */
export type Handler = (request: Handled) => Promise<Answer>

/** Starts a server that runs until the test finishes. Returns its URL. `install` adds the middleware under test. */
export type Start<App> = (install: (app: App) => void, handle: Handler) => Promise<string>

/** Starts a server of Express, with `express.json()` before the middleware. */
export const express: Start<Express> = (install, handle) => {
  const app = createExpress()
  app.use(createExpress.json())
  install(app)
  const respond = async (request: Request, response: Response, next: NextFunction) => {
    try {
      const { body, method, originalUrl } = request
      const answer = await handle({ method, url: originalUrl, json: body as unknown, native: request })
      response.status(answer.status ?? 200).set({ ...answer.headers })
      if (answer.body === undefined || typeof answer.body === "string") response.send(answer.body)
      else Readable.from(answer.body).pipe(response)
    } catch (error) {
      next(error)
    }
  }
  app.use((request, response, next) => void respond(request, response, next))
  // Tests cause errors, which Express would print.
  app.set("env", "test")
  return listening(app.listen(0, "127.0.0.1"))
}

/** Starts a server of Fastify. */
export const fastify = async (
  install: (app: FastifyInstance) => void,
  handle: Handler,
  options: FastifyServerOptions = {}
): Promise<string> => {
  const app = createFastify(options)
  install(app)
  app.all("/*", async (request, reply) => {
    const { body, method, url } = request
    const answer = await handle({ method, url, json: body, native: request })
    reply.code(answer.status ?? 200).headers({ ...answer.headers })
    const isStream = answer.body !== undefined && typeof answer.body !== "string"
    return reply.send(isStream ? Readable.from(answer.body) : answer.body)
  })
  await app.listen({ port: 0, host: "127.0.0.1" })
  return listening(app.server)
}

/** Starts a server of Hono with `@hono/node-server`. */
export const hono: Start<Hono> = (install, handle) => {
  // The server replaces them by lighter ones.
  for (const name of ["Request", "Response"] as const) {
    const original = Object.getOwnPropertyDescriptor(globalThis, name) ?? {}
    onTestFinished(() => void Object.defineProperty(globalThis, name, original))
  }
  const app = new Hono()
  install(app)
  app.all("/*", async (c) => {
    const json: unknown = await c.req.json().catch(() => undefined)
    const { pathname, search } = new URL(c.req.url)
    const answer = await handle({ method: c.req.method, url: pathname + search, json, native: c })
    const { body, headers = {}, status } = answer
    const content = body === undefined || typeof body === "string" ? body : ReadableStream.from(body)
    return new Response(content as ReadableStream | string | undefined, { status: status ?? 200, headers })
  })
  app.onError((_error, c) => c.text("failed", 500))
  return listening(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const listening = async (server: Server): Promise<string> => {
  if (!server.listening) await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
