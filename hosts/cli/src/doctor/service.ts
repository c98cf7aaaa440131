/** Checks of a running service, from where the command runs. */
import { Data, Duration, Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { Connection } from "../Connection.ts"
import { isLoopback } from "./address.ts"
import * as Finding from "./Finding.ts"

/** Checks the API, the base URL of the settings, the listener for operators, the token, and what the public address hides. */
export const checkService = Effect.fnUntraced(function*(connection: Connection, baseUrl: string | undefined) {
  return [
    yield* checkApi(connection),
    ...(baseUrl === undefined ? [] : [yield* checkBaseUrl(baseUrl)]),
    yield* checkReady(connection),
    yield* checkToken(connection),
    yield* checkHidden(connection)
  ]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Time in which the service has to respond. `/readyz` takes up to `readiness_seconds`, which are at most 10. */
const patience = Duration.seconds(15)

class NoResponse extends Data.TaggedError("NoResponse")<{ readonly url: string }> {
  override get message(): string {
    return `${this.url} does not respond`
  }
}

const get = (url: string, token?: string) =>
  HttpClient.execute(
    HttpClientRequest.get(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
  ).pipe(Effect.timeout(patience), Effect.mapError(() => new NoResponse({ url })))

const checkApi = ({ url }: Connection) =>
  Effect.map(get(`${url}/healthz`), ({ status }) =>
    status === 200
      ? Finding.ok("service", `responds at ${url}`)
      : Finding.failure(
        "service",
        `GET ${url}/healthz returns ${status}`,
        "Check the URL, and that the proxy passes every path to the server"
      )).pipe(
      Finding.orFailure("service", `Start the service, or set KINORA_URL to its address; it is ${url}`)
    )

const checkBaseUrl = (baseUrl: string) =>
  Effect.map(get(`${baseUrl}/healthz`), ({ status }) =>
    status === 200
      ? Finding.ok("base URL", `${baseUrl} leads to the service`)
      : Finding.failure(
        "base URL",
        `GET ${baseUrl}/healthz returns ${status}`,
        "Correct KINORA_BASE_URL, or let the proxy of this address pass every path to the server"
      )).pipe(
      Finding.orFailure("base URL", "Correct KINORA_BASE_URL, its name or its certificate; links start with it")
    )

const checkReady = ({ adminUrl }: Connection) =>
  Effect.gen(function*() {
    const response = yield* get(`${adminUrl}/readyz`)
    if (response.status === 200) return Finding.ok("readiness", `ready at ${adminUrl}`)
    return response.status === 404
      ? Finding.failure(
        "readiness",
        `${adminUrl} is not the listener for operators`,
        "Set KINORA_ADMIN_URL, or admin_url of the profile, to the address that the server prints as Operator"
      )
      : Finding.failure(
        "readiness",
        `GET ${adminUrl}/readyz returns ${response.status}: ${yield* response.text}`,
        "Repair what details.not_ready names: the database, or the storage of files"
      )
  }).pipe(
    Finding.orFailure("readiness", "Set KINORA_ADMIN_URL to the listener for operators, and run where it is reachable")
  )

const checkToken = ({ adminToken, adminUrl }: Connection) =>
  Option.match(adminToken, {
    onNone: () => Effect.succeed(Finding.skipped("operator token", "KINORA_ADMIN_TOKEN is not set")),
    onSome: (token) =>
      Effect.map(get(`${adminUrl}/admin/v1/accounts?limit=1`, Redacted.value(token)), ({ status }) =>
        status === 200
          ? Finding.ok("operator token", "is accepted")
          : Finding.failure(
            "operator token",
            `the operator API returns ${status}`,
            "Set KINORA_ADMIN_TOKEN to the same value as for the server"
          )).pipe(Finding.orFailure("operator token", "Make the listener for operators reachable"))
  })

/** Paths that only operators may reach, also in spellings that a proxy or a router could accept. */
const hiddenPaths = ["/metrics", "/readyz", "/admin/v1/accounts"].flatMap((path) => [
  path,
  `/${path}`,
  `${path}/`,
  `${path}?`,
  path.toUpperCase(),
  path.replace("m", "%6d"),
  `${path};x`,
  `/.${path}`
])

const checkHidden = ({ url }: Connection) => {
  if (isLoopback(url)) {
    return Effect.succeed(Finding.skipped("hidden paths", `${url} is reachable from this machine only`))
  }
  return Effect.gen(function*() {
    const reachable: Array<string> = []
    for (const path of hiddenPaths) {
      const { status } = yield* get(`${url}${path}`)
      if (status !== 404 && status !== 403) reachable.push(`${path} (${status})`)
    }
    return reachable.length === 0
      ? Finding.ok("hidden paths", `${hiddenPaths.length} spellings of /metrics, /readyz and /admin/v1 are not served`)
      : Finding.failure(
        "hidden paths",
        `everybody reaches ${reachable.join(", ")}`,
        "Set KINORA_ADMIN_PORT, so that operators have a listener of their own, and pass only /v1 through the proxy"
      )
  }).pipe(Finding.orFailure("hidden paths", "Make the service reachable"))
}
