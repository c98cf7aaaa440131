import { onTestFinished } from "@effect/vitest"
import { type serve as honoServe, serve as start } from "@hono/node-server"

/**
 * Starts a server of `@hono/node-server`, which replaces the global `Request` and `Response` by lighter ones. Both are
 * restored after the test.
 */
export const serve: typeof honoServe = (...options) => {
  for (const name of ["Request", "Response"] as const) {
    const original = Object.getOwnPropertyDescriptor(globalThis, name) ?? {}
    onTestFinished(() => void Object.defineProperty(globalThis, name, original))
  }
  return start(...options)
}
