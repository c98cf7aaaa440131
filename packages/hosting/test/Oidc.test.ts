import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Readiness } from "@kinora/http-server"
import { AuditLog } from "@kinora/operators"
import { Members } from "@kinora/sessions"
import * as OidcServer from "@kinora/testkit/upstreams/OidcServer"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as Host from "../src/Host.ts"
import * as Http from "../src/Http.ts"
import * as Oidc from "../src/Oidc.ts"
import * as Webhook from "../src/Webhook.ts"

const environment = Redacted.make({ TEAM_SECRET: "the secret of the team", PARTNERS_SECRET: "the secret of partners" })

const fromFile = (content: unknown) => Oidc.fromFile({ content, directory: "/", environment })

const keys = [Redacted.make("a secret of at least 32 bytes for all of the keys")] as const

const services = Host.layerMemory({ urlSigningKeys: keys }).pipe(Layer.provideMerge(Webhook.layerProtection({ keys })))

const clientOf = (origin: string, id: string, secret: string): OidcServer.OidcClient => ({
  clientId: id,
  clientSecret: secret,
  redirectUris: [`${origin}/console/v1/sign-in/oidc/${id}/callback`]
})

/** Starts a server with the providers `team` and `partners`, and `down`, at which nothing listens. */
const start = Effect.gen(function*() {
  const [team, partners] = [yield* OidcServer.start(), yield* OidcServer.start()]
  const common = { allow_http: true, timeout: "2 seconds" }
  const providers = yield* fromFile([
    {
      ...common,
      id: "team",
      name: "Team",
      issuer: team.issuer,
      client_id: "team",
      client_secret: { env: "TEAM_SECRET" },
      scopes: ["openid", "email", "groups"],
      groups: { admins: { operator: "support" } }
    },
    {
      ...common,
      id: "partners",
      name: "Partners",
      issuer: partners.issuer,
      client_id: "partners",
      client_secret: { env: "PARTNERS_SECRET" },
      client_authentication: "post"
    },
    { ...common, id: "down", name: "Down", issuer: "http://127.0.0.1:1", client_id: "kinora" }
  ])
  const server = Http.layer({
    host: "127.0.0.1",
    port: 0,
    interface: { adminToken: Redacted.make("the token of the operators of this service") },
    grace: 0
  }).pipe(Layer.provide([Readiness.layerAlways, providers]), Layer.provideMerge(services))
  const context = yield* Layer.build(server)
  const origin = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), context)
  team.register([clientOf(origin, "team", "the secret of the team")])
  partners.register([clientOf(origin, "partners", "the secret of partners")])
  const { create } = Context.get(context, Accounts.Accounts)
  const account = yield* create({ email: "ada@example.com" })
  return { account, context, origin, partners, team }
})

/** Makes a browser with cookies for each origin. */
const makeBrowser = () => {
  const jars = new Map<string, Map<string, string>>()

  const request = (url: string) =>
    Effect.promise(async (signal) => {
      const { origin } = new URL(url)
      const jar = jars.get(origin) ?? new Map<string, string>()
      jars.set(origin, jar)
      const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ")
      const response = await fetch(url, { signal, redirect: "manual", headers: { cookie, origin } })
      for (const text of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? []
        if (value === "") jar.delete(name)
        else jar.set(name, value)
      }
      return { location: response.headers.get("location"), status: response.status, text: await response.text() }
    })

  /** Follows redirects until a URL fits or a page opens. */
  const follow = (url: string, until: (url: URL) => boolean): Effect.Effect<URL> =>
    Effect.gen(function*() {
      const { location, status, text } = yield* request(url)
      assert.isNotNull(location, `${status} at ${url}: ${text}`)
      const next = new URL(location ?? "", url)
      return until(next) ? next : yield* follow(next.href, until)
    })

  return { follow, request }
}

const isPage = ({ pathname }: URL) => /^\/console\/(?!v1\/)/.test(pathname)
const isCallback = ({ pathname }: URL) => pathname.endsWith("/callback")

const Session = Schema.NullOr(Schema.Struct({
  scope: Schema.String,
  role: Schema.String,
  name: Schema.NullOr(Schema.String),
  account: Schema.NullOr(Schema.Struct({ id: Schema.String }))
}))

const sessionOf = ({ request }: ReturnType<typeof makeBrowser>, origin: string) =>
  Effect.map(request(`${origin}/console/v1/session`), ({ text }) => Schema.decodeUnknownSync(Session)(JSON.parse(text)))

const ada = { sub: "1815", email: "ada@example.com", email_verified: true }

const beginOf = (origin: string, provider: string) =>
  `${origin}/console/v1/sign-in/oidc/${provider}?return_to=%2Fconsole%2Fjobs`

