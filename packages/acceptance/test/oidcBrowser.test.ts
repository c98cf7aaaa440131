import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Host, Http, Oidc, Webhook } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import * as OidcServer from "@kinora/testkit/upstreams/OidcServer"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { fileURLToPath } from "node:url"
import * as Browser from "./browser.ts"

const keys = [Redacted.make("a secret of at least 32 bytes for all of the keys")] as const

const services = Host.layerMemory({ urlSigningKeys: keys }).pipe(Layer.provideMerge(Webhook.layerProtection({ keys })))

/** A server at `127.0.0.1` with a provider at `localhost`, which is another site for browsers. */
const start = Effect.gen(function*() {
  const provider = yield* OidcServer.start([], "localhost")
  const environment = Redacted.make({ SECRET: "the secret of the client" })
  const providers = yield* Oidc.fromFile({
    content: [{
      id: "team",
      name: "Team",
      issuer: provider.issuer,
      client_id: "team",
      client_secret: { env: "SECRET" },
      allow_http: true
    }],
    directory: "/",
    environment
  })
  const consoleDirectory = fileURLToPath(new URL("../../console/dist/web", import.meta.url))
  const server = Http.layer({ host: "127.0.0.1", port: 0, interface: { consoleDirectory }, grace: 0 }).pipe(
    Layer.provide([Readiness.layerAlways, providers]),
    Layer.provideMerge(services)
  )
  const context = yield* Layer.build(server)
  const origin = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), context)
  provider.register([{
    clientId: "team",
    clientSecret: "the secret of the client",
    redirectUris: [`${origin}/console/v1/sign-in/oidc/team/callback`]
  }])
  yield* Context.get(context, Accounts.Accounts).create({ email: "ada@example.com" })
  return { origin, provider }
})

it.live("the first page after the provider has the session, although its cookie is SameSite=Strict", (test) =>
  Effect.gen(function*() {
    if (Browser.path === undefined) return yield* Browser.missing(test)
    const { origin, provider } = yield* start
    provider.behave({ sub: "1815", email: "ada@example.com", email_verified: true })
    const browser = yield* Browser.launch(Browser.path)
    yield* Effect.promise(async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/console/usage?by=plan`)
      await page.getByRole("link", { name: "Continue with Team" }).click()
      await page.getByTitle("ada@example.com").first().waitFor()
      assert.strictEqual(new URL(page.url()).pathname, "/console/usage")
      const cookies = await page.context().cookies(origin)
      assert.deepStrictEqual(cookies.map(({ httpOnly, name, sameSite }) => ({ httpOnly, name, sameSite })), [
        { httpOnly: true, name: `kinora_${new URL(origin).port}`, sameSite: "Strict" }
      ])
      await page.reload()
      await page.getByTitle("ada@example.com").first().waitFor()
    })
  }).pipe(Effect.scoped))

it.live("a failed sign-in leads to the sign-in page, which shows the reason as text", (test) =>
  Effect.gen(function*() {
    if (Browser.path === undefined) return yield* Browser.missing(test)
    const { origin, provider } = yield* start
    provider.behave({ sub: "1906", email: "<b>eve</b>@example.com", email_verified: true })
    const browser = yield* Browser.launch(Browser.path)
    yield* Effect.promise(async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/console/`)
      await page.getByRole("link", { name: "Continue with Team" }).click()
      const alert = page.getByRole("alert")
      await alert.waitFor()
      assert.include(await alert.textContent(), "No account for <b>eve</b>@example.comAsk your operator for access.")
      // The reason is not in the address bar, and does not appear again.
      assert.strictEqual(page.url(), `${origin}/console/`)
      await page.reload()
      await page.getByRole("link", { name: "Continue with Team" }).waitFor()
      assert.strictEqual(await page.getByRole("alert").count(), 0)
    })
  }).pipe(Effect.scoped))

it.live("a member invites a person on the page of settings, and removes the person", (test) =>
  Effect.gen(function*() {
    if (Browser.path === undefined) return yield* Browser.missing(test)
    const { origin, provider } = yield* start
    provider.behave({ sub: "1815", email: "ada@example.com", email_verified: true })
    const browser = yield* Browser.launch(Browser.path)
    yield* Effect.promise(async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/console/settings`)
      await page.getByRole("link", { name: "Continue with Team" }).click()
      const members = page.getByRole("group", { name: "Members" })
      await members.getByText("ada@example.com").waitFor()

      await page.getByRole("button", { name: "Invite" }).click()
      await page.getByLabel("E-mail").fill("grace@example.com")
      await page.getByLabel("Role").selectOption("viewer")
      await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click()
      const link = await page.getByRole("dialog").locator("code").first().textContent()
      await page.getByRole("button", { name: "I have saved it" }).click()
      const row = members.getByRole("row", { name: "grace@example.com" })
      await row.getByText("Invited").waitFor()

      const other = await (await browser.newContext()).newPage()
      await other.goto(link ?? "")
      await other.getByText("Viewer", { exact: true }).waitFor()
      await other.goto(`${origin}/console/settings`)
      await other.getByRole("group", { name: "Members" }).waitFor()
      assert.strictEqual(await other.getByRole("button", { name: "Invite" }).count(), 0)

      await row.getByRole("button", { name: "Remove grace@example.com" }).click()
      await page.getByRole("button", { name: "Remove member" }).click()
      await row.waitFor({ state: "detached" })
      await other.reload()
      await other.getByRole("heading", { name: "Sign in to Kinora" }).waitFor()
    })
  }).pipe(Effect.scoped))
