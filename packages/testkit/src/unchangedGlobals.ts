/**
 * Setup file of every test file. Test files share their worker processes, so a file that changes a global and does not
 * restore it would change the tests that run after it. This setup fails such a file and names the global.
 */
import { afterAll, beforeAll, expect } from "vitest"

const names = [
  "Blob",
  "Date",
  "EventSource",
  "FormData",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "URL",
  "WebSocket",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "fetch",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout"
]

const globals = () => new Map(names.map((name) => [name, Reflect.get(globalThis, name)]))
/** Without the variable that libvips sets when it is loaded. */
const environment = () => ({ ...process.env, VIPSHOME: undefined })

let before: { readonly globals: ReturnType<typeof globals>; readonly environment: ReturnType<typeof environment> }

beforeAll(() => {
  before = { globals: globals(), environment: environment() }
})

afterAll(() => {
  const after = globals()
  const changed = names.filter((name) => after.get(name) !== before.globals.get(name))
  expect(changed, "Globals that this test file changed and did not restore").toEqual([])
  expect(environment(), "Environment variables that this test file changed and did not restore")
    .toEqual(before.environment)
})