it.live("signs in with two providers, one of which gives operators their role", () =>
  Effect.gen(function*() {
    const { account, context, origin, partners, team } = yield* start
    team.behave({ ...ada, groups: ["admins"] })
    const operator = makeBrowser()
    const page = yield* operator.follow(beginOf(origin, "team"), isPage)
    assert.strictEqual(page.href, `${origin}/console/jobs`)
    assert.deepInclude(yield* sessionOf(operator, origin), {
      scope: "operator",
      role: "support",
      name: "ada@example.com"
    })
    assert.strictEqual((yield* operator.request(`${origin}/admin/v1/accounts`)).status, 200)
    const [entry] = yield* Context.get(context, AuditLog.AuditLog).list({ limit: 1 })
    assert.deepInclude(entry, { actor: "oidc:team:ada@example.com", role: "support", action: "session.signIn" })

    partners.behave(ada)
    const person = makeBrowser()
    yield* person.follow(beginOf(origin, "partners"), isPage)
    assert.deepInclude(yield* sessionOf(person, origin), {
      scope: "account",
      role: "member",
      name: "ada@example.com",
      account: { id: account.id }
    })
    assert.strictEqual((yield* person.request(`${origin}/v1/models`)).status, 200)
    const [member] = yield* Context.get(context, Members.Members).list(account.id)
    assert.deepInclude(member, { issuer: partners.issuer, subject: "1815" })
  }).pipe(Effect.scoped))

it.live("leads to the sign-in page with the reason if a sign-in fails", () =>
  Effect.gen(function*() {
    const { origin, team } = yield* start
    const reasonOf = Effect.fnUntraced(function*(behavior: OidcServer.Behavior, provider = "team") {
      team.behave(behavior)
      const browser = makeBrowser()
      const { hash } = yield* browser.follow(beginOf(origin, provider), isPage)
      assert.isNull(yield* sessionOf(browser, origin))
      return Object.fromEntries(new URLSearchParams(hash.slice(1)))
    })
    assert.deepStrictEqual(yield* reasonOf("refuse"), { sign_in_error: "denied" })
    assert.deepStrictEqual(yield* reasonOf({ ...ada, email_verified: false }), {
      sign_in_error: "email_not_verified",
      email: "ada@example.com"
    })
    assert.deepStrictEqual(yield* reasonOf({ ...ada, sub: "1906", email: "grace@example.com" }), {
      sign_in_error: "no_account",
      email: "grace@example.com"
    })
    assert.deepStrictEqual(yield* reasonOf(ada, "down"), { sign_in_error: "provider_unavailable" })
    // Another provider is not affected.
    team.behave(ada)
    assert.strictEqual((yield* makeBrowser().follow(beginOf(origin, "team"), isPage)).pathname, "/console/jobs")
    team.hangAt("/token")
    assert.deepStrictEqual(yield* reasonOf(ada), { sign_in_error: "provider_unavailable" })
  }).pipe(Effect.scoped))

it.live("accepts the response of a provider once, and only in the browser that has begun the sign-in", () =>
  Effect.gen(function*() {
    const { origin, team } = yield* start
    team.behave(ada)
    const [browser, other] = [makeBrowser(), makeBrowser()]
    const callback = yield* browser.follow(beginOf(origin, "team"), isCallback)
    const failure = `${origin}/console/#sign_in_error=`
    assert.strictEqual((yield* other.follow(callback.href, isPage)).href, `${failure}expired`)
    const altered = new URL(callback)
    altered.searchParams.set("state", "f".repeat(64))
    const copy = yield* browser.follow(callback.href, isPage)
    assert.strictEqual(copy.pathname, "/console/jobs")
    assert.strictEqual((yield* browser.follow(callback.href, isPage)).href, `${failure}expired`)
    yield* browser.follow(beginOf(origin, "team"), isCallback)
    assert.strictEqual((yield* browser.follow(altered.href, isPage)).href, `${failure}expired`)
  }).pipe(Effect.scoped))

it.effect("invalid options stop the start with every problem and without secrets", () =>
  Effect.gen(function*() {
    const problemsOf = (content: unknown) => Effect.map(Effect.flip(fromFile(content)), ({ problems }) => problems)
    const valid = { id: "team", name: "Team", issuer: "https://id.example.com", client_id: "kinora" }
    yield* fromFile([valid, { ...valid, id: "partners", groups: { makers: { account: "ada@example.com" } } }])
    assert.deepStrictEqual(yield* problemsOf([{ ...valid, client_secret: { env: "MISSING" } }]), [
      { path: "oidc[0].client_secret", message: "must be set: the environment has no variable MISSING" }
    ])
    assert.deepStrictEqual(yield* problemsOf([valid, valid]), [
      { path: "oidc", message: "must be providers whose ids differ" }
    ])
    assert.deepStrictEqual(yield* problemsOf([{ ...valid, issuer: "http://id.example.com" }]), [
      { path: "oidc[0]", message: "must be an https issuer, unless allow_http is true" }
    ])
    const problems = yield* problemsOf([{
      id: "Team",
      name: "",
      issuer: "id.example.com",
      client_secret: ["a-secret"],
      scopes: ["email"],
      groups: { admins: { operator: "king" } },
      timeout: "1 minute",
      secret: "another-secret"
    }])
    for (
      const name of ["id", "name", "issuer", "client_id", "client_secret", "scopes", "groups", "timeout", "secret"]
    ) {
      assert.isTrue(
        problems.some(({ path }) => path.startsWith(`oidc[0].${name}`)),
        `${name}: ${JSON.stringify(problems)}`
      )
    }
    assert.notInclude(JSON.stringify(problems), "-secret")
    for (const content of ["team", {}, [1]]) assert.isNotEmpty(yield* problemsOf(content))
  }))
