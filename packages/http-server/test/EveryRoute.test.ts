import { assert, it } from "@effect/vitest"
import { document as adminDocument } from "@kinora/http-api/AdminOpenApiDocument"
import { document } from "@kinora/http-api/OpenApiDocument"
import { Effect, Redacted } from "effect"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

/** The operations of a document that require authentication, and the others. */
const routesOf = ({ paths }: typeof document) => {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    (["get", "post", "put", "patch", "delete"] as const).flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ method, path: path.replaceAll(/\{\w+\}/g, "x"), operation }]
    })
  )
  const isOpen = ({ operation }: (typeof operations)[number]) => (operation.security ?? []).length === 0
  return { closed: operations.filter((route) => !isOpen(route)), open: operations.filter(isOpen) }
}

const token = "the token of the operators of this service"

it.effect("rejects requests without a key or with a wrong one on every route for clients", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 1_000 })
    const { closed, open } = routesOf(document)
    assert.deepStrictEqual(open.map(({ path }) => path), ["/healthz", "/readyz", "/metrics"])
    assert.isAbove(closed.length, 15)
    for (const { method, path } of closed) {
      for (const key of [undefined, "wrong", token]) {
        errorOf(yield* send(method.toUpperCase(), path, { key }), "unauthorized")
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects requests without the token, with a wrong one or with a key on every route for operators", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token), failedAuthenticationsPerMinute: 1_000 })
    const { key: userKey } = yield* Host.openAccount()
    const { closed, open } = routesOf(adminDocument)
    assert.isEmpty(open)
    assert.isAbove(closed.length, 25)
    for (const { method, path } of closed) {
      for (const key of [undefined, "wrong", `${token}x`, userKey]) {
        errorOf(yield* send(method.toUpperCase(), path, { key }), "unauthorized")
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
