/** Responses that every endpoint has: to missing keys, rate limits and invalid requests. */
import * as OpenApiCheck from "../../src/OpenApiCheck.ts"
import type { Findings, Walk } from "./Walk.ts"
import { walk } from "./Walk.ts"

/** Sends rejected requests of every kind to every endpoint. */
export const everywhere = async (findings: Findings): Promise<void> => {
  await walk(findings, {}, nowhere)
  await walk(findings, { adminToken: null }, withoutOperators)
  await walk(findings, { http: { failedAuthenticationsPerMinute: 1_000 } }, strangers)
  await walk(findings, { http: { failedAuthenticationsPerMinute: 1 } }, guessers)
  await walk(findings, { http: { keyRequestsPerMinute: 1 } }, impatient)
  await walk(findings, {}, suspended)
  await walk(findings, { http: { smallBodiesBytesMax: 1024 ** 3 } }, lateBodies)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints, written `GET /v1/models/{id}`, with unknown ids. */
const operations = [
  ...new Set(OpenApiCheck.answers().map((answer) => answer.replace(/ \d+$/, "").replace(/\{\w+\}/g, "nobody")))
]
const ofClients = operations.filter((operation) => operation.includes(" /v1/"))
/** The endpoints for operators. */
export const ofOperators = operations.filter((operation) => operation.includes(" /admin/"))
/** The endpoints for operators that read a body. */
const reading = ofOperators.filter((operation) =>
  OpenApiCheck.answers().some((answer) => answer.replace(/\{\w+\}/g, "nobody") === `${operation} 408`)
)
const pathOf = (operation: string) => operation.split(" ")[1] ?? ""

/** Unknown ids, paths and methods, and HEAD for every GET. */
const nowhere = async ({ ask, host }: Walk) => {
  const { adminToken } = host
  for (const operation of ofClients) await ask(operation)
  for (const operation of ofOperators) await ask(operation, { apiKey: adminToken })
  const paths = new Set([...operations.map(pathOf), "/openapi.json", "/docs", "/admin/v1/openapi.json"])
  for (const path of paths) {
    const methods = ["HEAD", "OPTIONS", "PATCH", "POST", "PUT", "DELETE"].filter((method) =>
      !operations.includes(`${method} ${path}`)
    )
    for (const method of methods) await ask(`${method} ${path}`, { apiKey: adminToken })
    for (const unknown of [`${path}/`, `${path}/nobody`, `${path}%`, `/nobody${path}`]) await ask(`GET ${unknown}`)
  }
}

/** Without an operator API, its paths are unknown. */
const withoutOperators = async ({ ask }: Walk) => {
  for (const operation of ofOperators) await ask(operation)
  await ask("GET /admin/v1/openapi.json")
}

const strangers = async ({ ask }: Walk) => {
  for (const operation of operations) await ask(operation, { apiKey: null })
}

/** Too many failed authentications of one address. */
const guessers = async ({ ask }: Walk) => {
  for (const operation of [...operations, ...operations]) await ask(operation, { apiKey: "guessed" })
}

/** Too many requests of one key. */
const impatient = async ({ ask }: Walk) => {
  for (const operation of ["GET /v1/models", ...ofClients]) await ask(operation)
}

const suspended = async ({ ask, host }: Walk) => {
  await ask(`POST /admin/v1/accounts/${host.account.id}/suspend`, { apiKey: host.adminToken })
  await host.clock.advance("10 seconds")
  for (const operation of ofClients) await ask(operation)
}

/** Bodies that do not arrive. */
const lateBodies = async ({ ask, host }: Walk) => {
  const headers = { "content-type": "application/json" }
  const answers = Promise.all(
    reading.map((operation) =>
      ask(operation, { apiKey: host.adminToken, headers, body: new ReadableStream(), duplex: "half" })
    )
  )
  await host.clock.advance("1 minute")
  await answers
}
