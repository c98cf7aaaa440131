/** An identity provider of which tests choose the people, and browsers that sign in with it. */
import { assert } from "@effect/vitest"
import {
  type GroupRule,
  type IdentityProvider,
  IdentityProviders,
  type Person,
  ProviderUnavailable,
  SignInRejected
} from "@kinora/sessions/IdentityProviders"
import { Effect } from "effect"
import { samePage } from "./Browsers.ts"
import * as Host from "./Host.ts"

type Send = Effect.Success<ReturnType<typeof Host.start>>

/** The cookie of a sign-in that is in progress. */
export const pendingName = "__Host-kinora_sign_in"

/** A person with a verified address. */
export const ada: Person = {
  issuer: "https://id.example.com",
  subject: "1815",
  email: "ada@example.com",
  isEmailVerified: true,
  groups: []
}

/** Makes a provider. A code is the number of a person that `arrive` has added, and works once. */
export const make = (id: string, rules: ReadonlyArray<GroupRule> = []) => {
  const people: Array<Person | "denied" | "unavailable" | undefined> = []
  let isDown = false
  const unavailable = new ProviderUnavailable({ provider: id, problem: "ECONNREFUSED" })
  const attempts: Array<Parameters<IdentityProvider["begin"]>[0]> = []
  const provider: IdentityProvider = {
    id,
    name: id.toUpperCase(),
    rules,
    begin: (attempt) =>
      Effect.suspend(() => {
        attempts.push(attempt)
        if (isDown) return Effect.fail(unavailable)
        const { nonce, redirectUri, state } = attempt
        return Effect.succeed(
          `https://id.example.com/authorize?${
            new URLSearchParams({ redirect_uri: redirectUri, state, nonce }).toString()
          }`
        )
      }),
    complete: (attempt, query) =>
      Effect.suspend((): Effect.Effect<Person, ProviderUnavailable | SignInRejected> => {
        const params = new URLSearchParams(query)
        assert.strictEqual(params.get("state"), attempt.state)
        assert.deepStrictEqual(attempts.filter(({ state }) => state === attempt.state), [attempt])
        const index = Number(params.get("code"))
        const person = people[index]
        people[index] = undefined
        if (person === undefined || person === "denied") {
          const reason = person === undefined ? "rejected" : "denied"
          return Effect.fail(new SignInRejected({ provider: id, reason, problem: "access_denied" }))
        }
        return person === "unavailable" ? Effect.fail(unavailable) : Effect.succeed(person)
      })
  }
  return {
    provider,
    /** Adds a person who comes back, and returns the code. */
    arrive: (person: Person | "denied" | "unavailable"): number => people.push(person) - 1,
    fail: (next: boolean) => {
      isDown = next
    },
    attempts
  }
}

/** `Host.start` with these providers. */
export const start = (
  providers: ReadonlyArray<{ readonly provider: IdentityProvider }>,
  options: Parameters<typeof Host.start>[0] = {}
) =>
  Effect.provideService(
    Host.start(options),
    IdentityProviders,
    providers.map(({ provider }) => provider)
  )

/** The path at which a sign-in begins. */
export const pathOf = (id: string) => `/console/v1/sign-in/oidc/${id}`

/** Returns the value of a cookie that a response sets; `""` if it removes it, `undefined` if it leaves it. */
export const cookieIn = ({ cookies }: Host.Answer, name: string): string | undefined => {
  const cookie = cookies.find((cookie) => cookie.startsWith(`${name}=`))
  return cookie?.slice(name.length + 1, cookie.indexOf(";"))
}

/** Begins a sign-in, and returns the cookie and the state. */
export const begin = Effect.fnUntraced(function*(send: Send, id: string, query = "") {
  const answer = yield* send("GET", `${pathOf(id)}${query}`)
  assert.strictEqual(answer.status, 303, answer.text)
  const url = new URL(answer.headers["location"] ?? "")
  return { answer, url, state: url.searchParams.get("state") ?? "", cookie: cookieIn(answer, pendingName) ?? "" }
})

/** Comes back from the provider. */
export const comeBack = (
  send: Send,
  id: string,
  { code, cookie, state }: { readonly code: number | string; readonly cookie: string; readonly state: string },
  headers: Readonly<Record<string, string>> = {}
) =>
  send("GET", `${pathOf(id)}/callback?${new URLSearchParams({ code: String(code), state }).toString()}`, {
    // Of a navigation that a page of another site has begun.
    headers: {
      "sec-fetch-site": "cross-site",
      ...(cookie === "" ? {} : { cookie: `${pendingName}=${cookie}` }),
      ...headers
    }
  })

/** Signs in a person, and returns the response to the callback. */
export const signIn = Effect.fnUntraced(function*(send: Send, made: ReturnType<typeof make>, person: Person) {
  const { cookie, state } = yield* begin(send, made.provider.id)
  return yield* comeBack(send, made.provider.id, { code: made.arrive(person), cookie, state })
})

/** The reason of a failed sign-in in the URL of the sign-in page. */
export const failureOf = (answer: Host.Answer) => {
  assert.strictEqual(answer.status, 303, answer.text)
  assert.strictEqual(cookieIn(answer, pendingName), "")
  assert.isUndefined(cookieIn(answer, "__Host-kinora"))
  const [page, fragment] = (answer.headers["location"] ?? "").split("#")
  assert.strictEqual(page, "/console/")
  const { email, sign_in_error: reason } = Object.fromEntries(new URLSearchParams(fragment))
  return email === undefined ? reason : { reason, email }
}

/** A function that sends requests with the session of a response. */
export const pageAfter = (send: Send, answer: Host.Answer): Send => {
  assert.strictEqual(answer.status, 303, answer.text)
  const token = cookieIn(answer, "__Host-kinora")
  assert.isDefined(token, answer.headers["location"])
  return (method, path, sent = {}) =>
    send(method, path, { ...sent, headers: { ...samePage, cookie: `__Host-kinora=${token}`, ...sent.headers } })
}
